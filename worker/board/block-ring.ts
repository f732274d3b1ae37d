// The newest blocks of a repository's event stream, as one isolate received them. Pure.
//
// They form a chain: each entry says which id it follows, and a stream is sent an entry only after
// that id. So nothing is lost, doubled or out of order after any fault (a late block, two leaders,
// a stream that slept): a stream whose place does not fit asks the repository what it missed.

import { frameId, parseEventId } from './sse.ts'

/** Entries kept. A stream that lags further behind asks the repository. */
const SIZE = 256

/** What a stream at `after` is sent. Then it is at `id`. */
interface Entry {
  /** Undefined for the first of all: what its own leader had missed. */
  after: string | undefined
  id: string
  bytes: Uint8Array
}

export type Following =
  | { found: 'entry'; bytes: Uint8Array; id: string; at: number }
  | { found: 'end'; at: number }
  | { found: 'gap' }

export class BlockRing {
  readonly #entries: Entry[] = []
  /** The number of the oldest entry that is kept. */
  #first = 0
  #head: string | undefined
  /** Blocks without an id: they belong to the next one that has one. */
  #partial: Uint8Array[] = []

  /** The id of the newest entry; undefined: there never was one. */
  get head(): string | undefined {
    return this.#head
  }

  /** The number that the next entry will have. */
  get end(): number {
    return this.#first + this.#entries.length
  }

  /** Takes one encoded block. True: there is a new entry. */
  push(block: Uint8Array): boolean {
    this.#partial.push(block)
    const id = frameId(block)
    if (id === undefined) return false
    const bytes = joinBytes(this.#partial)
    this.#partial = []
    if (this.#head !== undefined && isUpTo(id, this.#head)) return false
    this.#entries.push({ after: this.#head, id, bytes })
    this.#head = id
    if (this.#entries.length > SIZE) {
      this.#entries.shift()
      this.#first++
    }
    return true
  }

  /** The socket is gone: what was begun comes again, whole, over the next one. */
  dropPartial(): void {
    this.#partial = []
  }

  /**
   * The number of the entry after this id. Undefined: it is unknown, of an earlier log than the
   * newest entry, or further back than that.
   */
  after(id: string, atMost: number): number | undefined {
    if (this.#head === undefined || epochOf(id) !== epochOf(this.#head)) return undefined
    const at = this.#entries.findLastIndex((entry) => entry.id === id) + 1
    return at > 0 && this.#entries.length - at <= atMost ? this.#first + at : undefined
  }

  /** What a stream at `place` is sent. It has read all entries before `at`. */
  next(place: string | undefined, at: number): Following {
    if (at < this.#first) return { found: 'gap' }
    for (let number = at; ; number++) {
      const entry = this.#entries[number - this.#first]
      if (!entry) return { found: 'end', at: number }
      const { after, id, bytes } = entry
      if (after === place) return { found: 'entry', bytes, id, at: number + 1 }
      if (place === undefined || !isUpTo(id, place)) return { found: 'gap' }
    }
  }
}

const epochOf = (id: string): string | undefined => parseEventId(id)?.epoch

/** Whether a stream at `place` was sent `id` already. */
function isUpTo(id: string, place: string): boolean {
  if (id === place) return true
  const one = parseEventId(id)
  const other = parseEventId(place)
  return one !== undefined && one.epoch === other?.epoch && one.seq <= other.seq
}

function joinBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (only && parts.length === 1) return only
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
