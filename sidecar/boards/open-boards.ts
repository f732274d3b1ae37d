// Publishes all boards below some folders: a sidecar for each, in one process. It looks for boards
// again and again, since one may be made at any time.
//
// The files of this folder, which finds boards and runs them side by side:
// - discover.ts finds the boards below folders, but where gitignore.ts leaves one out;
// - names.ts says what each is called at the edge;
// - board-run.ts is one of them, to the end of its sidecar;
// - last-boards.ts has those of the last run: one that is gone since is reported as missing.

import { setTimeout as sleep } from 'node:timers/promises'
import { hostClock } from '../../worker/shared/clock.ts'
import type { Metrics } from '../../worker/shared/metrics.ts'
import { Repositories } from '../git/repository.ts'
import { type Health, healthOf } from '../health.ts'
import type { Search, StoreError } from '../layouts/registry.ts'
import { sidecarMetrics } from '../metrics.ts'
import { createProgress, type SidecarOptions } from '../open-sidecar.ts'
import { BoardRun, type Release, type RunPlan } from './board-run.ts'
import { discoverBoards, keyOf, type LeftOut, whyNone } from './discover.ts'
import { isGone, readLastBoards, reportMissing, writeLastBoards } from './last-boards.ts'
import { type NamedBoard, nameBoards } from './names.ts'

export type PublishedBoard = NamedBoard & Readonly<Pick<BoardRun, 'tasks' | 'reading'>>

export interface BoardsPlan extends SidecarOptions, Pick<RunPlan, 'edgeOf'> {
  /** The first board is looked for in the first of them. */
  dirs: readonly string[]
  search: Search
  /** The name of the first board. */
  repo: string
  /** Boards outside of the first project are named after `repo`, too, and not by their folders. */
  isRepoChosen: boolean
  /**
   * Takes a board for this process alone; a sentence: why it is left out. What it returns gives the
   * board back. `key` is the same for all that find this board. Absent: others may run it, too.
   */
  lock?: ((board: { key: string; name: string }) => Promise<string | Release>) | undefined
  /** Without a board it waits for one. */
  waits?: boolean | undefined
  /** Where the program git is looked for. Absent: nothing is shown of linked worktrees. */
  path?: string | undefined
  /** Shows a line of progress. Absent: it is not shown. */
  terminal?: ((text: string) => void) | undefined
  /** Absent: nothing is counted. */
  metrics?: Metrics
  /** Called for each that was not there at the beginning. */
  onFound?: (board: PublishedBoard) => unknown
  /** Called for each that was let go, or is led by another tree. */
  onLeft?: (board: PublishedBoard) => unknown
  /** A board is let go when its folder has been missing for this long. Absent: ten minutes. */
  missingForMs?: number
  /** Pause after a search that took this long. Absent: `pauseMs`. */
  pauseMs?: typeof pauseMs
}

export interface OpenBoards {
  /**
   * Those of the beginning, the first board first, then as they were found. One whose folder stays
   * missing is let go, and found again under its name if it returns.
   */
  boards(): readonly PublishedBoard[]
  health(): Health
  /**
   * Publishes them until the signal is aborted. `ready` resolves when one is at the edge, and of
   * all that were found by then each is, or cannot be without a person. Of a large board that is
   * read for the first time the edge says how far it is: nobody waits for it.
   */
  run(end: AbortSignal): { ready: Promise<void>; ended: Promise<void> }
}

/** To read a board keeps a core busy: with more at a time each of them is there later. */
const AT_ONCE = 4

/**
 * A fiftieth of the time may be spent in searches. They mostly wait for the disk, and longer on a
 * busy machine, where a new board must not be found much later for it.
 */
const pauseMs = (searchMs: number, hasBoards: boolean): number =>
  Math.max(hasBoards ? 30_000 : 1_000, 50 * searchMs)

/** A branch that is checked out, or a disk that is mounted again, takes less. */
const MISSING_FOR_MS = 600_000

/** Another process that has them may be ending. */
const ENDING = { tries: 20, pauseMs: 250 }

