// What the watcher says, gathered in windows; and whether it still says anything at all.

import type { Clock } from '../clock.ts'
import { messageOf } from '../error-message.ts'
import type { Store } from '../layouts/layout.ts'
import type { Log } from '../log.ts'
import type { Watch, Watcher } from './watch.ts'
import { Window } from './window.ts'

/** A hint may come this much after a scan saw its file; later, the watcher has gone deaf. */
const LATE_HINT_MS = 5_000
/** Where the system refused to watch, it is asked again this often. */
const ARM_AGAIN_MS = 30_000

interface HintAlarms {
  has(name: 'window' | 'late'): boolean
  set(name: 'window' | 'late', ms: number, ring: () => void): void
}

export interface HintsDeps {
  store: Store
  watch: Watch | undefined
  alarms: HintAlarms
  clock: Clock
  log: Log
  /** A window is over. `gap`: why hints may be missing in it. */
  onWindow(paths: ReadonlySet<string>, gap: string | undefined): void
}

export class Hints {
  readonly #deps: HintsDeps
  readonly #window = new Window()
  #paths = new Set<string>()
  #gap: string | undefined
  #watcher: Watcher | undefined
  #failedAt = 0
  /** Found changed without a hint so far. */
  #unhinted = new Set<string>()
  #isClosed: boolean = false

  constructor(deps: HintsDeps) {
    this.#deps = deps
  }

  get isArmed(): boolean {
    return this.#watcher !== undefined
  }

  get isOpen(): boolean {
    return this.#window.deadline !== undefined
  }

  /** Begins to watch, or watches anew: the new watcher first, so that nothing falls between. */
  async arm(): Promise<void> {
    const { watch, store, log } = this.#deps
    if (watch === undefined) return
    try {
      const watcher = await watch(store, {
        onHint: (path) => this.#onHint(path),
        onGap: (why) => this.#onGap(why),
        onFailed: (why) => void this.#onFailed(why),
      })
      const before = this.#watcher
      this.#watcher = watcher
      await (this.#isClosed ? watcher : before)?.close()
      log('info', 'watch.armed')
    } catch (error) {
      await this.#onFailed(messageOf(error))
    }
  }

  /** Where the system refused to watch, it may allow it by now. */
  async armAgain(): Promise<void> {
    const { clock } = this.#deps
    if (this.isArmed || clock.now() - this.#failedAt < ARM_AGAIN_MS) return
    await this.arm()
    this.#onGap('the watcher is asked for again')
  }

  /** Watches no more; answers what was hinted in the window that is still open. */
  async close(): Promise<ReadonlySet<string>> {
    this.#isClosed = true
    await this.#watcher?.close()
    return this.#paths
  }

  /**
   * Tells of changes that a scan found and no hint announced so far. Their hints get some time to
   * come; without them the watcher is armed anew.
   */
  miss(paths: readonly string[]): void {
    if (!this.isArmed) return
    for (const path of paths) if (!this.#paths.has(path)) this.#unhinted.add(path)
    const { alarms } = this.#deps
    if (this.#unhinted.size === 0 || this.#isClosed || alarms.has('late')) return
    alarms.set('late', LATE_HINT_MS, () => void this.#listenAgain())
  }

  #onHint(path: string): void {
    if (this.#isClosed || this.#deps.store.classify(path) === undefined) return
    this.#unhinted.delete(path)
    this.#paths.add(path)
    this.#open()
  }

  #onGap(why: string): void {
    if (this.#isClosed) return
    // A burst says it again every few milliseconds: once a window is enough.
    if (this.#gap !== why) this.#deps.log('info', 'watch.gap', { why })
    this.#gap = why
    this.#open()
  }

  #open(): void {
    const { clock, alarms } = this.#deps
    const now = clock.now()
    const deadline = this.#window.hint(now)
    if (!alarms.has('window')) alarms.set('window', deadline - now, () => this.#onDeadline())
  }

  #onDeadline(): void {
    const { clock, alarms, onWindow } = this.#deps
    const now = clock.now()
    if (!this.#window.close(now)) {
      const waitMs = (this.#window.deadline ?? now) - now
      alarms.set('window', waitMs, () => this.#onDeadline())
      return
    }
    const paths = this.#paths
    const gap = this.#gap
    this.#paths = new Set()
    this.#gap = undefined
    onWindow(paths, gap)
  }

  /** From here on scans find what changed, more often than beneath a watcher. */
  async #onFailed(why: string): Promise<void> {
    if (this.#isClosed) return
    const { log, clock } = this.#deps
    this.#failedAt = clock.now()
    log('error', 'watch.failed', { why, hint: 'Changes are found by scanning only.' })
    const watcher = this.#watcher
    this.#watcher = undefined
    this.#onGap('the watcher failed')
    await watcher?.close()
  }

  async #listenAgain(): Promise<void> {
    const [first] = this.#unhinted
    if (first === undefined) return
    const { size } = this.#unhinted
    this.#deps.log('warn', 'watch.deaf', { files: size, first })
    this.#unhinted = new Set()
    await this.arm()
    this.#onGap('the watcher had gone deaf')
  }
}
