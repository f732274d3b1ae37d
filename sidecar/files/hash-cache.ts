// What was known of every file when the sidecar last ran, so that a restart reads only what changed
// meanwhile, and who holds an id that several claim. One independent line for each file, of
// positions instead of names: at 100,000 files the names alone would be 15 MB to read before the
// sidecar is ready. Losing it costs time, and such ids go by the names of the files again.

import { relative, sep } from 'node:path'
import type { Log } from '../../worker/shared/log.ts'
import type { Store } from '../layouts/layout.ts'
import { compact, word } from './compact.ts'
import type { Fact, SavedFile } from './facts.ts'
import type { SeenStat } from './file-stat.ts'
import { LineFile, type MadeBy } from './line-file.ts'

const FORMAT = 7

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

/** What a line has of a fact, in this order; the rest follows from its file. */
const FIELDS: { [Kind in Fact['kind']]: readonly (keyof Extract<Fact, { kind: Kind }>)[] } = {
  // biome-ignore format: several names a line.
  task: [
    'id', 'hash', 'sent', 'status', 'standing', 'isMisnamed', 'milestone', 'attempt', 'deps',
  ],
  session: ['id', 'sent', 'task', 'attempt', 'status', 'startedAtMs'],
  live: ['id', 'sent', 'heartbeatAtMs'],
  run: ['id', 'sent'],
  // biome-ignore format: several names a line.
  board: [
    'id', 'hash', 'sent', 'isRead', 'staleAfterMs', 'closed', 'states', 'prefix', 'project',
  ],
  setting: ['id', 'sent', 'value'],
}

type CachedFact = [kind: Fact['kind'], ...values: unknown[]]

/** Path within the store, hash, stat, whether the stat is racy, and which facts are `besides`. */
type CachedLine = [
  path: string,
  hash: string,
  size: number,
  mtimeMs: number,
  ctimeMs: number,
  ino: number,
  isRacy: 0 | 1,
  besides: number[],
  ...facts: CachedFact[],
]

const NONE: readonly string[] = []

function toLine(path: string, { hash, facts, besides }: SavedFile, stat: SeenStat): string {
  const { size, mtimeMs, ctimeMs, ino, isRacy } = stat
  const indexes = besides.size === 0 ? [] : facts.flatMap((it, n) => (besides.has(it) ? [n] : []))
  const line: CachedLine = [path, hash, size, mtimeMs, ctimeMs, ino, isRacy ? 1 : 0, indexes]
  for (const fact of facts) line.push(pack(fact, hash))
  return JSON.stringify(line)
}

/** Throws on a line that is none. */
function fromLine(path: string, line: CachedLine): SavedFile {
  const [, hash, size, mtimeMs, ctimeMs, ino, isRacy, indexes, ...packed] = line
  if (typeof hash !== 'string' || typeof ino !== 'number') throw new Error('a line is out of order')
  const facts = packed.map((each) => unpack(path, hash, each))
  const besides = new Set(indexes.map((n) => facts[n]).filter((fact) => fact !== undefined))
  return { hash, facts, besides, stat: { size, mtimeMs, ctimeMs, ino, isRacy: isRacy === 1 } }
}

function pack(fact: Fact, fileHash: string): CachedFact {
  // Most have the hash of their file.
  const hash = fact.hash === fileHash ? undefined : fact.hash
  const values: Readonly<Record<string, unknown>> = { ...fact, hash }
  return [fact.kind, ...FIELDS[fact.kind].map((name) => values[name])]
}

function unpack(path: string, hash: string, [kind, ...values]: CachedFact): Fact {
  const fact: Record<string, unknown> = { kind, path, hash }
  FIELDS[kind].forEach((name, n) => {
    fact[name] = shared(name, values[n]) ?? fact[name]
  })
  return fact as unknown as Fact
}

/** Of few texts, and of no list, one is enough for all. */
function shared(name: string, value: unknown): unknown {
  if (typeof value === 'string' && (name === 'status' || name === 'milestone')) return word(value)
  return Array.isArray(value) && value.length === 0 ? NONE : value
}
