// What was known of every file when the sidecar last ran, so that a restart reads only what changed
// meanwhile, and who holds an id that several claim. One independent line for each file. Losing it
// costs time, and such ids go by the names of the files again.

import { relative, sep } from 'node:path'
import type { Log } from '../../worker/shared/log.ts'
import type { Store } from '../layouts/layout.ts'
import { type CachedLine, fromLine, toLine } from './cache-line.ts'
import { compact } from './compact.ts'
import type { SavedFile } from './facts.ts'
import { LineFile, type MadeBy } from './line-file.ts'

const FORMAT = 6

type CachedStore = Pick<Store, 'root' | 'layout' | 'classify'>

export class HashCache {
  readonly #lines: LineFile
  readonly #store: CachedStore

  /** `folder` is this store's own. */
  constructor(folder: string, store: CachedStore, madeBy: MadeBy, log: Log) {
    const of = { what: 'files', format: FORMAT, store, madeBy }
    this.#lines = new LineFile(folder, of, log)
    this.#store = store
  }

  /** Hands over every file that is known; answers how many. */
  async load(take: (path: string, file: SavedFile) => void): Promise<number> {
    let count = 0
    await this.#lines.load((line) => {
      const parsed = JSON.parse(line) as CachedLine
      const path = compact(`${this.#store.root}${sep}${parsed[0]}`)
      if (this.#store.classify(path) === undefined) return
      take(path, fromLine(path, parsed))
      count++
    })
    return count
  }

  save(files: Iterable<[string, SavedFile]>): Promise<void> {
    return this.#lines.save(this.#linesOf(files))
  }

  *#linesOf(files: Iterable<[string, SavedFile]>): Generator<string> {
    for (const [path, file] of files) {
      // Without a stat nothing could be compared: such a file is read again.
      if (file.stat) yield toLine(relative(this.#store.root, path), file, file.stat)
    }
  }
}
