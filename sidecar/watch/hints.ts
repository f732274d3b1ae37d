// Collects the hints of the watcher in windows, and notices when the watcher misses changes.

import { type Clock, DeadlineExceeded, within } from '../../worker/shared/clock.ts'
import type { Log } from '../../worker/shared/log.ts'
import { messageOf } from '../../worker/shared/log.ts'
import type { Watch, WatchedStore, Watcher, WatchPatience } from './watch.ts'

/** A hint may come so long after a scan found its change. After that, the watcher missed it. */
const LATE_HINT_MS = 5_000
/**
 * If the system refuses to watch, it is asked again this often. Where it has watches for the board
 * but not for all worktrees, each watcher fails soon after its start: then the pause doubles, or
 * the board would be watched and unwatched for every reader each 30 s.
 */
const ARM_AGAIN_MS = { least: 30_000, most: 3_600_000 }
/** One that lasted so long was no such failure. */
const LASTED_MS = 60_000
/** A process that ends has ten seconds for all of it. */
const CLOSED_WITHIN_MS = 1_000
const NEVER = Number.POSITIVE_INFINITY

interface HintsDeps {
  store: WatchedStore
  watch: Watch | undefined
  patience: WatchPatience
  clock: Clock
  log: Log
  /** A window was opened, so `deadline` has changed. */
  onOpen(): void
}

/** What was hinted in a window that is over. */
interface Hinted {
  paths: ReadonlySet<string>
  /** When the window was opened, by `clock.elapsed()`. */
  since: number
  /** Why hints may be missing in it. */
  gap: string | undefined
}

export class Hints {
  readonly #deps: HintsDeps
  readonly #window = new Window()
  #paths = new Set<string>()
  #gap: string | undefined
  #watcher: Watcher | undefined
  #arming: Promise<void> | undefined
  #armedAt = Number.NEGATIVE_INFINITY
  #failedAt = Number.NEGATIVE_INFINITY
  #armAgainMs = 0
  /** Found changed without a hint so far. */
  #unhinted = new Set<string>()
  #lateAt = NEVER
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

  /** When to `take` or `check` next. */
  get deadline(): number {
    return Math.min(this.#window.deadline ?? NEVER, this.#lateAt)
  }

  /** The watcher has failed, and none has taken its place yet. */
  get hasFailed(): boolean {
    return !this.isArmed && this.#failedAt > Number.NEGATIVE_INFINITY
  }

  /**
   * Starts a watcher, or a new one: it starts before the old one ends, so no event is missed.
   * `why`: what it may have missed until then. Resolves when it watches, or has failed. Never
   * rejects.
   */
  arm(why?: string): Promise<void> {
    if (this.#deps.watch === undefined) return Promise.resolve()
    this.#arming ??= this.#arm(this.#deps.watch, why).finally(() => {
      this.#arming = undefined
    })
    return this.#arming
  }

