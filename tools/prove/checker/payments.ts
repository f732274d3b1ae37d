// What payments promise of money: (e) it agrees to the dinar, (f) no order is charged twice without
// an alert, (g) what was answered is stored, once, (h) what had ended stays so.

import { isDeepStrictEqual } from 'node:util'
import type { Finding, History, Line, Money, Payment, Transaction } from './history.ts'
import { finding, findings, isSuccess } from './history.ts'

export function checkPayments(history: History): Finding[] {
  const bookings = bookingsOf(history)
  const money = moneyAgrees(history, bookings)
  const wrong = new Set(money.map(({ line }) => line))
  return [
    ...money,
    ...booksAgree(history).filter(({ line }) => !wrong.has(line)),
    ...paymentsAreMadeOnce(history),
    ...refundsAreMadeOnce(history, bookings),
    ...strangersMoveNothing(history, bookings),
    ...ordersArePaidOnce(history, bookings),
    ...paidOrdersAreKnown(history),
    ...answersAreStored(history),
    ...cancelledStayUnpaid(history),
    ...webhooksAreKnown(history),
    ...nothingComesBack(history),
  ]
}

/** Each payment of the gateways, with its transaction: found by the gateway's id or by ours. */
function bookingsOf(history: History) {
  const named = history.of('stored').flatMap(({ transaction }) => {
    const { gateway, gatewayTransactionId: theirs, externalReferenceId: ours } = transaction
    return [theirs, ours].map((id) => [`${gateway} ${id}`, transaction] as const)
  })
  const transactions = new Map(named)
  return history.of('booking').map(({ line, gateway, payment }) => {
    const of = (id = 'none') => transactions.get(`${gateway} ${id}`)
    return { line, payment, transaction: of(payment.id) ?? of(payment.externalReference) }
  })
}
type Booking = ReturnType<typeof bookingsOf>[number]

/** (e) What the gateway booked is what the transaction says, or an alert names the difference. */
function moneyAgrees(history: History, bookings: Booking[]): Finding[] {
  // Where ids contradict, nothing came in.
  const money = history.of('alert').filter(({ alert }) => alert.kind !== 'id_mismatch')
  const alerts = Map.groupBy(money, ({ alert }) => alert.transactionId)
  const own = Map.groupBy(bookings, ({ transaction }) => transaction?.id)
  const unknown = own.get(undefined)?.filter(({ payment }) => payment.paid) ?? []
  return [
    ...findings('e', unknown, ({ payment: { id, paid } }) => {
      return `${text(paid)} came in as ${id}, and there is no transaction`
    }),
    ...history.of('stored').flatMap(({ line, transaction }) => {
      const { id } = transaction
      const [booking, second] = own.get(id) ?? []
      if (second) return [finding('e', line, `${id} has two payments at its gateway`)]
      const difference = differenceOf(transaction, booking?.payment, alerts.get(id))
      return difference === undefined ? [] : [finding('e', line, `${id}: ${difference}`)]
    }),
  ]
}

function differenceOf(
  { paid: stored, refundedAmount, status, refunds, ...asked }: Transaction,
  { paid, refunded, ...booked }: Pick<Payment, 'paid' | 'refunded' | 'refunds'> = { refunded: 0 },
  alerts: Line<'alert'>[] = [],
): string | undefined {
  const isNamed = (amount?: number) => alerts.some(({ alert }) => alert.detail.amount === amount)
  // What is stored as paid is what came in, always; an alert names what was not taken.
  if (text(paid) !== text(stored) && (stored || !isNamed(paid?.amount))) {
    return `${text(paid)} came in, ${text(stored)} is stored`
  }
  if (stored && text(stored) !== text(asked) && !isNamed(stored.amount)) {
    return `${text(stored)} came in instead of ${text(asked)}, without an alert`
  }
  const isPaid = ['Paid', 'PartiallyRefunded', 'Refunded'].includes(status)
  if (isPaid ? !stored : stored && !isNamed(stored.amount)) {
    return `is ${status}, and ${text(stored)} is stored as paid`
  }
  if (refunded !== refundedAmount) return `${refunded} went back, ${refundedAmount} is stored`
  const isWhole = refunded > 0 && refunded === stored?.amount
  if (refunded > 0 && (status === 'Paid' || (isWhole && status === 'PartiallyRefunded'))) {
    return `is ${status}, and ${refunded} went back`
  }
  const made = refunds.filter((refund) => refund.status === 'succeeded')
  const sum = made.reduce((total, { amount }) => total + amount, 0)
  if (sum !== refundedAmount) return `refunds of ${sum}, and ${refundedAmount} went back`
  const wrong = booked.refunds?.find(({ id, amount, status: theirs }) => {
    const rows = refunds.filter(({ gatewayRefundId }) => gatewayRefundId === id)
    const right = { pending: 'accepted', canceled: 'failed' }[theirs] ?? theirs
    return rows.length !== 1 || rows[0]?.amount !== amount || rows[0].status !== right
  })
  return wrong && `${wrong.id} of ${wrong.amount} is ${wrong.status} there, and not so in its rows`
}

