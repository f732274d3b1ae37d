// Repositories in this process: for hosts without Durable Objects (Deno, Node).

import { pause } from '../../shared/clock.ts'
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
import { type OpenRepository, openRepository } from './open-repository-sqlite.ts'
import type { Repositories, RepositoryHandle } from './repositories.ts'
import { replayUnpublished } from './repository.ts'
import { type RepositoryCalls, repositoryCalls } from './repository-calls.ts'

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
  /** Who works and shows no sign of it for so long is silent. Absent: the default. */
  silentAfterMs?: number
  sendNotice: SendNotice
  /** The room for streams of each repository. */
  room: StreamRoom
  /** The room of all together: streams may be opened for any path. */
  roomOfAll: StreamRoom
}

/** Hosts ring at once where the time is longer: 30 days are, which a rule may have. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** A disk that is full may have room by then. */
const WAKE_AGAIN_MS = 60_000

interface Opened extends OpenRepository {
  awakeSince: string
}

/** The streams of one repository. */
interface Streams {
  sinks: Set<StreamSink>
  tally: StreamTally
}

export interface ProcessRepositories extends Repositories {
  /** Ends all streams, and every one that is opened later. */
  endStreams(): void
  /** Whether a sidecar has published it lately. After a start each has its time for that. */
  isHeard(path: string): boolean
  /** After a start nobody may ask about these boards: those with rules of notices are decided. */
  resume(paths: readonly string[]): Promise<void>
  /** Its database was taken away: the next one that is made has other tables. */
  letGo(path: string): void
}

