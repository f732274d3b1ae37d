// The port between the board, which knows what the files say, and the publisher, which sends it to
// the edge. The publisher never holds records: it holds dirty keys and asks for the newest content
// when it can send, so a day without an edge costs no more memory than a minute.

import type { DataRecord, Key } from '../../worker/board/wire.ts'

/** The record is still there, but its file cannot be read or trusted now: ask again later. */
export class RecordUnreadable extends Error {
  override readonly name = 'RecordUnreadable'
  readonly code = 'record_unreadable'
  /** Of a linked worktree whose folder is gone: nobody waits for it. */
  readonly isAway: boolean

  constructor(why: string, isAway = false) {
    super(why)
    this.isAway = isAway
  }
}

export interface Records {
  /** Sum of the hashes of all records. */
  root(): string
  /** The 256 bucket sums. */
  buckets(): string[]
  /** Every key of one bucket with its hash. */
  bucket(n: number): Record<Key, string>
  /**
   * The record as its file says it now, or null when there is none any more. Rejects with
   * RecordUnreadable when the file cannot be trusted now: half-written, on a disk that fails, in a
   * store that is missing. The record is then not gone.
   */
  read(key: Key): Promise<DataRecord | null>
  /**
   * The keys of records that changed because a read found its file changed before its hint came.
   * They belong to the same change: clients that are sent to the one must find the others.
   */
  follow(): Key[]
}
