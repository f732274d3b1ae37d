// ULIDs: ids that sort by their time.

import { ulid } from 'ulid'

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

/** `now` in ms. */
export const newId = (now: number): string => ulid(now, random)
