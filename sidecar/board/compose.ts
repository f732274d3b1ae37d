// Puts together what goes to the edge: what an entry says and what follows from other files; and
// its hashes, which cover just that: two equal hashes are the same record. Pure.

import { type DataRecord, type Key, parseKey } from '../../worker/board/wire.ts'
import { digest } from '../files/compact.ts'
import type { Fact } from '../files/facts.ts'
import type { Entry, Store } from '../layouts/layout.ts'
import type { TreeMark } from '../trees/differences.ts'
import type { InTrees } from '../trees/tree-copies.ts'
import type { Derived } from './relations.ts'

interface Hashes {
  /** The whole record's. */
  hash: string
  /** Its own file's. */
  file: string
  /** Where trees have copies: the main tree's alone. */
  copy?: string
}

/** What a record is made of besides its own entry. */
export interface RecordSource {
  derived: Derived
  /** Where its file is, below the project's folder. */
  place?: string | undefined
  /** The fact of the other file of a record that two files make. */
  part?: Fact | undefined
  trees?: InTrees | undefined
}

/** Undefined: it is not below the project's folder. */
export function placeIn(
  { root, within }: Pick<Store, 'root' | 'within'>,
  path: string,
): string | undefined {
  const separator = path.charAt(root.length)
  if (!path.startsWith(root) || !/[\\/]/.test(separator)) return undefined
  const parts = path.slice(root.length + 1).split(separator)
  return (within === '' ? parts : [within, ...parts]).join('/')
}

/** `other`: the entry of `part`. Undefined: the entry is not a record (a heartbeat). */
export function compose(
  key: Key,
  { hash, file, copy }: Hashes,
  entry: Entry,
  other: Entry | undefined,
  { derived, place, trees }: Omit<RecordSource, 'part'>,
): DataRecord | undefined {
  const { id } = parseKey(key)
  const { tree } = derived
  const inTree = tree === undefined ? {} : { tree }
  switch (entry.kind) {
    case 'task': {
      const about = other?.kind === 'task' ? other.task : undefined
      const own = about ? { ...about, ...entry.task, title: about.title } : entry.task
      const another = otherTask(own.title, trees)
      const whys = [about?.invalid, about ? undefined : entry.alone, another]
      const isShared = derived.isTwin === true || another !== undefined
      const invalid = invalidOf(entry.task, ...whys)
      // What an invalid file says of its status and deps may be wrong: nobody must begin on it.
      const isHeld = invalid.invalid !== undefined || trees?.isAlone === true
      const task = {
        ...own,
        id,
        ready: false,
        ...derived.task,
        ...(place !== undefined && { file: place }),
        ...(isHeld && { ready: false, held: true as const }),
        ...(isShared && { sharesId: true as const }),
        ...invalid,
      }
      const marks = trees && {
        trees: [...trees.marks],
        ...(trees.isAlone && { inMain: false as const }),
        ...(trees.isDeleted && { deletedInMain: true as const }),
      }
      const ofMain = copy === undefined ? {} : { copy }
      return { kind: 'task', id, hash, file, ...ofMain, task: { ...task, ...marks } }
    }
    case 'session': {
      const health = derived.health ?? 'stalled'
      const live = other?.kind === 'live' ? other.live : undefined
      const beat = live && { live, activeAt: live.heartbeatAt }
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
  const isOther = (it: TreeMark) => it.title !== undefined && it.title !== title
  const other = trees?.marks.find((it) => trees.apart.includes(it.tree) && isOther(it))
  return other && `another task has this id: “${other.title}” in the worktree ${other.tree}`
}

export function recordHash(key: Key, fact: Fact, source: RecordSource): string {
  const { derived, place, part, trees } = source
  const { task, health, board, invalid, tree } = derived
  // The bytes, too: a file with other bytes counts as changed, even if its record is the same.
  const own = [key, fact.hash, fact.sent, place]
  const more = [part?.hash, part?.sent, invalid, trees, tree]
  return digest(JSON.stringify([...own, task, health, board, ...more]))
}

/** A copy in a tree counts as the task's file, and so does its name: clients show where it is. */
export const fileHash = (
  fact: Fact,
  { place, part, trees }: Omit<RecordSource, 'derived'>,
): string => digest(JSON.stringify([fact.hash, place, part?.hash, trees]))

export function hashesOf(key: Key, fact: Fact, source: RecordSource): Hashes {
  const { trees, ...ofMain } = source
  const [hash, file] = [recordHash(key, fact, source), fileHash(fact, source)]
  return { hash, file, ...(trees && { copy: fileHash(fact, ofMain) }) }
}
