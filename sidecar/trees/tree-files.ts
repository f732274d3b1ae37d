// What is known of the files of one linked worktree, and of the tasks that it has otherwise than
// the main tree. Pure.

import type { Task } from '../../worker/board/wire.ts'
import { compact } from '../files/compact.ts'
import type { Fact, TaskFact } from '../files/facts.ts'
import { FileTable } from '../files/file-table.ts'
import type { Entry } from '../layouts/layout.ts'
import type { Tree } from './merge-bases.ts'

export type TreeMark = NonNullable<Task['trees']>[number]

/** What trees made of a task. */
export interface InTrees {
  marks: readonly TreeMark[]
  /** The copies' hashes. */
  hashes: readonly string[]
  /** The main tree has not got it. */
  isAlone: boolean
  /** The trees whose copy was begun apart from the row, in a file of another name. */
  apart: readonly string[]
}

/** A task as a tree has it. */
export interface Copy {
  files: TreeFiles
  /** Its file has only what is about the task. */
  isAbout: boolean
  name: string
  fact: TaskFact
  shown: Pick<TreeMark, 'status' | 'title' | 'updatedAt'>
  mtimeMs: number
}

/** A file whose bytes are not the main tree's. */
export interface Differing {
  hash: string
  blobs: readonly string[]
  copies: readonly Copy[]
  /** Its session, heartbeat or run. */
  besides: readonly Fact[]
  /** All that it has, of a file with many tasks. */
  names?: ReadonlySet<string>
}

export const factsOf = ({ copies, besides }: Pick<Differing, 'copies' | 'besides'> = NOTHING) => [
  ...copies.map(({ fact }): Fact => fact),
  ...besides,
]

const NOTHING = { copies: [], besides: [] }

/** The files of one tree. */
export interface TreeFiles {
  tree: Tree
  table: FileTable
  differing: Map<string, Differing>
  /** The hash of a file when the main tree's became another, or when it was first seen. */
  old: Map<string, string>
  /** Files that were there once. */
  removed: Set<string>
  /** Files that a merge base has, and neither tree any more, with the names of their tasks. */
  vanished: Map<string, ReadonlySet<string>>
  /** All of its files were read once. */
  isRead: boolean
}

/** In place of the hash of a text that was not read. */
export const isBlob = (hash: string): boolean => hash.length > 32

/** Trees have files of the same names: each is kept but once, in as many as there are of late. */
const names = new Map<string, string>()
const MAX_NAMES = 100_000
function sharedName(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  if (names.size >= MAX_NAMES) names.clear()
  const kept = compact(name)
  names.set(kept, kept)
  return kept
}

export const newFiles = (tree: Tree): TreeFiles => ({
  tree,
  table: new FileTable(tree.store.root, sharedName),
  differing: new Map(),
  old: new Map(),
  removed: new Set(),
  vanished: new Map(),
  isRead: false,
})

export function shownOf({ task }: Extract<Entry, { kind: 'task' }>): Copy['shown'] {
  const { status, title, updatedAt } = task
  return { ...(status !== '' && { status }), title, ...(updatedAt !== undefined && { updatedAt }) }
}

export function newerFirst(one: Copy, other: Copy): number {
  const timeOf = ({ shown, mtimeMs }: Copy) => Date.parse(shown.updatedAt ?? '') || mtimeMs
  const difference = timeOf(other) - timeOf(one)
  return (
    Number(one.isAbout) - Number(other.isAbout) ||
    difference ||
    (one.files.tree.name < other.files.tree.name ? -1 : 1)
  )
}

/** What is about a task has its title, where both trees have such a file. */
export function shownBy(copies: readonly Copy[], hasAbout: boolean): Copy['shown'] {
  const own = copies.find(({ isAbout }) => !isAbout)?.shown ?? {}
  const about = copies.find(({ isAbout }) => isAbout)?.shown
  if (about) return { ...about, ...own, ...(about.title !== undefined && { title: about.title }) }
  if (!hasAbout) return own
  const { title: _, ...rest } = own
  return rest
}

export function withBranch(fact: Fact, entry: Entry, tree: Tree): Fact {
  const ranOn = entry.kind === 'session' ? entry.session.branch : undefined
  const isElsewhere = ranOn !== undefined && ranOn !== tree.branch
  return fact.kind === 'session' && isElsewhere ? { ...fact, isElsewhere } : fact
}
