// Repositories in this process: for hosts without Durable Objects (Deno, Node).

import { isRecent, pause } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import type { Sql } from '../../shared/sql.ts'
import type { SendNotice } from '../notices/notice-sender.ts'
import { hasNoticeRules } from '../notices/notice-store-sqlite.ts'
import { REPORTS_SILENT_MS } from '../presence.ts'
import { type StreamRoom, StreamTally } from '../streams/stream-room.ts'
import {
  NOT_SUBSCRIBED,
  type StreamSink,
  type Subscribed,
  type Subscription,
} from '../streams/subscription.ts'
import type { BoardVariables } from './board-variables.ts'
import { type OpenRepository, openRepository } from './open-repository-sqlite.ts'
import type { Repositories, RepositoryHandle } from './repositories.ts'
import { replayUnpublished } from './repository.ts'
import {
  deliverDue,
  type RepositoryCalls,
  type RepositoryHost,
  repositoryCalls,
  WAKE_AGAIN_MS,
} from './repository-calls.ts'

export interface ProcessHost {
  /**
   * Opens the database of one repository. Undefined: there is none, and `make` is false, so that to
   * ask or to wait for any name at all leaves none behind.
   */
  openSql(path: string, make: boolean): Sql | undefined
  /** Time in ms. */
  now(): number
  /** Since any moment, by a clock that nobody sets. */
  elapsed(): number
  /** Calls back once after `ms`; what it returns takes that back. */
  after(ms: number, call: () => void): () => void
  /** Repositories without a stream that stay in memory at most. */
  maxIdle: number
  log: Log
  /** Of each board. Absent: their defaults. */
  variables?: BoardVariables
  sendNotice: SendNotice
  /** The room for streams of each repository. */
  room: StreamRoom
  /** The room of all together: streams may be opened for any path. */
  roomOfAll: StreamRoom
}

/** Hosts ring at once where the time is longer: 30 days are, which a rule may have. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface Opened extends OpenRepository {
  awakeSince: string
}

/** The streams of one repository. */
interface Streams {
  sinks: Set<StreamSink>
  tally: StreamTally
}

export class ProcessRepositories implements Repositories {
  readonly #host: ProcessHost
  readonly #encoder = new TextEncoder()
  /** The longest unused one is the first. */
  readonly #opened = new Map<string, Opened>()
  readonly #streams = new Map<string, Streams>()
  readonly #tallyOfAll: StreamTally
  /** What takes back the call that is due next. */
  readonly #armed = new Map<string, () => void>()
  /** When it was last published. */
  readonly #publishedAt = new Map<string, number>()
  readonly #startedAt: number
  #isEnding = false

  constructor(host: ProcessHost) {
    this.#host = host
    this.#tallyOfAll = new StreamTally(host.roomOfAll)
    this.#startedAt = host.now()
  }

  open(path: string): RepositoryHandle {
    return {
      ...this.#callsOf(path),
      subscribe: (from, sink) => this.#subscribe(path, from, sink),
    }
  }

