// The files of a linked worktree that have other bytes than the main tree's, and the tasks in them
// that the tree changed, by name. Pure.

import type { Task } from '../../worker/board/wire.ts'
import { type Fact, factOf, nameOf, type ParsedFile, type TaskFact } from '../files/facts.ts'
import { type Entry, isAbout } from '../layouts/layout.ts'
import type { BaseTasks } from './base-tasks.ts'
import type { Tree } from './tree.ts'

export type TreeMark = NonNullable<Task['trees']>[number]

/** A task as a tree has it. */
export interface Copy {
  /** Its file has only what is about the task. */
  isAbout: boolean
  /** Its id is a guess by the name of its file. */
  isGuess: boolean
  name: string
  fact: TaskFact
  shown: Pick<TreeMark, 'status' | 'title' | 'updatedAt' | 'invalid'>
  mtimeMs: number
}

/** A file whose bytes are not the main tree's. */
export interface Differing {
  hash: string
  /** The ids that git may have given it. */
  blobs: readonly string[]
  /** None where the tree did not change it. Of a list that it changed, all that is in it. */
  copies: readonly Copy[]
  /** Its session, heartbeat or run. */
  besides: readonly Fact[]
  /** Of a list that was read whole: with what it is compared, its tree as it was then. */
  list?: Tree
  /** It holds a list of which no text could be read yet. */
  isUnread?: boolean
}

const NONE: readonly never[] = []

export class Differences {
  readonly #files = new Map<string, Differing>()
  readonly #copies = new Map<string, readonly Copy[]>()
  readonly #main: { add(fact: Fact): void; remove(fact: Fact): void }
  readonly #bases: BaseTasks

  /** `main`: takes what stands beside the main tree's. `bases`: with what lists are compared. */
  constructor(main: { add(fact: Fact): void; remove(fact: Fact): void }, bases: BaseTasks) {
    this.#main = main
    this.#bases = bases
  }

  get = (path: string): Differing | undefined => this.#files.get(path)

  /** All, as they are now. */
  entries = (): [path: string, file: Differing][] => [...this.#files]

  put(path: string, file: Differing): void {
    this.forget(path)
    for (const copy of file.copies) this.#copies.set(copy.name, [...this.#named(copy.name), copy])
    for (const fact of file.besides) this.#main.add(fact)
    this.#files.set(path, file)
    // What a list is compared with is wanted now, and not once it is asked for.
    if (file.list) this.#bases.of(file.list, path)
  }

  forget(path: string): void {
    const { copies = NONE, besides = NONE } = this.#files.get(path) ?? {}
    for (const fact of besides) this.#main.remove(fact)
    for (const copy of copies) {
      const others = this.#named(copy.name).filter((other) => other !== copy)
      if (others.length > 0) this.#copies.set(copy.name, others)
      else this.#copies.delete(copy.name)
    }
    this.#files.delete(path)
  }

  /** The names of the tasks in a file, also of those that the tree did not change. */
  namesIn(path: string): readonly string[] {
    return this.#files.get(path)?.copies.map(({ name }) => name) ?? NONE
  }

  /** Whether a file has a task, changed or not. */
  has = (path: string, name: string): boolean =>
    this.#named(name).some(({ fact }) => fact.path === path)

  /** The copies of a task that the tree changed. */
  copiesOf(name: string): readonly Copy[] {
    return this.#named(name).filter(this.#isChanged)
  }

  /** What the tree changed, or has beside the main tree's. */
  *changed(): Generator<[path: string, file: Differing]> {
    for (const [path, file] of this.#files) {
      const copies = file.copies.filter(this.#isChanged)
      if (copies.length + file.besides.length > 0) yield [path, { ...file, copies }]
    }
  }

  /** The facts of what the tree changed, or has beside the main tree's. */
  *facts(): Generator<Fact> {
    for (const [, { copies, besides }] of this.changed()) {
      for (const { fact } of copies) yield fact
      yield* besides
    }
  }

  /** The trees that lists are compared with. */
  listTrees = (): Tree[] => [...this.#files.values()].flatMap(({ list }) => list ?? [])

  /** The paths of lists of which no text could be read yet. */
  unread = (): string[] =>
    [...this.#files].flatMap(([path, { isUnread }]) => (isUnread ? [path] : []))

  #named = (name: string): readonly Copy[] => this.#copies.get(name) ?? NONE

  /** All of a list is here: whether the tree changed this one of it. */
  #isChanged = ({ name, fact: { path, hash } }: Copy): boolean => {
    const { list } = this.#files.get(path) ?? {}
    return list === undefined || !this.#bases.isUnchanged(list, path, name, hash)
  }
}

/** What is in a file of a tree. */
export function copiesIn(
  tree: Tree,
  { path, hash, stat, state, entries }: Omit<ParsedFile, 'chars'> & { path: string },
): Pick<Differing, 'copies' | 'besides'> {
  const { store } = tree
  const copies: Copy[] = []
  const besides: Fact[] = []
  for (const entry of entries) {
    const own = factOf({ path, hash, state }, entry, undefined)
    if (!own) continue
    const fact = { ...own, tree: tree.name }
    if (fact.kind !== 'task' || entry.kind !== 'task') {
      besides.push(withBranch(fact, entry, tree))
      continue
    }
    copies.push({
      isAbout: isAbout(store, path, fact.id),
      isGuess: store.isGuess?.(path) === true,
      name: nameOf(store, 'task', fact.id),
      fact,
      shown: shownOf(entry, state),
      mtimeMs: stat?.mtimeMs ?? 0,
    })
  }
  return { copies, besides }
}

function withBranch(fact: Fact, entry: Entry, tree: Tree): Fact {
  const ranOn = entry.kind === 'session' ? entry.session.branch : undefined
  const isElsewhere = ranOn !== undefined && ranOn !== tree.branch
  return fact.kind === 'session' && isElsewhere ? { ...fact, isElsewhere } : fact
}

/** Of a file that cannot be read whole, nobody knows which status and title it has. */
function shownOf(
  { task }: Extract<Entry, { kind: 'task' }>,
  state: ParsedFile['state'],
): Copy['shown'] {
  const { status, title, updatedAt } = task
  if (state === 'broken') return { invalid: true }
  return { ...(status !== '' && { status }), title, ...(updatedAt !== undefined && { updatedAt }) }
}
