// What was known of every file when the sidecar last ran, so that a restart reads only what changed
// meanwhile, and who holds an id that several claim. One independent line for each file. Losing it
// costs time, and such ids go by the names of the files again: a problem is logged, and no error.

import { open, rename, rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { openPlain } from '../../worker/shared/plain-file-node.ts'
import type { Store } from '../layouts/layout.ts'
import type { Log } from '../log.ts'
import { makePrivateFolder } from '../private-file.ts'
import { type CachedLine, fromLine, toLine } from './cache-line.ts'
import { compact } from './compact.ts'
import type { SavedFile } from './facts.ts'
import type { RunOutput } from './parse-file.ts'

const FORMAT = 6
/** Lines made in one go: under a millisecond, so a save elsewhere does not wait for this one. */
const SLICE = 500

type CachedStore = Pick<Store, 'root' | 'layout' | 'classify'>

interface MadeBy {
  version: string
  runOutput: RunOutput
}

export class HashCache {
  readonly #folder: string
  readonly #file: string
  readonly #store: CachedStore
  readonly #log: Log
  readonly #header: string

  /**
   * `folder` is this store's own. What was made by another version, or for another output of runs,
   * is read again: it may be understood in another way.
   */
  constructor(folder: string, store: CachedStore, madeBy: MadeBy, log: Log) {
    this.#folder = folder
    this.#file = join(folder, 'files.jsonl')
    this.#store = store
    this.#log = log
    const { layout, root } = store
    this.#header = JSON.stringify({
      signalbox: 'files',
      format: FORMAT,
      ...madeBy,
      layout,
      root,
    })
  }

  /** Hands over every file that is known; answers how many. Makes the folder. */
  async load(take: (path: string, file: SavedFile) => void): Promise<number> {
    try {
      makePrivateFolder(this.#folder)
    } catch {
      // Saving reports why it cannot be made.
    }
    let count = 0
    let rest = ''
    let isFirst = true
    try {
      const { handle } = await openPlain(this.#file)
      // It closes what it reads.
      const stream = handle.createReadStream({ encoding: 'utf8', highWaterMark: 1 << 18 })
      for await (const chunk of stream) {
        const lines = (rest + String(chunk)).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          if (isFirst && line !== this.#header) throw new Error('it is of another version or store')
          if (!isFirst) count += this.#take(line, take)
          isFirst = false
        }
      }
    } catch (error) {
      if (isMissing(error)) return 0
      // What was read before is kept: the scan compares each file with its own line.
      this.#log('warn', 'cache.ignored', { file: this.#file, why: String(error), taken: count })
    }
    return count
  }

  /**
   * Writes a new cache beside the old one and replaces it, so there is never half a cache. Makes no
   * folder: in the place of a project that was renamed there would be one again.
   */
  async save(files: Iterable<[string, SavedFile]>): Promise<void> {
    const temp = `${this.#file}.${process.pid}.tmp`
    try {
      await rm(temp, { force: true })
      const handle = await open(temp, 'wx', 0o600)
      try {
        let lines = [this.#header]
        for (const [path, file] of files) {
          // Without a stat nothing could be compared: such a file is read again.
          if (file.stat === undefined) continue
          lines.push(toLine(relative(this.#store.root, path), file, file.stat))
          if (lines.length < SLICE) continue
          await handle.writeFile(`${lines.join('\n')}\n`)
          lines = []
        }
        if (lines.length > 0) await handle.writeFile(`${lines.join('\n')}\n`)
      } finally {
        await handle.close()
      }
      await rename(temp, this.#file)
    } catch (error) {
      this.#log('warn', 'cache.unwritten', { file: this.#file, why: String(error) })
      await rm(temp, { force: true }).catch(() => undefined)
    }
  }

  #take(line: string, take: (path: string, file: SavedFile) => void): number {
    const parsed = JSON.parse(line) as CachedLine
    const path = compact(`${this.#store.root}${sep}${parsed[0]}`)
    if (this.#store.classify(path) === undefined) return 0
    take(path, fromLine(path, parsed))
    return 1
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'
