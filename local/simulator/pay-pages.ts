// The hosted page of both gateways: a button moves the payment and leads back to the shop.

import { type Context, Hono } from 'hono'
import { noPaymentPage, paymentPage } from './page.ts'
import type { Action, Payment } from './payment.ts'
import type { Simulator } from './simulator.ts'

const ACTIONS: readonly Action[] = ['pay', 'fail', 'cancel', 'expire']

/**
 * Nothing runs and nothing is fetched. It says nothing of form-action: browsers hold the redirect
 * after a form to it as well, and the shop may be anywhere. With `no-referrer` the form would be
 * sent with the Origin `null`, which is refused.
 */
const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
}

export function payPages(simulator: Simulator): Hono {
  const { book, settings } = simulator
  const pages = new Hono()
  const show = (c: Context, payment: Payment | undefined) =>
    payment
      ? c.html(paymentPage(payment, settings.merchant), 200, HEADERS)
      : c.html(noPaymentPage(), 404, HEADERS)

  pages.get('/pay/:id', (c) => show(c, book.find(c.req.param('id'))))
  pages.post('/pay/:id', async (c) => {
    const payment = book.find(c.req.param('id'))
    const form = new URLSearchParams(await c.req.text())
    const action = ACTIONS.find((name) => name === form.get('action'))
    if (!payment || !action) return show(c, payment)
    const acted = simulator.act(payment, action)
    // Pressed twice, or too late: the page says what happened before.
    if (!acted.ok) return show(c, book.find(payment.id))
    const back = action === 'pay' ? payment.successUrl : payment.failureUrl
    if (back === undefined || !URL.canParse(back)) return show(c, acted.payment)
    const token = await acted.shopToken
    const url = new URL(back)
    if (token !== undefined) url.searchParams.set('token', token)
    return c.redirect(url.href, 303)
  })
  return pages
}
