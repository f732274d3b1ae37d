// Where this sidecar is at the edge: the run that the edge gave it, the number of its last message,
// and what the edge said of itself. No I/O.

import { type Key, PART_BYTES, type Place } from '../../worker/board/wire.ts'
import type { MainNews } from '../git/main-tree.ts'
import type { StepAnswer } from './edge.ts'

export class Position {
  /** The edge's; empty before the first sync. */
  epoch = ''
  /** null asks the edge for a new run. */
  run: number | null = null
  /** What the edge makes of a bare store. */
  store: 'present' | 'missing' = 'present'
  /** What the edge has of the main tree. */
  main: Place | undefined
  /** The edge takes a socket in place of reports. */
  takesSocket: boolean = false
  /** Largest message; shrinks when something on the way takes less than the protocol allows. */
  partBytes: number = PART_BYTES
  #batch = 0
  /** What the edge refused and is not asked again in this delivery: key → hash, if it has one. */
  readonly #refused = new Map<Key, string | undefined>()

  /** Takes what the edge answers to the root. Messages of another run are numbered anew. */
  take({ run, epoch, store, main, socket }: StepAnswer<'root'>): void {
    if (run !== this.run) this.#batch = 0
    this.run = run
    this.epoch = epoch
    this.store = store
    this.main = main
    this.takesSocket = socket === true
  }

  /** The edge is asked for a new run next. */
  leaveRun(): void {
    this.run = null
  }

  /** The number of the next message. */
  nextBatch(): number {
    this.#batch++
    return this.#batch
  }

  /** A message was too large. */
  shrinkParts(smallest = 0): void {
    this.partBytes = Math.max(smallest, this.partBytes >> 1)
  }

  /** What was sent of the main tree has arrived. */
  mainArrived(news: MainNews | undefined): void {
    if (!news) return
    const { switched: _, from: __, ...at } = news.main
    this.main = at
    news.arrived()
  }

  /** The edge does not take a record with this hash; undefined: nor that it is gone. */
  refuse(key: Key, hash: string | undefined): void {
    this.#refused.set(key, hash)
  }

  isRefused = (key: Key, hash: string | undefined): boolean =>
    this.#refused.has(key) && this.#refused.get(key) === hash

  /** Tried again at the next sync: the edge may have been repaired by then. */
  forgetRefused(): void {
    this.#refused.clear()
  }
}
