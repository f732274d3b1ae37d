// ULIDs: ids that sort by their time, since lists are ordered by them. Those of one millisecond
// rise, too.

import { monotonicFactory } from 'ulid'

const pool = new Uint8Array(1_024)
let used = pool.length

/**
 * The library asks for each of the 16 random characters by itself, and the runtime's generator
 * takes some 10 µs for each question, however little is asked for: by the kilobyte it takes none.
 */
function random(): number {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  return (pool[used++] ?? 0) / 256
}

let last = 0
let next = monotonicFactory(random)

/** `now` in ms. */
export function newId(now: number): string {
  // A clock may be set back: each time begins anew.
  if (now !== last) next = monotonicFactory(random)
  last = now
  return next(now)
}
