// The one writer: takes acts in groups, loads the rows for a whole group, decides one
// act after the other, and saves what has changed as one transaction.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import type { Act } from '../acts/act.ts'
import type { WorkingSet } from '../acts/working-set.ts'
import { counted } from '../counted.ts'
import { type PendingEvent, pendingEvent } from '../domain/outbox.ts'
import { isTold } from '../domain/payment.ts'
import type { AlertRow, WebhookEventRow } from '../domain/rows.ts'
import { groupCommit } from './group-commit.ts'
import { LedgerRefused, OtherDatabase, SchemaMismatch, StaleRows } from './ledger.ts'
import type { Store } from './libsql/store-libsql.ts'

export interface WriterDeps {
  store: Store
  /** Gets the events that a group caused, once it is committed. */
  dispatch: (pending: readonly PendingEvent[]) => void
  clock: Clock
  log: Log
}

const REFUSALS = [LedgerRefused, OtherDatabase, SchemaMismatch]

type Decided = { answer: unknown } | { error: unknown }

export function openWriter({ store, dispatch, clock, log }: WriterDeps) {
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
      // No act is at fault, and no retry helps.
      if (REFUSALS.some((refusal) => error instanceof refusal)) return acts.map(() => ({ error }))
      throw error
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
    isTransient: (error) => error instanceof StaleRows || store.isTransient(error),
    retrying({ error, failures, waitMs }) {
      counted(log, 'warn', 'payments.ledger.retry', { error: String(error), failures, waitMs })
    },
  })

  return {
    /**
     * Rejects with LedgerUnavailable, SchemaMismatch, OtherDatabase, or with what this act
     * alone threw.
     */
    async run<Answer>(act: Act<Answer>): Promise<Answer> {
      const decided = await commit.submit(act)
      if ('error' in decided) throw decided.error
      return decided.answer as Answer
    },
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
    after.acknowledged_at === null && isTold(before, after) ? [after] : [],
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
