// Where this sidecar is at the edge: the run that the edge gave it, the number of its last message,
// and what the edge said of itself. No I/O.

import { type Key, PART_BYTES, type Place } from '../../worker/board/wire.ts'
import type { MainNews } from '../git/main-tree.ts'
import type { StepAnswer } from './edge.ts'

export class Position {
  /** What the edge refused and is not asked again in this delivery: key → hash, if it has one. */
  readonly refused = new Map<Key, string | undefined>()
  #epoch = ''
  #run: number | null = null
  #batch = 0
  #store: 'present' | 'missing' = 'present'
  #main: Place | undefined
  #takesSocket: boolean = false
  #partBytes: number = PART_BYTES

  /** The edge's; empty before the first sync. */
  get epoch(): string {
    return this.#epoch
  }

  /** null asks the edge for a new run. */
  get run(): number | null {
    return this.#run
  }

  /** What the edge makes of a bare store. */
  get store(): 'present' | 'missing' {
    return this.#store
  }

  /** What the edge has of the main tree. */
  get main(): Place | undefined {
    return this.#main
  }

  /** The edge takes a socket in place of reports. */
  get takesSocket(): boolean {
    return this.#takesSocket
  }

  /** Largest message; shrinks when something on the way takes less than the protocol allows. */
  get partBytes(): number {
    return this.#partBytes
  }

  /** Takes what the edge answers to the root. Messages of another run are numbered anew. */
  take({ run, epoch, store, main, socket }: StepAnswer<'root'>): void {
    if (run !== this.#run) this.#batch = 0
    this.#run = run
    this.#epoch = epoch
    this.#store = store
    this.#main = main
    this.#takesSocket = socket === true
  }

  /** The number of the next message. */
  nextBatch(): number {
    this.#batch++
    return this.#batch
  }

  /** The run is of no use any more: the edge is asked for another one. */
  leaveRun(): void {
    this.#run = null
  }

  /** A message was too large. */
  shrinkParts(smallest = 0): void {
    this.#partBytes = Math.max(smallest, this.#partBytes >> 1)
  }

  /** What was sent of the main tree has arrived. */
  mainArrived(news: MainNews | undefined): void {
    if (!news) return
    const { switched: _, from: __, ...at } = news.main
    this.#main = at
    news.arrived()
  }
}
