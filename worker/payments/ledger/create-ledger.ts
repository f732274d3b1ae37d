// The ledger over a store: each call is an operation of the one writer, and events are dispatched
// after its commits.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { NEVER_CALLED } from '../domain/begin-charge.ts'
import type { References } from '../domain/double-payment.ts'
import type { PendingEvent, Subscribers } from '../domain/events.ts'
import { isUnderWay, type Payment } from '../domain/payment.ts'
import type { ChargeRequest, Listed } from '../domain/schemas.ts'
import type { CallKind } from '../domain/status.ts'
import type { GatewayGuard } from '../gateways/guard/guard.ts'
import { createDispatching, type Dispatch, type Outbox, type WakeAt } from '../outbox/dispatch.ts'
import { beginCharge, finishCharge } from './charges.ts'
import {
  type Arrival,
  type Check,
  checkArrival,
  type Ledger,
  type Recorded,
  type Store,
} from './ledger.ts'
import { isoTime, pendingEvent, readable, toTransaction } from './read-rows.ts'
import { beginRefund, finishRefund } from './refunds.ts'
import {
  acknowledge,
  checkSoon,
  claimCheck,
  claimChecks,
  claimEvents,
  redeliver,
  settleCheck,
  settleEvents,
} from './sweeps.ts'
import { applyParked, namesIn, recordWebhook } from './webhooks.ts'
import type { ParkedEvent } from './working-set.ts'
import { type GroupObserver, openWriter } from './writer.ts'

export interface LedgerDeps {
  store: Store
  guard: GatewayGuard
  subscribers: Subscribers
  /** Whether gateways share the names of orders; they do unless set. */
  references?: References
  dispatch: Dispatch
  /** Gets the work that continues after the answers. */
  keepAlive?: (work: Promise<unknown>) => void
  /** For `dispatchDue`. */
  wakeAt?: WakeAt
  clock: Clock
  log: Log
  groups?: GroupObserver
}

