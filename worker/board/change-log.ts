// The port of a repository's change log: a ring of the newest messages, one row each.

import type { Message } from './wire.ts'

/** Messages that a reconnecting client can still get one by one. */
export const LOG_ROWS = 1_024

export interface ChangeLog {
  /** Seq of the newest message; 0 when there never was one. */
  head(): number
  /** Seq of the oldest message kept; 1 when none was dropped yet. */
  oldest(): number
  /** Appends and drops what falls out of the ring. `at` in ms. Returns the new head. */
  append(message: Message, at: number): number
  /** Messages after `seq`, oldest first. The caller has checked that none of them was dropped. */
  after(seq: number): Message[]
  /** The seq before the first message told after `at` (ms); the head when there is none. */
  seqBefore(at: number): number
}
