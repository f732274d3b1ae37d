// What the read endpoints answer, as JSON text in pieces, so that 100,000 tasks are never one
// string: a stream, or `unchanged` if the client has it already. Pure except for its store.

import { timeText } from '../../shared/clock.ts'
import type { ActivityQuery, ActivityReads } from '../activity/activity-reads.ts'
import type { Presence, Shown } from '../presence.ts'
import {
  type ChangedRow,
  type CursorRow,
  isByState,
  type List,
  type RepositoryState,
  type Row,
  type SessionFilter,
  type TaskFilter,
} from '../store/board-rows.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { ListReads } from '../store/list-reads-sqlite.ts'
import { formatEventId } from '../streams/sse.ts'
import { isCountedAs, isSilent, stateOf, workByTask } from '../tasks/task-state.ts'
import { statusesOf } from '../tasks/to-do.ts'
import { EMPTY_HASH, type Task, toggleHash } from '../wire.ts'
import type { BoardVariables } from './board-variables.ts'

export type Query =
  | { kind: 'tasks'; filter: TaskFilter; since?: string; after?: string; limit?: number }
  | { kind: 'task'; id: string }
  | { kind: 'runs'; task: string }
  | { kind: 'task-sessions'; task: string }
  | { kind: 'sessions'; filter: SessionFilter; since?: string }
  | { kind: 'session'; id: string }
  | { kind: 'status' }
  | ({ kind: 'activity' } & ActivityQuery)

type ListQuery = Extract<Query, { kind: List }>
type TasksQuery = Pick<Extract<Query, { kind: 'tasks' }>, 'filter' | 'after'>

/** What the host of the repository knows and its store does not. Times are RFC 3339, UTC. */
export interface HostStatus {
  /** Connected streams. */
  streams: number
  /** Since when the repository is in memory: later than the newest change means that it slept. */
  awakeSince: string
  now: string
}

/** `seq` is the newest change the answer surely includes; `etag` changes when `pieces` would. */
export type Found =
  | { state: 'unpublished' }
  | { state: 'absent' }
  | { state: 'bad_since' }
  | ({ state: 'found'; seq: string; etag: string; pieces: Iterable<string> } & OfStatus)

/** The answer for the Worker. `unchanged`: the client has it already. */
export type ReadAnswer =
  | { state: 'unpublished' | 'absent' | 'bad_since' }
  | { state: 'unchanged'; seq: string; etag: string }
  | ({ state: 'found'; seq: string; etag: string; body: ReadableStream<Uint8Array> } & OfStatus)

interface OfStatus {
  /** In ms. Undefined: the sidecar is there, ended in order, or is not asked about. */
  offlineSince?: number
}

type Answered = (tag: string, pieces: Iterable<string>) => Extract<Found, { state: 'found' }>

/** `seq`: of the answer. `now`: in ms. */
interface Asked {
  state: RepositoryState
  seq: string
  now: number
}

const PAGE = 500
// A piece is a row or a page of rows; small ones are gathered, because every chunk costs a hop.
const CHUNK_CHARS = 64 << 10

interface ReadsDeps {
  board: ListReads & Pick<BoardStore, 'state' | 'head' | 'placeOf'>
  presence: Presence
  activity: ActivityReads
  variables: BoardVariables
}

export class Reads {
  readonly #board: ReadsDeps['board']
  readonly #presence: Presence
  readonly #activity: ActivityReads
  readonly #silentAfterMs: number

  constructor({ board, presence, activity, variables }: ReadsDeps) {
    this.#board = board
    this.#presence = presence
    this.#activity = activity
    this.#silentAfterMs = variables.silentAfterMs
  }

  /** `ifNoneMatch` is the request's header. */
  answer(query: Query, host: HostStatus, ifNoneMatch: string | undefined): ReadAnswer {
    const found = this.find(query, host)
    if (found.state !== 'found') return found
    const { seq, etag, pieces, ...rest } = found
    if (matchesTag(ifNoneMatch, etag)) return { state: 'unchanged', seq, etag }
    return { ...rest, seq, etag, body: byteStream(pieces) }
  }

