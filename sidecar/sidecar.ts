// The loop of the sidecar: hint → window → read or scan → board → publisher. One turn at a time;
// what comes meanwhile waits for the next one. Times and files come in from outside.

import type { Key, StoreState } from '../worker/board/wire.ts'
import { Alarms } from './alarms.ts'
import type { Board } from './board/board.ts'
import type { Clock } from './clock.ts'
import type { Looker } from './files/file-reader.ts'
import type { HashCache } from './files/hash-cache.ts'
import { Intake, type ScanNotes } from './files/intake.ts'
import type { ScanReport } from './files/scan.ts'
import type { SeenStat } from './files/stat-table.ts'
import type { Store } from './layouts/layout.ts'
import type { Log } from './log.ts'
import { StoreTeller } from './store-teller.ts'
import { Hints } from './watch/hints.ts'
import { AFTER_MANY_MS, MANY_HINTS, type Watch } from './watch/watch.ts'

/** A file that is being written is looked at again this often. */
const HOLD_MS = 100
const SAVE_EVERY_MS = 60_000
/** A machine that slept does not count the time in its timers: they are set anew this often. */
const LONGEST_TIMER_MS = 60_000

/** Where changes go. Nothing here waits for the edge: it may be away for a day. */
export interface PublishTarget {
  /** These records may have changed, appeared or gone. One call is one window is one signal. */
  changed(keys: Iterable<Key>): void
  store(state: StoreState): void
  /** Begins with a sync; the board and the state of the store are known by then. */
  start(): void
  /** Sends what is pending, within a bound. */
  close(): Promise<void>
}

export interface Scanner extends ScanNotes {
  seed(path: string, stat: SeenStat): void
  run(now: number): Promise<ScanReport>
}

export interface PipelineDeps {
  store: Store
  board: Board
  look: Looker
  scan: Scanner
  /** Pause until the next scan, after one that took this much work. */
  intervalMs: (workMs: number, isWatched: boolean) => number
  /** Absent: only scans find what changed. */
  watch?: Watch | undefined
  publisher: PublishTarget
  cache?: HashCache
  clock: Clock
  log: Log
  /** Of the sidecar. */
  version: string
  onProgress?: (progress: { done: number; total: number }) => void
}

const PERIODIC = 'periodic'

type Alarm = 'window' | 'scan' | 'burst' | 'hold' | 'stale' | 'late' | 'save'

export class Pipeline {
  readonly #deps: PipelineDeps
  readonly #alarms: Alarms<Alarm>
  readonly #hints: Hints
  readonly #intake: Intake
  readonly #teller: StoreTeller
  /** To be looked at in the next turn. */
  #ready = new Set<string>()
  /** Why the next turn must scan; undefined: it need not. */
  #scanWhy: string | undefined
  #isDue: boolean = false
  #turning: Promise<void> | undefined
  #saving: Promise<void> | undefined
  #isStarted: boolean = false
  #isStopping: boolean = false

  constructor(deps: PipelineDeps) {
    this.#deps = deps
    this.#alarms = new Alarms(deps.clock)
    const { board, look, scan, log, clock, store, watch } = deps
    const onWindow = this.#onWindow.bind(this)
    this.#hints = new Hints({ store, watch, alarms: this.#alarms, clock, log, onWindow })
    this.#teller = new StoreTeller(deps)
    this.#intake = new Intake({ board, look, scan, log, now: () => clock.now() })
  }

  /** Resolves when the board is known and watched; the edge may still be away then. */
  async start(): Promise<void> {
    await this.#restore()
    if (this.#isStopping) return
    this.#scanWhy = 'start'
    await this.#drain()
    // Publishing does not wait for the watcher, which reads every folder again (2 s at 100,000
    // files). Until it hints, scans find what changes.
    await this.#hints.arm()
    if (this.#isStopping) return
    this.#scanWhy = 'the watcher hints from here on'
    await this.#drain()
  }

  /** Looks once more, lets the publisher send what is pending, and leaves no timer. */
  async stop(): Promise<void> {
    if (this.#isStopping) return
    this.#isStopping = true
    this.#alarms.cancelAll()
    const hinted = await this.#hints.close()
    await this.#turning
    this.#ready = new Set([...this.#ready, ...hinted, ...this.#intake.held])
    // Of the last save a hint may still be on its way.
    this.#scanWhy = 'the end'
    if (this.#isStarted) await this.#drain()
    await this.#deps.publisher.close()
    await this.#saving
    // A first read that was cut short is kept too: the next start goes on from there.
    await this.#deps.cache?.save(this.#deps.board.files())
  }

  async #restore(): Promise<void> {
    const { board, cache, scan } = this.#deps
    await cache?.load((path, file) => {
      board.restore(path, file)
      if (file.stat) scan.seed(path, file.stat)
    })
  }

  #onWindow(paths: ReadonlySet<string>, gap: string | undefined): void {
    for (const path of paths) this.#ready.add(path)
    this.#scanWhy ??= gap
    void this.#drain()
  }

  /** Scans now, or with the window that is open: its changes must not be told in two halves. */
  #scanSoon(why: string): void {
    this.#scanWhy ??= why
    if (!this.#hints.isOpen) void this.#drain()
  }

  #drain(): Promise<void> {
    this.#isDue = true
    this.#turning ??= this.#turns()
    return this.#turning
  }

  async #turns(): Promise<void> {
    try {
      while (this.#isDue) {
        this.#isDue = false
        await this.#turn()
      }
    } catch (error) {
      this.#deps.log('error', 'pipeline.defect', { error })
      this.#setAlarm('scan', AFTER_MANY_MS, () => this.#scanSoon('a turn failed'))
    } finally {
      this.#turning = undefined
    }
  }

