// What payments promise of their events: (d) they lead along the status graph, and each reached who
// is subscribed as it is stored.

import { isDeepStrictEqual } from 'node:util'
import type { Event, Finding, History, Transaction } from './history.ts'
import { finding, findings, isSuccess } from './history.ts'

export function checkEvents(history: History): Finding[] {
  return [
    ...changesHaveEvents(history),
    ...refundsStayOver(history),
    ...eventsAreDelivered(history),
    ...deliveriesAreLeased(history),
  ]
}

/** The contract's graph: the event of each status, and after which it may come. */
const STATUSES: Record<string, { event: string; after: readonly string[] }> = {
  Pending: { event: 'PaymentInitiated', after: ['nothing'] },
  Paid: { event: 'PaymentSucceeded', after: ['Pending'] },
  Failed: { event: 'PaymentFailed', after: ['Pending'] },
  Cancelled: { event: 'PaymentCancelled', after: ['Pending'] },
  Expired: { event: 'PaymentCancelled', after: ['Pending'] },
  PartiallyRefunded: { event: 'PaymentRefunded', after: ['Paid'] },
  Refunded: { event: 'PaymentRefunded', after: ['Paid', 'PartiallyRefunded'] },
}
const ALERTS = ['AlertRaised', 'AlertSettled']
/** More or less of a payment was refunded, and its status stays. */
const CHANGED = 'RefundAmountChanged'
const DURABLE = new Set([...ALERTS, CHANGED, ...Object.values(STATUSES).map(({ event }) => event)])

/** (d) The events lead along the graph to the status and to the refunded sum: one for each step. */
function changesHaveEvents(history: History): Finding[] {
  return history.of('stored').flatMap(({ line, transaction: { id, events, ...end } }) => {
    let at = { status: 'nothing', refunded: 0, revision: 0 }
    const ofStatus = events.filter((each) => !ALERTS.includes(each.type))
    // Two changes that are decided together may be stored in any order.
    for (const { type, payload } of ofStatus.toSorted((a, b) => revisionOf(a) - revisionOf(b))) {
      const { id: of, status, refundedAmount: refunded = 0 } = payload.transaction
      const { event, after = [] } = STATUSES[status] ?? {}
      const revision = at.revision + Number(type === CHANGED || type === 'PaymentRefunded')
      const isChange = payload.previousRefundedAmount === at.refunded && refunded !== at.refunded
      const isStep =
        type === CHANGED
          ? status === at.status && isChange
          : type === event && after.includes(at.status)
      const was = `${id} was ${at.status} (${at.refunded})`
      const what = `${was}, and then ${type} reported that ${of} is ${status} (${refunded})`
      if (of !== id || !isStep || revisionOf({ payload }) !== revision) {
        return [finding('d', line, what)]
      }
      at = { status, refunded, revision }
    }
    if (at.status === end.status && at.refunded === end.refundedAmount) return []
    const what = `${id} is ${end.status} (${end.refundedAmount}), its events end at`
    return [finding('d', line, `${what} ${at.status} (${at.refunded})`)]
  })
}

const revisionOf = ({ payload }: Pick<Transaction['events'][number], 'payload'>): number =>
  payload.transaction.refundRevision ?? 0

/** (d) A refund that was over when it was read stays as it was; one that was made may fail. */
function refundsStayOver(history: History): Finding[] {
  const over = new Map<string, string>()
  return [...history.of('seen'), ...history.of('stored')].flatMap(({ line, transaction }) =>
    transaction.refunds.flatMap(({ id, status }) => {
      const before = over.get(id) ?? status
      if (['succeeded', 'failed'].includes(status)) over.set(id, status)
      if (before === status || (before === 'succeeded' && status === 'failed')) return []
      return [finding('d', line, `${id} was ${before}, and is ${status}`)]
    }),
  )
}

/** A transaction has each status and revision only once. An alert may be opened again. */
const nameOf = ({ type, transaction: { id, status, refundRevision } = NONE, alert }: Event) =>
  alert ? `${type} ${alert.id} ${alert.createdAt}` : `${type} of ${id} ${status} ${refundRevision}`
const NONE = { id: 'nothing', status: 'none', refundRevision: 0 }

/** (d) Listener and endpoint took each durable event as it is stored and each alert, no other. */
function eventsAreDelivered(history: History): Finding[] {
  const stored = history.of('stored').flatMap(({ line, transaction: { events } }) => {
    return events.map(({ id, type, createdAt, payload }) => {
      return { line, id, type, createdAt, ...payload }
    })
  })
  const raised = history.of('alert').map((each) => {
    return { ...each, type: 'AlertRaised', createdAt: each.alert.createdAt }
  })
  const byName = new Map(stored.map((event) => [nameOf(event), event]))
  return (['listener', 'endpoint'] as const).flatMap((receiver) => {
    const got = history.of(receiver).filter(({ type }) => DURABLE.has(type))
    const taken = new Set(got.filter(({ status }) => isSuccess(status)).map(nameOf))
    // One that expires while all of them are listed has an event when nobody listens any more.
    const since = history.of('at-rest')[0]?.since
    const isDue = (made = '') => since === undefined || made <= since
    const missing = [...stored, ...raised].filter(
      (event) => isDue(event.createdAt) && !taken.has(nameOf(event)),
    )
    const wrong = got.filter((each) => {
      const { id, ...stored } = byName.get(nameOf(each)) ?? {}
      return !isDeepStrictEqual([each.id ?? id, ...factsIn(each)], [id, ...factsIn(stored)])
    })
    return [
      ...missing.map((event) => ({ event, what: 'was not taken by the' })),
      ...wrong.map((event) => ({ event, what: 'is not stored as it reached the' })),
    ].map(({ event, what }) => finding('d', event.line, `${nameOf(event)} ${what} ${receiver}`))
  })
}

const factsIn = (event: Event) => [event.transaction, event.alert, event.previousRefundedAmount]

/** (d) The endpoint does not get an event while it has not answered it. */
function deliveriesAreLeased(history: History): Finding[] {
  return [...Map.groupBy(history.of('endpoint'), ({ id }) => id)].flatMap(([id, own]) => {
    // Both are rounded down to a millisecond.
    const early = own.filter(({ t, tookMs }, at) => t - tookMs < (own[at - 1]?.t ?? 0) - 1)
    return findings('d', early, () => `${id} came while it was not answered yet`)
  })
}
