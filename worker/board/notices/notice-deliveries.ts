// Each delivery of a notice, from when it was decided until it ended: what is to be sent or run
// now, and what came of it. Its callers have a transaction.

import { timeText } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import {
  isTriedEnough,
  MAX_RETRY_MS,
  nextAttemptAt,
  type Sent,
  TRIED_FOR_MS,
} from '../../shared/outgoing.ts'
import type { Notice, ShownDelivery } from './notice-calls.ts'
import type { DeliveryRow, NoticeState, NoticeStore, Target } from './notice-store-sqlite.ts'

/** A request that the host is to send now. */
export interface DueRequest {
  id: string
  board: string
  to: Exclude<Target['to'], 'command'>
  /** The address, encrypted. */
  sealed: string | undefined
  notice: Notice
  /** When it was decided, in ms. */
  at: number
}

/** A command that the sidecar is to run now. */
export interface DueCommand {
  id: string
  /** As the sidecar calls it. */
  command: string
  at: string
  notice: Notice
}

/** A delivery takes 10 s at most, and a command 30 s: after this time its host is gone. */
const LEASE_MS = 30_000
export const COMMAND_LEASE_MS = 60_000
/** Between two tries. */
export const LONGEST_WAIT_MS = MAX_RETRY_MS + COMMAND_LEASE_MS
/** A person who tests a rule waits for the answer, and not for longer. */
const TESTED_FOR_MS = 120_000
/** For one target: more is not read once its receiver is up again. */
const MAX_PENDING = 50

export class Deliveries {
  readonly #store: NoticeStore
  readonly #log: Log

  constructor(store: NoticeStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  add(target: Target, notice: Notice, now: number): string {
    for (const row of this.#store.pendingFor(target.key).slice(0, 1 - MAX_PENDING)) {
      this.#fail(row, row.error ?? 'Too many wait for this target.', now)
    }
    const id = `ntc_${crypto.randomUUID().replaceAll('-', '')}`
    this.#store.add(id, target, notice, now)
    return id
  }

  /** What is to be sent now. Nobody else gets it meanwhile. */
  requests({ board, targets }: NoticeState, now: number): DueRequest[] {
    return this.#due(now).flatMap((row): DueRequest[] => {
      const { id, to } = row
      if (to === 'command') return []
      const target = targets.find(({ key }) => key === row.target)
      const again = nextAttemptAt(row.at, row.attempts, now, 1) ?? now
      this.#store.take(id, Math.max(again, now + LEASE_MS))
      return [{ id, board, to, sealed: target?.sealed, notice: noticeOf(row), at: row.at }]
    })
  }

  /** What the sidecar is to run now. Nobody else gets it meanwhile. */
  commands({ targets }: NoticeState, now: number): DueCommand[] {
    return this.#due(now).flatMap((row): DueCommand[] => {
      const { sealed: command } = targets.find(({ key }) => key === row.target) ?? {}
      if (row.to !== 'command' || command === undefined) return []
      this.#store.take(row.id, now + COMMAND_LEASE_MS)
      return [{ id: row.id, command, at: timeText(row.at), notice: noticeOf(row) }]
    })
  }

  hasCommands(now: number): boolean {
    return this.#store.due(now).some((row) => row.to === 'command' && !isOver(row, now))
  }

  /** What came of a try. */
  tried(id: string, sent: Sent, now: number, random: number): void {
    const row = this.#store.delivery(id)
    // Its rule may have gone while it was on its way.
    if (!row || row.state === 'delivered' || (row.state === 'failed' && !sent.ok)) return
    const status = row.to === 'command' ? null : (sent.status ?? null)
    const tried = { ...row, status }
    if (sent.ok) {
      this.#store.put({ ...tried, state: 'delivered', ended_at: now, error: null })
    } else {
      const { error, retryAfterMs } = sent
      const next = nextAttemptAt(row.at, row.attempts - 1, now, random, retryAfterMs)
      const isLast = next === undefined || noticeOf(row).test
      if (isLast) this.#fail(tried, error, now)
      else this.#store.put({ ...tried, error, next_at: next })
    }
  }

  /** Their rules are gone. */
  endOthers(targets: readonly Target[], now: number): void {
    const keys = new Set(targets.map(({ key }) => key))
    for (const row of this.#store.pending()) {
      if (!keys.has(row.target)) this.#fail(row, 'No rule has this address any more.', now)
    }
  }

  /** Ends those that nobody answered, or nobody came for. */
  #due(now: number): DeliveryRow[] {
    return this.#store.due(now).filter((row) => {
      if (!isOver(row, now)) return true
      const why = row.to === 'command' ? 'No sidecar has run it.' : 'Nothing came of sending it.'
      this.#fail(row, row.error ?? why, now)
      return false
    })
  }

  #fail(row: DeliveryRow, error: string, now: number): void {
    const { id, to, host, attempts } = row
    this.#log('warn', 'notice.failed', { id, to, host, attempts, error })
    this.#store.put({ ...row, state: 'failed', ended_at: now, error })
  }
}

function isOver(row: DeliveryRow, now: number): boolean {
  const { to, at, attempts } = row
  if (noticeOf(row).test) return now - at >= TESTED_FOR_MS
  return to === 'command' ? now - at >= TRIED_FOR_MS : isTriedEnough(at, attempts, now)
}

const noticeOf = ({ notice }: DeliveryRow): Notice => JSON.parse(notice) as Notice

export function shownDelivery(row: DeliveryRow): ShownDelivery {
  const { id, at, to, host, state, attempts, next_at, ended_at, status, error } = row
  return {
    id,
    at: timeText(at),
    to,
    ...(host !== null && { host }),
    state,
    attempts,
    ...(state === 'pending' && { nextAt: timeText(next_at) }),
    ...(ended_at !== null && { endedAt: timeText(ended_at) }),
    ...(status !== null && { status }),
    ...(error !== null && { error }),
    ...noticeOf(row),
  }
}
