// The shop without its web framework: prices, orders, what an event does to them, and the pages.

import { handleEvents, type Transaction } from 'signalbox/events'
import { createPayments, type PaymentResponse, PaymentsError } from 'signalbox/payments'

const { SIGNALBOX_URL, SIGNALBOX_TOKEN, PAYMENT_EVENTS_SECRET } = process.env
const payments = createPayments({ url: SIGNALBOX_URL, token: SIGNALBOX_TOKEN })

// Of a lamp, in the smallest unit of the currency: the dinar has no smaller one, the dollar has cents.
const DINARS = { amount: 25_000, currency: 'IQD' }
const PRICES = new Map(
  Object.entries({ redirect: DINARS, fib: DINARS, stripe: { amount: 1_900, currency: 'USD' } }),
)

interface Order {
  lamps: number
  state: 'not paid' | 'waiting for the payment' | 'in question' | 'paid'
  /** Where the payer went last, and the answer to that charge. */
  gateway?: string
  charge?: PaymentResponse
  problem?: string
}
const orders = new Map<string, Order>() // a real shop has a database
const isOpen = ({ state }: Order) => state === 'not paid' || state === 'waiting for the payment'

type Price = { gateway: string; amount: number; currency: string }

/** Undefined: there is no such gateway. */
function priceOf({ lamps }: Order, gateway: string): Price | undefined {
  const price = PRICES.get(gateway)
  return price && { ...price, gateway, amount: lamps * price.amount }
}

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

const alerts = new Map<string, string>() // the time of its newest event, by alert

/** Its events come in any order, too. */
function isNews(id: string, at: string): boolean {
  const isNewer = at >= (alerts.get(id) ?? '')
  if (isNewer) alerts.set(id, at)
  return isNewer
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
    PaymentSucceeded({ transaction: { reference, gateway, paid } }) {
      // The order may have changed while its first page was open: what it costs now counts.
      const price = priceOf(known(reference), gateway)
      const isAll = paid?.amount === price?.amount && paid?.currency === price?.currency
      settle(reference, isAll ? 'paid' : 'in question')
    },
    PaymentFailed: ({ transaction }) => offerAgain(transaction),
    PaymentCancelled: ({ transaction }) => offerAgain(transaction),
    PaymentRefunded: ({ transaction }) => noteRefund(transaction),
    RefundAmountChanged: ({ transaction }) => noteRefund(transaction),
    async AlertRaised({ alert: { id: idempotencyKey, kind, createdAt }, transaction }) {
      const { id: transactionId, gateway, reference, amount } = transaction
      if (!isNews(idempotencyKey, createdAt)) return
      console.error('Somebody has to look:', kind, reference, transactionId)
      if (kind === 'late_payment') settle(reference, 'in question') // ask for no more money
      const refund = { gateway, transactionId, amount, reason: 'Paid twice', idempotencyKey }
      if (kind === 'double_payment') await payments.refunds.create(refund)
    },
    AlertSettled({ alert: { id, kind, acknowledgedAt, acknowledgedBy }, transaction }) {
      const order = known(transaction.reference)
      if (!isNews(id, acknowledgedAt)) return
      console.log('Settled:', kind, transaction.reference, acknowledgedBy)
      // The late money went back: the order may be paid again.
      const isBack = kind === 'late_payment' && acknowledgedBy === 'refund'
      if (isBack && order.state === 'in question') order.state = 'not paid'
    },
  },
})

/** Returns the id of a new order. */
export function newOrder(): string {
  const id = crypto.randomUUID()
  orders.set(id, { lamps: 1, state: 'not paid' })
  return id
}

/** A button of the order's page. Returns where the payer goes. */
export async function press(id: string, action: string, page: string): Promise<string> {
  const order = orders.get(id)
  if (!order || !isOpen(order)) return page
  if (action === 'more') order.lamps += 1
  if (action === 'cancel') await cancel(order.charge?.transactionId)
  const price = priceOf(order, action)
  return price ? await pay(id, order, price, page) : page
}

/** What becomes of it is told by an event. Not every gateway can, and it may be paid just now. */
async function cancel(transactionId = ''): Promise<void> {
  await payments.transactions.cancel(transactionId).catch(console.error)
}

/** Leads to the gateway, or to the order, which shows the codes of fib. */
async function pay(id: string, order: Order, at: Price, page: string): Promise<string> {
  const { gateway } = at
  settle(id, 'waiting for the payment')
  order.gateway = gateway
  delete order.charge
  delete order.problem
  const description = `${order.lamps === 1 ? 'A lamp' : `${order.lamps} lamps`} (${id})`
  // A payer who does not pay comes back to this page, too: `cancelUrl` would be another one.
  const request = { ...at, reference: id, description, returnUrl: page }
  try {
    // With `replace`, there is another page if that of an earlier charge was lost or has expired,
    // and if it is for another number of lamps.
    order.charge = await payments.charges.create({ ...request, replace: true })
    for (const { transactionId } of order.charge.otherOpen ?? []) void cancel(transactionId)
  } catch (error) {
    console.error(error)
    settle(id, 'not paid')
    const isOther = error instanceof PaymentsError && error.code === 'reference_conflict'
    if (isOther) order.problem = `Your first cart can still be paid by ${gateway}, this one cannot.`
  }
  return order.charge?.redirectUrl ?? page
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
  const isWaiting = order.state === 'waiting for the payment'
  const ways = [...PRICES.keys()].map((way) => button(`Pay by ${way}`, `/orders/${id}/${way}`))
  return `${head}<meta http-equiv="refresh" content="2">Your order is ${order.state}.
    ${html(order.problem)} Lamps: ${order.lamps}${button('One more', `/orders/${id}/more`)}
    ${isWaiting && qrCode !== undefined ? codes : ''}${ways.join('')}
    ${isWaiting ? button('Cancel the payment', `/orders/${id}/cancel`) : ''}`
}
