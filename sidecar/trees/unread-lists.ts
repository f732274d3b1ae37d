// Files of trees that hold lists and cannot be read, as in the middle of a merge: what was last
// read of them stands, else what the tree's `HEAD` has. No I/O.

import type { ParsedFile } from '../files/facts.ts'
import { parseFile } from '../files/parse-file.ts'
import type { Entry, Store } from '../layouts/layout.ts'
import type { Tree } from './merge-bases.ts'
import type { TreeFiles } from './tree-files.ts'

const NONE: readonly never[] = []

export class UnreadLists {
  /** By path: what `HEAD` has, until it is taken in place of the file. */
  readonly #heads = new Map<string, readonly Entry[]>()

  /** Takes the text that `HEAD` has. Undefined: nobody knows. */
  learn(path: string, store: Store | undefined, text: string | undefined): void {
    const parsed = text !== undefined && store && parseFile(store, path, 'tasks', text)
    this.#heads.set(path, parsed && parsed.state === 'ok' ? parsed.entries : NONE)
  }

  /** Those of which no text could be read yet. */
  *among(trees: Iterable<TreeFiles>): Generator<{ tree: Tree; path: string }> {
    for (const { tree, differing } of trees)
      for (const [path, { isUnread }] of differing) if (isUnread) yield { tree, path }
  }

  /** What counts as read of a file. */
  readOf(
    path: string,
    file: ParsedFile,
    isList: boolean,
  ): Pick<ParsedFile, 'state' | 'entries'> & { isUnread?: true } {
    if (!isList || file.state === 'ok') return file
    const entries = this.#heads.get(path)
    this.#heads.delete(path)
    return entries ? { state: 'ok', entries } : { state: 'broken', entries: NONE, isUnread: true }
  }

  /** Takes another text that cannot be read; false: nothing was read before. */
  stands(files: TreeFiles, path: string, { hash, stat }: ParsedFile): boolean {
    const last = files.differing.get(path)
    if (files.table.hashOf(path) === undefined || last?.isUnread) return false
    files.table.put(path, { hash, facts: NONE, stat })
    files.differing.set(path, { copies: NONE, besides: NONE, ...last, hash, blobs: NONE })
    return true
  }
}
