// What the hashes of a record cover: its own file, and with it all that follows from other files.
// Two equal hashes are the same record. Pure.

import { basename, dirname } from 'node:path'
import type { Key } from '../../worker/board/wire.ts'
import { digest } from '../files/compact.ts'
import { type Fact, REVISION } from '../files/facts.ts'
import type { Derived } from './compose.ts'
import { type RunOutput, runMark } from './published-run.ts'

export interface Hashes {
  /** Of the whole record. */
  hash: string
  /** Of what its own file says. */
  file: string
}

/** `beat`: of the heartbeat's file, which a session consists of too. */
export function recordHash(
  key: Key,
  fact: Fact,
  { task, health, invalid }: Derived,
  beat: string | undefined,
  runOutput: RunOutput,
): string {
  const deps = fact.kind === 'task' ? fact.deps : undefined
  const own = [REVISION, key, fact.hash, folderOf(fact), deps]
  const run = fact.kind === 'run' ? runMark(runOutput) : undefined
  return digest(JSON.stringify([...own, task, health, beat, invalid, run]))
}

export const fileHash = (fact: Fact): string =>
  digest(JSON.stringify([REVISION, fact.hash, folderOf(fact)]))

/** The folder's name says something in some layouts (`completed`), even of the same bytes. */
const folderOf = ({ path }: Fact): string => basename(dirname(path))
