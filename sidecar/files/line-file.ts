// A file of lines that the sidecar keeps for its next start, as of its hashes: under a header that
// says by what it was made. Losing it costs time: a problem is logged, and no error.

import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../worker/shared/file-errors.ts'
import type { Log } from '../../worker/shared/log.ts'
import { openPlain } from '../../worker/shared/plain-file-node.ts'
import { makePrivateFolder } from '../../worker/shared/private-file-node.ts'
import type { Store } from '../layouts/layout.ts'
import type { RunOutput } from './parse-file.ts'

/** Lines made in one go: under a millisecond, so a save elsewhere does not wait for this one. */
const SLICE = 500

/** What was made by another version, or for another output of runs, may be understood otherwise. */
export interface MadeBy {
  version: string
  runOutput: RunOutput
}

interface LinesOf {
  /** Its name, too. */
  what: string
  /** Of its lines. */
  format: number
  store: Pick<Store, 'layout' | 'root'>
  madeBy: MadeBy
}

export class LineFile {
  readonly #folder: string
  readonly #file: string
  readonly #header: string
  readonly #log: Log

  constructor(folder: string, { what, format, store, madeBy }: LinesOf, log: Log) {
    const { layout, root } = store
    this.#folder = folder
    this.#file = join(folder, `${what}.jsonl`)
    this.#header = JSON.stringify({ signalbox: what, format, ...madeBy, layout, root })
    this.#log = log
  }

  /** Hands over its lines. Makes the folder. */
  async load(take: (line: string) => void): Promise<void> {
    try {
      makePrivateFolder(this.#folder)
    } catch {
      // Saving reports why it cannot be made.
    }
    let taken = 0
    try {
      const { handle } = await openPlain(this.#file)
      let header: string | undefined
      for await (const lines of linesIn(handle)) {
        header ??= lines.shift()
        if (header !== this.#header) throw new Error('it is of another version or store')
        for (const line of lines) {
          take(line)
          taken++
        }
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return
      // What was read before is kept: each line stands for itself.
      this.#log('warn', 'cache.ignored', { file: this.#file, why: String(error), taken })
    }
  }

  /**
   * Writes a new one beside the old one and replaces it, so there is never half of it. Makes no
   * folder: in the place of a project that was renamed there would be one again.
   */
  async save(lines: Iterable<string>): Promise<void> {
    const temp = `${this.#file}.${process.pid}.tmp`
    try {
      await rm(temp, { force: true })
      const handle = await open(temp, 'wx', 0o600)
      try {
        let slice = [this.#header]
        for (const line of lines) {
          slice.push(line)
          if (slice.length < SLICE) continue
          await handle.writeFile(`${slice.join('\n')}\n`)
          slice = []
        }
        if (slice.length > 0) await handle.writeFile(`${slice.join('\n')}\n`)
      } finally {
        await handle.close()
      }
      await rename(temp, this.#file)
    } catch (error) {
      this.#log('warn', 'cache.unwritten', { file: this.#file, why: String(error) })
      await rm(temp, { force: true }).catch(() => undefined)
    }
  }
}

/** Its whole lines, many at a time: to wait for each would take longer than to read it. */
async function* linesIn(file: FileHandle): AsyncGenerator<string[]> {
  // It closes what it reads.
  const chunks = file.createReadStream({ encoding: 'utf8', highWaterMark: 1 << 18 })
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (lines.length > 0) yield lines
  }
}
