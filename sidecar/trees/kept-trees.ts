// What linked worktrees made of a board, on disk for the next start: by then the folder of one may
// be gone, or git may be writing it, and until it is read its marks must not leave the board.

import type { Log } from '../../worker/shared/log.ts'
import { LineFile, type MadeBy } from '../files/line-file.ts'
import type { TreeNow } from '../git/repository.ts'
import type { Store } from '../layouts/layout.ts'
import type { Tree } from './tree.ts'
import type { KeptFiles } from './tree-files.ts'

export interface KeptTree extends KeptFiles {
  now: TreeNow
}

/** `files` is undefined where that is kept already. */
export interface ToKeep {
  tree: Tree
  files: KeptFiles | undefined
}

const FORMAT = 1

export class KeptTrees {
  readonly #file: LineFile
  /** By the names of the trees. */
  #lines = new Map<string, string>()

  constructor(folder: string, store: Store, madeBy: MadeBy, log: Log) {
    const of = { what: 'trees', format: FORMAT, store, madeBy }
    this.#file = new LineFile(folder, of, log)
  }

  /** Hands over what is known of each, and answers which they are. */
  async load(copies: { restore(kept: ReadonlyMap<string, KeptFiles>): void }): Promise<TreeNow[]> {
    const trees = new Map<string, KeptTree>()
    await this.#file.load((line) => {
      const tree = JSON.parse(line) as KeptTree
      this.#lines.set(tree.now.name, line)
      trees.set(tree.now.name, tree)
    })
    copies.restore(trees)
    return [...trees.values()].map(({ now }) => now)
  }

  /** Writes nothing where all is as it was. */
  async save(
    copies: { toKeep(): Iterable<ToKeep> },
    trees: { nowOf(tree: Tree): TreeNow | undefined },
  ): Promise<void> {
    const lines = new Map<string, string>()
    for (const { tree, files } of copies.toKeep()) {
      const now = trees.nowOf(tree)
      const kept = files && now && JSON.stringify({ now, ...files } satisfies KeptTree)
      const line = kept ?? this.#lines.get(tree.name)
      if (line !== undefined) lines.set(tree.name, line)
    }
    const isSame = [...lines].every(([name, line]) => this.#lines.get(name) === line)
    if (isSame && lines.size === this.#lines.size) return
    this.#lines = lines
    await this.#file.save(lines.values())
  }
}
