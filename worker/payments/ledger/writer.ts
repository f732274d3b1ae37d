// The one writer: takes operations in groups, loads the rows for a whole group, decides one operation after the other, and saves what has changed as one transaction.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import type { PendingEvent } from '../domain/events.ts'
import { groupCommit } from './group-commit.ts'
import { SchemaMismatch } from './ledger.ts'
import type { Keys, Operation } from './operation.ts'
import { pendingEvent } from './read-rows.ts'
import { type Loaded, StaleRows, type Store } from './store.ts'
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
/**
 * A ledger that was replaced by another one waits this long, and then starts again if it still has
 * something to save. Otherwise, while the platform moves the ledger, the old and the new one would
 * replace each other with every group. It does not answer 503 meanwhile, which would not help.
 */
const RESTS_FOR_MS = { least: 250, random: 500 }

class LedgerReplaced extends Error {
  override readonly name = 'LedgerReplaced'
  readonly code = 'ledger_replaced'
}

export function openWriter({ store, dispatch, clock, log, groups }: WriterDeps): Writer {
  /** This ledger's own; undefined: it has saved nothing yet. */
  let epoch: number | undefined
  let restsUntil = 0
  /** Events of saves whose outcome is unknown, by id: if they are stored, the save was done. */
  const unsure = new Map<string, PendingEvent>()

  async function send(
    operations: readonly Operation<unknown>[],
    signal: AbortSignal,
  ): Promise<Decided[]> {
    const all = (error: unknown): Decided[] => operations.map(() => ({ error }))
    if (clock.elapsed() < restsUntil) throw new LedgerReplaced('another ledger writes')
    const keys = merge(operations.map((operation) => operation.keys))
    for (let tries = 1; ; tries++) {
      const loaded = await load(keys, signal)
      if (loaded instanceof SchemaMismatch) return all(loaded)
      if (epoch !== undefined && loaded.position.epoch !== epoch) {
        log('error', 'payments.ledger.replaced', { epoch, by: loaded.position.epoch })
        epoch = undefined
        const { least, random } = RESTS_FOR_MS
        restsUntil = clock.elapsed() + least + random * clock.random()
        throw new LedgerReplaced('another ledger writes')
      }
      const { rows } = loaded
      const decided = operations.map((operation) => decide(operation, rows))
      if (!rows.isChanged) return decided
      if (await isSaved(loaded, signal, tries === MAX_TRIES)) return decided
    }
  }

  async function load(keys: Keys, signal: AbortSignal): Promise<Loaded | SchemaMismatch> {
    try {
      const known = { ...keys, outbox: [...(keys.outbox ?? []), ...unsure.keys()] }
      const loaded = await store.load(known, signal)
      // The answer of their save was lost, but the save was done.
      const landed = [...unsure].flatMap(([id, event]) =>
        loaded.rows.get('outbox', id) ? [event] : [],
      )
      unsure.clear()
      dispatch(landed)
      return loaded
    } catch (error) {
      if (error instanceof SchemaMismatch) return error
      throw error
    }
  }

  /** False: load the rows, and decide again. */
  async function isSaved(loaded: Loaded, signal: AbortSignal, isLast: boolean): Promise<boolean> {
    const { rows, position } = loaded
    const raisesEpoch = epoch === undefined
    try {
      await store.save(loaded, { raisesEpoch }, signal)
    } catch (error) {
      for (const event of newEvents(rows)) unsure.set(event.outboxId, event)
      if (error instanceof StaleRows && !isLast) return false
      throw error
    }
    if (raisesEpoch) epoch = position.epoch + 1
    dispatch(newEvents(rows))
    return true
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
    isTransient: (error) =>
      error instanceof StaleRows || error instanceof LedgerReplaced || store.isTransient(error),
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
