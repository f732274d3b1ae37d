// The one writer of libSQL: the group commit, in which all webhooks of a group are one unit.

import type { Clock } from '../../../shared/clock.ts'
import type { Log } from '../../../shared/log.ts'
import type { PendingEvent, Subscribers } from '../../domain/events.ts'
import { groupCommit } from '../group-commit.ts'
import { type Arrival, checkArrival, type Recorded } from '../ledger.ts'
import type { Database, Row } from './database-libsql.ts'
import { isTransient } from './request-libsql.ts'
import type { Run, Unit } from './unit-libsql.ts'
import { webhooksUnit } from './webhook-libsql.ts'

export interface Writer {
  /** All of the unit is stored or none, together with those of others. */
  write: Run
  /** One that is under way is not written again, and both calls get its answer. */
  record(arrival: Arrival): Promise<Recorded>
}

type Work = { arrival: Arrival } | { unit: Unit<unknown> }
interface Written {
  rows: readonly Row[][]
  recorded: Recorded | undefined
}

export function openWriter(deps: {
  database: Database
  subscribers: Subscribers
  /** Gets all that a group caused, once it is committed. */
  dispatch: (pending: readonly PendingEvent[]) => void
  clock: Clock
  log: Log
}): Writer {
  const { database, subscribers, dispatch, clock, log } = deps

  const send = async (works: readonly Work[], signal: AbortSignal): Promise<Written[]> => {
    const arrivals = works.flatMap((work) => ('arrival' in work ? [work.arrival] : []))
    const together = arrivals.length === 0 ? undefined : webhooksUnit(arrivals, subscribers)
    const others = works.flatMap((work) => ('unit' in work ? work.unit.statements : []))
    const first = together?.statements ?? []
    const results = await database.write([...first, ...others], signal)
    const webhooks = together?.read(results.slice(0, first.length))
    const recorded = (webhooks?.recorded ?? []).values()
    const pending = webhooks?.pending ?? []
    let at = first.length
    const written = works.map((work) => {
      if ('arrival' in work) return { rows: [], recorded: recorded.next().value }
      const from = at
      at += work.unit.statements.length
      const rows = results.slice(from, at)
      pending.push(...(work.unit.pending?.(rows) ?? []))
      return { rows, recorded: undefined }
    })
    dispatch(pending)
    return written
  }

  const commit = groupCommit<Work, Written>({
    clock,
    send,
    isTransient,
    retrying: ({ error, failures, waitMs }) =>
      log('warn', 'payments.ledger.retry', { error: String(error), failures, waitMs }),
  })
  const record = async (arrival: Arrival): Promise<Recorded> => {
    checkArrival(arrival)
    // What is about the same transaction as another of its batch comes with the next one.
    for (;;) {
      const { recorded } = await commit.submit({ arrival })
      if (recorded) return recorded
    }
  }
  const underWay = new Map<string, Promise<Recorded>>()

  return {
    async write(unit) {
      return unit.read((await commit.submit({ unit })).rows)
    },
    record(arrival) {
      const { id } = arrival
      const known = underWay.get(id)
      // Repeated by a caller who could not wait: a slow database must not get twice the work.
      if (known) return known
      const recording = record(arrival).finally(() => underWay.delete(id))
      underWay.set(id, recording)
      return recording
    },
  }
}
