// What a linked worktree made of a board, as the next start is to know it: by then its folder may
// be gone, or git may be writing it, and until it is read its marks must not leave the board. Pure.

import type { Fact } from '../files/facts.ts'
import type { TreeNow } from '../git/repository.ts'
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
