// Takes files into the board, one by one. What is caught half-written waits until its writer is
// done, or for a second; what cannot be read now is left as it was.

import { setImmediate as otherTurns } from 'node:timers/promises'
import type { Log } from '../log.ts'
import type { ParsedFile } from './facts.ts'
import { type FileReader, type FileState, HALF_WRITTEN_MS } from './file-reader.ts'

/** Longest synchronous work: a heartbeat of the edge or a signal must not wait for a burst. */
const SLICE_MS = 5

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
  read: FileReader
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
      if (this.#takeOne(path)) news.push(path)
      if (performance.now() - sliceFrom < SLICE_MS) continue
      await onProgress(done + 1)
      await otherTurns()
      if (isEnding()) break
      sliceFrom = performance.now()
    }
    await onProgress(paths.length)
    return { news, later: this.#later }
  }

  #takeOne(path: string): boolean {
    const { board, read, log } = this.#deps
    const known = board.hashOf(path)
    try {
      return this.#ingest(path, known, read(path, known))
    } catch (error) {
      log('error', 'file.defect', { path, error })
      board.distrust(path)
      return false
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