  /** Whether a sidecar has published it lately. After a start each has its time for that. */
  isPublishing(path: string): boolean {
    const publishedAt = this.#publishedAt.get(path) ?? this.#startedAt
    return isRecent(publishedAt, REPORTS_SILENT_MS, this.#host.now())
  }

  /**
   * After a start nobody may ask about these boards: those with rules of notices are decided. One
   * after the other, with requests between them: of a thousand boards few have rules.
   */
  async resume(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await pause(this.#host, 0)
      if (this.#isEnding) return
      try {
        const sql = this.#host.openSql(path, false)
        if (sql && hasNoticeRules(sql)) this.#find(path)
      } catch (error) {
        this.#logOf(path)('error', 'board.alarm_failed', { error: String(error) })
      }
    }
  }

  /** Its database was taken away: the next one that is made has other tables. */
  letGo(path: string): void {
    this.#opened.delete(path)
    this.#disarm(path)
  }

  /** Ends all streams, and every one that is opened later. */
  endStreams(): void {
    this.#isEnding = true
    for (const cancel of this.#armed.values()) cancel()
    for (const { sinks } of [...this.#streams.values()]) {
      for (const sink of [...sinks]) sink.end('closed')
    }
  }

  #find(path: string, make = false): Opened | undefined {
    const known = this.#opened.get(path)
    if (known) {
      this.#opened.delete(path)
      this.#opened.set(path, known)
      return known
    }
    const sql = this.#host.openSql(path, make)
    if (!sql) return undefined
    if (this.#opened.size >= this.#host.maxIdle) {
      // All that it knows is in its database.
      const idle = [...this.#opened.keys()].find((each) => !this.#streams.has(each))
      if (idle !== undefined) this.#opened.delete(idle)
    }
    const log = this.#logOf(path)
    const made = openRepository(sql, { ...this.#host, log, startedAt: this.#startedAt })
    const fresh = { ...made, awakeSince: new Date(this.#host.now()).toISOString() }
    this.#opened.set(path, fresh)
    this.#arm(path, fresh)
    return fresh
  }

  #make(path: string): Opened {
    const made = this.#find(path, true)
    if (!made) throw new Error('the host made no database')
    return made
  }

  #logOf(path: string): Log {
    return (level, event, fields) => this.#host.log(level, event, { board: path, ...fields })
  }

  #hostOf(path: string): RepositoryHost {
    return {
      find: () => this.#find(path),
      make: () => this.#make(path),
      now: () => this.#host.now(),
      awakeSince: () => this.#opened.get(path)?.awakeSince ?? '',
      streams: () => this.#streams.get(path)?.sinks.size ?? 0,
      send: (frames) => this.#broadcast(path, frames),
      arm: () => {
        const known = this.#find(path)
        if (known) this.#arm(path, known)
      },
      sendNotice: this.#host.sendNotice,
      log: this.#logOf(path),
    }
  }

  #callsOf(path: string): RepositoryCalls {
    const calls = repositoryCalls(this.#hostOf(path))
    return {
      ...calls,
      sync: async (...of) => this.#notePublished(path, await calls.sync(...of)),
      changes: async (...of) => this.#notePublished(path, await calls.changes(...of)),
    }
  }

  #notePublished<Outcome extends { ok: boolean }>(path: string, outcome: Outcome): Outcome {
    if (outcome.ok) this.#publishedAt.set(path, this.#host.now())
    return outcome
  }

  /** For the earliest of what is due there. Nothing is armed where nothing is. */
  #arm(path: string, { nextDue, notices }: OpenRepository): void {
    this.#disarm(path)
    if (this.#isEnding) return
    notices.follow(this.#host.now())
    const at = nextDue()
    if (at === undefined) return
    this.#wakeAfter(path, Math.min(Math.max(0, at - this.#host.now()), LONGEST_TIMER_MS))
  }

  #disarm(path: string): void {
    this.#armed.get(path)?.()
    this.#armed.delete(path)
  }

  #wakeAfter(path: string, ms: number): void {
    this.#armed.set(
      path,
      this.#host.after(ms, () => this.#wake(path)),
    )
  }

  #wake(path: string): void {
    try {
      const known = this.#find(path)
      if (!known) return
      this.#broadcast(path, known.claims.expire(this.#host.now()))
      void deliverDue(this.#hostOf(path), known)
      this.#arm(path, known)
    } catch (error) {
      // Nobody waits for this: thrown, it would end the process, and payments with it.
      this.#logOf(path)('error', 'board.alarm_failed', { error: String(error) })
      this.#wakeAfter(path, WAKE_AGAIN_MS)
    }
  }

  #broadcast(path: string, frames: readonly string[]): void {
    for (const frame of frames) {
      const bytes = this.#encoder.encode(frame)
      for (const sink of this.#streams.get(path)?.sinks ?? []) sink.send(bytes)
    }
  }

  #subscribe(path: string, from: Subscription, sink: StreamSink): Subscribed {
    if (this.#isEnding) {
      sink.end('closed')
      return NOT_SUBSCRIBED
    }
    const { sinks, tally } = this.#streams.get(path) ?? {
      sinks: new Set(),
      tally: new StreamTally(this.#host.room),
    }
    const { holder } = from
    const tallies = [tally, this.#tallyOfAll]
    if (!tallies.every((each) => each.hasRoom(holder))) {
      sink.end('full')
      return NOT_SUBSCRIBED
    }
    const missed = this.#find(path)?.repository.replay(from, this.#host.now())
    for (const frame of missed ?? replayUnpublished(from.lastEventId)) {
      sink.send(this.#encoder.encode(frame))
    }
    sinks.add(sink)
    this.#streams.set(path, { sinks, tally })
    for (const each of tallies) each.add(holder)
    return {
      onPing: () => undefined,
      close: () => {
        if (!sinks.delete(sink)) return
        for (const each of tallies) each.remove(holder)
        const isLast = sinks.size === 0 && this.#streams.get(path)?.sinks === sinks
        if (isLast) this.#streams.delete(path)
      },
    }
  }
}
