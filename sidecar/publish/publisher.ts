// The one queue to the edge: one message in flight, nothing overtakes. It holds keys, never
// records, so a day without an edge costs no more memory than a minute, and what is sent is always
// the newest content.

import type { Key, StoreState } from '../../worker/board/wire.ts'
import type { Records } from '../board/records.ts'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import { jittered } from './backoff.ts'
import { Change } from './deliver.ts'
import type { Edge, Failure } from './edge.ts'
import { Outage } from './outage.ts'
import type { PublisherStatus } from './publisher-status.ts'
import { reconcile, unknownStanding } from './reconcile.ts'
import { Unreadable } from './unreadable.ts'

/** Past this many dirty keys a sync finds them again for less memory than remembering them. */
const MOST_DIRTY = 50_000
const SYNC_EVERY_MS = 300_000
const FLUSH_MS = 3_000
export interface PublisherDeps {
  edge: Edge
  records: Records
  clock: Clock
  log: Log
  /** 0 ≤ n < 1; a test gives its own. */
  random?: () => number
  onProgress?: (done: number, total: number) => void
  /** Told of every failure, also of those that the log keeps to itself. */
  onFailure?: (failure: Failure) => void
}

export class Publisher {
  readonly #deps: PublisherDeps
  readonly #random: () => number
  readonly #outage: Outage
  readonly #unreadable: Unreadable
  readonly #standing = unknownStanding()
  #dirty = new Set<Key>()
  #change: Change | undefined
  #store: StoreState | undefined
  /** Covers every key that was dirty when it begins, so those need not be remembered. */
  #syncWanted: boolean = true
  #started: boolean = false
  #busy: boolean = false
  #closing: boolean = false
  #closed: boolean = false
  #cancelWait: (() => void) | undefined
  #cancelSync: (() => void) | undefined
  #onIdle: (() => void)[] = []
  #onSynced: (() => void)[] = []
  #lastSyncAt: number | null = null
  #lastPublishedAt: number | null = null

  constructor(deps: PublisherDeps) {
    this.#deps = deps
    this.#random = deps.random ?? Math.random
    this.#outage = new Outage(deps.log, this.#random)
    this.#unreadable = new Unreadable(deps.clock, deps.log, (keys) => this.changed(keys))
  }

  /** These records may have changed, appeared or gone. Sends at once when nothing is in flight. */
  changed(keys: Iterable<Key>): void {
    for (const key of keys) this.#dirty.add(key)
    this.#bound()
    this.#pump()
  }

  /** What the store is now. The edge is told at once when it differs from what it was. */
  store(state: StoreState): void {
    const { state: was, layout, version } = this.#store ?? {}
    if (was === state.state && layout === state.layout && version === state.version) return
    this.#store = state
    this.#syncWanted = true
    this.#pump()
  }

  /** Begins with a sync. Records and store must be known by now. */
  start(): void {
    this.#started = true
    this.#pump()
  }

  /** Resolves once the edge held everything: a sync and what it found are through. */
  synced(): Promise<void> {
    if (this.#isSynced()) return Promise.resolve()
    return new Promise((resolve) => this.#onSynced.push(resolve))
  }

  /** Tries once more to send what is pending, for 3 s at most. */
  async close(): Promise<void> {
    this.#closing = true
    this.#cancelSync?.()
    const isQuiet = this.#outage.isSuperseded
    this.#cancelWait?.()
    this.#cancelWait = undefined
    // A sidecar that lost the board to a later one must not take it back with its last breath.
    if (!isQuiet) {
      this.#unreadable.flush()
      this.#pump()
    }
    if (this.#busy) {
      await new Promise<void>((resolve) => {
        const cancel = this.#deps.clock.after(FLUSH_MS, resolve)
        this.#onIdle.push(() => {
          cancel()
          resolve()
        })
      })
    }
    this.#closed = true
    this.#deps.edge.close()
  }