/** There is one for each database: a second one replaces the first. */
export function createLedger(deps: LedgerDeps): Ledger & Outbox {
  const { store, guard, subscribers, dispatch, keepAlive, wakeAt, clock, log, groups } = deps
  const rules = { subscribers, references: deps.references ?? 'shared' }
  const { run } = openWriter({
    ...{ store, clock, log, groups },
    dispatch: (pending) => dispatching.group(pending),
  })

  const outbox: Outbox = {
    async claimPending(claim) {
      const due = await run(claimEvents(claim))
      return due.flatMap(({ outbox: row, listeners, delivery }): PendingEvent[] =>
        pendingEvent(row, listeners, delivery),
      )
    },
    async settleDispatched(outcomes, now) {
      if (outcomes.length > 0) await run(settleEvents(outcomes, now, subscribers))
    },
  }
  const dispatching = createDispatching({ outbox, dispatch, keepAlive, wakeAt, clock, log })

  /**
   * Asks the guard for a call of the gateway, and reports to it when the gateway is not called.
   * `begin` answers undefined where only the open circuit is in the way.
   */
  const withAdmission = async <Begun extends { state: string }>(
    gateway: string,
    kind: CallKind,
    begin: (mayCall: boolean) => Promise<Begun | undefined>,
  ) => {
    const admission = await guard.admit(gateway, kind, 'call')
    const retryAfterMs = admission.ok ? 0 : admission.retryAfterMs
    const circuitOpen = { state: 'circuit_open', retryAfterMs } as const
    let begun: Begun | typeof circuitOpen = circuitOpen
    try {
      begun = (await begin(admission.ok)) ?? circuitOpen
    } finally {
      if (admission.ok && begun.state !== 'begun') await guard.report(gateway, kind, 'neutral')
    }
    return begun.state === 'begun' && admission.ok && admission.accessToken !== undefined
      ? { ...begun, accessToken: admission.accessToken }
      : begun
  }

  /** In their order. Returns the payments that have changed. */
  const apply = async (parked: readonly ParkedEvent[], now: number) => {
    const applied = await Promise.all(parked.map((event) => run(applyParked(event, rules, now))))
    for (const { event } of applied) {
      if (event?.mismatch !== 1) continue
      log('warn', 'payments.webhook.amount_mismatch', {
        ...{ gateway: event.gateway, correlationId: event.correlation_id },
        ...{ eventId: event.event_id, status: event.to_status },
        ...{ transactionId: event.transaction_id, outcome: event.outcome },
        ...{ amount: event.amount, currency: event.currency },
      })
    }
    return applied.flatMap(({ transaction }) => transaction ?? [])
  }

  const underWay = new Map<string, Promise<Recorded>>()
  /** A caller may repeat a call that is slow: the database must not get twice the work. */
  const record = (arrival: Arrival): Promise<Recorded> => {
    const known = underWay.get(arrival.id)
    if (known) return known
    const recording = run(recordWebhook(arrival, rules))
    const recorded = recording.finally(() => underWay.delete(arrival.id))
    underWay.set(arrival.id, recorded)
    return recorded
  }

  return {
    admit: (gateway, kind, purpose) => guard.admit(gateway, kind, purpose),
    report: (gateway, kind, verdict) => guard.report(gateway, kind, verdict),
    accessToken: (gateway, refused) => guard.accessToken(gateway, refused),
    health: (asked) => guard.health(asked),

    async webhook(arrival) {
      checkArrival(arrival)
      return await record(arrival)
    },
    checkSoon: (gateway, names, now, unreadable) =>
      run(checkSoon({ names: namesIn(gateway, names), now, unreadable }, subscribers)),

    beginCharge: (start) =>
      withAdmission(start.request.gateway, 'charge', (mayCall) =>
        run(beginCharge(start, mayCall, subscribers)),
      ),
    async finishCharge(end) {
      const { transaction, parked } = await run(finishCharge(end, subscribers))
      const { opened } = await guard.report(transaction.gateway, 'charge', end.verdict)
      const applied = await apply(parked, end.now)
      const latest = applied.findLast(({ id }) => id === transaction.id) ?? transaction
      return { transaction: toTransaction({ ...latest }), opened }
    },

    beginRefund: (start) =>
      withAdmission(start.gateway, 'refund', (mayCall) => run(beginRefund(start, mayCall))),
    async finishRefund(end) {
      const transaction = await run(finishRefund(end, rules))
      const { opened } = await guard.report(transaction.gateway, 'refund', end.verdict)
      return { transaction: toTransaction({ ...transaction }), opened }
    },

    async claimChecks(claim) {
      const claimed = await run(claimChecks(claim))
      return claimed.map(
        (payment): Listed<Check> => readable(payment.transaction.id, () => toCheck(payment)),
      )
    },
    async claimCheck(claim) {
      const claimed = await run(claimCheck(claim))
      if (claimed === undefined) return { state: 'unknown_transaction' }
      if ('calledUntil' in claimed) return { state: 'in_progress', until: claimed.calledUntil }
      const check = readable(claimed.transaction.id, () => toCheck(claimed))
      return { state: 'claimed', check }
    },
    settleCheck: (settled) => run(settleCheck(settled, subscribers)),
    async applyParked({ now, limit }) {
      await apply(await store.findParked(limit), now)
    },

    ...outbox,
    dispatchDue: (claim) => dispatching.due(claim),
    redeliver: (deliveryId, now) => run(redeliver(deliveryId, now)),

    acknowledge: (id, by, now, gatewayReference) =>
      run(acknowledge({ id, by, now, gatewayReference }, rules)),
    forget: (before, limit) => store.forget(before, limit),
  } satisfies Ledger & Outbox
}

function toCheck({ transaction: row, refunds }: Payment): Check {
  const transaction = toTransaction({ ...row })
  const { gateway, reference, amount, currency, description = '' } = transaction
  const request: ChargeRequest =
    row.request === null
      ? { gateway, reference, amount, currency, description }
      : (JSON.parse(row.request) as ChargeRequest)
  const isUnsent = row.called_until === NEVER_CALLED
  const refund = refunds.find(isUnderWay)
  if (!refund) return { transaction, request, isUnsent }
  const { id, amount: given, status } = refund
  const createdAt = Date.parse(isoTime({ ...refund }, 'created_at'))
  return {
    transaction,
    request,
    isUnsent,
    refund: { id, amount: given, createdAt, isAccepted: status === 'accepted' },
  }
}
