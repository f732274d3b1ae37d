// One repository: stores what a sidecar publishes, and decides which messages clients get. Pure
// except for its store; owns no clock and no stream. At the edge a repository is the state of one
// board path, while that of sidecar/git is a git repository.

import { type Activity, cameIn, type TaskChanges } from '../activity/activity.ts'
import type { Texts } from '../claims/claim-moves.ts'
import type { ClaimUpdates } from '../claims/claim-updates.ts'
import type { BoardRules } from '../notices/notice-calls.ts'
import type { Notices } from '../notices/notices.ts'
import type { Presence } from '../presence.ts'
import type { RepositoryState } from '../store/board-rows.ts'
import type { BoardStore } from '../store/board-store-sqlite.ts'
import type { MessageLog } from '../store/message-log-sqlite.ts'
import {
  MAX_REPLAY,
  messageOf,
  NOTHING,
  startOver,
  summarize,
  touch,
  touchFollowing,
} from '../streams/message.ts'
import { type EventId, formatEventId, idOnly, messageFrame } from '../streams/sse.ts'
import {
  type ChangesAnswer,
  type ChangesRequest,
  type Key,
  type Kind,
  type Message,
  parseKey,
  type StoreState,
  type SyncAnswer,
  type SyncRequest,
} from '../wire.ts'

/** Why a publishing message was refused. The sidecar acts on each of them. */
export type PublishRefusal =
  /** The edge does not know this run or this epoch: it needs a sync first. */
  | { reason: 'sync_required' }
  /** A later sidecar publishes this repository, and has not ended. */
  | { reason: 'superseded' }
  /** A newer batch of this run was applied before. */
  | { reason: 'stale_batch' }

/** `frames`: what every connected stream must be sent, one by one, after the turn is stored. */
export type Published<Answer> =
  | { ok: true; answer: Answer; frames: string[] }
  | ({ ok: false } & PublishRefusal)

/** No log has this epoch: a client that returns with it when there is a log starts over. */
const UNPUBLISHED: EventId = { epoch: '0'.repeat(12), seq: 0 }

/** What a stream is sent if its repository has no database yet. */
export function replayUnpublished(lastEventId: string | undefined): string[] {
  if (lastEventId === undefined || lastEventId === formatEventId(UNPUBLISHED)) {
    return [idOnly(UNPUBLISHED)]
  }
  return startOver(undefined).map((message) => messageFrame(UNPUBLISHED, message))
}

interface RepositoryDeps {
  board: MessageLog &
    Pick<BoardStore, 'transaction' | 'state' | 'save' | 'put' | 'remove' | 'forgetGone'> &
    Pick<BoardStore, 'root' | 'buckets' | 'entries' | 'counts'>
  claims: ClaimUpdates
  presence: Presence
  activity: Activity
  notices: Pick<Notices, 'setRules' | 'hasCommands'>
}

export class Repository {
  readonly #board: RepositoryDeps['board']
  readonly #claims: ClaimUpdates
  readonly #presence: Presence
  readonly #activity: Activity
  readonly #notices: RepositoryDeps['notices']

  constructor({ board, claims, presence, activity, notices }: RepositoryDeps) {
    this.#board = board
    this.#claims = claims
    this.#presence = presence
    this.#activity = activity
    this.#notices = notices
  }

