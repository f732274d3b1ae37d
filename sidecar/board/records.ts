// The port between the board, which knows what the files say, and the publisher, which tells the
// edge. The publisher never holds records: it holds dirty keys and asks for the newest content when
// it can send, so a day without an edge costs no more memory than a minute.

import type { DataRecord, Key } from '../../worker/board/wire.ts'

export interface Records {
  /** Sum of the hashes of all records. */
  root(): string
  /** The 256 bucket sums. */
  buckets(): string[]
  /** Every key of one bucket with its hash. */
  bucket(n: number): Record<Key, string>
  /**
   * The record as its file says it now, or null when there is none any more. Reads the file, so it
   * may notice a change before its hint does; that change is marked dirty like any other.
   */
  read(key: Key): Promise<DataRecord | null>
}
