// Puts together what goes to the edge: what an entry says and what follows from other files; and
// its hashes, which cover just that: two equal hashes are the same record. Pure.

import { type DataRecord, type Key, parseKey } from '../../worker/board/wire.ts'
import { digest } from '../files/compact.ts'
import type { Fact } from '../files/facts.ts'
import type { Entry } from '../layouts/layout.ts'
import type { InTrees } from '../trees/tree-files.ts'
import type { Derived } from './relations.ts'

export interface Hashes {
  /** The whole record's. */
  hash: string
  /** Its own file's. */
  file: string
}

/**
 * `part`: what the other file says of a record that two files make. Undefined: the entry is not a
 * record (a heartbeat).
 */
export function compose(
  key: Key,
  { hash, file }: Hashes,
  entry: Entry,
  derived: Derived,
  part: Entry | undefined,
  trees?: InTrees,
): DataRecord | undefined {
  const { id } = parseKey(key)
  const { tree } = derived
  const inTree = tree === undefined ? {} : { tree }
  switch (entry.kind) {
    case 'task': {
      const about = part?.kind === 'task' ? part.task : undefined
      const own = about ? { ...about, ...entry.task, title: about.title } : entry.task
      const whys = [about?.invalid, about ? undefined : entry.alone, otherTask(own.title, trees)]
      const invalid = invalidOf(entry.task, ...whys)
      const task = { ...own, id, ready: false, ...derived.task, ...invalid }
      // What its file says of its status and deps may be wrong: an agent must not begin on it.
      const shown = invalid.invalid || trees?.isAlone ? { ...task, ready: false } : task
      const marks = trees && {
        trees: [...trees.marks],
        ...(trees.isAlone && { inMain: false as const }),
      }
      return { kind: 'task', id, hash, file, task: { ...shown, ...marks } }
    }
    case 'session': {
      const health = derived.health ?? 'stalled'
      const beat = part?.kind === 'live' ? { live: part.live } : {}
      const more = { ...beat, ...inTree, ...invalidOf(entry.session) }
      const session = { ...entry.session, id, health, ...more }
      return { kind: 'session', id, hash, session }
    }
    case 'run': {
      const run = { ...entry.run, ...inTree, ...invalidOf(entry.run) }
      return { kind: 'run', id, hash, task: entry.task, run }
    }
    case 'board':
      return { kind: 'board', id: 'board', hash, board: { ...entry.board, ...derived.board } }
    case 'live':
    case 'setting':
      return undefined
  }

  function invalidOf(
    own: { invalid?: string },
    ...more: (string | undefined)[]
  ): { invalid?: string } {
    const whys = [derived.invalid, own.invalid, ...more].filter((why) => why !== undefined)
    return whys.length === 0 ? {} : { invalid: whys.join('; ') }
  }
}

/** Two tasks that were begun with one id: they have other titles, too. */
function otherTask(title: string, trees: InTrees | undefined): string | undefined {
  const other = trees?.marks.find((it) => trees.apart.includes(it.tree) && it.title !== title)
  return other && `another task has this id: “${other.title}” in the worktree ${other.tree}`
}

/** `part`: the fact of the other file of a record that two files make. */
export function recordHash(
  key: Key,
  fact: Fact,
  { task, health, board, invalid, tree }: Derived,
  part: Fact | undefined,
  trees?: InTrees,
): string {
  // The bytes, too: a file with other bytes counts as changed, even if its record is the same.
  const own = [key, fact.hash, fact.sent, folderOf(fact)]
  const more = [part?.hash, part?.sent, invalid, trees, tree]
  return digest(JSON.stringify([...own, task, health, board, ...more]))
}

/** A copy in a tree counts as the task's file. */
export const fileHash = (fact: Fact, part: Fact | undefined, trees?: InTrees): string =>
  digest(JSON.stringify([fact.hash, folderOf(fact), part?.hash, trees]))

/** The folders' names say something in some layouts (`archive/tasks`), even of the same bytes. */
const folderOf = ({ path }: Fact): string => path.split(/[\\/]/).slice(-3, -1).join('/')
