// The one loop to the edge: one message in flight, nothing overtakes. It holds keys, never
// records, so a day without an edge costs no more memory than a minute, and what is sent is always
// the newest content.

import { COMPARE_MS, type Key, REPORT_MS, type StoreState } from '../../worker/board/wire.ts'
import type { Clock } from '../../worker/shared/clock.ts'
import type { Log } from '../../worker/shared/log.ts'
import type { Records } from '../board/record-source.ts'
import { Change } from './deliver.ts'
import type { DirectoryWriter } from './directory.ts'
import type { Edge, Failure } from './edge.ts'
import { Presence } from './presence.ts'
import { askTurn, type MainSince, reconcile, unknownStanding } from './reconcile.ts'
import { type NextTry, Retry, Unreadable } from './retry.ts'
import { Seed } from './seed.ts'

/** Past this many dirty keys a sync finds them again for less memory than remembering them. */
const MAX_DIRTY = 50_000
/** The end waits so long at most for what is pending. */
const FLUSH_MS = 3_000
/** What is not at the edge for so long is behind: a ping would say that it is not. */
const UNSENT_MS = 30_000
/**
 * One that waits is told on its socket when the other sidecar is gone. Of one that is frozen, the
 * edge finds out only when somebody looks: what changed here is not kept back for longer.
 */
const ASK_AGAIN_MS = 300_000
const NEVER = Number.POSITIVE_INFINITY

interface PublisherDeps {
  edge: Edge
  records: Records
  /** Absent: no list of boards has this one. */
  directory?: Pick<DirectoryWriter, 'current' | 'lost' | 'end' | 'close'>
  /** Absent: nothing is known of it. */
  mainSince?: MainSince | undefined
  clock: Clock
  log: Log
  onProgress?: (done: number, total: number) => void
  /** Called for every failure, also for those that are not logged. */
  onFailure?: (failure: Failure) => void
  /** What was hinted is at the edge, so long after the first hint. */
  onPublished?: (ms: number) => void
}

/** For health checks and metrics. */
export interface PublisherStatus {
  /** The last answer of the edge was a good one. */
  connected: boolean
  /** When the edge last held everything, in milliseconds since 1970. */
  lastSyncAt: number | null
  lastPublishedAt: number | null
  /** Keys that were not sent to the edge yet, without those that a coming sync will find. */
  dirty: number
  /** Something is left to send: dirty keys, or a sync. */
  behind: boolean
  lastError: string | null
  store: 'present' | 'missing' | null
  /** The watcher has failed: changes are found by scans, each second or later. */
  unwatched: boolean
}

export class Publisher {
  readonly #deps: PublisherDeps
  readonly #retry: Retry
  readonly #standing = unknownStanding()
  /** When what is due, by `clock.elapsed()`. Nothing is sent before `retry`. */
  readonly #due = { sync: NEVER, retry: 0 }
  readonly #unreadable: Unreadable
  readonly #presence: Presence
  #dirty = new Set<Key>()
  /** When the first of what is not at the edge yet was hinted. */
  #since = NEVER
  /** When the first of what is not at the edge yet came here. */
  #unsentSince = NEVER
  /** When this one, which waits on its socket for the end of another sidecar, asked last. */
  #askedAt = NEVER
  #change: Change | undefined
  #store: StoreState | undefined
  /** Covers every key that was dirty when it begins, so those need not be remembered. */
  #syncWanted: boolean = true
  /** git may have moved the main tree without a change of the board. */
  #mayHaveMoved: boolean = true
  #announced: Promise<void> = Promise.resolve()
  #running: Promise<void> | undefined
  #isBusy: boolean = false
  #isClosing: boolean = false
  #isClosed: boolean = false
  #wake: () => void = () => undefined
  #onSynced: (() => void)[] = []
  #lastSyncAt: number | null = null
  #lastPublishedAt: number | null = null

