import express from 'express'
import { handleEvents, toNodeHandler } from 'signalbox/events'
import { createPayments } from 'signalbox/payments'

const { SIGNALBOX_URL, SIGNALBOX_TOKEN, PAYMENT_EVENTS_SECRET, PORT = '3000' } = process.env
const payments = createPayments({ url: SIGNALBOX_URL, token: SIGNALBOX_TOKEN })
const LAMP = { amount: 25_000, currency: 'IQD', description: 'A lamp' } // IQD has no minor units
const orders = new Map<string, string>() // the state of each; a real shop has a database
const isOpen = (id: string) => !/^(paid|in question)$/.test(orders.get(id) ?? '')
/** Events come in any order, and before the answer to the charge too: what was paid stays so. */
const settle = (id: string, to: string) => (to === 'paid' || isOpen(id)) && orders.set(id, to)

const receive = handleEvents({
  secrets: PAYMENT_EVENTS_SECRET,
  on: {
    PaymentSucceeded({ transaction: { reference, paid } }) {
      const isAll = paid?.amount === LAMP.amount && paid.currency === LAMP.currency
      settle(reference, isAll ? 'paid' : 'in question')
    },
    PaymentFailed: ({ transaction }) => settle(transaction.reference, 'not paid'),
    PaymentCancelled: ({ transaction }) => settle(transaction.reference, 'not paid'),
    async AlertRaised({ alert: { id: idempotencyKey, kind }, transaction }) {
      const { id: transactionId, gateway, reference, amount } = transaction
      console.error('Somebody has to look:', kind, transaction)
      if (kind === 'late_payment') settle(reference, 'in question') // ask for no more money
      const refund = { gateway, transactionId, amount, reason: 'Paid twice', idempotencyKey }
      if (kind === 'double_payment') await payments.refunds.create(refund)
    },
  },
})

const shop = express()
const form = (text: string) => `<form method="post"><button>${text}</button></form>`
shop.param('id', (_req, res, next, id) => (orders.has(id) ? next() : res.sendStatus(404)))
shop.get('/', (_req, res) => res.send(form('Buy a lamp for IQD 25,000')))
shop.post(['/', '/orders/:id'], async ({ params, protocol, host }, res) => {
  const id = String(params.id ?? crypto.randomUUID())
  const returnUrl = `${protocol}://${host}/orders/${id}`
  if (!settle(id, 'waiting for the payment')) return res.redirect(303, returnUrl)
  const order = { gateway: 'redirect', reference: id, ...LAMP, returnUrl }
  const charge = await payments.charges.create(order).catch(console.error)
  if (!charge) settle(id, 'not paid')
  res.redirect(303, charge?.redirectUrl ?? returnUrl)
})
shop.get('/orders/:id', ({ params: { id } }, res) => {
  if (isOpen(id)) res.set('Refresh', '2') // the event decides, and comes soon
  res.send(`Your order is ${orders.get(id)}. ${isOpen(id) ? form('Pay') : ''}`)
})
shop.post('/events', toNodeHandler(receive))
shop.listen(Number(PORT), '127.0.0.1')
