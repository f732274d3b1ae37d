// What payments promise: (d) the graph and its events, (e) money to the dinar, (f) no order is
// charged twice unseen, (g) what was answered is stored.

import type { Alert, Booking, Finding, History, Money, Story } from './history.ts'

export const checkPayments = (history: History): Finding[] => [
  ...walksTheGraph(history),
  ...eventsAreTold(history),
  ...booksAgree(history),
  ...chargedOnce(history),
  ...answeredIsStored(history),
]

/** The contract's graph: the event that tells of each status, and what may follow it. */
const STATUSES: Record<string, { event: string; next: readonly string[] }> = {
  Pending: { event: 'PaymentInitiated', next: ['Paid', 'Failed', 'Cancelled', 'Expired'] },
  Paid: { event: 'PaymentSucceeded', next: ['Refunded', 'PartiallyRefunded'] },
  Failed: { event: 'PaymentFailed', next: [] },
  Cancelled: { event: 'PaymentCancelled', next: [] },
  Expired: { event: 'PaymentCancelled', next: [] },
  PartiallyRefunded: { event: 'PaymentRefunded', next: ['Refunded'] },
  Refunded: { event: 'PaymentRefunded', next: [] },
}
const LIFECYCLE = new Set(Object.values(STATUSES).map(({ event }) => event))

const storiesOf = (history: History): Story[] =>
  history.of('stored').map(({ transaction }) => transaction)

/** (d) The statuses that events tell of lead from Pending to the stored one, by the graph. */
function walksTheGraph(history: History): Finding[] {
  return history.of('stored').flatMap(({ line, transaction: { id, status, events } }) => {
    const walk = events.map(({ payload }) => payload.transaction.status)
    const wrong = (what: string) => [{ check: 'd', line, what: `${id}: ${what}` }]
    if (walk[0] !== 'Pending') return wrong(`its first event tells of ${walk[0]}`)
    const misnamed = events.find(({ type }, at) => type !== STATUSES[walk[at] ?? '']?.event)
    if (misnamed) return wrong(`${misnamed.type} tells of ${misnamed.payload.transaction.status}`)
    const at = walk.findIndex(
      (to, step) => step && !STATUSES[walk[step - 1] ?? '']?.next.includes(to),
    )
    if (at > 0) return wrong(`went from ${walk[at - 1]} to ${walk[at]}`)
    return walk.at(-1) === status ? [] : wrong(`is ${status}, and its events end at ${walk.at(-1)}`)
  })
}

/** What a listener is told holds no id of the event; a status comes only once. */
const changeOf = (told: { type: string; transaction: { id: string; status: string } }) =>
  `${told.type} ${told.transaction.id} ${told.transaction.status}`

/** (d) Listener and endpoint took each lifecycle event, and were told of no other. */
function eventsAreTold(history: History): Finding[] {
  const told = [
    ...history.of('listener').map((each) => ({ ...each, status: 200, name: changeOf(each) })),
    ...history.of('endpoint').map((each) => ({ ...each, name: each.id })),
  ].filter(({ type }) => LIFECYCLE.has(type))
  const stored = history.of('stored').flatMap(({ line, transaction }) =>
    transaction.events.flatMap(({ id, type, payload }) => [
      { line, name: id },
      { line, name: changeOf({ type, ...payload }) },
    ]),
  )
  const taken = new Set(told.map(({ name, status }) => status >= 200 && status < 300 && name))
  const known = new Set(stored.map(({ name }) => name))
  const missing = stored.filter(({ name }) => !taken.has(name))
  const invented = told.filter(({ name }) => !known.has(name))
  return [
    ...missing.map(({ line, name }) => ({ check: 'd', line, what: `${name} was not told` })),
    ...invented.map(({ line, name }) => ({ check: 'd', line, what: `${name} is no stored event` })),
  ]
}