  constructor(deps: PublisherDeps) {
    this.#deps = deps
    this.#retry = new Retry(deps.log, () => deps.clock.random())
    this.#unreadable = new Unreadable(deps.log)
    this.#presence = new Presence({
      ...deps,
      // Without a ping a connection that waits may be cut off by what is between. It shows nothing:
      // those of the one that leads count.
      mayPing: () => this.#isCurrent() || this.#askedAt !== NEVER,
      onOpen: (isAgain) => this.#onSocket(isAgain ? 0 : COMPARE_MS),
      onPong: () => this.#onPong(),
      onFree: () => this.#onFree(),
      onLost: () => {
        deps.directory?.lost()
        this.#onSocket(REPORT_MS * deps.clock.random())
      },
    })
    this.seed = new Seed({ ...deps, standing: this.#standing })
  }

  /** They may have changed, appeared or gone, since then. One call is one window is one signal. */
  changed(keys: Iterable<Key>, since: number = NEVER): void {
    this.#since = Math.min(this.#since, since)
    this.#unsentSince = Math.min(this.#unsentSince, this.#deps.clock.elapsed())
    this.#due.retry = Math.min(this.#due.retry, this.#askedAt + ASK_AGAIN_MS)
    for (const key of keys) this.#dirty.add(key)
    this.#bound()
    this.#wake()
  }

  /** The main tree may be on another branch or commit. */
  moved(): void {
    this.#mayHaveMoved = true
    this.#wake()
  }

  /** What the store is now. It is published at once when it differs from what it was. */
  store(state: StoreState): void {
    const { state: was, layout, version, unwatched } = this.#store ?? {}
    const isSame = was === state.state && unwatched === state.unwatched
    if (isSame && layout === state.layout && version === state.version) return
    this.#store = state
    this.#unsentSince = Math.min(this.#unsentSince, this.#deps.clock.elapsed())
    this.#syncWanted = true
    this.#wake()
  }

  /** For what is known before `start`. */
  readonly seed: Seed

  /**
   * Before `start`, where that takes long: shows that a sidecar is there again, and by no ping that
   * anything is current. The first sync asks again if this fails.
   */
  announce(store: StoreState): void {
    this.#announced = askTurn(this.#deps.edge, store, this.#standing).then(
      () => this.#attach(),
      () => undefined,
    )
  }

  /** Begins with a sync. Records and store must be known by now. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Resolves once the edge held everything: a sync and what it found are through. */
  synced(): Promise<void> {
    if (this.#isSynced()) return Promise.resolve()
    return new Promise((resolve) => this.#onSynced.push(resolve))
  }

  /** Tries once more to send what is pending, for 3 s at most. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#due.retry = 0
    this.#unreadable.due = 0
    this.#wake()
    this.#running ??= this.#end()
    const late = Promise.withResolvers<void>()
    const cancel = this.#deps.clock.after(FLUSH_MS, late.resolve)
    await Promise.race([this.#running, late.promise])
    cancel()
    this.#isClosed = true
    this.#presence.close()
    this.#deps.edge.close()
  }

  status(): PublisherStatus {
    const state = this.#store?.state
    const dirty = this.#dirty.size + this.#unreadable.size + (this.#change?.pending.size ?? 0)
    return {
      connected: this.#retry.text === undefined && this.#lastPublishedAt !== null,
      lastSyncAt: this.#lastSyncAt,
      lastPublishedAt: this.#lastPublishedAt,
      dirty,
      behind: dirty > 0 || this.#syncWanted || this.#isBusy,
      lastError: this.#retry.text ?? null,
      store: state === 'bare' ? this.#standing.store : (state ?? null),
      unwatched: this.#store?.unwatched ?? false,
    }
  }

  async #run(): Promise<void> {
    await this.#announced
    while (!this.#isClosed) {
      const now = this.#deps.clock.elapsed()
      this.#takeDue(now)
      if (this.#hasWork() && now >= this.#due.retry) await this.#turn()
      else if (this.#isClosing) break
      else await this.#sleep(now)
    }
    await this.#end()
  }

  async #end(): Promise<void> {
    await this.#announced
    const { edge, directory } = this.#deps
    const { run } = this.#standing
    // An edge that just failed learns of the end by silence.
    if (run === null || this.#retry.text !== undefined) directory?.close()
    else await Promise.all([edge.end({ step: 'end', run }), directory?.end()])
  }

  /** Until something is due, or `#wake` is called. */
  async #sleep(now: number): Promise<void> {
    const { sync, retry } = this.#due
    const next = Math.min(sync, this.#unreadable.due, this.#hasWork() ? retry : NEVER)
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = next === NEVER ? () => undefined : this.#deps.clock.after(next - now, resolve)
    this.#wake = resolve
    await promise
    cancel()
  }

  #takeDue(now: number): void {
    if (now >= this.#due.sync) {
      this.#due.sync = NEVER
      this.#syncWanted = true
    }
    if (now < this.#unreadable.due) return
    for (const key of this.#unreadable.take()) this.#dirty.add(key)
    this.#bound()
  }

  #hasWork(): boolean {
    if (this.#store === undefined) return false
    // While the store is missing nothing is known of its records: the sync that follows its
    // return finds every difference.
    if (this.#syncWanted) return true
    const hasNews = this.#dirty.size > 0 || (this.#mayHaveMoved && this.#deps.mainSince)
    return Boolean(hasNews) && this.#store.state !== 'missing'
  }

  #isSynced(): boolean {
    return this.#lastSyncAt !== null && this.#unreadable.size === 0
  }

  #bound(): void {
    if (this.#dirty.size <= MAX_DIRTY && !this.#syncWanted) return
    this.#syncWanted = true
    this.#dirty.clear()
  }

  async #turn(): Promise<void> {
    const { clock, onFailure, onPublished } = this.#deps
    this.#isBusy = true
    const since = this.#since
    this.#since = NEVER
    try {
      const failure = this.#syncWanted ? await this.#sync() : await this.#publish(this.#take())
      if (failure) {
        onFailure?.(failure)
        const next = this.#retry.failed(failure, clock.elapsed())
        const isTold = failure.code === 'superseded' && this.#presence.isOpen
        this.#askedAt = isTold ? clock.elapsed() : NEVER
        this.#wait(isTold ? { ...next, waitMs: COMPARE_MS } : next, since)
      } else {
        if (since !== NEVER) onPublished?.(clock.elapsed() - since)
        if (this.#isSynced()) for (const resolve of this.#onSynced.splice(0)) resolve()
        this.#askedAt = NEVER
        this.#retry.recovered(clock.elapsed())
        this.#unsentSince = this.#hasWork() ? clock.elapsed() : NEVER
        this.#attach()
        this.#reportToDirectory()
      }
    } catch (error) {
      this.#wait(this.#retry.defect(error, clock.elapsed()), since)
    }
    this.#isBusy = false
  }

  #attach(): void {
    const { run, takesSocket } = this.#standing
    if (takesSocket && run !== null && !this.#isClosed) this.#presence.hold(run)
  }

  #isCurrent(): boolean {
    if (this.#lastSyncAt === null || this.#retry.text !== undefined) return false
    return this.#deps.clock.elapsed() - this.#unsentSince < UNSENT_MS
  }

  /** The next comparison comes by then: reports take over from a socket, and one from reports. */
  #onSocket(inMs: number): void {
    const at = this.#deps.clock.elapsed() + inMs
    this.#due.sync = this.#presence.isOpen ? at : Math.min(this.#due.sync, at)
    if (this.#askedAt !== NEVER) this.#due.retry = Math.min(this.#due.retry, at)
    this.#wake()
  }

  /** As good as a report: the edge holds everything. */
  #onPong(): void {
    if (!this.#isCurrent() || this.#isBusy || this.#hasWork()) return
    this.#lastSyncAt = this.#deps.clock.now()
    this.#reportToDirectory()
  }

  #onFree(): void {
    this.#due.retry = 0
    this.#syncWanted = true
    this.#bound()
    this.#wake()
  }

  #reportToDirectory(): void {
    const { run } = this.#standing
    const { store, lastSyncAt } = this.status()
    if (run === null || store === null || lastSyncAt === null) return
    this.#deps.directory?.current({ run, store })
  }

  #wait({ waitMs, sync, freshRun }: NextTry, since: number): void {
    this.#deps.directory?.lost()
    this.#since = Math.min(this.#since, since)
    if (freshRun) this.#standing.run = null
    if (sync) this.#syncWanted = true
    this.#bound()
    this.#due.retry = this.#deps.clock.elapsed() + waitMs
    // The end tries once.
    if (this.#isClosing) this.#isClosed = true
  }

  #take(): Set<Key> {
    const keys = this.#dirty
    this.#dirty = new Set()
    return keys
  }

  async #sync(): Promise<Failure | undefined> {
    const { edge, records, mainSince, clock, log } = this.#deps
    const store = this.#store
    if (store === undefined) return undefined
    this.#syncWanted = false
    this.#dirty.clear()
    const lack = await reconcile(edge, records, store, this.#standing, mainSince)
    if (!lack.ok) {
      this.#syncWanted = true
      return lack
    }
    this.#lastPublishedAt = clock.now()
    if (lack.value.length > 0) {
      log('info', 'sync.differs', { records: lack.value.length })
      const keys = this.#take()
      for (const key of lack.value) keys.add(key)
      const failure = await this.#publish(keys)
      if (failure) {
        this.#syncWanted = true
        return failure
      }
    }
    this.#lastSyncAt = clock.now()
    // Never later than that: the edge and the console take a silent sidecar for dead.
    const withinMs = this.#presence.isOpen ? COMPARE_MS : REPORT_MS
    this.#due.sync = clock.elapsed() + withinMs * (1 - 0.2 * clock.random())
    return undefined
  }

  async #publish(keys: Set<Key>): Promise<Failure | undefined> {
    this.#mayHaveMoved = false
    const main = await this.#deps.mainSince?.(this.#standing.main)
    const change = new Change(keys, { ...this.#deps, standing: this.#standing, main })
    this.#change = change
    try {
      const failure = await change.send()
      if (failure) this.#mayHaveMoved = true
      if (!failure) this.#lastPublishedAt = this.#deps.clock.now()
      // All was applied and only the answer is lost: the sync makes the edge signal it.
      else if (change.pending.size === 0) this.#syncWanted = true
      return failure
    } finally {
      this.#change = undefined
      for (const key of change.pending) this.#dirty.add(key)
      this.#bound()
      this.#unreadable.remember(change.unreadable, this.#deps.clock.elapsed())
    }
  }
}
