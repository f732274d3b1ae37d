// The ledger of one deployment: the one writer of its database. It takes acts in groups, loads the
// rows for a whole group, decides one act after the other, and saves what has changed as one
// transaction: of an act all is stored, or none. `acts/` has what they decide.
//
// A caller generates an `id` once and keeps it through its retries: a call that is repeated because
// its outcome was unknown finds its own rows and answers as the first time. All times are ms.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import type { Act, DueClaim, EventClaim, Rules, Subscribers, WorkingSet } from '../acts/act.ts'
import { recordAnswer } from '../acts/answer.ts'
import { beginCharge } from '../acts/begin-charge.ts'
import { claimCheck, claimChecks, settleCheck } from '../acts/check.ts'
import { checkSoon } from '../acts/check-soon.ts'
import { beginClosing, endClosing } from '../acts/close-charge.ts'
import {
  claimEvents,
  type Dispatched,
  hurryEvents,
  type PendingEvent,
  pendingEvent,
  redeliver,
  settleEvents,
} from '../acts/dispatch.ts'
import { finishCharge } from '../acts/finish-charge.ts'
import { acknowledge, pause, reopen, resume, writeNote } from '../acts/operator.ts'
import { applyParked, findParked } from '../acts/parked.ts'
import { beginRefund, finishRefund } from '../acts/refund.ts'
import { recordWebhook } from '../acts/webhook.ts'
import { counted } from '../counted.ts'
import { isRaisedOrSettled } from '../domain/alerts.ts'
import type { AlertRow, WebhookEventRow } from '../domain/rows.ts'
import { createDispatch, type Deliver, type DispatchReport } from '../outbox/dispatch.ts'
import type { WakeAt } from '../outbox/waiting.ts'
import { LedgerRefused, OtherDatabase, SchemaMismatch, StaleRows } from './failures.ts'
import { groupCommit } from './group-commit.ts'
import { type Database, isTransient } from './libsql/database-libsql.ts'
import type { Installation } from './libsql/ledger-row-libsql.ts'
import { libsqlStore, type Store } from './libsql/store-libsql.ts'

/** What it does, each act by its name: its methods and the calls to its object. */
export const ACTS = {
  /** Records a verified event and applies it to its transaction. */
  webhook: recordWebhook,
  /** Records what the gateway reports when it is asked, if that is new, and applies it. */
  answer: recordAnswer,
  /** The sweeper soon checks the payment with these ids, if it is known. */
  checkSoon,

  /** Stores a charge before its gateway is called, or finds the one that this request made. */
  beginCharge,
  /** Stores the gateway's answer, and applies events that were parked for it. */
  finishCharge,
  /** Ends a charge that never reached its gateway; any other one its gateway has to end. */
  beginClosing,
  /** Frees a payment whose page was being closed, and answers it as it is now. */
  endClosing,
  /** Claims a refund before its gateway is called: one of a transaction at a time. */
  beginRefund,
  finishRefund,

  /** Transactions whose check is due. Without a result they are due again at `until`. */
  claimChecks,
  /** One of them, due or not. The sweeper leaves it alone until `until`. */
  claimCheck,
  /** As `answer`, if there is one, and with what follows for the next check. */
  settleCheck,

  /** Sends a delivery again, in any status. False: there is none with this id. */
  redeliver,
  /** Makes what waits for an endpoint due, the oldest of it. True: there may be more. */
  hurryEvents,
  /** Marks an alert as seen; a second time changes nothing. False: there is none with this id. */
  acknowledge,
  /** Takes that back, a minute long. */
  reopen,
  /** Undefined: there is no payment with this id. */
  writeNote,

  /** Nothing new is begun until `resume`. Again, it changes nothing. */
  pause,
  resume,
} satisfies Record<string, (input: never, rules: Rules) => Act<unknown>>

type Acts = typeof ACTS
type AnswerOf<Made> = Made extends Act<infer Answer> ? Answer : never

/** Each act, as the writer answers it. */
type LedgerActs = {
  [Name in keyof Acts]: (
    input: Parameters<Acts[Name]>[0],
  ) => Promise<AnswerOf<ReturnType<Acts[Name]>>>
}

export interface LedgerDeps {
  database: Database
  /** Which database it is to be. Missing: any. */
  installation?: Installation
  /** A charge was stored, and its gateway is called now. */
  onBegun?: (gateway: string) => void
  subscribers: Subscribers
  /** As configured. */
  rules: Omit<Rules, 'subscribers'>
  deliver: Deliver
  /** Gets the work that continues after the answers, for a host that ends gracefully. */
  keepAlive?: (work: Promise<unknown>) => void
  /** For `dispatchDue`. */
  wakeAt?: WakeAt
  clock: Clock
  log: Log
}

/**
 * Every write that concerns money goes through it, one at a time for each database. Rejects with
 * LedgerUnavailable when the database stays out of reach.
 *
 * The events that a group of calls caused are dispatched behind its commit. No answer waits for it,
 * but that of a new charge for its listeners.
 */
export type Ledger = Omit<ReturnType<typeof openLedger>, 'claimPending' | 'settleDispatched'>