const BESIDE_SUMS = new Set(['refused_paid', 'disputed', 'dispute_returned'])

/** (e) The movements of a transaction add up to what is left of what was paid. */
function booksAgree({ of }: History): Finding[] {
  const counted = of('movement').map(({ movement }) => movement)
  const sums = new Map<string, number>()
  for (const { kind, transactionId: id, amountMinor } of counted) {
    if (BESIDE_SUMS.has(kind)) continue
    sums.set(id, (sums.get(id) ?? 0) + amountMinor)
  }
  return of('stored').flatMap(({ line, transaction: { id, paid, refundedAmount } }) => {
    const left = (paid?.amount ?? 0) - refundedAmount
    const booked = sums.get(id) ?? 0
    if (booked === left) return []
    return [finding('e', line, `${id}: ${left} is left, and the books have ${booked}`)]
  })
}

const text = (money?: Money): string => (money ? `${money.amount} ${money.currency}` : 'nothing')

/** (e) A gateway without idempotency keys that has made a payment is not asked for it again. */
function paymentsAreMadeOnce({ of }: History): Finding[] {
  return [...Map.groupBy(of('charge-call'), ({ attempt }) => attempt)].flatMap(([id, own]) => {
    const madeAt = own.find(({ status }) => isSuccess(status))?.t ?? Number.POSITIVE_INFINITY
    const again = own.filter(({ t, tookMs }) => t - tookMs >= madeAt)
    return findings('e', again, () => `${id} was to be charged once more`)
  })
}

/** (e) Once a gateway has said yes to a refund, it is not asked for it again, unless it failed. */
function refundsAreMadeOnce(history: History, bookings: Booking[]): Finding[] {
  const calls = Map.groupBy(history.of('refund-call'), ({ payment }) => payment)
  return bookings.flatMap(({ line, payment: { id, refused = 0, refunds } }) => {
    // Each has a name of ours, under which the gateway makes it once.
    const names = refunds?.flatMap(({ name, status }) => (status === 'failed' ? [] : (name ?? [])))
    const twice = names?.filter((name, at) => names.indexOf(name) !== at) ?? []
    const own = refunds ? [] : (calls.get(id) ?? [])
    const later = own.filter((_, at) => {
      return own.slice(0, at).filter(({ status }) => isSuccess(status)).length > refused
    })
    return [
      ...twice.map((name) => finding('e', line, `${id} was refunded twice as ${name}`)),
      ...findings('e', later, () => `${id} was to be refunded once more`),
    ]
  })
}