  /** Answers a query. The pieces are read as they are taken, page by page. */
  find(query: Query, host: HostStatus): Found {
    const state = this.#board.state()
    if (!state.published && query.kind !== 'status') return { state: 'unpublished' }
    if (!state.published && state.lastSeenAt === undefined) return { state: 'unpublished' }
    const seq = formatEventId({ epoch: state.epoch, seq: this.#board.head() })
    const found: Answered = (tag, pieces) => ({
      state: 'found',
      seq,
      etag: `W/"${state.epoch}-${tag}"`,
      pieces,
    })
    switch (query.kind) {
      case 'tasks':
      case 'sessions':
        return this.#list(query, { state, seq, now: Date.parse(host.now) }, found)
      case 'task': {
        const task = this.#board.task(query.id)
        if (!task) return { state: 'absent' }
        const hash = this.#board.relatedHashes(query.id).reduce(toggleHash, task.hash)
        return found(hash, this.#wholeTask(task))
      }
      case 'runs':
        return this.#ofTask(query.task, found, () => list('runs', this.#runs(query.task)))
      case 'task-sessions':
        return this.#ofTask(query.task, found, () =>
          list('sessions', this.#sessions({ task: query.task })),
        )
      case 'session': {
        const session = this.#board.session(query.id)
        return session ? found(session.hash, [session.json]) : { state: 'absent' }
      }
      case 'activity': {
        const log = { epoch: state.epoch, head: this.#board.head(), now: Date.parse(host.now) }
        const answer = this.#activity.answer(query, log)
        return answer ? found(answer.tag, [answer.text]) : { state: 'bad_since' }
      }
      case 'status': {
        const shown = this.#presence.shownOf(state, Date.parse(host.now))
        const json = this.#status(host, state, shown)
        const { run, batch, store } = state
        const { state: sidecar, since, lastSeenAt } = shown
        const tag = `${seq}-${run}-${batch}-${store}-${sidecar}-${lastSeenAt}`
        const answer = found(`${tag}-${host.streams}-${Date.parse(host.awakeSince)}`, [json])
        const isOffline = sidecar === 'offline' && since !== undefined
        return isOffline ? { ...answer, offlineSince: since } : answer
      }
    }
  }

  /** All of a list, or what changed of it. */
  #list(query: ListQuery, { state, seq, now }: Asked, found: Answered): Found {
    const { kind, filter, since } = query
    const { tasksRev, sessionsRev } = state
    if (kind === 'tasks' && isByState(filter)) {
      const { rows, silent } = this.#withState(query, now)
      const rev = `t${tasksRev}-s${sessionsRev}-${silent}`
      return since === undefined
        ? found(rev, list(kind, rows, query.limit))
        : found(`${seq}-${rev}`, whole(kind, rows, seq))
    }
    if (since === undefined) {
      return kind === 'tasks'
        ? found(`t${tasksRev}`, list(kind, this.#tasks(query), query.limit))
        : found(`s${sessionsRev}`, list(kind, this.#sessions(filter)))
    }
    const rows = kind === 'tasks' ? this.#tasks(query) : this.#sessions(filter)
    const place = this.#board.placeOf(since)
    // A sign of work has no message, and so no number of its own.
    const signs = kind === 'tasks' ? '' : `-s${sessionsRev}`
    const tag = `${seq}-${state.run}-${state.batch}${signs}-${place}`
    return found(tag, this.#changes(query, place, rows, seq))
  }

  #ofTask(id: string, found: Answered, pieces: () => Iterable<string>): Found {
    if (!this.#board.task(id)) return { state: 'absent' }
    return found(this.#board.relatedHashes(id).reduce(toggleHash, EMPTY_HASH), pieces())
  }

  #tasks({ filter, after = '' }: TasksQuery): Iterable<Row> {
    return pages((last?: Row) => this.#board.tasks(filter, last?.id ?? after, PAGE), PAGE)
  }

  /** Which of them are silent follows from how many are, as long as no session changes. */
  #withState(query: TasksQuery, now: number): { rows: Iterable<Row>; silent: number } {
    const { work, review } = query.filter
    const moment = { now, silentAfterMs: this.#silentAfterMs }
    const sessions = this.#board.openSessions()
    const workOf = workByTask(sessions)
    const facts = { ...moment, isClosed: statusesOf(this.#board.config()).isClosed, isReady: false }
    const isMeant = ({ json }: Row): boolean => {
      const task = JSON.parse(json) as Task
      const state = stateOf(task, workOf.get(task.id) ?? [], facts)?.state
      return [work, review && 'review'].every((it) => it === undefined || isCountedAs(it, state))
    }
    const silent = sessions.filter((session) => isSilent(session, moment)).length
    return { rows: only(this.#tasks(query), isMeant), silent }
  }

  /** What changed of a list after the message `place`; all of it, where that is most of it. */
  *#changes(
    { kind, filter }: { kind: List; filter: TaskFilter & SessionFilter },
    place: number | undefined,
    all: Iterable<Row>,
    seq: string,
  ): Iterable<string> {
    if (place === undefined || this.#board.isMostlyNew(kind, place)) {
      return yield* whole(kind, all, seq)
    }
    const gone = this.#board.gone(kind, place)
    const changed = (after = { seq: place + 1, id: '' }) =>
      this.#board.changed(kind, filter, after, PAGE)
    yield '{'
    yield* members(kind, shownOf(pages(changed, PAGE), gone))
    yield `,"gone":${JSON.stringify(gone)},"seq":${JSON.stringify(seq)}}`
  }

  *#wholeTask(task: Row): Iterable<string> {
    yield `${task.json.slice(0, -1)},`
    yield* members('runs', jsonOf(this.#runs(task.id)))
    yield ','
    yield* members('sessions', jsonOf(this.#sessions({ task: task.id })))
    yield '}'
  }

  #runs(task: string): Iterable<Row> {
    // One at a time: a run's output may be half a megabyte.
    return pages((after?: CursorRow) => this.#board.runs(task, after, 1), 1)
  }

  #sessions(filter: SessionFilter): Iterable<Row> {
    return pages((after?: CursorRow) => this.#board.sessions(filter, after, PAGE), PAGE)
  }

  #status(host: HostStatus, state: RepositoryState, shown: Shown): string {
    const board = this.#board.config()
    const { layout = state.layout, ...config } = board ?? {}
    return JSON.stringify({
      layout,
      config: board && config,
      store: state.store,
      counts: this.#board.counts(),
      sidecar: {
        state: shown.state,
        since: knownTime(shown.since),
        lastSeenAt: knownTime(shown.lastSeenAt),
        version: state.sidecarVersion,
        ...(state.unwatched && { unwatched: true }),
      },
      currentAt: knownTime(shown.currentAt),
      ...(state.reading && { reading: state.reading }),
      ...(state.main && { main: state.main }),
      ...host,
      silentAfterMs: this.#silentAfterMs,
    })
  }
}

const knownTime = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : timeText(at)

/** Those that match the filter; the ids of the others are added to `gone`. */
function* shownOf(rows: Iterable<ChangedRow>, gone: string[]): Iterable<string> {
  for (const { id, json, shown } of rows) {
    if (shown) yield json
    else gone.push(id)
  }
}

/** With `next` where the limit leaves some out. */
function* list(name: string, rows: Iterable<Row>, limit = Infinity): Iterable<string> {
  yield `{"${name}":[`
  let [listed, last] = [0, '']
  for (const { id, json } of rows) {
    if (listed === limit) return yield `],"next":${JSON.stringify(last)}}`
    yield listed++ === 0 ? json : `,${json}`
    last = id
  }
  yield ']}'
}

/** The whole list, for a client that asked for what changed. */
function* whole(name: string, rows: Iterable<Row>, seq: string): Iterable<string> {
  yield '{'
  yield* members(name, jsonOf(rows))
  yield `,"whole":true,"seq":${JSON.stringify(seq)}}`
}

function* only(rows: Iterable<Row>, isMeant: (row: Row) => boolean): Iterable<Row> {
  for (const row of rows) if (isMeant(row)) yield row
}

function* members(name: string, items: Iterable<string>): Iterable<string> {
  yield `"${name}":[`
  let first = true
  for (const item of items) {
    yield first ? item : `,${item}`
    first = false
  }
  yield ']'
}

function* jsonOf(rows: Iterable<Row>): Iterable<string> {
  for (const { json } of rows) yield json
}

function* pages<R extends Row>(read: (after: R | undefined) => R[], size: number): Iterable<R> {
  let after: R | undefined
  for (;;) {
    const rows = read(after)
    yield* rows
    if (rows.length < size) return
    after = rows.at(-1)
  }
}

/** Pulled, never pushed: a slow reader of 100,000 tasks holds one chunk, not all of them. */
function byteStream(pieces: Iterable<string>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.iterator]()
  const encoder = new TextEncoder()
  return new ReadableStream({
    type: 'bytes',
    pull(controller) {
      let text = ''
      let next = iterator.next()
      for (; !next.done; next = iterator.next()) {
        text += next.value
        if (text.length >= CHUNK_CHARS) break
      }
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (!next.done) return
      controller.close()
      // A pull that ends without bytes leaves the reader's own buffer pending for ever.
      controller.byobRequest?.respond(0)
    },
  })
}

/** Whether `If-None-Match` names this tag; compared weakly (RFC 9110, 13.1.2). */
export function matchesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = strip(etag)
  return ifNoneMatch.split(',').some((tag) => strip(tag.trim()) === opaque)
}

const strip = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag)