  async #arm(watch: Watch, why: string | undefined): Promise<void> {
    const { store, log, patience } = this.#deps
    let isLate = false
    const events = {
      onHint: (path: string) => !isLate && this.#onHint(path),
      onGap: (gap: string) => !isLate && this.#onGap(gap),
      onFailed: (failure: string) => !isLate && this.#onFailed(failure),
    }
    const starting = watch(store, events, patience)
    try {
      const watcher = await within(patience.clock, patience.withinMs, () => starting)
      const before = this.#watcher
      this.#watcher = watcher
      this.#armedAt = patience.clock.elapsed()
      this.#leave(this.#isClosed ? watcher : before)
      log('info', 'watch.armed', {})
      if (why !== undefined) this.#onGap(why)
    } catch (error) {
      // It is given up: by the time it hints at a change, a scan has found that.
      isLate = true
      starting.then(
        (watcher) => this.#leave(watcher),
        () => undefined,
      )
      const { withinMs } = patience
      const isStuck = error instanceof DeadlineExceeded
      this.#onFailed(isStuck ? `it was not ready within ${withinMs / 1_000} s` : messageOf(error))
    }
  }

  /** Nothing waits for it: one that is stuck does not end either. */
  #leave(watcher: Watcher | undefined): void {
    watcher?.close().catch((error) => this.#deps.log('warn', 'watch.not_closed', { error }))
  }

  /** Where the system refused to watch, it may allow it by now. */
  armAgain(): void {
    if (this.isArmed || this.#deps.clock.elapsed() - this.#failedAt < this.#armAgainMs) return
    void this.arm('the watcher was started at last')
  }

  /** The window that is over by now; undefined: none is. */
  take(now: number): Hinted | undefined {
    const since = this.#window.openedAt ?? now
    if (!this.#window.close(now)) return undefined
    const taken = { paths: this.#paths, since, gap: this.#gap }
    this.#paths = new Set()
    this.#gap = undefined
    return taken
  }

  /** Watches no more; answers what was hinted in the window that is still open. */
  async close(): Promise<ReadonlySet<string>> {
    this.#isClosed = true
    const { clock } = this.#deps
    await within(clock, CLOSED_WITHIN_MS, async () => this.#watcher?.close()).catch(() => undefined)
    return this.#paths
  }

  /**
   * A periodic scan found changes that no hint announced. Their hints get some time to come;
   * without them the watcher is started again.
   */
  missed(paths: readonly string[], now: number): void {
    if (!this.isArmed) return
    for (const path of paths) if (!this.#paths.has(path)) this.#unhinted.add(path)
    if (this.#unhinted.size > 0) this.#lateAt = Math.min(this.#lateAt, now + LATE_HINT_MS)
  }

  /** Starts the watcher again if it misses events. */
  check(now: number): void {
    if (now < this.#lateAt) return
    this.#lateAt = NEVER
    const [first] = this.#unhinted
    if (first === undefined) return
    this.#deps.log('warn', 'watch.missed_events', { files: this.#unhinted.size, first })
    this.#unhinted = new Set()
    void this.arm('the watcher had missed events')
  }

  #onHint(path: string): void {
    if (this.#isClosed || this.#deps.store.classify(path) === undefined) return
    this.#unhinted.delete(path)
    this.#paths.add(path)
    this.#open()
  }

  #onGap(why: string): void {
    if (this.#isClosed) return
    // The same gap may be reported every few milliseconds: one line a window is enough.
    if (this.#gap !== why) this.#deps.log('info', 'watch.gap', { why })
    this.#gap = why
    this.#open()
  }

  /** From here on scans find what changed, more often than beneath a watcher. */
  #onFailed(why: string): void {
    if (this.#isClosed) return
    const { log, clock } = this.#deps
    const { least, most } = ARM_AGAIN_MS
    this.#failedAt = clock.elapsed()
    const isShort = this.isArmed && this.#failedAt - this.#armedAt < LASTED_MS
    const doubled = isShort ? 2 * this.#armAgainMs : least
    this.#armAgainMs = Math.min(Math.max(doubled, least), most)
    log('error', 'watch.failed', { why, hint: hintFor(why) })
    const watcher = this.#watcher
    this.#watcher = undefined
    this.#onGap('the watcher failed')
    this.#leave(watcher)
  }

  #open(): void {
    const wasOpen = this.isOpen
    this.#window.hint(this.#deps.clock.elapsed())
    if (!wasOpen) this.#deps.onOpen()
  }
}

/** By the code that the system's sentence begins with. */
function hintFor(why: string): string {
  const scans = 'Changes are found by scanning only.'
  const [code = ''] = /^\w+/.exec(why) ?? []
  const limit = LIMITS.get(code)
  if (limit === undefined) return scans
  return `${scans} Raise it with sysctl: ${limit}. signalbox doctor says how many are needed.`
}

const LIMITS: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'fs.inotify.max_user_watches'],
  // Or the process has no descriptors left.
  ['EMFILE', 'fs.inotify.max_user_instances'],
])

/**
 * Changes within this long are one message: an agent's save touches several files.
 * @forTests The test's clock moves by it.
 */
export const QUIET_MS = 100
/**
 * Longest wait from the first hint: a writer that never pauses must not starve the clients.
 * @forTests The test's clock moves by it.
 */
export const MAX_WINDOW_MS = 500

/**
 * The window in which hints gather before they are acted on. Pure: the caller sleeps until the
 * deadline that it gets.
 * @forTests A minute of hints in microseconds.
 */
export class Window {
  #first: number | undefined
  #last = 0

  /** Opens the window, or keeps it open. */
  hint(now: number): void {
    this.#first ??= now
    this.#last = now
  }

  /** The first hint of the open window. */
  get openedAt(): number | undefined {
    return this.#first
  }

  /** When to `close` the open window, in ms of the caller's clock; undefined: none is open. */
  get deadline(): number | undefined {
    if (this.#first === undefined) return undefined
    return Math.min(this.#last + QUIET_MS, this.#first + MAX_WINDOW_MS)
  }

  /**
   * True once per window, when it is over: act on what gathered. False: a later hint moved the
   * deadline, or none is open; ask again at `deadline`.
   */
  close(now: number): boolean {
    if (now < (this.deadline ?? NEVER)) return false
    this.#first = undefined
    return true
  }
}
