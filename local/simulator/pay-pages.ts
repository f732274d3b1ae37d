// The routes of the hosted payment page. A button acts on the payment and leads back to the shop.

import { type Context, Hono } from 'hono'
import { noPaymentPage, paymentPage } from './page.ts'
import type { Action, Payment } from './payment.ts'
import type { Simulator } from './simulator.ts'

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
      ? c.html(paymentPage(payment, settings.merchant), 200, HEADERS)
      : c.html(noPaymentPage(), 404, HEADERS)

  pages.get('/pay/:id', (c) => show(c, payments.find(c.req.param('id'))))
  pages.post('/pay/:id', async (c) => {
    const payment = payments.find(c.req.param('id'))
    const form = new URLSearchParams(await c.req.text())
    const action = ACTIONS.find((name) => name === form.get('action'))
    if (!payment || !action) return show(c, payment)
    const back = backUrl(payment, action)
    // At Stripe, a payer who goes back to the shop changes nothing.
    if (payment.gateway === 'stripe' && action === 'cancel') {
      return back === undefined ? show(c, payment) : c.redirect(back, 303)
    }
    const acted = simulator.act(payment, action)
    // Pressed twice, or too late: show the present state.
    if (!acted.ok) return show(c, payments.find(payment.id))
    if (back === undefined || !URL.canParse(back)) return show(c, acted.payment)
    const token = await acted.returnToken
    const url = new URL(back)
    if (token !== undefined) url.searchParams.set('token', token)
    return c.redirect(url.href, 303)
  })
  return pages
}

/** Where the payer goes after an action; undefined: nowhere. */
function backUrl({ gateway, ...payment }: Payment, action: Action): string | undefined {
  const isPaying = action === 'pay' || action === 'transfer'
  if (gateway !== 'stripe') return isPaying ? payment.successUrl : payment.failureUrl
  if (action === 'cancel') return payment.failureUrl
  // When a bank transfer arrives, the payer is gone; an expired page leads nowhere.
  if (!isPaying || payment.state !== 'open') return undefined
  return payment.successUrl?.replaceAll('{CHECKOUT_SESSION_ID}', payment.id)
}