/** Finds the boards. Throws StoreError if there is none, unless the plan waits for one. */
export async function openBoards(plan: BoardsPlan): Promise<OpenBoards> {
  const boards = new Boards(plan)
  await boards.look()
  for (let left = ENDING.tries; left > 0 && boards.none?.code === 'runs_elsewhere'; left--) {
    await sleep(ENDING.pauseMs)
    await boards.look()
  }
  const { none } = boards
  // A link, or a copy, is there already: to wait does not change what it is.
  if (none && !(plan.waits && none.code === 'no_board')) throw none
  if (none) plan.log('warn', 'store.awaited', { dir: plan.dirs[0], why: none.message })
  return boards
}

/** A search that is not the first. */
interface Later {
  /** When it began, by `performance.now`. */
  since: number
  signal: AbortSignal
}

class Boards implements OpenBoards {
  readonly #plan: BoardsPlan
  readonly #runPlan: RunPlan
  /** By their keys, in the order of their names at the first search, then as they appeared. */
  readonly #boards = new Map<string, BoardRun>()
  /** Also the names of those that were let go. */
  readonly #names = new Map<string, string>()
  readonly #anyShown = Promise.withResolvers<void>()
  readonly #running = new Set<Promise<void>>()
  #leftOut: readonly LeftOut[] = []
  /** Sentences about what was left out: each is logged once. */
  readonly #logged = new Set<string>()
  #searchMs = 0
  /** Ends the pause before the next search. */
  #hurry = new AbortController()
  #opening = 0