  async #turn(): Promise<void> {
    const hinted = this.#ready
    this.#ready = new Set()
    const isBurst = hinted.size > MANY_HINTS
    const scanWhy = this.#scanWhy ?? (isBurst ? 'many hints' : undefined)
    this.#scanWhy = undefined
    if (isBurst) this.#setAlarm('burst', AFTER_MANY_MS, () => this.#scanSoon('after a burst'))
    const report = scanWhy === undefined ? undefined : await this.#scan(scanWhy)
    if (report?.state === 'missing') return this.#settle()
    const found = report ? [...report.changed, ...report.gone, ...report.suspects] : []
    const news = await this.#take(new Set([...hinted, ...found]), report !== undefined)
    if (scanWhy === PERIODIC) this.#hints.miss(news.filter((path) => !hinted.has(path)))
    this.#settle()
    if (news.length === 0 || this.#alarms.has('save')) return
    this.#setAlarm('save', SAVE_EVERY_MS, () => this.#save())
  }

  async #take(paths: Set<string>, isScan: boolean): Promise<string[]> {
    const { store, onProgress } = this.#deps
    // What closes a task stands in the configuration: with it first, nothing is derived twice.
    const isFirst = paths.delete(store.configFile)
    const ordered = isFirst ? [store.configFile, ...paths] : [...paths]
    const total = ordered.length
    const isEnding = () => this.#isStopping && !this.#isStarted
    const { news, later } = await this.#intake.take(
      ordered,
      (done) => onProgress?.({ done, total }),
      isEnding,
    )
    if (this.#intake.isHolding) this.#setAlarm('hold', HOLD_MS, () => this.#retryHeld())
    // A scan that found the same trouble is not repeated at once: a bad disk stays bad.
    const why = 'a file could not be read'
    if (later && !isScan) this.#setAlarm('burst', AFTER_MANY_MS, () => this.#scanSoon(why))
    return news
  }

  #retryHeld(): void {
    for (const path of this.#intake.held) this.#ready.add(path)
    void this.#drain()
  }

  async #scan(why: string): Promise<ScanReport> {
    const { scan, intervalMs, clock, log } = this.#deps
    if (why === PERIODIC) await this.#hints.armAgain()
    const report = await scan.run(clock.now())
    this.#setAlarm('scan', intervalMs(report.workMs, this.#hints.isArmed), () =>
      this.#scanSoon(PERIODIC),
    )
    const { state, files } = report
    log('debug', 'scan.done', { reason: why, state, files, changed: report.changed.length })
    this.#teller.seen(report)
    return report
  }

  /** Tells what changed, and when to come back for what changes by time alone. */
  #settle(): void {
    const { board, publisher, clock } = this.#deps
    const changed = board.settle(clock.now())
    const isKnown = this.#teller.tell()
    if (this.#isStarted) {
      if (changed.length > 0) publisher.changed(changed)
    } else if (isKnown && !this.#isStopping) {
      this.#isStarted = true
      publisher.start()
    }
    const staleAt = board.nextStaleAt()
    const waitMs = Math.min((staleAt ?? Infinity) - clock.now(), LONGEST_TIMER_MS)
    if (staleAt === undefined) this.#alarms.cancel('stale')
    else this.#setAlarm('stale', waitMs, () => void this.#drain())
  }

  #save(): void {
    const { cache, board } = this.#deps
    this.#saving ??= cache?.save(board.files()).finally(() => {
      this.#saving = undefined
    })
  }

  #setAlarm(name: Alarm, ms: number, ring: () => void): void {
    if (!this.#isStopping) this.#alarms.set(name, ms, ring)
  }
}
