// What linked worktrees made of a board, on disk for the next start: by then the folder of one may
// be gone, or git may be writing it, and until it is read its marks must not leave the board.

import type { Log } from '../../worker/shared/log.ts'
import type { Fact } from '../files/facts.ts'
import { headerOf, type MadeBy } from '../files/hash-cache.ts'
import { LineFile } from '../files/line-file.ts'
import type { TreeNow } from '../git/repository.ts'
import type { Store } from '../layouts/layout.ts'
import { isOld, mergedIn, type Tree } from './merge-bases.ts'
import { type Copy, newFiles, type TreeFiles } from './tree-files.ts'

/** Of a file that is not as a merge base has it. `name`: from the root of the board. */
interface KeptFile {
  name: string
  hash: string
  blobs: readonly string[]
  copies: readonly Omit<Copy, 'files'>[]
  besides: readonly Fact[]
}

export interface KeptFiles {
  files: readonly KeptFile[]
  /** The names of the tasks that it has taken out. */
  gone: readonly string[]
}

export interface KeptTree extends KeptFiles {
  now: TreeNow
}

/** `files` is absent where that is kept already. */
export interface ToKeep {
  tree: Tree
  files?: KeptFiles
}

export function keptOf({ tree, differing }: TreeFiles, gone: readonly string[]): KeptFiles {
  const files = [...differing].flatMap(([path, { hash, blobs, copies, besides }]): KeptFile[] => {
    if (copies.length + besides.length === 0) return []
    const name = path.slice(tree.store.root.length)
    return [{ name, hash, blobs, copies: copies.map(({ files: _, ...copy }) => copy), besides }]
  })
  return { files, gone }
}

/** As they were known. None of them counts as read, so each that is there is read anew. */
export function restored(tree: Tree, { files, gone }: KeptFiles): TreeFiles {
  const made: TreeFiles = { ...newFiles(tree), isRead: true, gone: new Set(gone) }
  for (const { name, hash, blobs, copies, besides } of files) {
    const path = tree.store.root + name
    if (isOld(made, path, hash, blobs)) continue
    const merged = mergedIn(tree, path)
    made.differing.set(path, {
      hash,
      blobs,
      copies: copies
        .filter((copy) => merged?.get(copy.name) !== copy.fact.hash)
        .map((copy) => ({ ...copy, files: made, fact: { ...copy.fact, path } })),
      besides: besides.map((fact) => ({ ...fact, path })),
    })
  }
  return made
}

const FORMAT = 1

export class KeptTrees {
  readonly #file: LineFile
  /** By the names of the trees. */
  #lines = new Map<string, string>()

  constructor(folder: string, store: Store, madeBy: MadeBy, log: Log) {
    const header = headerOf({ signalbox: 'trees', format: FORMAT }, store, madeBy)
    this.#file = new LineFile(folder, 'trees.jsonl', header, log)
  }

  /** Hands over what is known of each, and answers which they are. */
  async load(copies: { restore(trees: readonly KeptTree[]): void }): Promise<TreeNow[]> {
    const trees: KeptTree[] = []
    await this.#file.load((line) => {
      const tree = JSON.parse(line) as KeptTree
      this.#lines.set(tree.now.name, line)
      trees.push(tree)
    })
    copies.restore(trees)
    return trees.map(({ now }) => now)
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
