// Publishes all boards below some folders: a sidecar for each, in one process. It looks for boards
// again and again, since one may be made at any time.

import { setTimeout as sleep } from 'node:timers/promises'
import { hostClock } from '../../worker/shared/clock.ts'
import type { Log } from '../../worker/shared/log.ts'
import type { Metrics } from '../../worker/shared/metrics.ts'
import { Repositories } from '../git/repository.ts'
import { type BoardHealth, type Health, healthOf, type SidecarStatus } from '../health.ts'
import type { Search, StoreError } from '../layouts/registry.ts'
import { type SidecarMetrics, sidecarMetrics } from '../metrics.ts'
import {
  createProgress,
  type OpenSidecar,
  openSidecar,
  type Progress,
  type SidecarPlan,
} from '../open-sidecar.ts'
import type { Edge } from '../publish/edge.ts'
import { isFinal } from '../publish/retry.ts'
import { discoverBoards, keyOf, type LeftOut, whyNone } from './discover.ts'
import { isGone, readLastBoards, reportMissing, writeLastBoards } from './last-boards.ts'
import { type NamedBoard, nameBoards } from './names.ts'

/** Gives a board back, so that another process may have it. */
type Release = () => Promise<void>

export interface OpenBoard extends NamedBoard {
  tasks(): number
  /** Files of a large board that is being read for the first time. */
  readonly reading: number | undefined
}

