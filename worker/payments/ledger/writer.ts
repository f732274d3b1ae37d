// The one writer: takes operations in groups, loads the rows for a whole group, decides one
// operation after the other, and saves what has changed as one transaction.

import { type Backoff, backoffMs, type Clock, pause } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import type { PendingEvent } from '../domain/events.ts'
import { groupCommit } from './group-commit.ts'
import { SchemaMismatch, StaleRows, type Store } from './ledger.ts'
import type { Keys, Operation } from './operation.ts'
import { pendingEvent } from './read-rows.ts'
import type { WorkingSet } from './working-set.ts'

export interface Writer {
  /** Rejects with LedgerUnavailable, SchemaMismatch, or with what this operation alone threw. */
  run<Answer>(operation: Operation<Answer>): Promise<Answer>
}

export interface WriterDeps {
  store: Store
  /** Gets the events that a group caused, once it is committed. */
  dispatch: (pending: readonly PendingEvent[]) => void
  clock: Clock
  log: Log
  /** Called after each group. */
  groups?: GroupObserver | undefined
}

export interface GroupObserver {
  committed(group: { operations: number; ms: number }): void
  /** It is tried again. */
  retrying(): void
}

type Decided = { answer: unknown } | { error: unknown }

/** Another ledger may save in between, even more than once, but not so often. */
const MAX_TRIES = 4
/** Between them: in a deploy two ledgers write for a moment, and each lets the other through. */
const AGAIN: Backoff = { firstMs: 20, maxMs: 200 }

export function openWriter({ store, dispatch, clock, log, groups }: WriterDeps): Writer {
  async function send(
    operations: readonly Operation<unknown>[],
    signal: AbortSignal,
  ): Promise<Decided[]> {
    const keys = merge(operations.map((operation) => operation.keys))
    for (let tries = 1; ; tries++) {
      try {
        const loaded = await store.load(keys, signal)
        const { rows } = loaded
        const decided = operations.map((operation) => decide(operation, rows))
        if (!rows.isChanged) return decided
        await store.save(loaded, signal)
        dispatch(newEvents(rows))
        return decided
      } catch (error) {
        if (error instanceof SchemaMismatch) return operations.map(() => ({ error }))
        if (!(error instanceof StaleRows) || tries === MAX_TRIES) throw error
        await pause(clock, backoffMs(tries, AGAIN, clock.random()))
      }
    }
  }

  const commit = groupCommit<Operation<unknown>, Decided>({
    clock,
    async send(operations, signal) {
      const startedAt = clock.elapsed()
      const decided = await send(operations, signal)
      groups?.committed({ operations: operations.length, ms: clock.elapsed() - startedAt })
      return decided
    },
    // A refused save says nothing about the operations, so the group is not halved.
    isTransient: (error) => error instanceof StaleRows || store.isTransient(error),
    retrying({ error, failures, waitMs }) {
      groups?.retrying()
      log('warn', 'payments.ledger.retry', { error: String(error), failures, waitMs })
    },
  })

  return {
    async run<Answer>(operation: Operation<Answer>): Promise<Answer> {
      const decided = await commit.submit(operation)
      if ('error' in decided) throw decided.error
      return decided.answer as Answer
    },
  }
}

/** An operation that throws fails alone, and changes nothing. */
function decide({ decide: decideOn }: Operation<unknown>, rows: WorkingSet): Decided {
  try {
    const { answer, changes = {} } = decideOn(rows)
    rows.apply(changes)
    return { answer }
  } catch (error) {
    return { error }
  }
}

function newEvents(rows: WorkingSet): PendingEvent[] {
  const deliveries = rows.changesOf('deliveries').inserted
  return rows.changesOf('outbox').inserted.flatMap((outbox) => {
    const delivery = deliveries.find(({ outbox_id }) => outbox_id === outbox.id)
    return pendingEvent(outbox, outbox.done_at === null, delivery)
  })
}

function merge(all: readonly Keys[]): Keys {
  const merged: Record<string, unknown[]> = {}
  for (const keys of all) {
    for (const [name, list] of Object.entries(keys)) {
      if (Array.isArray(list)) merged[name] = [...(merged[name] ?? []), ...list]
    }
  }
  const due = (name: 'dueChecks' | 'dueEvents') => {
    const asked = all.flatMap((keys) => keys[name] ?? [])
    if (asked.length === 0) return {}
    // The limit for all of them together. Each takes its own share when it decides.
    const limit = asked.reduce((sum, each) => sum + each.limit, 0)
    return { [name]: { now: Math.max(...asked.map(({ now }) => now)), limit } }
  }
  return { ...merged, ...due('dueChecks'), ...due('dueEvents') }
}