  constructor(plan: BoardsPlan) {
    this.#plan = plan
    const { cacheDir, watch, watchWithinMs, runOutput, log, version } = plan
    const { edgeOf, path, search, metrics, terminal } = plan
    const isShown = path !== undefined && search.worktrees !== false
    // Where a worktree went, the next search may find.
    const onAway = () => this.#hurry.abort()
    const deps = { path: path ?? '', log, clock: hostClock, onAway }
    this.#runPlan = {
      options: {
        cacheDir,
        watch,
        watchWithinMs,
        runOutput,
        log,
        version,
        metrics: metrics && sidecarMetrics(metrics),
        progress: terminal && createProgress(terminal),
      },
      edgeOf,
      repositories: isShown ? new Repositories(deps) : undefined,
    }
    this.#runPlan.options.metrics?.watch(() => this.health())
  }

  boards = (): readonly BoardRun[] => [...this.#boards.values()]

  health = (): Health => healthOf(this.boards().map((board) => board.health()))

  run(end: AbortSignal) {
    const ready = this.#anyShown.promise.then(() =>
      Promise.all(this.boards().map(({ shownOrFailed }) => shownOrFailed)),
    )
    return { ready: ready.then(() => undefined), ended: this.#run(end) }
  }

  /** Looks for boards that are not known yet. `later`: not at the beginning. */
  async look(later?: Later): Promise<void> {
    const { dirs, search, repo, isRepoChosen } = this.#plan
    const { boards, leftOut, projects, moved, workMs } = await discoverBoards(dirs, search, later)
    this.#runPlan.repositories?.seen(moved)
    this.#searchMs = workMs
    const [project = ''] = projects
    const { only } = search
    const naming = { repo, project, only, ...(isRepoChosen && { dirs: projects }) }
    const { named, leftOut: unnamed } = nameBoards(boards, naming, this.#names)
    const elsewhere: LeftOut[] = []
    for (const found of named) {
      const refused = await this.#take(found, later)
      if (refused !== undefined) elsewhere.push({ code: 'runs_elsewhere', message: refused })
    }
    this.#leftOut = [...elsewhere, ...leftOut, ...unnamed]
    const keys = new Set(named.map(keyOf))
    for (const [key, board] of this.#boards) this.#letGo(key, board, !keys.has(key))
  }

  /** Takes a board that was found. Resolves with why it is left out, if it is. */
  async #take(found: NamedBoard, later: Later | undefined): Promise<string | undefined> {
    const key = keyOf(found)
    const known = this.#boards.get(key)
    if (known) {
      const isElsewhere = known.store.tasksIn !== found.store.tasksIn
      if (later && isElsewhere) this.#moveTo(known, found, later.signal)
      return undefined
    }
    const release = await this.#plan.lock?.({ key, name: found.name })
    if (typeof release === 'string') return release
    const board = this.#add(found, release, later?.since)
    this.#names.set(key, board.name)
    if (later) this.#plan.onFound?.(board)
    return undefined
  }

  #add(found: NamedBoard, release: Release | undefined, since: number | undefined): BoardRun {
    const board = new BoardRun(found, this.#runPlan, release, since)
    this.#boards.set(keyOf(found), board)
    void board.shown.then(this.#anyShown.resolve)
    return board
  }

  /** Another tree of its repository leads now. Its sidecar ends, and one in that tree begins. */
  #moveTo(board: BoardRun, found: NamedBoard, end: AbortSignal): void {
    if (board.isLeaving) return
    const goOn = () => {
      if (end.aborted) return
      this.#add(found, board.release, performance.now())
      this.#plan.log('info', 'board.moved', { board: board.name, dir: found.dir })
      this.#plan.onLeft?.(board)
      this.#open(end)
    }
    void board.leave().then(goOn).catch(this.#defect)
  }

  /** Ends its sidecar if it has been missing for long. A search of its own may be cut short. */
  #letGo(key: string, board: BoardRun, isUnfound: boolean): void {
    const { missingForMs = MISSING_FOR_MS, log, onLeft } = this.#plan
    const missingMs = board.missingMs(isUnfound, performance.now())
    if (missingMs === undefined || missingMs < missingForMs || board.isLeaving) return
    const giveBack = async () => {
      // Its folder may return, whatever became of the lock.
      await board.release().catch(this.#defect)
      this.#boards.delete(key)
      log('info', 'board.left', { board: board.name, dir: board.dir })
      onLeft?.(board)
    }
    void board.leave().then(giveBack).catch(this.#defect)
  }

  #defect = (error: unknown): void => this.#plan.log('error', 'boards.defect', { error })

  /** Why there is no board at all. */
  get none(): StoreError | undefined {
    if (this.#boards.size > 0) return undefined
    const where = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(this.#plan.dirs)
    return whyNone(where, this.#leftOut, this.#plan.search.only)
  }

  #logLeftOut(): void {
    for (const { code, message } of this.#leftOut) {
      if (!this.#logged.has(message))
        this.#plan.log('warn', 'board.left_out', { code, why: message })
      this.#logged.add(message)
    }
  }

  /** Boards of the last start whose folder is gone are reported as missing. */
  async #reportGone({ cacheDir, dirs, edgeOf, version, log }: BoardsPlan): Promise<void> {
    if (cacheDir === undefined) return
    const memory = { cacheDir, dirs }
    const names = new Set(this.#names.values())
    for (const last of await readLastBoards(memory)) {
      if (this.#boards.has(last.key) || names.has(last.name) || !(await isGone(last, dirs)))
        continue
      log('warn', 'store.missing', { board: last.name, root: last.root })
      await reportMissing(edgeOf(last.name), last, version)
    }
    await this.#remember()
  }

  async #remember(): Promise<void> {
    const { cacheDir, dirs } = this.#plan
    if (cacheDir !== undefined) await writeLastBoards({ cacheDir, dirs }, this.boards())
  }

  async #run(end: AbortSignal): Promise<void> {
    const reporting = this.#reportGone(this.#plan).catch(this.#defect)
    this.#open(end)
    for (;;) {
      const pause = (this.#plan.pauseMs ?? pauseMs)(this.#searchMs, this.#boards.size > 0)
      const signal = AbortSignal.any([end, this.#hurry.signal])
      await sleep(pause, undefined, { signal }).catch(() => undefined)
      if (end.aborted) break
      if (this.#hurry.signal.aborted) this.#hurry = new AbortController()
      await this.look({ since: performance.now(), signal: end }).catch(this.#defect)
      for (const board of this.boards()) board.retry()
      this.#open(end)
    }
    await Promise.all([reporting, ...this.#running])
    await this.#remember().catch(this.#defect)
    for (const { release } of this.boards()) await release().catch(this.#defect)
  }

  /** Opens the sidecars of those that have none, a few at a time. */
  #open(end: AbortSignal): void {
    this.#logLeftOut()
    while (this.#opening < AT_ONCE && !end.aborted) {
      const board = this.boards().find(({ isWaiting }) => isWaiting)
      if (!board) return
      this.#opening += 1
      void board.open(end).then(() => {
        this.#opening -= 1
        this.#open(end)
      })
      const { ended } = board
      this.#running.add(ended)
      void ended.then(() => this.#running.delete(ended))
    }
  }
}
