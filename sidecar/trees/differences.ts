// The files of a linked worktree that have other bytes than the main tree's, and the tasks in them
// by name. Pure.

import type { Task } from '../../worker/board/wire.ts'
import { type Fact, factOf, nameOf, type ParsedFile, type TaskFact } from '../files/facts.ts'
import { type Entry, isAbout } from '../layouts/layout.ts'
import type { Tree } from './merge-bases.ts'

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
  /** None where it is merely old. Of a list that is not, all that is in it, what is old too. */
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

  /** `main`: takes what stands beside the main tree's. */
  constructor(main: { add(fact: Fact): void; remove(fact: Fact): void }) {
    this.#main = main
  }

  get = (path: string): Differing | undefined => this.#files.get(path)

  /** All, as they are now. */
  entries = (): [path: string, file: Differing][] => [...this.#files]

  /** The copies of a task, by its name. */
  named = (name: string): readonly Copy[] => this.#copies.get(name) ?? NONE

  put(path: string, file: Differing): void {
    this.forget(path)
    for (const copy of file.copies) this.#copies.set(copy.name, [...this.named(copy.name), copy])
    for (const fact of file.besides) this.#main.add(fact)
    this.#files.set(path, file)
  }

  forget(path: string): void {
    const { copies = NONE, besides = NONE } = this.#files.get(path) ?? {}
    for (const fact of besides) this.#main.remove(fact)
    for (const copy of copies) {
      const others = this.named(copy.name).filter((other) => other !== copy)
      if (others.length > 0) this.#copies.set(copy.name, others)
      else this.#copies.delete(copy.name)
    }
    this.#files.delete(path)
  }
}

/** What is in a file of a tree. */
export function copiesIn(
  tree: Tree,
  { path, hash, stat, state, entries }: Omit<ParsedFile, 'chars'> & { path: string },
) {
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