  /**
   * One step of a sync. `now` in ms. The caller has validated the request. `rules`: of notices,
   * with their addresses encrypted; absent: as they were.
   */
  sync(request: SyncRequest, now: number, rules?: BoardRules): Published<SyncAnswer> {
    return this.#board.transaction(() => {
      const state = this.#board.state()
      const refusal = this.#refuseRun(request, state, now)
      if (refusal) return refusal
      this.#presence.published(state, now)
      if (request.step === 'root') {
        if (rules) this.#notices.setRules(rules, now)
        return this.#syncRoot(request, state, now)
      }
      if (request.step === 'end') {
        if (!state.ended) this.#presence.addRow(state, ['running', 'ended'], now)
        state.ended = true
        this.#board.save(state)
        return { ok: true, answer: { step: 'end' }, frames: [] }
      }
      state.ended = false
      if (request.step === 'buckets') {
        const ours = this.#board.buckets()
        const differ = [...ours.keys()].filter((n) => ours[n] !== request.buckets[n])
        this.#board.save(state)
        return { ok: true, answer: { step: 'buckets', differ }, frames: [] }
      }
      return this.#syncEntries(request, state, now)
    })
  }

  /** Applies one part of a change. `now` in ms. The caller has validated the request. */
  changes(request: ChangesRequest, now: number): Published<ChangesAnswer> {
    return this.#board.transaction(() => {
      const state = this.#board.state()
      if (request.epoch !== state.epoch) return { ok: false, reason: 'sync_required' }
      const refusal = this.#refuseRun(request, state, now)
      if (refusal) return refusal
      // Readers would see a part of the board.
      if (request.reading && state.published) return { ok: false, reason: 'sync_required' }
      if (request.batch < state.batch) return { ok: false, reason: 'stale_batch' }
      if (request.batch === state.batch) {
        const answer = { seq: this.#seq(state), message: null, duplicate: true } as const
        return { ok: true, answer, frames: [] }
      }
      state.batch = request.batch
      this.#presence.published(state, now)
      if (request.reading) state.reading = request.reading
      const seq = this.#board.head() + 1
      const texts = this.#claims.texts()
      const news: TaskChanges = new Map()
      this.#activity.moved(state, request.main, now)
      for (const put of this.#board.put(request.upserts, seq)) {
        const { record, change, inList, before } = put
        const { kind, id } = record
        cameIn(news, put)
        const key: Key = kind === 'run' ? `task:${record.task}` : `${kind}:${id}`
        state.pending =
          change === 'follows' ? touchFollowing(state.pending) : touch(state.pending, key)
        if (inList) noteList(state, kind)
        if (texts && kind === 'task') this.#claims.came(state, texts, record.task, before)
        if (record.kind === 'session') noteNewest(state, id, record.session.startedAt)
      }
      for (const key of request.deletes) this.#remove(key, state, texts, news)
      this.#activity.published(state, news, now)
      for (const key of request.touched ?? []) state.pending = touch(state.pending, key)
      if (!request.more) {
        state.lacking = false
        state.currentAt = now
      }
      const sent = request.more ? undefined : this.#addMessage(state, now)
      this.#board.save(state)
      const answer = { seq: this.#seq(state), message: sent?.message ?? null }
      const ended = request.more ? [] : this.#claims.update(now)
      return { ok: true, answer, frames: [...(sent?.frames ?? []), ...ended] }
    })
  }

  /**
   * What a stream is sent when it subscribes: the messages it missed, the last of them with the id
   * of the newest change, or that id alone. `lastEventId` is where the client stopped; without one
   * it starts at the head, as that was when the stream opened (`since`, in ms): a change between
   * the opening and the subscription is not lost.
   */
  replay(from: { lastEventId?: string | undefined; since: number }, now: number): string[] {
    const { epoch, newestSession } = this.#board.state()
    const head = this.#board.head()
    const { lastEventId, since } = from
    const seq =
      lastEventId === undefined
        ? this.#board.seqBefore(since, now)
        : this.#board.placeOf(lastEventId)
    const missed = seq === undefined ? undefined : this.#board.messagesAfter(seq)
    if (missed?.length === 0) return [idOnly({ epoch, seq: head })]
    if (seq !== undefined && missed && missed.length <= MAX_REPLAY) {
      return missed.map((message, i) => messageFrame({ epoch, seq: seq + 1 + i }, message))
    }
    // Only the last has the id: a client that drops between two of them gets both again.
    const messages = missed ? summarize(missed) : startOver(newestSession?.id)
    return messages.map((message, i) =>
      messageFrame(i === messages.length - 1 ? { epoch, seq: head } : undefined, message),
    )
  }

  #syncRoot(
    request: SyncRequest & { step: 'root' },
    state: RepositoryState,
    now: number,
  ): Published<SyncAnswer> {
    if (request.run !== state.run) {
      delete state.socket
      // Above what was asked for, too: an edge that lost its state must not give a run again that
      // another sidecar still believes to hold.
      state.run = Math.max(state.run, request.run ?? 0) + 1
      state.batch = 0
    }
    if (state.ended) this.#presence.addRow(state, ['ended', 'running'], now)
    state.ended = false
    state.lacking = false
    // No record changes when the folder goes or comes back, but clients must show it.
    const store = this.#storeIn(request.store.state)
    const { unwatched = false } = request.store
    const isOther = state.store !== store || (state.unwatched ?? false) !== unwatched
    const isMoved = state.published && isOther
    if (isMoved) state.pending = { ...state.pending, list: true }
    state.store = store
    state.unwatched = unwatched
    state.layout = request.store.layout
    state.sidecarVersion = request.store.version
    const missing = store === 'missing'
    const match = missing || request.root === this.#board.root()
    if (match && !missing) state.currentAt = now
    const sent = match && (isMoved || !missing) ? this.#addMessage(state, now) : undefined
    this.#board.save(state)
    const { run, epoch, main } = state
    const answer = {
      step: 'root',
      run,
      epoch,
      match,
      store,
      ...(main && { main }),
      ...(this.#notices.hasCommands(now) && { notices: true as const }),
    } as const
    const ended = match && !missing ? this.#claims.update(now) : []
    return { ok: true, answer, frames: [...(sent?.frames ?? []), ...ended] }
  }

  /** A bare store is a new board, or one that has lost all its tasks at once. */
  #storeIn(state: StoreState['state']): RepositoryState['store'] {
    if (state !== 'bare') return state
    return this.#board.counts().tasks > 0 ? 'missing' : 'present'
  }

  #syncEntries(
    request: SyncRequest & { step: 'entries' },
    state: RepositoryState,
    now: number,
  ): Published<SyncAnswer> {
    // A sync that was on its way while newer changes were applied would drop what they brought.
    if (request.batch <= state.batch) return { ok: false, reason: 'stale_batch' }
    state.batch = request.batch
    const lack: Key[] = []
    let dropped = 0
    const ours = this.#board.entries(Object.keys(request.buckets).map(Number))
    for (const bucket of Object.values(request.buckets)) {
      for (const [key, hash] of Object.entries(bucket) as [Key, string][]) {
        if (ours.get(key) !== hash) lack.push(key)
        ours.delete(key)
      }
    }
    const texts = this.#claims.texts()
    const news: TaskChanges = new Map()
    this.#activity.moved(state, request.main, now)
    for (const key of ours.keys()) dropped += Number(this.#remove(key, state, texts, news))
    this.#activity.published(state, news, now)
    if (lack.length > 0) state.lacking = true
    const done = !request.more && !state.lacking
    if (done) state.currentAt = now
    const sent = done ? this.#addMessage(state, now) : undefined
    this.#board.save(state)
    const answer = { step: 'entries', lack, dropped } as const
    const ended = done ? this.#claims.update(now) : []
    return { ok: true, answer, frames: [...(sent?.frames ?? []), ...ended] }
  }

  #remove(key: Key, state: RepositoryState, texts: Texts | undefined, news: TaskChanges): boolean {
    const { kind, id } = parseKey(key)
    if (texts && kind === 'task') this.#claims.goes(state, texts, id)
    const visible = this.#board.remove(key, this.#board.head() + 1)
    if (visible === undefined) return false
    if (kind === 'task') news.set(id, {})
    state.pending = touch(state.pending, visible)
    noteList(state, kind)
    return true
  }

  /** Ends a change: what is pending becomes one message of the log. Undefined: there is none. */
  #addMessage(
    state: RepositoryState,
    now: number,
  ): { message: Message; frames: string[] } | undefined {
    const isFirst = !state.published
    if (isFirst) this.#presence.firstPublished(now)
    this.#activity.completed(state, now)
    state.published = true
    delete state.reading
    const message = messageOf(state.pending)
    if (!message) return undefined
    const { session } = state.pending
    state.pending = NOTHING
    const messages = [message]
    // Streams that came with an id of an earlier epoch wait here, and know sessions of that one.
    if (isFirst && session !== undefined && message.type !== 'session-changed') {
      messages.push({ type: 'session-changed', session: state.newestSession?.id ?? session })
    }
    const frames = messages.map((each) => this.#board.append(each, now))
    this.#board.forgetGone(this.#board.oldest())
    return { message, frames }
  }

  #refuseRun(
    request: SyncRequest | ChangesRequest,
    state: RepositoryState,
    now: number,
  ): ({ ok: false } & PublishRefusal) | undefined {
    const { run } = request
    if (run === null || run === state.run) return undefined
    if (run < state.run && this.#presence.holdsRun(state, now)) {
      return { ok: false, reason: 'superseded' }
    }
    return 'step' in request && request.step === 'root'
      ? undefined
      : { ok: false, reason: 'sync_required' }
  }

  #seq(state: RepositoryState): string {
    return formatEventId({ epoch: state.epoch, seq: this.#board.head() })
  }
}

function noteList(state: RepositoryState, kind: Kind): void {
  if (kind === 'task') state.tasksRev++
  if (kind === 'session') state.sessionsRev++
}

function noteNewest(state: RepositoryState, id: string, startedAt: string): void {
  const newest = state.newestSession
  if (newest && Date.parse(newest.startedAt) > Date.parse(startedAt)) return
  state.newestSession = { id, startedAt }
}
