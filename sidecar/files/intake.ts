// Takes files into the board, one by one. What is caught half-written waits until its writer is
// done, or for a second; what cannot be read now is left as it was.

import { setImmediate as otherTurns, setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../worker/shared/log.ts'
import type { ParsedFile } from './facts.ts'
import { type FileReader, type FileState, HALF_WRITTEN_MS } from './file-reader.ts'

/** Longest synchronous work: a heartbeat of the edge or a signal must not wait for a burst. */
const SLICE_MS = 5
/**
 * After more, as of one large file, the others get as long: a webhook needs several turns, and of a
 * thousand such files each turn would wait for the next one.
 */
const LONG_MS = 50
const REST_MS = 1_000
/** Nothing else was done for so long: the log names the file that took it. */
const STOOD_MS = 1_000

interface Taken {
  /** Paths whose text is another one now. */
  news: string[]
  /** Something could not be read; scan again. */
  later: boolean
}

interface IntakeDeps {
  board: {
    hashOf(path: string): string | undefined
    /** null: the file is gone. */
    ingest(path: string, file: ParsedFile | null): void
    /** The next scan reports it, even with the same stat. */
    distrust(path: string): void
  }
  read: FileReader['read']
  log: Log
  elapsed: () => number
}

export class Intake {
  readonly #deps: IntakeDeps
  /** Files that are broken and young, with the time at which that was first seen. */
  readonly #held = new Map<string, number>()
  #later: boolean = false

  constructor(deps: IntakeDeps) {
    this.#deps = deps
  }

  /** Files to look at again soon. */
  get held(): Iterable<string> {
    return this.#held.keys()
  }

  get isHolding(): boolean {
    return this.#held.size > 0
  }

  /**
   * Looks at every path. `onProgress` is awaited between two slices; `isEnding` is asked there, and
   * cuts it short for a process that ends.
   */
  async take(
    paths: readonly string[],
    onProgress: (done: number) => void | Promise<void>,
    isEnding: () => boolean,
  ): Promise<Taken> {
    const news: string[] = []
    this.#later = false
    let sliceFrom = performance.now()
    for (const [done, path] of paths.entries()) {
      const looked = this.#look(path)
      const readMs = performance.now() - sliceFrom
      if (readMs > LONG_MS) {
        await giveTurns(readMs)
        sliceFrom = performance.now()
      }
      if (looked && this.#takeOne(path, looked)) news.push(path)
      const ms = performance.now() - sliceFrom
      if (ms < SLICE_MS) continue
      await onProgress(done + 1)
      await giveTurns(ms)
      if (isEnding()) break
      sliceFrom = performance.now()
    }
    await onProgress(paths.length)
    return { news, later: this.#later }
  }

  #look(path: string): Looked | undefined {
    const { board, read } = this.#deps
    return this.#guarded(path, () => {
      const known = board.hashOf(path)
      return { known, seen: read(path, known) }
    })
  }

  #takeOne(path: string, looked: Looked): boolean {
    const { board, read } = this.#deps
    const taken = this.#guarded(path, () => {
      // Others may have read it while they had their turn.
      const known = board.hashOf(path)
      return this.#ingest(path, known, known === looked.known ? looked.seen : read(path, known))
    })
    return taken === true
  }

  /** Undefined: it failed by a defect of ours. */
  #guarded<Result>(path: string, work: () => Result): Result | undefined {
    const { board, log, elapsed } = this.#deps
    const from = elapsed()
    try {
      return work()
    } catch (error) {
      log('error', 'file.defect', { path, error })
      board.distrust(path)
      return undefined
    } finally {
      const ms = Math.round(elapsed() - from)
      if (ms > STOOD_MS) log('warn', 'loop.stood', { path, ms })
    }
  }

  #ingest(path: string, known: string | undefined, seen: FileState): boolean {
    const { board, log } = this.#deps
    switch (seen.state) {
      case 'later':
        log('debug', 'file.later', { path, why: seen.why })
        this.#later = true
        this.#held.delete(path)
        // Never read before: listed with what hinders it, or a disk's error would hide a task.
        if (known === undefined && seen.file) board.ingest(path, seen.file)
        board.distrust(path)
        return false
      case 'gone':
        this.#held.delete(path)
        board.ingest(path, null)
        return known !== undefined
      case 'parsed': {
        const { file, unsure } = seen
        const now = this.#deps.elapsed()
        const since = this.#held.get(path) ?? now
        const isWaiting = unsure && file.hash !== known && now - since < HALF_WRITTEN_MS
        if (isWaiting) {
          this.#held.set(path, since)
          return false
        }
        this.#held.delete(path)
        board.ingest(path, file)
        return file.hash !== known
      }
    }
  }
}

interface Looked {
  /** The hash that was known then. */
  known: string | undefined
  seen: FileState
}

const giveTurns = (ms: number): Promise<void> =>
  ms > LONG_MS ? sleep(Math.min(ms, REST_MS)) : otherTurns()
