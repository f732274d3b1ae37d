// The shop without its web framework: prices, orders, what an event does to them, and the pages.

import { handleEvents, type Transaction } from 'signalbox/events'
import { createPayments, type PaymentResponse } from 'signalbox/payments'

const { SIGNALBOX_URL, SIGNALBOX_TOKEN, PAYMENT_EVENTS_SECRET } = process.env
const payments = createPayments({ url: SIGNALBOX_URL, token: SIGNALBOX_TOKEN })

// In the smallest unit of the currency: the dinar has no smaller one, the dollar has cents.
const DINARS = { amount: 25_000, currency: 'IQD' }
const PRICES = new Map(
  Object.entries({ redirect: DINARS, fib: DINARS, stripe: { amount: 1_900, currency: 'USD' } }),
)

interface Order {
  state: 'not paid' | 'waiting for the payment' | 'in question' | 'paid'
  /** Where the payer went last, and the answer to that charge. */
  gateway?: string
  charge?: PaymentResponse
}
const orders = new Map<string, Order>() // a real shop has a database
const isOpen = ({ state }: Order) => state === 'not paid' || state === 'waiting for the payment'

/** An event of another order is logged and answered 500, so that it comes again. */
function known(id: string): Order {
  const order = orders.get(id)
  if (order) return order
  throw new Error(`There is no order ${id}.`)
}

/** Events come in any order, and before the answer to the charge too: what was paid stays so. */
function settle(id: string, state: Order['state']): void {
  const order = known(id)
  if (!(state === 'paid' || isOpen(order))) return
  order.state = state
  console.log(`Order ${id} is ${state}`)
}

/** Unless the payer has begun again: at another gateway, or in place of this payment. */
function offerAgain({ reference: id, gateway, error }: Transaction): void {
  if (known(id).gateway === gateway && error?.code !== 'replaced') settle(id, 'not paid')
}

const refunds = new Map<string, Transaction>() // by payment: an order may have two

/** Keeps the refunded amount, which falls if a refund fails. A lower revision is older. */
function noteRefund(transaction: Transaction): void {
  const { id, reference, refundedAmount, refundRevision } = transaction
  known(reference)
  if (refundRevision <= (refunds.get(id)?.refundRevision ?? 0)) return
  refunds.set(id, transaction)
  console.log(`Of order ${reference}, ${refundedAmount} was refunded`)
}

export const receive = handleEvents({
  secrets: PAYMENT_EVENTS_SECRET,
  on: {
    PaymentSucceeded({ transaction: { reference, amount, currency, paid } }) {
      const isAll = paid?.amount === amount && paid.currency === currency
      settle(reference, isAll ? 'paid' : 'in question')
    },
    PaymentFailed: ({ transaction }) => offerAgain(transaction),
    PaymentCancelled: ({ transaction }) => offerAgain(transaction),
    PaymentRefunded: ({ transaction }) => noteRefund(transaction),
    RefundAmountChanged: ({ transaction }) => noteRefund(transaction),
    async AlertRaised({ alert: { id: idempotencyKey, kind }, transaction }) {
      const { id: transactionId, gateway, reference, amount } = transaction
      console.error('Somebody has to look:', kind, reference, transactionId)
      if (kind === 'late_payment') settle(reference, 'in question') // ask for no more money
      const refund = { gateway, transactionId, amount, reason: 'Paid twice', idempotencyKey }
      if (kind === 'double_payment') await payments.refunds.create(refund)
    },
  },
})

/** Returns the id of a new order. */
export function newOrder(): string {
  const id = crypto.randomUUID()
  orders.set(id, { state: 'not paid' })
  return id
}

/** Returns where the payer goes: to the gateway, or to the order, which shows the codes of fib. */
export async function pay(id: string, gateway: string, returnUrl: string): Promise<string> {
  const [order, price] = [orders.get(id), PRICES.get(gateway)]
  if (!order || !price || !isOpen(order)) return returnUrl
  settle(id, 'waiting for the payment')
  order.gateway = gateway
  delete order.charge
  const request = { gateway, reference: id, ...price, description: `A lamp (${id})`, returnUrl }
  try {
    // With `replace`, there is another page if that of an earlier charge was lost.
    order.charge = await payments.charges.create({ ...request, replace: true })
  } catch (error) {
    console.error(error)
    settle(id, 'not paid')
  }
  return order.charge?.redirectUrl ?? returnUrl
}

const html = (text = '') => text.replaceAll(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
const button = (text: string, action: string) =>
  `<form method="post" action="${action}"><button>${text}</button></form>`

const head =
  '<!doctype html><meta name="viewport" content="width=device-width"><title>Lamps</title>'

export const front = head + button('Buy a lamp for IQD 25,000, or USD 19 by Stripe', '/')

/** The page of an order. Only an event decides: until it comes, the page is loaded again. */
export function pageOf(id: string): string | undefined {
  const order = orders.get(id)
  if (!order || !isOpen(order)) return order && `${head}Your order is ${order.state}.`
  const { qrCode, readableCode, deepLink } = order.charge ?? {}
  const codes = `<p><img src="${html(qrCode)}" alt="A QR code for the app of the bank">
    <p>${html(readableCode)} <a href="${html(deepLink)}">Open the app</a></p>`
  const isByCode = order.state === 'waiting for the payment' && qrCode !== undefined
  const ways = [...PRICES.keys()].map((way) => button(`Pay by ${way}`, `/orders/${id}/${way}`))
  return `${head}<meta http-equiv="refresh" content="2">Your order is ${order.state}.
    ${isByCode ? codes : ''}${ways.join('')}`
}
