// Keeps the row of this board in the edge's directory up to date: soon after a change, and once a
// day without one. Nothing waits for it, and what fails is tried again. It looks when the
// publisher got a good answer of the edge, which it does every 30 s at least.

import {
  type BoardReport,
  HEARTBEAT_MS,
  type LayoutName,
  ROOM_MS,
} from '../../worker/board/wire.ts'
import type { Clock } from '../../worker/shared/clock.ts'
import type { Log } from '../../worker/shared/log.ts'
import { lastPart } from '../../worker/shared/repos.ts'
import type { Board } from '../board/board.ts'
import type { Edge } from './edge.ts'

/** A sidecar reports twice as often. */
const QUIET_MS = 50_000
/** Between two attempts: a busy board must not keep the directory of all boards busy. */
const WRITE_EVERY_MS = 30_000
const TITLE_CHARS = 200

interface DirectoryDeps {
  edge: Pick<Edge, 'repo' | 'report'>
  board: Pick<Board, 'summary'>
  layout: LayoutName
  clock: Clock
  log: Log
  /** The sidecar's. */
  version: string
}

type Published = Pick<BoardReport, 'run' | 'store'>

export class DirectoryWriter {
  readonly #deps: DirectoryDeps
  /** Undefined: the edge did not take what this sidecar published last. */
  #published: Published | undefined
  /** As the directory has it: the report, and when it came. */
  #written: { report: string; at: number } | undefined
  /** By the time of day, which goes on while the machine sleeps. */
  #currentAt: number | undefined
  #nextAt = 0
  #isFull: boolean = false
  #writing: Promise<void> | undefined
  #isClosed: boolean = false
  #cancel: () => void = () => undefined

  constructor(deps: DirectoryDeps) {
    this.#deps = deps
  }

  /** The edge holds the board as it is now. */
  current(published: Published): void {
    if (this.#isClosed) return
    const { clock } = this.#deps
    const now = clock.now()
    // By then readers may have found it offline, and had that written. Or the clock was set.
    if (Math.abs(now - (this.#currentAt ?? now)) >= QUIET_MS) this.#written = undefined
    this.#currentAt = now
    this.#published = published
    this.#look()
  }

  /**
   * The edge is away, or lost sight of this sidecar, or another one publishes the board. The row
   * may say meanwhile that it is offline, and is written again.
   */
  lost(): void {
    this.#published = undefined
    this.#written = undefined
    this.#cancel()
  }

  /** Writes that the sidecar ends, behind what is under way. */
  async end(): Promise<void> {
    this.close()
    await this.#writing
    if (this.#published) await this.#deps.edge.report(this.#report(this.#published, 'ended'))
  }

  /** Writes no more. The directory learns of the end by silence. */
  close(): void {
    this.#isClosed = true
    this.#cancel()
  }

  #look(): void {
    this.#cancel()
    if (this.#isClosed || this.#writing || !this.#published) return
    const { clock } = this.#deps
    const waitMs = this.#nextAt - clock.elapsed()
    if (waitMs > 0) {
      this.#cancel = clock.after(waitMs, () => this.#look())
      return
    }
    // Not earlier: at 100,000 tasks it takes a tenth of a second.
    const report = this.#report(this.#published, 'running')
    if (!this.#isDue(JSON.stringify(report))) return
    this.#nextAt = clock.elapsed() + WRITE_EVERY_MS
    this.#writing = this.#write(report).finally(() => {
      this.#writing = undefined
      this.#look()
    })
  }

  #isDue(report: string): boolean {
    const { clock } = this.#deps
    if (this.#written?.report !== report) return true
    return clock.now() - this.#written.at >= HEARTBEAT_MS
  }

  async #write(report: BoardReport): Promise<void> {
    const { edge, clock, log } = this.#deps
    const reply = await edge.report(report)
    if (reply.ok) {
      this.#isFull = false
      // What was under way when it was lost may be of before that.
      if (this.#published) this.#written = { report: JSON.stringify(report), at: clock.now() }
      return
    }
    const { reason, status, code, message: why } = reply
    const fields = { reason, status, code, why }
    if (code !== 'directory_full') {
      log('debug', 'directory.failed', fields)
      return
    }
    this.#nextAt = clock.elapsed() + ROOM_MS
    if (!this.#isFull) log('warn', 'directory.full', fields)
    this.#isFull = true
  }

  #report(published: Published, state: 'running' | 'ended'): BoardReport {
    const { edge, board, layout, version } = this.#deps
    const { counts, project, changedAt } = board.summary()
    const title = titleOf(edge.repo, layout, project)
    return {
      ...published,
      sidecar: { state, version },
      layout,
      counts,
      title: title.slice(0, TITLE_CHARS).toWellFormed(),
      ...(changedAt !== undefined && { changedAt: new Date(changedAt).toISOString() }),
    }
  }
}

/**
 * What a person calls the board. One that is named by its place has its folder and layout: the
 * project's name may be that of the board beside it, too.
 * @forTests Every form of a name, without an edge.
 */
export function titleOf(repo: string, layout: LayoutName, project: string | undefined): string {
  const mark = `#${layout}`
  if (repo.endsWith(mark)) return `${lastPart(repo.slice(0, -mark.length))} (${layout})`
  return project ?? lastPart(repo)
}
