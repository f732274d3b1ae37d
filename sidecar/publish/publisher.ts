// The one loop to the edge: one message in flight, nothing overtakes. It holds keys, never
// records, so a day without an edge costs no more memory than a minute, and what is sent is always
// the newest content.

import { COMPARE_MS, type Key, REPORT_MS, type StoreState } from '../../worker/board/wire.ts'
import type { Clock } from '../../worker/shared/clock.ts'
import type { Log } from '../../worker/shared/log.ts'
import type { Records } from '../board/record-source.ts'
import { Sleeper } from '../sleeper.ts'
import { Change } from './deliver.ts'
import type { DirectoryWriter } from './directory.ts'
import type { Edge, Failure } from './edge.ts'
import { HeldSocket } from './held-socket.ts'
import { Outbox } from './outbox.ts'
import { Position } from './position.ts'
import { askTurn, type MainSince, reconcile } from './reconcile.ts'
import { type NextTry, Retry } from './retry.ts'
import { Seed } from './seed.ts'

/** The end waits so long at most for what is pending. */
const FLUSH_MS = 3_000
/** What is not at the edge for so long is behind: a ping would say that it is not. */
const UNSENT_MS = 30_000
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

/** `hasSentAll`: nothing that was to be sent is left, also after a failure. */
interface Outcome {
  failure?: Failure | undefined
  hasSentAll?: boolean
}

export class Publisher {
  readonly #deps: PublisherDeps
  readonly #outbox: Readonly<Outbox>
  readonly #retry: Readonly<Retry>
  readonly #socket: HeldSocket
  readonly #position = new Position()
  #store: StoreState | undefined
  /** git may have moved the main tree without a change of the board. */
  #mayHaveMoved: boolean = true
  /** When the first of what is not at the edge yet was hinted. */
  #hintedAt = NEVER
  /** When the next sync is due, by `clock.elapsed()`. */
  #syncAt = NEVER
  #lastSyncAt: number | null = null
  #lastPublishedAt: number | null = null
  readonly #synced = Promise.withResolvers<void>()
  #announced: Promise<void> = Promise.resolve()
  #running: Promise<void> | undefined
  #isBusy: boolean = false
  #isClosing: boolean = false
  #isClosed: boolean = false
  readonly #sleeper: Sleeper