export interface BoardsPlan
  extends Pick<
    SidecarPlan,
    'cacheDir' | 'watch' | 'watchWithinMs' | 'runOutput' | 'log' | 'version'
  > {
  /** The first board is looked for in the first of them. */
  dirs: readonly string[]
  search: Search
  /** The name of the first board. */
  repo: string
  /** Boards outside of the first project are named after `repo`, too, and not by their folders. */
  isRepoChosen: boolean
  /** Where the board of this name is published. */
  edgeOf(name: string): Edge
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
  onFound?: (board: OpenBoard) => unknown
  /** Called for each that was let go, or is led by another tree. */
  onLeft?: (board: OpenBoard) => unknown
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
  boards(): readonly OpenBoard[]
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

class Boards implements OpenBoards {
  readonly #plan: BoardsPlan
  readonly #metrics: SidecarMetrics | undefined
  readonly #progress: Progress | undefined
  readonly #repositories: Repositories | undefined
  /** By their keys, in the order of their names at the first search, then as they appeared. */
  readonly #boards = new Map<string, Board>()
  /** Also the names of those that were let go. */
  readonly #names = new Map<string, string>()
  readonly #anyPublished = Promise.withResolvers<void>()
  readonly #running = new Set<Promise<void>>()
  #left: readonly LeftOut[] = []
  /** Sentences about what was left out: each is logged once. */
  readonly #logged = new Set<string>()
  #lookedMs = 0
  /** Ends the pause before the next search. */
  #hurry = new AbortController()
  #opening = 0

  constructor(plan: BoardsPlan) {
    this.#plan = plan
    const { path, log, search } = plan
    const isShown = path !== undefined && search.worktrees !== false
    // Where a worktree went, the next search may find.
    const onAway = () => this.#hurry.abort()
    const deps = { path: path ?? '', log, clock: hostClock, onAway }
    this.#repositories = isShown ? new Repositories(deps) : undefined
    this.#metrics = plan.metrics && sidecarMetrics(plan.metrics)
    this.#metrics?.watch(() => this.health())
    this.#progress = plan.terminal && createProgress(plan.terminal)
  }

  boards = (): readonly Board[] => [...this.#boards.values()]

  health = (): Health => healthOf(this.boards().map((board) => board.health()))

  run(end: AbortSignal) {
    const ready = this.#anyPublished.promise.then(() =>
      Promise.all(this.boards().map(({ settled }) => settled.promise)),
    )
    return { ready: ready.then(() => undefined), ended: this.#run(end) }
  }

  /** Looks for boards that are not known yet. `later`: not at the beginning. */
  async look(later?: { since: number; signal: AbortSignal }): Promise<void> {
    const { dirs, search, repo, isRepoChosen } = this.#plan
    const { boards, left, projects, moved, workMs } = await discoverBoards(dirs, search, later)
    this.#repositories?.seen(moved)
    this.#lookedMs = workMs
    const [project = ''] = projects
    const { only } = search
    const naming = { repo, project, only, ...(isRepoChosen && { dirs: projects }) }
    const { named, left: unnamed } = nameBoards(boards, naming, this.#names)
    const elsewhere: LeftOut[] = []
    const missing = new Set(this.#boards.keys())
    for (const found of named) {
      const key = keyOf(found)
      const known = this.#boards.get(key)
      if (known) {
        missing.delete(key)
        if (later && known.store.tasksIn !== found.store.tasksIn) {
          this.#moveTo(known, found, later.signal)
        }
        continue
      }
      const release = await this.#plan.lock?.({ key, name: found.name })
      if (typeof release === 'string') {
        elsewhere.push({ code: 'runs_elsewhere', message: release })
        continue
      }
      const board = new Board(found, later?.since, release)
      this.#boards.set(key, board)
      this.#names.set(key, board.name)
      if (later) this.#plan.onFound?.(board)
    }
    this.#left = [...elsewhere, ...left, ...unnamed]
    for (const [key, board] of this.#boards) this.#letGo(key, board, missing.has(key))
  }

  /** Another tree of its repository leads now. Its sidecar ends, and one in that tree begins. */
  #moveTo(board: Board, found: NamedBoard, end: AbortSignal): void {
    if (board.leaving.signal.aborted) return
    board.leaving.abort()
    void board.ended.then(() => {
      if (end.aborted) return
      this.#boards.set(keyOf(found), new Board(found, performance.now(), board.release))
      this.#plan.log('info', 'board.moved', { board: board.name, dir: found.dir })
      this.#plan.onLeft?.(board)
      this.#open(end)
    })
  }

  /** Ends its sidecar if it has been missing for long. A search of its own may be cut short. */
  #letGo(key: string, board: Board, isUnfound: boolean): void {
    const isMissing = isUnfound && board.sidecar?.status().store === 'missing'
    const now = performance.now()
    board.missingSince = isMissing ? (board.missingSince ?? now) : undefined
    const { missingForMs = MISSING_FOR_MS, log, onLeft } = this.#plan
    const { missingSince = now, name, dir } = board
    if (!isMissing || now - missingSince < missingForMs || board.leaving.signal.aborted) return
    board.leaving.abort()
    void board.ended.then(async () => {
      await board.release()
      this.#boards.delete(key)
      log('info', 'board.left', { board: name, dir })
      onLeft?.(board)
    })
  }

  /** Why there is no board at all. */
  get none(): StoreError | undefined {
    if (this.#boards.size > 0) return undefined
    const where = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(this.#plan.dirs)
    return whyNone(where, this.#left, this.#plan.search.only)
  }

  #logLeftOut(): void {
    for (const { code, message } of this.#left) {
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
    const defect = (error: unknown) => this.#plan.log('error', 'boards.defect', { error })
    const reporting = this.#reportGone(this.#plan).catch(defect)
    this.#open(end)
    for (;;) {
      const pause = (this.#plan.pauseMs ?? pauseMs)(this.#lookedMs, this.#boards.size > 0)
      const signal = AbortSignal.any([end, this.#hurry.signal])
      await sleep(pause, undefined, { signal }).catch(() => undefined)
      if (end.aborted) break
      if (this.#hurry.signal.aborted) this.#hurry = new AbortController()
      await this.look({ since: performance.now(), signal: end }).catch(defect)
      for (const board of this.boards()) if (board.state === 'failed') board.state = 'waiting'
      this.#open(end)
    }
    await Promise.all([reporting, ...this.#running])
    await this.#remember().catch(defect)
    for (const { release } of this.boards()) await release().catch(defect)
  }

  /** Opens the sidecars of those that have none, a few at a time. */
  #open(end: AbortSignal): void {
    this.#logLeftOut()
    while (this.#opening < AT_ONCE && !end.aborted) {
      const next = this.boards().find(({ state }) => state === 'waiting')
      if (!next) return
      next.state = 'open'
      this.#opening += 1
      const { known, ended } = this.#publish(next, AbortSignal.any([end, next.leaving.signal]))
      next.ended = ended
      this.#running.add(ended)
      void ended.then(() => this.#running.delete(ended))
      void known.then(() => {
        this.#opening -= 1
        this.#open(end)
      })
    }
  }

  /** `known`: its files were read. Neither rejects. */
  #publish(board: Board, end: AbortSignal): { known: Promise<void>; ended: Promise<void> } {
    const { name, store, since } = board
    const log: Log = (level, event, fields) =>
      this.#plan.log(level, event, { ...fields, board: name })
    log('info', 'board.found', { dir: board.dir, layout: store.layout })
    const failed = (error: unknown): void => {
      log('error', 'board.defect', { error })
      board.settled.resolve()
      board.state = 'failed'
    }
    const shown = (): void => {
      board.settled.resolve()
      this.#anyPublished.resolve()
    }
    try {
      const sidecar = openSidecar({
        ...this.#plan,
        store,
        log,
        edge: this.#plan.edgeOf(name),
        metrics: this.#metrics,
        progress: this.#progress,
        onFailure: (failure) => isFinal(failure) && board.settled.resolve(),
        onReading: (files) => {
          board.reading = files
          shown()
        },
        ...(since !== undefined && { since }),
        ...(this.#repositories && {
          trees: { repositories: this.#repositories, dir: board.dir },
        }),
      })
      board.sidecar = sidecar
      const { ready, ended } = sidecar.run(end)
      void ready.then(() => {
        board.reading = undefined
        shown()
      })
      const closed = ended.catch((error: unknown) => {
        failed(error)
        return sidecar.publisher.close()
      })
      return { known: sidecar.sidecar.started, ended: closed }
    } catch (error) {
      failed(error)
      return { known: Promise.resolve(), ended: Promise.resolve() }
    }
  }
}

/** Before its sidecar is open. */
const UNKNOWN: SidecarStatus = {
  connected: false,
  behind: true,
  store: null,
  lastError: null,
  lastSyncAt: null,
  lastPublishedAt: null,
  dirty: 0,
  unwatched: false,
  files: 0,
}

/** One of them, from its place to the end of its sidecar. */
class Board implements OpenBoard {
  readonly name: string
  readonly dir: string
  readonly store: NamedBoard['store']
  /** When it was found, by `performance.now`. Undefined: at the beginning. */
  readonly since: number | undefined
  /** The edge holds it, says how far it is, or cannot have it without a person. */
  readonly settled = Promise.withResolvers<void>()
  /** One that failed by a defect of ours is opened again after the next search. */
  state: 'waiting' | 'open' | 'failed' = 'waiting'
  sidecar: OpenSidecar | undefined
  reading: number | undefined
  /** When its sidecar has ended. */
  ended = Promise.resolve()
  /** By `performance.now`, as the searches see it. */
  missingSince: number | undefined
  /** Ends its sidecar alone. */
  readonly leaving = new AbortController()
  /** Then another process may have it. */
  readonly release: Release

  constructor(
    { name, dir, store }: NamedBoard,
    since: number | undefined,
    release: Release = () => Promise.resolve(),
  ) {
    this.release = release
    this.name = name
    this.dir = dir
    this.store = store
    this.since = since
  }

  tasks = (): number => this.sidecar?.board.summary().counts.tasks ?? 0

  health = (): BoardHealth => ({ board: this.name, ...(this.sidecar?.status() ?? UNKNOWN) })
}
