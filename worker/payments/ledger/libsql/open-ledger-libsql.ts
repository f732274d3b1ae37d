// The ledger of one deployment over its database: each call is an operation of the one writer, and
// events are dispatched after its commits.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { References } from '../../domain/double-payment.ts'
import type { Dispatched, PendingEvent, Subscribers } from '../../domain/outbox.ts'
import type { WebhookEventRow } from '../../domain/rows.ts'
import {
  createDispatch,
  type Deliver,
  type EventClaim,
  type WakeAt,
} from '../../outbox/dispatch.ts'
import { beginCharge, beginRefund, finishCharge, finishRefund } from '../charges-and-refunds.ts'
import { type Arrival, checkArrival, type Ledger, type Recorded } from '../ledger.ts'
import {
  acknowledge,
  checkSoon,
  claimCheck,
  claimChecks,
  claimEvents,
  redeliver,
  settleCheck,
  settleEvents,
} from '../sweeps.ts'
import { applyParked, findParked, paymentIdsIn, recordWebhook } from '../webhooks.ts'
import { openWriter } from '../writer.ts'
import type { Database } from './http-libsql.ts'
import { libsqlStore } from './store-libsql.ts'

export interface LedgerDeps {
  database: Database
  subscribers: Subscribers
  /** Whether a reference is the same order at all gateways; it is unless set. */
  references?: References
  deliver: Deliver
  /** Gets the work that continues after the answers, for a host that ends gracefully. */
  keepAlive?: (work: Promise<unknown>) => void
  /** For `dispatchDue`. */
  wakeAt?: WakeAt
  clock: Clock
  log: Log
}

/** There is one for each database: a second one replaces the first. */
export function openLedger(deps: LedgerDeps) {
  const { database, subscribers, references = 'shared', clock, log, ...host } = deps
  const rules = { subscribers, references }
  const store = libsqlStore(database)
  const { run } = openWriter({ store, clock, log, dispatch: (events) => outbox.dispatch(events) })

  /** Leases what is due. */
  const claimPending = (claim: EventClaim): Promise<PendingEvent[]> => run(claimEvents(claim))
  const settleDispatched = async (outcomes: readonly Dispatched[], now: number): Promise<void> => {
    if (outcomes.length > 0) await run(settleEvents(outcomes, now, rules))
  }
  const outbox = createDispatch({
    ...{ ...host, clock, log },
    claim: claimPending,
    settle: settleDispatched,
  })

  function logApplied(events: readonly (WebhookEventRow | undefined)[]): void {
    for (const event of events) {
      if (event?.mismatch !== 1) continue
      log('warn', 'payments.webhook.amount_mismatch', {
        ...{ gateway: event.gateway, correlationId: event.correlation_id },
        ...{ eventId: event.event_id, status: event.to_status },
        ...{ transactionId: event.transaction_id, outcome: event.outcome },
        ...{ amount: event.amount, currency: event.currency },
      })
    }
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

  const ledger: Ledger = {
    async webhook(arrival) {
      checkArrival(arrival)
      return await record(arrival)
    },
    checkSoon: (gateway, ids, now, unreadable) =>
      run(
        checkSoon(
          { ids: paymentIdsIn(gateway, ids), now, unreadable, about: ids.gatewayTransactionId },
          rules,
        ),
      ),

    async beginCharge(start) {
      const begun = await run(beginCharge(start, rules))
      if (begun.state === 'begun') await outbox.called(begun.transaction.id)
      return begun
    },
    async finishCharge(end) {
      const { transaction, applied } = await run(finishCharge(end, rules))
      logApplied(applied)
      return transaction
    },
    beginRefund: (start) => run(beginRefund(start)),
    finishRefund: (end) => run(finishRefund(end, rules)),

    claimChecks: (claim) => run(claimChecks(claim)),
    claimCheck: (claim) => run(claimCheck(claim)),
    settleCheck: (settled) => run(settleCheck(settled, rules)),
    async applyParked({ now, limit }) {
      const ids = await run(findParked(limit))
      logApplied(await Promise.all(ids.map((id) => run(applyParked(id, rules, now)))))
    },

    dispatchDue: (claim) => outbox.dispatchDue(claim),
    redeliver: (deliveryId, now, asked) => run(redeliver(deliveryId, now, asked)),

    acknowledge: (id, by, now, gatewayReference) =>
      run(acknowledge({ id, by, now, gatewayReference }, rules)),
    forget: (before, limit, keysBefore) => store.forget(before, limit, keysBefore),
  }
  return { ...ledger, claimPending, settleDispatched }
}