/** There is one for each database: a second one replaces the first. */
export function openLedger(deps: LedgerDeps) {
  const { database, installation, subscribers, clock, log, ...host } = deps
  const rules = { ...deps.rules, subscribers }
  const store = libsqlStore(database, installation)
  const run = runner(store, deps, (events) => outbox.dispatch(events))

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

  const acts = Object.fromEntries(
    Object.entries(ACTS).map(([name, act]) => {
      const made = act as (input: unknown, rules: Rules) => Act<unknown>
      return [name, async (input: unknown) => await run(made(input, rules))]
    }),
  ) as LedgerActs

  return {
    ...acts,
    beginCharge: (async (start) => {
      const begun = await acts.beginCharge(start)
      if (begun.state === 'begun') {
        host.onBegun?.(begun.transaction.gateway)
        await outbox.called(begun.transaction.id)
      }
      return begun
    }) satisfies LedgerActs['beginCharge'],
    /** Applies parked events whose transaction has appeared. */
    async applyParked({ now, limit }: DueClaim): Promise<void> {
      const ids = await run(findParked(limit))
      await Promise.all(ids.map((id) => run(applyParked(id, rules, now))))
    },
    /**
     * Dispatches stored events that are due, `limit` at most: those that failed before, or were
     * never dispatched. Resolves when the results are stored.
     */
    dispatchDue: (claim: DueClaim): Promise<DispatchReport> => outbox.dispatchDue(claim),
    dropOldEvents: store.dropOldEvents,
    /** @forTests What is leased when, without a dispatch. */
    claimPending,
    /** @forTests What an outcome is stored as, without a dispatch. */
    settleDispatched,
  }
}

/** No act is at fault, and no retry helps. */
const NOT_OF_AN_ACT = [LedgerRefused, OtherDatabase, SchemaMismatch]

type Decided = { answer: unknown } | { error: unknown }

/**
 * Runs acts. Rejects with LedgerUnavailable, SchemaMismatch, OtherDatabase, or with what an act
 * alone threw. `dispatch` gets the events that a group caused, once it is committed.
 */
function runner(
  store: Store,
  { clock, log }: LedgerDeps,
  dispatch: (pending: readonly PendingEvent[]) => void,
) {
  async function send(acts: readonly Act<unknown>[], signal: AbortSignal): Promise<Decided[]> {
    const keys = acts.flatMap((act) => act.keys)
    try {
      const loaded = await store.load(keys, signal)
      const { rows } = loaded
      const decided = acts.map((act) => decide(act, rows))
      if (!rows.isChanged) return decided
      await store.save(loaded, signal)
      for (const { id, kind, gateway, transaction_id: transactionId } of newAlerts(rows)) {
        counted(log, 'error', 'payments.alert.raised', { id, kind, gateway, transactionId })
      }
      for (const event of newMismatches(rows)) {
        log('warn', 'payments.webhook.amount_mismatch', {
          gateway: event.gateway,
          correlationId: event.correlation_id ?? undefined,
          eventId: event.event_id,
          status: event.to_status,
          transactionId: event.transaction_id,
          outcome: event.outcome,
          amount: event.amount,
          currency: event.currency,
        })
      }
      dispatch(newEvents(rows))
      return decided
    } catch (error) {
      if (!NOT_OF_AN_ACT.some((failure) => error instanceof failure)) throw error
      return acts.map(() => ({ error }))
    }
  }

  const commit = groupCommit<Act<unknown>, Decided>({
    clock,
    async send(acts, signal) {
      const startedAt = clock.elapsed()
      const decided = await send(acts, signal)
      const ms = clock.elapsed() - startedAt
      counted(log, 'debug', 'payments.ledger.committed', { operations: acts.length, ms })
      return decided
    },
    // Another ledger has saved in between, and no act is at fault: the group is not halved.
    // In a deploy two write for a moment, and each wait lets the other through.
    isTransient: (error) => error instanceof StaleRows || isTransient(error),
    retrying({ error, failures, waitMs }) {
      counted(log, 'warn', 'payments.ledger.retry', { error: String(error), failures, waitMs })
    },
  })

  return async <Answer>(act: Act<Answer>): Promise<Answer> => {
    const decided = await commit(act)
    if ('error' in decided) throw decided.error
    return decided.answer as Answer
  }
}

/** An act that throws fails alone, and changes nothing. */
function decide({ decide: decideOn }: Act<unknown>, rows: WorkingSet): Decided {
  try {
    return { answer: rows.attempt(() => decideOn(rows)) }
  } catch (error) {
    return { error }
  }
}

function newEvents(rows: WorkingSet): PendingEvent[] {
  const deliveries = rows.changesOf('deliveries').inserted
  return rows.changesOf('outbox').inserted.flatMap((outbox) => {
    const delivery = deliveries.find(({ outbox_id }) => outbox_id === outbox.id)
    return pendingEvent({ outbox, listeners: outbox.done_at === null, delivery }) ?? []
  })
}

/** One that is raised again counts, too. */
function newAlerts(rows: WorkingSet): AlertRow[] {
  const { inserted, updated } = rows.changesOf('alerts')
  const again = updated.flatMap(({ before, after }) =>
    after.acknowledged_at === null && isRaisedOrSettled(before, after) ? [after] : [],
  )
  return [...inserted, ...again]
}

/** Events of another amount or currency than was requested, which were applied or rejected now. */
function newMismatches(rows: WorkingSet): WebhookEventRow[] {
  const { inserted, updated } = rows.changesOf('webhookEvents')
  const noLongerParked = updated.flatMap(({ before, after }) =>
    before.outcome === 'parked' ? [after] : [],
  )
  return [...inserted, ...noLongerParked].filter(({ mismatch }) => mismatch === 1)
}
