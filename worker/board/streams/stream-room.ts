// How many streams an isolate or a process holds, whose they are, and whether there is room for one
// more. Pure.

/** How many streams one repository holds at most, and how many of them one holder may have. */
export interface StreamRoom {
  all: number
  each: number
}

/** One holder with a single token must not keep all others out. */
export const streamRoom = (maxStreams: number): StreamRoom => ({
  all: maxStreams,
  each: Math.max(1, Math.floor(maxStreams / 4)),
})

/**
 * A number that is exact up to 16, then rounded up in steps of at most an eighth. Each report wakes
 * the repository's object, and 1,000 streams that come one by one need some 70 of them.
 */
export function roundStreams(count: number): number {
  if (count <= 16) return count
  const step = 2 ** (Math.floor(Math.log2(count)) - 3)
  return Math.ceil(count / step) * step
}

/** The streams of one isolate, by holder, beside those of the others. */
export class StreamTally {
  /** The streams of other isolates, in a round number, as the repository last reported it. */
  others = 0
  readonly #room: StreamRoom
  readonly #held = new Map<string, number>()
  #streams = 0
  #reported: number | undefined
  #hasRefused = false

  constructor(room: StreamRoom) {
    this.#room = room
  }

  add(holder: string): void {
    this.#streams++
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + 1)
  }

  remove(holder: string): void {
    this.#streams--
    const left = (this.#held.get(holder) ?? 1) - 1
    if (left > 0) this.#held.set(holder, left)
    else this.#held.delete(holder)
  }

  /**
   * For one more of this holder. `isCounted`: the stream that asks is added already. The limit of
   * all is the repository's, the limit of each holder is this isolate's.
   */
  hasRoom(holder: string, { isCounted = false } = {}): boolean {
    const itself = isCounted ? 1 : 0
    const has =
      this.#streams + this.others - itself < this.#room.all &&
      (this.#held.get(holder) ?? 0) - itself < this.#room.each
    if (!has) this.#hasRefused = true
    return has
  }

  /** The number of streams, rounded. */
  report(): number {
    this.#reported = roundStreams(this.#streams)
    this.#hasRefused = false
    return this.#reported
  }

  /** As `report`. Undefined if it is unchanged, and there is nothing to learn. */
  reportIfNew(): number | undefined {
    const before = this.#reported
    // Streams of others may have ended since. The repository says so only in answer to a report.
    const asks = this.#hasRefused
    const streams = this.report()
    return asks || streams !== before ? streams : undefined
  }
}