/** (e) A webhook whose ids no payment of its gateway has together is parked, or has an alert. */
function strangersMoveNothing(history: History, bookings: Booking[]): Finding[] {
  const payments = new Map(bookings.map(({ payment }) => [payment.id, payment]))
  const strange = history.of('webhook').filter(({ payment, eventId, externalReference: name }) => {
    const booked = payments.get(payment)
    return eventId !== undefined && (!booked || (name && name !== booked.externalReference))
  })
  const events = new Map(history.of('event').map(({ event }) => [event.eventId, event]))
  const mismatches = history.of('alert').filter(({ alert }) => alert.kind === 'id_mismatch')
  const alerted = new Set(mismatches.map(({ alert }) => alert.transactionId))
  return strange.flatMap(({ line, eventId = '' }) => {
    const { outcome = 'parked', transactionId: id } = events.get(eventId) ?? {}
    if (outcome === 'parked' || (outcome === 'rejected' && alerted.has(id))) return []
    const what = `${eventId} has ids of no payment; it is ${outcome}, without an alert`
    return [finding('e', line, what)]
  })
}

/** (f) Of each order one payment is kept; an alert names each other one, unless it went back. */
function ordersArePaidOnce(history: History, bookings: Booking[]): Finding[] {
  const kinds = ['late_payment', 'double_payment']
  const raised = history.of('alert').filter(({ alert }) => kinds.includes(alert.kind))
  const alerts = new Map(raised.map(({ alert }) => [alert.transactionId, alert]))
  const wanted = repeatsOf(history)
  const held = bookings.filter(({ payment }) => (payment.paid?.amount ?? 0) > payment.refunded)
  const kept = held.filter(({ transaction }) => !wanted.has(transaction?.id))
  const orderOf = ({ payment, transaction }: Booking) => transaction?.reference ?? payment.reference
  const needless = raised.filter(({ alert: { kind, transactionId } }) => {
    return kind === 'double_payment' && wanted.has(transactionId)
  })
  // A refund had settled them.
  const closed = raised.filter(({ alert: { kind, acknowledgedBy, transactionId: id } }) => {
    return (
      kind === 'late_payment' &&
      acknowledgedBy === 'refund' &&
      held.some(({ transaction }) => transaction?.id === id)
    )
  })
  return [
    ...findings('f', closed, () => 'this late money did not go back'),
    ...findings('f', needless, () => 'the shop asked for this second payment'),
    ...[...Map.groupBy(kept, orderOf)].flatMap(([order, payments]) => {
      const named = [...alerts.values()].filter(({ detail }) => detail.reference === order).length
      const what = `${order} was paid ${payments.length} times, with ${named} alerts`
      return findings('f', payments.slice(1 + named), () => what)
    }),
  ]
}

/** Transactions that the shop asked for beside another one of the order. */
function repeatsOf(history: History): Set<string | undefined> {
  const charges = history.of('charge')
  const others = charges.filter(({ repeat }) => !repeat).map(({ body }) => body?.transactionId)
  const repeated = charges.filter(({ repeat }) => repeat).map(({ body }) => body?.transactionId)
  return new Set(repeated.filter((id) => id !== undefined && !others.includes(id)))
}

/** (f) A key that comes after the order was reported as paid is not answered with that payment. */
function paidOrdersAreKnown(history: History): Finding[] {
  const paidAt = new Map<string, number>()
  for (const { type, t, transaction: paid } of history.of('listener')) {
    const order = `${paid?.gateway} ${paid?.reference}`
    if (type === 'PaymentSucceeded' && !paidAt.has(order)) paidAt.set(order, t)
  }
  const known = new Set<string>()
  return history.of('charge').flatMap(({ line, t, tookMs, gateway, order, key, ...charge }) => {
    const isNew = key !== undefined && !known.has(`${order} ${key}`)
    known.add(`${order} ${key}`)
    const isLater = t - tookMs > (paidAt.get(`${gateway} ${order}`) ?? Number.POSITIVE_INFINITY)
    const isAnswered = isSuccess(charge.status) && !charge.repeat
    const what = `${order} was paid, and is answered to another key as if it were open`
    return isNew && isLater && isAnswered ? [finding('f', line, what)] : []
  })
}

