// The ledger of one deployment over its database: each call is an act of the one writer, and
// events are dispatched after its commits.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { Act, EventClaim, Rules } from '../../acts/act.ts'
import { ACTS, type LedgerActs } from '../../acts/acts.ts'
import { claimEvents, hurryEvents, settleEvents } from '../../acts/dispatch.ts'
import { applyParked, findParked } from '../../acts/webhook.ts'
import type { References } from '../../domain/double-payment.ts'
import type { Dispatched, PendingEvent, Subscribers } from '../../domain/outbox.ts'
import { createDispatch, type Deliver, type WakeAt } from '../../outbox/dispatch.ts'
import type { Ledger } from '../ledger.ts'
import { openWriter } from '../writer.ts'
import type { Database } from './database-libsql.ts'
import type { Installation } from './ledger-row-libsql.ts'
import { libsqlStore } from './store-libsql.ts'

export interface LedgerDeps {
  database: Database
  /** Which database it is to be. Missing: any. */
  installation?: Installation
  /** A charge was stored, and its gateway is called now. */
  onBegun?: (gateway: string) => void
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
  const { database, installation, subscribers, references = 'shared', clock, log, ...host } = deps
  const rules = { subscribers, references }
  const store = libsqlStore(database, installation)
  const { run } = openWriter({ store, clock, log, dispatch: (events) => outbox.dispatch(events) })

  /** Leases what is due. */
  const claimPending = (claim: EventClaim): Promise<PendingEvent[]> => run(claimEvents(claim))
  const settleDispatched = async (outcomes: readonly Dispatched[], now: number): Promise<void> => {
    if (outcomes.length > 0) await run(settleEvents(outcomes, now, rules))
  }
  const outbox = createDispatch({
    ...host,
    clock,
    log,
    claim: claimPending,
    hurry: (waiting) => run(hurryEvents(waiting)),
    settle: settleDispatched,
  })

  const operated = Object.fromEntries(
    Object.entries(ACTS).map(([name, act]) => {
      const made = act as (input: unknown, rules: Rules) => Act<unknown>
      return [name, async (input: unknown) => await run(made(input, rules))]
    }),
  ) as LedgerActs

  const ledger: Ledger = {
    ...operated,
    async beginCharge(start) {
      const begun = await operated.beginCharge(start)
      if (begun.state === 'begun') {
        host.onBegun?.(begun.transaction.gateway)
        await outbox.called(begun.transaction.id)
      }
      return begun
    },
    async applyParked({ now, limit }) {
      const ids = await run(findParked(limit))
      await Promise.all(ids.map((id) => run(applyParked(id, rules, now))))
    },
    dispatchDue: (claim) => outbox.dispatchDue(claim),
    forget: (before, limit, keysBefore) => store.forget(before, limit, keysBefore),
  }
  return { ...ledger, claimPending, settleDispatched }
}