  constructor(deps: PublisherDeps) {
    this.#deps = deps
    this.#sleeper = new Sleeper(deps.clock)
    this.#outbox = new Outbox(deps.log)
    this.#retry = new Retry(deps.log, () => deps.clock.random())
    this.#socket = new HeldSocket({
      ...deps,
      // Without a ping a connection that waits may be cut off by what is between. It shows nothing:
      // those of the one that leads count.
      mayPing: () => this.#isCurrent() || this.#retry.isWaiting,
      onOpen: (isAgain) => this.#onSocket(isAgain ? 0 : COMPARE_MS),
      onPong: () => this.#onPong(),
      onFree: () => this.#onFree(),
      onLost: () => {
        deps.directory?.lost()
        this.#onSocket(REPORT_MS * deps.clock.random())
      },
    })
    this.seed = new Seed({ ...deps, position: this.#position })
  }

  /** They may have changed, appeared or gone since `hintedAt`. One call is one signal. */
  changed(keys: Iterable<Key>, hintedAt: number = NEVER): void {
    this.#hintedAt = Math.min(this.#hintedAt, hintedAt)
    this.#outbox.add(keys, this.#deps.clock.elapsed())
    this.#retry.changed()
    this.#sleeper.wake()
  }

  /** The main tree may be on another branch or commit. */
  moved(): void {
    this.#mayHaveMoved = true
    this.#sleeper.wake()
  }

  /** What the store is now. It is published at once when it differs from what it was. */
  store(state: StoreState): void {
    const { state: was, layout, version, unwatched } = this.#store ?? {}
    const isSame = was === state.state && unwatched === state.unwatched
    if (isSame && layout === state.layout && version === state.version) return
    this.#store = state
    this.#outbox.addAll(this.#deps.clock.elapsed())
    this.#sleeper.wake()
  }

  /** For what is known before `start`. */
  readonly seed: Seed

  /**
   * Before `start`, where that takes long: shows that a sidecar is there again, and by no ping that
   * anything is current. The first sync asks again if this fails.
   */
  announce(store: StoreState): void {
    this.#announced = askTurn(this.#deps.edge, store, this.#position).then(
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
    return this.#synced.promise
  }

  /** Tries once more to send what is pending, for 3 s at most. */
  async close(): Promise<void> {
    this.#isClosing = true
    this.#retry.tryBy(0)
    this.#outbox.readNow()
    this.#sleeper.wake()
    this.#running ??= this.#end()
    const late = Promise.withResolvers<void>()
    const cancel = this.#deps.clock.after(FLUSH_MS, late.resolve)
    await Promise.race([this.#running, late.promise])
    cancel()
    this.#isClosed = true
    this.#socket.close()
    this.#deps.edge.close()
  }

  status(): PublisherStatus {
    const state = this.#store?.state
    const { size: dirty, needsSync } = this.#outbox
    return {
      connected: this.#retry.text === undefined && this.#lastPublishedAt !== null,
      lastSyncAt: this.#lastSyncAt,
      lastPublishedAt: this.#lastPublishedAt,
      dirty,
      behind: dirty > 0 || needsSync || this.#isBusy,
      lastError: this.#retry.text ?? null,
      store: state === 'bare' ? this.#position.store : (state ?? null),
      unwatched: this.#store?.unwatched ?? false,
    }
  }

  async #run(): Promise<void> {
    await this.#announced
    while (!this.#isClosed) {
      const now = this.#deps.clock.elapsed()
      this.#takeDue(now)
      if (this.#hasWork() && now >= this.#retry.due) await this.#turn()
      else if (this.#isClosing) break
      else await this.#sleep()
    }
    await this.#end()
  }

  async #end(): Promise<void> {
    await this.#announced
    const { edge, directory } = this.#deps
    const { run } = this.#position
    // An edge that just failed learns of the end by silence.
    if (run === null || this.#retry.text !== undefined) directory?.close()
    else await Promise.all([edge.end({ step: 'end', run }), directory?.end()])
  }

  /** Until something is due, or comes. */
  async #sleep(): Promise<void> {
    const retryAt = this.#hasWork() ? this.#retry.due : NEVER
    await this.#sleeper.until(Math.min(this.#syncAt, this.#outbox.readAt, retryAt))
  }

  #takeDue(now: number): void {
    if (now >= this.#syncAt) {
      this.#syncAt = NEVER
      this.#outbox.addAll()
    }
    this.#outbox.takeDue(now)
  }

  #hasWork(): boolean {
    if (this.#store === undefined) return false
    // While the store is missing nothing is known of its records: the sync that follows its
    // return finds every difference.
    if (this.#outbox.needsSync) return true
    const hasNews = this.#outbox.hasChanges || (this.#mayHaveMoved && this.#deps.mainSince)
    return Boolean(hasNews) && this.#store.state !== 'missing'
  }

  async #turn(): Promise<void> {
    const { clock, onFailure, onPublished } = this.#deps
    this.#isBusy = true
    const hintedAt = this.#hintedAt
    this.#hintedAt = NEVER
    const isSync = this.#outbox.needsSync
    try {
      const { failure, hasSentAll } = await (isSync ? this.#sync() : this.#publish())
      const now = clock.elapsed()
      if (failure) {
        onFailure?.(failure)
        const next = this.#retry.failed(failure, now, this.#socket.isOpen)
        // All was applied and only the answer is lost: the sync makes the edge signal it.
        this.#failed({ ...next, sync: next.sync || isSync || hasSentAll === true }, hintedAt)
      } else {
        if (hintedAt !== NEVER) onPublished?.(now - hintedAt)
        if (this.#lastSyncAt !== null && !this.#outbox.hasUnreadable) this.#synced.resolve()
        this.#retry.recovered(now)
        this.#outbox.arrived(this.#hasWork(), now)
        this.#attach()
        this.#reportToDirectory()
      }
    } catch (error) {
      this.#failed(this.#retry.defect(error, clock.elapsed()), hintedAt)
    }
    this.#isBusy = false
  }

  #failed({ sync, freshRun }: NextTry, hintedAt: number): void {
    this.#deps.directory?.lost()
    this.#hintedAt = Math.min(this.#hintedAt, hintedAt)
    if (freshRun) this.#position.leaveRun()
    if (sync) this.#outbox.addAll()
    // The end tries once.
    if (this.#isClosing) this.#isClosed = true
  }

  #attach(): void {
    const { run, takesSocket } = this.#position
    if (takesSocket && run !== null && !this.#isClosed) this.#socket.hold(run)
  }

  #isCurrent(): boolean {
    if (this.#lastSyncAt === null || this.#retry.text !== undefined) return false
    return this.#deps.clock.elapsed() - this.#outbox.since < UNSENT_MS
  }

  /** The next comparison comes by then: reports take over from a socket, and one from reports. */
  #onSocket(inMs: number): void {
    const at = this.#deps.clock.elapsed() + inMs
    this.#syncAt = this.#socket.isOpen ? at : Math.min(this.#syncAt, at)
    if (this.#retry.isWaiting) this.#retry.tryBy(at)
    this.#sleeper.wake()
  }

  /** As good as a report: the edge holds everything. */
  #onPong(): void {
    if (!this.#isCurrent() || this.#isBusy || this.#hasWork()) return
    this.#lastSyncAt = this.#deps.clock.now()
    this.#reportToDirectory()
  }

  #onFree(): void {
    this.#retry.tryBy(0)
    this.#outbox.addAll()
    this.#sleeper.wake()
  }

  #reportToDirectory(): void {
    const { run } = this.#position
    const { store, lastSyncAt } = this.status()
    if (run === null || store === null || lastSyncAt === null) return
    this.#deps.directory?.current({ run, store })
  }

  async #sync(): Promise<Outcome> {
    const { edge, records, mainSince, clock, log } = this.#deps
    const store = this.#store
    if (store === undefined) return {}
    this.#outbox.beginSync()
    const lack = await reconcile(edge, records, store, this.#position, mainSince)
    if (!lack.ok) return { failure: lack }
    this.#lastPublishedAt = clock.now()
    if (lack.value.length > 0) {
      log('info', 'sync.differs', { records: lack.value.length })
      const sent = await this.#publish(lack.value)
      if (sent.failure) return sent
    }
    this.#lastSyncAt = clock.now()
    // Never later than that: the edge and the console take a silent sidecar for dead.
    const withinMs = this.#socket.isOpen ? COMPARE_MS : REPORT_MS
    this.#syncAt = clock.elapsed() + withinMs * (1 - 0.2 * clock.random())
    return {}
  }

  /** What changed, and what the edge `lacks`. */
  async #publish(lacks: Iterable<Key> = []): Promise<Outcome> {
    const { mainSince, clock } = this.#deps
    const keys = this.#outbox.take(lacks)
    this.#mayHaveMoved = false
    const main = await mainSince?.(this.#position.main)
    const change = new Change(keys, { ...this.#deps, position: this.#position, main })
    try {
      const failure = await change.send()
      if (failure) this.#mayHaveMoved = true
      else this.#lastPublishedAt = clock.now()
      return { failure, hasSentAll: keys.size === 0 }
    } finally {
      this.#outbox.putBack(change.unreadable, clock.elapsed())
    }
  }
}