/** (g) What was answered is in the database: webhooks with 200, charges and refunds with ids. */
function answersAreStored({ of, first }: History): Finding[] {
  const stored = new Set<string | undefined>([undefined])
  for (const { transaction } of of('stored')) {
    stored.add(transaction.id)
    for (const { id, gatewayRefundId } of transaction.refunds) stored.add(id).add(gatewayRefundId)
  }
  for (const { event } of of('event')) stored.add(event.eventId)
  // `ignored`: it is verified, and about nothing that is kept. At rest it is too late to be listed.
  const isTaken = (each: Line<'webhook'>) => each.status === 200 && each.answer !== 'ignored'
  const taken = of('webhook').filter((each) => each.line < first('at-rest') && isTaken(each))
  const answered = [
    ...of('charge').map(({ line, body }) => ({ line, id: body?.transactionId })),
    ...of('refund').map(({ line, body }) => ({ line, id: body?.refundId })),
    ...taken.map(({ line, eventId: id }) => ({ line, id })),
  ].filter(({ id }) => !stored.has(id))
  // Without an id of its own each `ok` is one more event of the payment; `duplicate` is none.
  const events = Map.groupBy(of('event'), ({ event }) => event.gatewayTransactionId)
  const anonymous = taken.filter((each) => !each.eventId && each.answer === 'ok')
  const unstored = [...Map.groupBy(anonymous, ({ payment }) => payment)].flatMap(([id, own]) =>
    own.slice(events.get(id)?.length ?? 0).map(({ line }) => ({ line, id: `a webhook of ${id}` })),
  )
  const missing = [...answered, ...unstored]
  return findings('g', missing, ({ id }) => `${id} was answered and is not stored`)
}

/** (g) What was answered as cancelled has ended without money, or with an alert that names it. */
function cancelledStayUnpaid({ of }: History): Finding[] {
  const cancelled = of('cancel').filter(({ status }) => isSuccess(status))
  const ids = new Set(cancelled.map(({ transactionId }) => transactionId))
  const wrong = of('stored').filter(({ transaction: { id, status } }) => {
    return ids.has(id) && !['Cancelled', 'Expired', 'Failed'].includes(status)
  })
  return findings('g', wrong, ({ transaction: { id, status } }) => {
    return `${id} was answered as cancelled, and is ${status}`
  })
}

/** (g) A webhook that is sent again is not stored again, and in the end it is not refused. */
function webhooksAreKnown(history: History): Finding[] {
  const events = Map.groupBy(history.of('event'), ({ event }) => event.eventId)
  const twice = [...events.values()].flatMap((own) => own.slice(1))
  const last = new Map(history.of('webhook').map((each) => [each.eventId ?? '', each]))
  // The gateway sends one six times, and may give it up in the middle of a fault.
  const isInFault = ({ line }: Line) =>
    history.of('fault').findLast((fault) => fault.line < line)?.phase === 'begin'
  // With a 500 it asked its gateway and got no answer, before it could be known.
  const refused = [...last].filter(
    ([id, each]) => events.has(id) && each.status === 503 && !isInFault(each),
  )
  return [
    ...findings('g', twice, ({ event }) => `${event.eventId} is stored again`),
    ...refused.map(([id, { line }]) => finding('g', line, `${id} is stored, and refused again`)),
  ]
}

/** (h) Months later, when its events were forgotten and came again, what had ended is as it was. */
function nothingComesBack({ of, first }: History): Finding[] {
  const since = first('jump')
  const again = of('refund-call').filter(({ line }) => line > since)
  const before = new Map(of('stored').map(({ transaction }) => [transaction.id, transaction]))
  const changed = of('later').filter(({ transaction }) => {
    const was = before.get(transaction.id)
    const isOpen =
      was?.status === 'Pending' ||
      was?.refunds.some(({ status }) => ['claimed', 'accepted'].includes(status))
    return !isOpen && !isDeepStrictEqual(was && moneyIn(was), moneyIn(transaction))
  })
  return [
    ...findings('h', again, ({ payment }) => `${payment} was to be refunded again`),
    ...findings('h', changed, ({ transaction: { id } }) => {
      return `${id} had ended, and changed when its events were forgotten`
    }),
  ]
}

const moneyIn = ({ status, paid, refundedAmount, refunds, events, alerts }: Transaction) => ({
  status,
  paid,
  refundedAmount,
  refunds,
  alerts,
  events: events.map(({ id }) => id),
})