  status(): PublisherStatus {
    const dirty = this.#dirty.size + this.#unreadable.size + (this.#change?.pending.size ?? 0)
    return {
      connected: this.#outage.text === undefined && this.#lastPublishedAt !== null,
      lastSyncAt: this.#lastSyncAt,
      lastPublishedAt: this.#lastPublishedAt,
      dirty,
      behind: dirty > 0 || this.#syncWanted || this.#busy,
      lastError: this.#outage.text ?? null,
      store: this.#store?.state ?? null,
    }
  }

  #isSynced(): boolean {
    return this.#lastSyncAt !== null && this.#unreadable.size === 0
  }

  #bound(): void {
    if (this.#dirty.size <= MOST_DIRTY && !this.#syncWanted) return
    this.#syncWanted = true
    this.#dirty.clear()
  }

  #pump(): void {
    if (this.#started && !this.#busy && !this.#closed && !this.#cancelWait) void this.#drain()
  }

  /** Runs without an await until its first read: a change is under way in the tick it came in. */
  async #drain(): Promise<void> {
    this.#busy = true
    while (!this.#closed && this.#hasWork()) {
      const failure = await this.#turn()
      if (!failure) {
        if (this.#isSynced()) for (const resolve of this.#onSynced.splice(0)) resolve()
        this.#outage.recovered(this.#deps.clock.now())
        continue
      }
      const waitMs = this.#failed(failure)
      if (this.#closing) break
      if (waitMs === 0) continue
      this.#cancelWait = this.#deps.clock.after(waitMs, () => {
        this.#cancelWait = undefined
        this.#pump()
      })
      break
    }
    this.#busy = false
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  #hasWork(): boolean {
    if (this.#store === undefined) return false
    // While the store is missing nothing is known of its records: the sync that follows its
    // return finds every difference.
    return this.#syncWanted || (this.#dirty.size > 0 && this.#store.state === 'present')
  }

  async #turn(): Promise<Failure | undefined> {
    try {
      return this.#syncWanted ? await this.#sync() : await this.#publish(this.#take())
    } catch (error) {
      // A defect of ours. The sidecar outlives it: the sync starts from what is true.
      this.#syncWanted = true
      this.#deps.log('error', 'publish.defect', { error })
      return { ok: false, reason: 'network', message: 'The sidecar failed to make a message.' }
    }
  }

  #take(): Set<Key> {
    const keys = this.#dirty
    this.#dirty = new Set()
    return keys
  }

  async #sync(): Promise<Failure | undefined> {
    const { edge, records, clock, log } = this.#deps
    const store = this.#store
    if (store === undefined) return undefined
    this.#syncWanted = false
    this.#dirty.clear()
    const lack = await reconcile(edge, records, store, this.#standing)
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
    this.#cancelSync?.()
    if (this.#closing) return undefined
    this.#cancelSync = clock.after(jittered(SYNC_EVERY_MS, this.#random), () => {
      this.#syncWanted = true
      this.#pump()
    })
    return undefined
  }

  async #publish(keys: Set<Key>): Promise<Failure | undefined> {
    const change = new Change(keys, { ...this.#deps, standing: this.#standing })
    this.#change = change
    try {
      const failure = await change.send()
      if (!failure) this.#lastPublishedAt = this.#deps.clock.now()
      // All was applied, and the message that was to tell of it is lost: the sync tells.
      else if (change.pending.size === 0) this.#syncWanted = true
      return failure
    } finally {
      this.#change = undefined
      for (const key of change.pending) this.#dirty.add(key)
      this.#bound()
      this.#unreadable.remember(change.unreadable)
    }
  }

  /** Milliseconds to wait before the next try. */
  #failed(failure: Failure): number {
    this.#deps.onFailure?.(failure)
    const retry = this.#outage.failed(failure, this.#deps.clock.now())
    if (retry.freshRun) this.#standing.run = null
    if (retry.sync) this.#syncWanted = true
    this.#bound()
    return retry.waitMs
  }
}
