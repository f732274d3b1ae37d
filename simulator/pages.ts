// The hosted payment page of the gateways: HTML without scripts and external resources. A button
// acts on the payment and leads back to the shop.

import { type Context, Hono } from 'hono'
import { minorUnits } from '../worker/payments/domain/money.ts'
import { type Action, amountOf, type Payment, type State } from './payments.ts'
import type { Simulator } from './simulator.ts'
import type { Traits } from './traits.ts'

const ACTIONS: readonly Action[] = ['pay', 'transfer', 'fail', 'cancel', 'expire']

/**
 * The page runs and fetches nothing. There is no form-action, since browsers apply it to the
 * redirect after the form as well, and the shop may be on any host. With `no-referrer`, the form
 * would be sent with the Origin `null`, which is refused.
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
}

export function payPages(simulator: Simulator): Hono {
  const { payments, settings } = simulator
  const pages = new Hono()
  const show = (c: Context, payment: Payment | undefined) =>
    payment
      ? c.html(
          paymentPage(payment, simulator.traitsOf(payment.gateway), settings.merchant),
          200,
          HEADERS,
        )
      : c.html(noPaymentPage(), 404, HEADERS)

  pages.get('/pay/:id', (c) => show(c, payments.find(c.req.param('id'))))
  pages.post('/pay/:id', async (c) => {
    const payment = payments.find(c.req.param('id'))
    const form = new URLSearchParams(await c.req.text())
    const action = ACTIONS.find((name) => name === form.get('action'))
    if (!payment || !action) return show(c, payment)
    const { backUrl, moves } = simulator.traitsOf(payment.gateway)
    const back = backUrl(payment, action)
    // Where a payment cannot be cancelled, a payer who goes back to the shop changes nothing.
    if (action === 'cancel' && moves.cancel === undefined) {
      return back === undefined ? show(c, payment) : c.redirect(back, 303)
    }
    const acted = simulator.act(payment, action)
    // Pressed twice, or too late: show the present state.
    if (!acted.ok) return show(c, payments.find(payment.id))
    if (back === undefined || !URL.canParse(back)) return show(c, acted.payment)
    const token = await acted.returnToken()
    const url = new URL(back)
    if (token !== undefined) url.searchParams.set('token', token)
    return c.redirect(url.href, 303)
  })
  return pages
}

const ENDS: Record<Exclude<State, 'open'>, string> = {
  processing: 'The bank transfer is under way.',
  authorized: 'This payment is authorized.',
  paid: 'This payment is paid.',
  failed: 'This payment failed.',
  cancelled: 'This payment was cancelled.',
  expired: 'This payment has expired.',
  refund_requested: 'This payment is being refunded.',
  refunded: 'This payment was refunded.',
}

/** The form while the payment is open, else its result. */
function paymentPage(payment: Payment, traits: Traits, merchant: string): string {
  const sum = htmlOf(sumOf(payment, traits))
  const order = payment.reference === '' ? payment.id : payment.reference
  const typed = traits.codeOf?.(payment)
  const code = typed === undefined ? '' : `<dt>Code</dt><dd>${htmlOf(typed)}</dd>`
  const about = `<p class="sum">${sum}</p>
<dl><dt>To</dt><dd>${htmlOf(merchant)}</dd><dt>Order</dt><dd>${htmlOf(order)}</dd>${code}</dl>`
  return pageOf(traits, `Pay ${sum}`, `${about}\n${stateOf(payment, traits)}`)
}

function stateOf({ state, declinedAt }: Payment, { moves }: Traits): string {
  if (state === 'processing') return `${statusOf(ENDS[state])}\n${TRANSFER_FORM}`
  if (state !== 'open') return statusOf(ENDS[state])
  if (moves.transfer === undefined) return FORM
  const declined = declinedAt === undefined ? '' : `${statusOf('The card was declined.')}\n`
  return declined + SLOW_FORM
}

const statusOf = (sentence: string): string => `<p role="status" class="end">${sentence}</p>`

function sumOf(payment: Payment, { inMinorUnits }: Traits): string {
  const { amount, currency } = amountOf(payment)
  const minor = inMinorUnits ? minorUnits(currency) : 1
  const minimumFractionDigits = Math.log10(minor)
  const format = new Intl.NumberFormat('en', { minimumFractionDigits })
  return `${format.format(amount / minor)} ${currency}`
}

const noPaymentPage = (): string =>
  pageOf(NO_GATEWAY, 'No such payment', statusOf('There is no such payment.'))

const FORM = `<form method="post">
<button name="action" value="pay" class="main">Pay</button>
<div class="rest">
<button name="action" value="fail">Fail</button>
<button name="action" value="cancel">Cancel</button>
<button name="action" value="expire">Let it expire</button>
</div>
</form>`

/** A payment by card, or by a method that takes days. */
const SLOW_FORM = FORM.replace(
  '<div',
  '<button name="action" value="transfer">Pay by bank transfer</button>\n<div',
)

/** The payer is gone: these are for the bank. */
const TRANSFER_FORM = `<form method="post">
<button name="action" value="pay" class="main">The money arrives</button>
<button name="action" value="fail">The bank refuses</button>
</form>`

const NO_GATEWAY = { title: 'Payment page', accent: '#0f766e' }

const pageOf = (of: Pick<Traits, 'title' | 'accent'>, title: string, body: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${styleOf(of.accent)}</style>
</head>
<body>
<main>
<h1>${of.title}</h1>
${body}
</main>
<footer>A simulator: no real money moves.</footer>
</body>
</html>
`

const styleOf = (accent: string): string => `
:root { color-scheme: light dark; --accent: ${accent}; --line: #8886; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-content: center; gap: 1rem; padding: 1rem;
  font: 1rem/1.5 system-ui, sans-serif; background: light-dark(#f4f4f5, #18181b);
  color: light-dark(#18181b, #f4f4f5); }
main { width: min(24rem, calc(100vw - 2rem)); border-radius: 1rem;
  padding: 2.4rem clamp(1.25rem, 6vw, 2rem) 2rem;
  background: linear-gradient(var(--accent) .4rem, #0000 0) light-dark(#fff, #27272a); }
h1 { margin: 0; font-size: 1rem; font-weight: 600; }
.sum { margin: 1rem 0; font-size: clamp(1.5rem, 9vw, 2.25rem); line-height: 1.2; font-weight: 700;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 0 0 1.5rem; }
dt { color: light-dark(#52525b, #a1a1aa); } dd { margin: 0; overflow-wrap: anywhere; }
button { font: inherit; width: 100%; padding: .75rem; border-radius: .6rem; cursor: pointer;
  border: 1px solid var(--line); background: none; color: inherit; }
button:hover { border-color: currentColor; }
button:focus-visible { outline: 3px solid light-dark(#18181b, #f4f4f5); outline-offset: 2px; }
.main { border: 0; background: var(--accent); color: #fff; font-weight: 600; }
.main:hover { filter: brightness(1.1); }
.rest { display: grid; grid-template-columns: repeat(3, auto); gap: .5rem; margin-top: .75rem; }
.rest button { padding: .6rem .4rem; font-size: .9rem; }
.main + button { margin-top: .75rem; }
.end { margin: 0 0 1rem; font-weight: 600; }
.end:last-child { margin: 0; }
footer { text-align: center; font-size: .85rem; color: light-dark(#52525b, #a1a1aa); }
`

/** Escapes texts of the merchant, which may contain anything. */
const htmlOf = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
