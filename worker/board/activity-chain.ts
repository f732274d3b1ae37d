// How the rows of the history are chained: each hash covers the row and the hash before it, so an
// export that was changed shows it. No I/O.

import { sha256Sync } from '../shared/sha256-sync.ts'

/** Before the first row of a board. */
export const NO_HASH = '0'.repeat(64)

/** `json`: of the row, without its marks and its hash. */
export const hashAfter = (previous: string, json: string): string =>
  sha256Sync(`${previous}\n${json}`)
