// The loop of the sidecar: sleep until something is due, read what was hinted or found by a scan,
// hand what changed to the publisher. One turn at a time; what comes meanwhile waits for the next
// one. Times and files come in from outside.

import { type Clock, within } from '../worker/shared/clock.ts'
import type { Log } from '../worker/shared/log.ts'
import type { Board } from './board/board.ts'
import type { FileReader } from './files/file-reader.ts'
import type { HashCache } from './files/hash-cache.ts'
import { Intake } from './files/intake.ts'
import { type ScanReport, scan } from './files/scan.ts'
import type { Store } from './layouts/layout.ts'
import type { Publisher } from './publish/publisher.ts'
import { Sleeper } from './sleeper.ts'
import { StoreStatus } from './store-status.ts'
import type { FoundTrees } from './trees/found-trees.ts'
import type { KeptTrees } from './trees/kept-trees.ts'
import {
  NO_TREES,
  scanTrees,
  type TreesReport,
  treesRead,
  watchedWith,
} from './trees/scan-trees.ts'
import { Hints } from './watch/hints.ts'
import { AFTER_MANY_MS, MANY_HINTS, WATCH_WITHIN_MS, type Watch } from './watch/watch.ts'

/** A file that is being written is looked at again this often. */
const HELD_MS = 100
/** git may be slow over a long history. */
const TREES_WITHIN_MS = 5_000
/** A message does not wait longer for it. */
const CATCH_UP_MS = 1_000
const SAVE_EVERY_MS = 60_000
/** After a turn that failed by a defect of ours. */
const AFTER_DEFECT_MS = 1_000
/** Records turn stale by the time of day, which may be set, or go on while the machine sleeps. */
const STALE_LOOK_MS = 60_000

/** Where changes go. Nothing here waits for the edge: it may be away for a day. */
export type PublishTarget = Pick<Publisher, 'changed' | 'store' | 'start' | 'close'> & {
  /** Absent: nothing is sent of the main tree. */
  moved?: Publisher['moved']
  /** Absent: nothing goes ahead of `start`. */
  seed?: Publisher['seed']
  /** Absent: the edge is informed at `start`. */
  announce?: Publisher['announce']
}

interface SidecarDeps {
  store: Store
  board: Board
  read: FileReader['read']
  /** Pause until the next scan, after one that took this much work. */
  intervalMs: (workMs: number, isWatched: boolean) => number
  /** Absent: only scans find what changed. */
  watch?: Watch | undefined
  /** Absent: `WATCH_WITHIN_MS`. */
  watchWithinMs?: number | undefined
  publisher: PublishTarget
  /** Absent: linked worktrees are left out. */
  trees?: Pick<FoundTrees, keyof FoundTrees>
  cache?: HashCache
  /** Absent: what trees whose folders are gone had at a start is unknown. */
  keptTrees?: KeptTrees
  clock: Clock
  log: Log
  /** The sidecar's. */
  version: string
  onProgress?: (progress: { done: number; total: number }) => void
  /** A large board is read for the first time, and the edge says how far it is. */
  onReading?: (files: number) => void
}

/** What one turn has to do. `since`: when the first of `paths` was hinted; absent: nothing was. */
interface Work {
  paths: Set<string>
  since?: number | undefined
  /** Why it must scan; undefined: it need not. */
  scanWhy?: string | undefined
}

/** A smaller board is read at once. */
const LARGE_FILES = 1_000

const PERIODIC = 'periodic'
const WATCHING = 'the watcher hints from here on'
const NEVER = Number.POSITIVE_INFINITY

export class Sidecar {
  readonly #deps: SidecarDeps
  readonly #hints: Hints
  readonly #intake: Intake
  readonly #status: StoreStatus
  readonly #started = Promise.withResolvers<void>()
  /** Resolves when the board is known and watched, or `run` ended before. */
  readonly started = this.#started.promise
  /** When what is due, by `clock.elapsed()`. */
  readonly #due = { scan: 0, held: NEVER, stale: NEVER, save: NEVER }
  #scanWhy = 'start'
  #isPublishing: boolean = false
  #isSeeding: boolean = false
  /** There are other trees than the board has. */
  #hasOtherTrees: boolean = false
  #saving: Promise<void> | undefined
  readonly #sleeper: Sleeper