export function processRepositories(host: ProcessHost): ProcessRepositories {
  const encoder = new TextEncoder()
  const opened = new Map<string, Opened>()
  const streams = new Map<string, Streams>()
  const tallyOfAll = new StreamTally(host.roomOfAll)
  const armed = new Map<string, () => void>()
  /** When its sidecar was last heard. */
  const heard = new Map<string, number>()
  const startedAt = host.now()
  let isEnding = false

  const find = (path: string, make = false): Opened | undefined => {
    const known = opened.get(path)
    if (known) {
      // The longest unused one is the first.
      opened.delete(path)
      opened.set(path, known)
      return known
    }
    const sql = host.openSql(path, make)
    if (!sql) return undefined
    if (opened.size >= host.maxIdle) {
      // All that it knows is in its database.
      const idle = [...opened.keys()].find((each) => !streams.has(each))
      if (idle !== undefined) opened.delete(idle)
    }
    const log: Log = (level, event, fields) => host.log(level, event, { board: path, ...fields })
    const made = openRepository(sql, { ...host, log, startedAt })
    const fresh = { ...made, awakeSince: new Date(host.now()).toISOString() }
    opened.set(path, fresh)
    arm(path, fresh)
    return fresh
  }
  /** For the earliest of what is due there. Nothing is armed where nothing is. */
  const arm = (path: string, { nextDue, notices }: OpenRepository): void => {
    armed.get(path)?.()
    armed.delete(path)
    if (isEnding) return
    notices.follow(host.now())
    const at = nextDue()
    if (at === undefined) return
    const wake = () => {
      try {
        const known = find(path)
        if (!known) return
        broadcast(path, known.claims.expire(host.now()))
        // Not async: thrown after this turn, it would end the process just as well.
        void deliver(path, known)
        arm(path, known)
      } catch (error) {
        // Nobody waits for this: thrown, it would end the process, and payments with it.
        host.log('error', 'board.not_settled', { board: path, error: String(error) })
        armed.set(path, host.after(WAKE_AGAIN_MS, wake))
      }
    }
    armed.set(path, host.after(Math.min(Math.max(0, at - host.now()), LONGEST_TIMER_MS), wake))
  }
  /** Sends behind the turn: a receiver may take its time. What is due is stored in it. */
  const deliver = (path: string, { notices }: OpenRepository): Promise<void> => {
    const sending = notices.due(host.now()).requests.map(async (request) => {
      try {
        const sent = await host.sendNotice(request)
        const known = find(path)
        known?.notices.settled(request.id, sent, Math.random(), host.now())
        if (known) arm(path, known)
      } catch (error) {
        host.log('error', 'board.not_settled', { board: path, error: String(error) })
      }
    })
    return Promise.all(sending).then(() => undefined)
  }
  const make = (path: string): Opened => {
    const made = find(path, true)
    if (!made) throw new Error('the host made no database')
    return made
  }
  const broadcast = (path: string, frames: readonly string[]): void => {
    for (const frame of frames) {
      const bytes = encoder.encode(frame)
      for (const sink of streams.get(path)?.sinks ?? []) sink.send(bytes)
    }
  }
  /** One that was published is heard of. */
  const noted = <Outcome extends { ok: boolean }>(path: string, outcome: Outcome): Outcome => {
    if (outcome.ok) heard.set(path, host.now())
    return outcome
  }
  const callsOf = (path: string): RepositoryCalls => {
    const calls = repositoryCalls({
      find: () => find(path),
      make: () => make(path),
      now: () => host.now(),
      awakeSince: () => opened.get(path)?.awakeSince ?? '',
      streams: () => streams.get(path)?.sinks.size ?? 0,
      send: (frames) => broadcast(path, frames),
      arm() {
        const known = find(path)
        if (known) arm(path, known)
      },
      deliver: (repository) => deliver(path, repository),
    })
    return {
      ...calls,
      sync: async (...of) => noted(path, await calls.sync(...of)),
      changes: async (...of) => noted(path, await calls.changes(...of)),
    }
  }

  function subscribe(path: string, from: Subscription, sink: StreamSink): Subscribed {
    if (isEnding) {
      sink.end('closed')
      return NOT_SUBSCRIBED
    }
    const { sinks, tally } = streams.get(path) ?? {
      sinks: new Set(),
      tally: new StreamTally(host.room),
    }
    const { holder } = from
    if (!tally.hasRoom(holder) || !tallyOfAll.hasRoom(holder)) {
      sink.end('full')
      return NOT_SUBSCRIBED
    }
    const missed = find(path)?.repository.replay(from, host.now())
    for (const frame of missed ?? replayUnpublished(from.lastEventId)) {
      sink.send(encoder.encode(frame))
    }
    sinks.add(sink)
    streams.set(path, { sinks, tally })
    for (const each of [tally, tallyOfAll]) each.add(holder)
    return {
      onPing: () => undefined,
      close() {
        if (!sinks.delete(sink)) return
        for (const each of [tally, tallyOfAll]) each.remove(holder)
        // Streams may be opened for any path, so those without streams must use no memory.
        if (sinks.size === 0 && streams.get(path)?.sinks === sinks) streams.delete(path)
      },
    }
  }

  /** One after the other, with requests between them: of a thousand boards few have rules. */
  async function resume(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await pause(host, 0)
      if (isEnding) return
      try {
        const sql = host.openSql(path, false)
        if (sql && hasNoticeRules(sql)) find(path)
      } catch (error) {
        host.log('error', 'board.not_settled', { board: path, error: String(error) })
      }
    }
  }

  return {
    resume,
    open: (path) =>
      ({
        ...callsOf(path),
        subscribe: (from, sink) => subscribe(path, from, sink),
      }) satisfies RepositoryHandle,
    isHeard: (path) => {
      // A time far ahead was taken before the clock was set back, and means nothing.
      const silentMs = Math.abs(host.now() - (heard.get(path) ?? startedAt))
      return silentMs < REPORTS_SILENT_MS
    },
    letGo(path) {
      opened.delete(path)
      armed.get(path)?.()
      armed.delete(path)
    },
    endStreams() {
      isEnding = true
      for (const cancel of armed.values()) cancel()
      for (const { sinks } of [...streams.values()]) {
        for (const sink of [...sinks]) sink.end('closed')
      }
    },
  }
}
