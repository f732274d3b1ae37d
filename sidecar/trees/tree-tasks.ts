// What is known of the files of one linked worktree, and of the tasks in them. Whatever sets a file
// comes through here, so that the tasks that it had, and those that it has then, are touched: a
// board looks at no other task again. No I/O, no clock.

import { interning } from '../files/compact.ts'
import { type Fact, type FileFacts, nameOf } from '../files/facts.ts'
import { FileTable } from '../files/file-table.ts'
import type { Store } from '../layouts/layout.ts'
import { AbsentFiles } from './absent-files.ts'
import type { BaseTasks } from './base-tasks.ts'
import { Differences, type Differing } from './differences.ts'
import type { TreeView } from './tree.ts'

/** What is known of the main tree. */
export interface MainFiles {
  store: Pick<Store, 'root' | 'fold'>
  files: Pick<FileTable, 'hashOf' | 'factsOf'>
  holders: {
    /** All that claim a name. */
    claims(name: string): readonly Fact[]
    isAbout(fact: Fact): boolean
  }
  /** Sessions, heartbeats and runs of trees stand beside its own. */
  add(fact: Fact): void
  remove(fact: Fact): void
}

interface Deps {
  main: MainFiles
  bases: BaseTasks
  /** Takes the names of tasks. */
  touched: Set<string>
}

/** Undefined: the file has the main tree's bytes, or is gone. */
export type Change = readonly [path: string, differing: Differing | undefined]

export type ReadDifferences = Omit<Differences, 'put' | 'forget'>

/** Trees have files of the same names. */
const sharedName = interning(100_000)

export class TreeTasks {
  readonly table: FileTable
  readonly #view: TreeView
  readonly #main: MainFiles
  readonly #touched: Set<string>
  readonly #differences: Differences
  readonly #absent: AbsentFiles
  /** Since it was last asked. */
  #isTouched: boolean = true

  constructor(view: TreeView, { main, bases, touched }: Deps) {
    this.#view = view
    this.#main = main
    this.#touched = touched
    this.table = new FileTable(view.tree.store.root, sharedName)
    this.#differences = new Differences(main, bases)
    this.#absent = new AbsentFiles(view, this.table, bases)
  }

  get differences(): ReadDifferences {
    return this.#differences
  }

  /** `file`: undefined: it was removed. `differing`: undefined: it has the main tree's bytes. */
  set(path: string, file: FileFacts | undefined, differing: Differing | undefined): void {
    this.#touch(this.#differences.namesIn(path))
    this.setUntouched(path, file, differing)
    this.touchAt(path)
  }

  /** Where no task is another by it, or none of the tree counts yet. */
  setUntouched(path: string, file: FileFacts | undefined, differing: Differing | undefined): void {
    if (file) {
      this.#absent.found(path)
      this.table.put(path, file)
    } else {
      if (this.table.hashOf(path) !== undefined) this.#absent.removed(path)
      this.table.delete(path)
    }
    this.#differ(path, differing)
  }

  /** Its bytes are the same, but not what they are compared with. */
  setDiffering(path: string, differing: Differing | undefined): void {
    this.#touch(this.#differences.namesIn(path))
    this.#differ(path, differing)
    this.touchAt(path)
  }

  /** Sets these: what they are compared with has become another, and so may any task. */
  setAll(changes: Iterable<Change>): void {
    for (const [path, differing] of changes) this.setDiffering(path, differing)
    this.touchAll()
  }

  /** Of a tree that is not known none counts: there may be 100,000. */
  touchAll(): void {
    if (!this.#view.isKnown) return
    const absent = this.#absent.paths()
    this.#touch(this.#absent.look([...this.#absent.vanished(), ...absent]))
    this.#touch(this.#names(absent))
  }

  /** The tasks that a file has, here and in the main tree. */
  touchAt(path: string): void {
    this.#touch(this.#namesAt(path))
    this.touchVanished(path)
  }

  /** The tasks of a file, if it vanished, or had. */
  touchVanished(path: string): void {
    this.#touch(this.#absent.look([path]))
  }

  /** Whether anything was touched since this was last asked. */
  takeIsTouched(): boolean {
    const isTouched = this.#isTouched
    this.#isTouched = false
    return isTouched
  }

  hasRemoved = (name: string, path: string): boolean => this.#absent.hasRemoved(name, path)

  hasVanished = (name: string): boolean => this.#absent.hasVanished(name)

  /** The names of what it changed, and of what it may have removed. */
  names = (): Generator<string> => this.#names(this.#absent.paths())

  #differ(path: string, differing: Differing | undefined): void {
    if (differing) this.#differences.put(path, differing)
    else this.#differences.forget(path)
  }

  #touch(names: Iterable<string>): void {
    this.#isTouched = true
    for (const name of names) this.#touched.add(name)
  }

  *#names(absent: readonly string[]): Generator<string> {
    for (const [path] of this.#differences.entries()) yield* this.#namesAt(path)
    for (const path of absent) yield* this.#namesAt(path)
    yield* this.#absent.names()
    yield* this.#view.goneBefore ?? []
  }

  *#namesAt(path: string): Generator<string> {
    yield* this.#differences.namesIn(path)
    for (const { kind, id } of this.#main.files.factsOf(this.#view.mainPath(path)))
      if (kind === 'task') yield nameOf(this.#main.store, kind, id)
  }
}
