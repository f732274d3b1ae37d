// How many streams a repository holds, and whether there is room for one more. Pure.

/** How many streams one repository holds at most, and how many of them one holder may have. */
export interface StreamRoom {
  all: number
  each: number
}

/** Open streams, all of them and by holder. */
export interface StreamCounts {
  streams: number
  holders: Readonly<Record<string, number>>
}

export const NO_STREAMS: StreamCounts = { streams: 0, holders: {} }

/** One holder with a single token must not keep all others out. */
export const streamRoom = (maxStreams: number): StreamRoom => ({
  all: maxStreams,
  each: Math.max(1, Math.floor(maxStreams / 4)),
})

/** Whether `holder` may open one more stream beside those that are open. */
export const hasRoom = (open: StreamCounts, { all, each }: StreamRoom, holder: string): boolean =>
  open.streams < all && (open.holders[holder] ?? 0) < each

/** Counts the streams of these holders, one entry for each stream. */
export function countStreams(holders: Iterable<string>): StreamCounts {
  const counts: Record<string, number> = {}
  let streams = 0
  for (const holder of holders) {
    streams++
    counts[holder] = (counts[holder] ?? 0) + 1
  }
  return { streams, holders: counts }
}

export function addStreams(counts: Iterable<StreamCounts>): StreamCounts {
  const holders: Record<string, number> = {}
  let streams = 0
  for (const each of counts) {
    streams += each.streams
    for (const [holder, count] of Object.entries(each.holders)) {
      holders[holder] = (holders[holder] ?? 0) + count
    }
  }
  return { streams, holders }
}

/**
 * Holders that an isolate reports. The report is stored beside its socket, which has room for
 * 2 KiB, and a holder that is not among the largest of any isolate is far from its share.
 */
const MAX_HOLDERS = 16

/**
 * The counts in round numbers: exact up to 16, then in steps of at most an eighth. Each report
 * wakes the repository's object, and 1,000 streams that come one by one need some 70 of them.
 */
export function roundStreams({ streams, holders }: StreamCounts): StreamCounts {
  const largest = Object.entries(holders)
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_HOLDERS)
    .map(([holder, count]) => [holder, roundUp(count)] as const)
  return { streams: roundUp(streams), holders: Object.fromEntries(largest) }
}

function roundUp(count: number): number {
  if (count <= 16) return count
  const step = 2 ** (Math.floor(Math.log2(count)) - 3)
  return Math.ceil(count / step) * step
}

/** The streams of one isolate among those of all: whether there is room, and what to report. */
export class StreamTally {
  /** The streams of other isolates, as the repository last reported them. */
  others = NO_STREAMS
  readonly #room: StreamRoom
  readonly #held = new Map<string, number>()
  #streams = 0
  #reported = ''
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

  /** `counted`: the stream that asks is added already. */
  hasRoom(holder: string, { counted }: { counted: boolean }): boolean {
    const { streams, holders } = this.others
    const itself = counted ? 1 : 0
    const ofHolder = (this.#held.get(holder) ?? 0) + (holders[holder] ?? 0) - itself
    const open = { streams: this.#streams + streams - itself, holders: { [holder]: ofHolder } }
    const has = hasRoom(open, this.#room, holder)
    if (!has) this.#hasRefused = true
    return has
  }

  /** Round numbers. */
  report(): StreamCounts {
    const counts = roundStreams({
      streams: this.#streams,
      holders: Object.fromEntries(this.#held),
    })
    this.#reported = JSON.stringify(counts)
    this.#hasRefused = false
    return counts
  }

  /** The same. Undefined if the counts are unchanged, and there is nothing to learn. */
  reportIfNew(): StreamCounts | undefined {
    const before = this.#reported
    // Streams of others may have ended since. The repository says so only in answer to a report.
    const asks = this.#hasRefused
    const counts = this.report()
    return asks || this.#reported !== before ? counts : undefined
  }
}
