// What the hashes of a record cover: its own file, and with it all that follows from other files.
// Two equal hashes are the same record. Pure.

import { basename, dirname } from 'node:path'
import type { Key } from '../../worker/board/wire.ts'
import { digest } from '../files/compact.ts'
import type { Fact } from '../files/facts.ts'
import type { Derived } from './compose.ts'

export interface Hashes {
  /** Of the whole record. */
  hash: string
  /** Of its own file. */
  file: string
}

/** `beat`: the heartbeat, which a session consists of too. */
export function recordHash(
  key: Key,
  fact: Fact,
  { task, health, invalid }: Derived,
  beat: Fact | undefined,
): string {
  // The bytes too: a file that was saved counts as changed, whatever of it is published.
  const own = [key, fact.hash, fact.sent, folderOf(fact)]
  return digest(JSON.stringify([...own, task, health, beat?.hash, beat?.sent, invalid]))
}

export const fileHash = (fact: Fact): string => digest(JSON.stringify([fact.hash, folderOf(fact)]))

/** The folder's name says something in some layouts (`completed`), even of the same bytes. */
const folderOf = ({ path }: Fact): string => basename(dirname(path))