/** (e) What the gateway booked is what the transaction says, or an alert names the difference. */
function booksAgree(history: History): Finding[] {
  const stories = storiesOf(history)
  const alerts = history.of('alert').map(({ alert }) => alert)
  const booked = new Set<string>()
  const findings = history.of('booking').flatMap(({ line, gateway, payment }): Finding[] => {
    const story = stories.find((each) => isOf(each, gateway, payment))
    if (story) booked.add(story.id)
    const own = alerts.filter(({ transactionId }) => story && transactionId === story.id)
    const what = differenceOf(payment, story, own)
    return what === undefined ? [] : [{ check: 'e', line, what: `${payment.id}: ${what}` }]
  })
  const invented = history.of('stored').flatMap(({ line, transaction: { id, paid } }) => {
    if (booked.has(id) || !paid) return []
    return [{ check: 'e', line, what: `${id} is paid, and no gateway booked it` }]
  })
  return [...findings, ...invented]
}

const isOf = (story: Story, gateway: string, { id, externalReference }: Booking): boolean =>
  story.gateway === gateway &&
  (story.gatewayTransactionId === id ||
    (externalReference !== undefined && story.externalReferenceId === externalReference))

/** `alerts`: of this transaction. */
function differenceOf(
  { paid, refunded }: Booking,
  story: Story | undefined,
  alerts: Alert[],
): string | undefined {
  if (!story) return paid && `${text(paid)} came in, and there is no transaction`
  const isNamed = (money?: Money) => alerts.some(({ detail }) => detail.amount === money?.amount)
  // What is stored as paid is what came in; an alert names what was not taken for the payment.
  if (text(paid) !== text(story.paid) && (story.paid || !isNamed(paid))) {
    return `${text(paid)} came in, ${text(story.paid)} is stored`
  }
  if (story.paid && text(story.paid) !== text(story) && !isNamed(story.paid)) {
    return `${text(story.paid)} came in instead of ${text(story)}, without an alert`
  }
  const isRefundNamed = alerts.some(({ kind }) => kind.startsWith('refund'))
  if (refunded === story.refundedAmount || isRefundNamed) return undefined
  return `${refunded} went back, ${story.refundedAmount} is stored`
}

const text = (money?: Money): string => (money ? `${money.amount} ${money.currency}` : 'nothing')

/** (f) Two payments that came in for one order have a `late_payment` alert. */
function chargedOnce(history: History): Finding[] {
  const stories = storiesOf(history)
  const late = new Set(
    history.of('alert').map(({ alert }) => alert.kind === 'late_payment' && alert.detail.reference),
  )
  const paid = new Set<string>()
  return history.of('booking').flatMap(({ line, gateway, payment }) => {
    const story = stories.find((each) => isOf(each, gateway, payment))
    const order = story?.reference ?? payment.reference
    if (!payment.paid || order === undefined) return []
    const isSecond = paid.has(order)
    paid.add(order)
    if (!isSecond || late.has(order)) return []
    return [{ check: 'f', line, what: `${order} was paid twice without an alert` }]
  })
}

/** (g) What was answered is in the database: webhooks by 200, and charges by a transaction's id. */
function answeredIsStored(history: History): Finding[] {
  const stored = new Set(storiesOf(history).map(({ id }) => id))
  for (const { event } of history.of('event')) {
    stored.add(`${event.gateway} ${event.eventId}`)
    stored.add(`${event.gateway} payment ${event.gatewayTransactionId}`)
  }
  const answered = [
    ...history.of('charge').map(({ line, body }) => ({ line, name: body?.transactionId })),
    ...history.of('webhook').map(({ line, gateway, payment, eventId, status, answer }) => {
      // `ignored`: verified, and about nothing that is kept.
      const isKept = status === 200 && answer !== 'ignored'
      return { line, name: isKept ? `${gateway} ${eventId ?? `payment ${payment}`}` : undefined }
    }),
  ]
  return answered.flatMap(({ line, name }) => {
    if (name === undefined || stored.has(name)) return []
    return [{ check: 'g', line, what: `${name} was answered and is not stored` }]
  })
}