  constructor(deps: SidecarDeps) {
    this.#deps = deps
    const { store, watch, watchWithinMs: withinMs = WATCH_WITHIN_MS, clock, log } = deps
    const { board, read } = deps
    this.#sleeper = new Sleeper(clock)
    const patience = { clock, withinMs }
    const watched = watchedWith(store, board.trees)
    this.#hints = new Hints({
      store: watched,
      watch,
      patience,
      clock,
      log,
      onOpen: this.#sleeper.wake,
    })
    this.#status = new StoreStatus(deps)
    this.#intake = new Intake({ board, read, log, elapsed: () => clock.elapsed() })
  }

  /** Runs until `signal` aborts; then looks once more and sends what is pending. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, board } = this.#deps
    signal.addEventListener('abort', this.#sleeper.wake, { once: true })
    try {
      await Promise.all([this.#restore(), this.#startTrees()])
      await this.#turn(signal)
      // Nothing waits for the watcher, which reads every folder again (2 s at 100,000 files), and
      // may be stuck. What changes until it hints, the scans find.
      if (!signal.aborted) await this.#watch(signal)
      log('info', 'sidecar.watching', { files: board.files.size })
    } finally {
      this.#started.resolve()
    }
    while (!signal.aborted) {
      await this.#sleep(signal)
      await this.#turn(signal)
    }
    await this.#end(signal)
  }

  /** A large board is scanned for seconds then, and a restart that is short ends nothing. */
  async #restore(): Promise<void> {
    const { cache, board, publisher, store, version } = this.#deps
    await cache?.load((path, file) => board.restore(path, file))
    if (board.files.size < LARGE_FILES) return
    publisher.announce?.({ state: 'present', layout: store.layout, version })
  }

  /** A start without them would take their marks off the board, and put them on again. */
  async #startTrees(): Promise<void> {
    const { trees, keptTrees, board, clock, publisher } = this.#deps
    if (!trees) return
    const earlier = await keptTrees?.load(board.trees)
    const onChange = () => {
      this.#hasOtherTrees = true
      this.#sleeper.wake()
    }
    const started = trees.start(onChange, () => publisher.moved?.(), earlier)
    await within(clock, TREES_WITHIN_MS, () => started).catch(() => undefined)
  }

  /** Turns go on until it watches; then comes the scan for what changed before. */
  async #watch(signal: AbortSignal): Promise<void> {
    let isArming = true
    void this.#hints.arm().then(() => {
      isArming = false
      this.#sleeper.wake()
    })
    while (isArming && !signal.aborted) {
      await this.#sleep(signal)
      await this.#turn(signal)
    }
    this.#scanAt(0, WATCHING)
    await this.#turn(signal)
  }

  /** Until the next deadline, the first hint, or the end. */
  async #sleep(signal: AbortSignal): Promise<void> {
    const { held, stale, save } = this.#due
    const scan = this.#hasOtherTrees && !this.#hints.isOpen ? 0 : this.#scanDue
    const next = Math.min(this.#hints.deadline, scan, held, stale, save)
    if (next > this.#deps.clock.elapsed() && !signal.aborted) await this.#sleeper.until(next)
  }

  /** While a window is open a scan waits for its end, or its changes were published in halves. */
  get #scanDue(): number {
    return this.#hints.isOpen ? NEVER : this.#due.scan
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const now = this.#deps.clock.elapsed()
    if (now >= this.#due.save) this.#save()
    try {
      this.#hints.check(now)
      const work = this.#takeWork(now)
      if (work) await this.#do(work, signal)
    } catch (error) {
      // What this turn was to read is found again by the scan.
      this.#deps.log('error', 'sidecar.defect', { error })
      Object.assign(this.#due, { scan: NEVER, held: NEVER, stale: NEVER })
      this.#scanAt(now + AFTER_DEFECT_MS, 'a turn failed')
    }
  }

  #takeWork(now: number): Work | undefined {
    const window = this.#hints.take(now)
    const paths = new Set(window?.paths)
    const isMany = paths.size > MANY_HINTS
    let scanWhy = window?.gap ?? (isMany ? 'many hints' : undefined)
    if (window && this.#status.isGone) scanWhy ??= 'a hint while there are no tasks'
    if (now >= this.#scanDue) {
      scanWhy ??= this.#scanWhy
      this.#due.scan = NEVER
    }
    if (this.#hasOtherTrees && !this.#hints.isOpen) scanWhy ??= 'other trees'
    if (isMany) this.#scanAt(now + AFTER_MANY_MS, 'after many hints')
    if (now >= this.#due.held) for (const path of this.#intake.held) paths.add(path)
    const isStale = now >= this.#due.stale
    if (!window && !isStale && paths.size === 0 && scanWhy === undefined) return undefined
    return { paths, since: window?.since, scanWhy }
  }

  async #do({ paths, since, scanWhy: why }: Work, signal: AbortSignal): Promise<void> {
    const { trees, clock } = this.#deps
    // A checkout moves a HEAD, too: by the old one, what it wrote would be compared wrongly.
    if (trees && paths.size > 0)
      await within(clock, CATCH_UP_MS, () => trees.catchUp()).catch(() => undefined)
    const scanWhy = why ?? (this.#hasOtherTrees ? 'other trees' : undefined)
    if (this.#hasOtherTrees) this.#takeTrees()
    const report = scanWhy === undefined ? undefined : await this.#scan(scanWhy)
    let workMs = report?.workMs ?? 0
    if (report?.state !== 'missing') {
      await this.#beginSeed(report)
      // They are watched later, and a gap asks for the scan of them then.
      const withTrees = report && scanWhy !== WATCHING
      const inTrees = withTrees ? await this.#scanTrees() : NO_TREES
      workMs += inTrees.workMs
      const own = report ? [...report.changed, ...report.gone, ...report.suspects] : []
      const found = [...own, ...[...inTrees.found.values()].flat()]
      const news = await this.#take(new Set([...paths, ...found]), report !== undefined, signal)
      await this.#takeDue(report !== undefined, signal)
      if (!signal.aborted) this.#readTrees(inTrees)
      await this.#takeDue(report !== undefined, signal)
      const now = this.#deps.clock.elapsed()
      const unhinted = news.filter((path) => !paths.has(path))
      if (scanWhy === PERIODIC) this.#hints.missed(unhinted, now)
      if (news.length > 0) this.#due.save = Math.min(this.#due.save, now + SAVE_EVERY_MS)
    }
    if (report) {
      const { clock, intervalMs } = this.#deps
      this.#scanAt(clock.elapsed() + intervalMs(workMs, this.#hints.isArmed), PERIODIC)
    }
    await this.#publishChanged(signal, since)
  }

  async #take(paths: Set<string>, isScan: boolean, signal: AbortSignal): Promise<string[]> {
    const { store, board, onProgress, clock } = this.#deps
    const { seed } = this.#deps.publisher
    // The configuration says which statuses are closed: with it first, nothing is derived twice.
    const { configFile } = store
    const isFirst = configFile !== undefined && paths.delete(configFile)
    const ordered = isFirst ? [configFile, ...paths] : [...paths]
    const { news, later } = await this.#intake.take(
      ordered,
      async (done) => {
        const progress = { done, total: ordered.length }
        onProgress?.(progress)
        if (this.#isSeeding) await seed?.add(board.takeChanged(clock.now(), true), progress)
      },
      () => signal.aborted && !this.#isPublishing,
    )
    if (this.#isSeeding) await seed?.end()
    this.#isSeeding = false
    this.#due.held = this.#intake.isHolding ? clock.elapsed() + HELD_MS : NEVER
    // A scan that found the same trouble is not repeated at once: a bad disk stays bad.
    if (later && !isScan) this.#scanAt(clock.elapsed() + AFTER_MANY_MS, 'a file could not be read')
    return news
  }

  async #scan(why: string): Promise<ScanReport> {
    const { store, board, log } = this.#deps
    if (why === PERIODIC) this.#hints.armAgain()
    const report = await scan(store, board.files)
    const { state, files } = report
    log('debug', 'scan.done', { reason: why, state, files, changed: report.changed.length })
    this.#status.scanned(report)
    return report
  }

  /** Copies in trees that are compared with another file of the main tree, or of a merge base. */
  async #takeDue(isScan: boolean, signal: AbortSignal): Promise<void> {
    const { board, trees } = this.#deps
    const take = async () => {
      const { due } = board.trees
      if (due.size > 0) await this.#take(new Set(due), isScan, signal)
    }
    await take()
    if (board.trees.wanted().length === 0) return
    await trees?.readWanted(board.trees)
    await take()
  }

  #takeTrees(): void {
    const { trees, board } = this.#deps
    this.#hasOtherTrees = false
    if (trees) board.trees.take(trees.all())
  }

  async #scanTrees(): Promise<TreesReport> {
    const { board, trees, clock } = this.#deps
    const report = await scanTrees(board.trees, trees, clock)
    if (report.isBusy) this.#scanAt(clock.elapsed() + AFTER_MANY_MS, 'git was writing a tree')
    return report
  }

  #readTrees(report: TreesReport): void {
    const { board, clock } = this.#deps
    const read = treesRead(report, board.trees)
    board.trees.read(read)
    if (read.length === report.found.size) return
    this.#scanAt(clock.elapsed() + AFTER_MANY_MS, 'a tree could not be read')
  }

  /** Where a large board is read for the first time. */
  async #beginSeed(report: ScanReport | undefined): Promise<void> {
    const { board, publisher, store, version, log, onReading } = this.#deps
    const isFirst = !this.#isPublishing && board.files.size === 0
    if (!isFirst || report?.state !== 'present' || report.files < LARGE_FILES) return
    const { files } = report
    const state = { state: 'present', layout: store.layout, version } as const
    this.#isSeeding = (await publisher.seed?.begin(state)) === true
    if (!this.#isSeeding) return
    log('info', 'sidecar.reading', { files })
    onReading?.(files)
  }

  /** An earlier scan that is planned stays. */
  #scanAt(at: number, why: string): void {
    if (at >= this.#due.scan) return
    this.#due.scan = at
    this.#scanWhy = why
  }

  /** Publishes what changed, and sets when to look again for changes by time alone. */
  async #publishChanged(signal: AbortSignal, since: number | undefined): Promise<void> {
    const { board, publisher, clock, trees, keptTrees } = this.#deps
    const changed = board.takeChanged(clock.now())
    // First, so that the next one knows what was published where this one is killed.
    if (trees) await keptTrees?.save(board.trees, trees)
    const isKnown = this.#status.publish(this.#hints.hasFailed)
    if (this.#isPublishing) {
      if (changed.length > 0) publisher.changed(changed, since)
    } else if (isKnown && !signal.aborted) {
      this.#isPublishing = true
      publisher.start()
    }
    const staleAt = board.nextStaleAt()
    this.#due.stale =
      staleAt === undefined
        ? NEVER
        : clock.elapsed() + Math.min(staleAt - clock.now(), STALE_LOOK_MS)
  }

  #save(): void {
    const { cache, board } = this.#deps
    this.#due.save = NEVER
    this.#saving ??= cache?.save(board.saved()).finally(() => {
      this.#saving = undefined
    })
  }

  async #end(signal: AbortSignal): Promise<void> {
    const { publisher, cache, board, log } = this.#deps
    this.#deps.trees?.close()
    const hinted = await this.#hints.close()
    // The hint of the last save may not have arrived yet, so it scans, too.
    const paths = new Set([...hinted, ...this.#intake.held])
    try {
      if (this.#isPublishing) await this.#do({ paths, scanWhy: 'the end' }, signal)
    } catch (error) {
      log('error', 'sidecar.defect', { error })
    }
    await publisher.close()
    await this.#saving
    // A first read that was cut short is kept too: the next start goes on from there.
    await cache?.save(board.saved())
  }
}
