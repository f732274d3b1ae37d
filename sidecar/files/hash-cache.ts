// What was known of every file when the sidecar last ran, so that a restart reads only what changed
// meanwhile, and which file holds an id that several claim. One independent line for each file, of
// positions instead of names: at 100,000 files the names alone would be 15 MB to read before the
// sidecar is ready. Losing it costs time, and such ids go by the names of the files again.

import { relative, sep } from 'node:path'
import type { Log } from '../../worker/shared/log.ts'
import type { Store } from '../layouts/layout.ts'
import { compact, interned } from './compact.ts'
import type { Fact, SavedFile } from './facts.ts'
import type { SeenStat } from './file-stat.ts'
import { LineFile, type MadeBy } from './line-file.ts'

const FORMAT = 8

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

  /** Hands over every file that is known. */
  async load(take: (path: string, file: SavedFile) => void): Promise<void> {
    await this.#lines.load((line) => {
      const parsed = JSON.parse(line) as CachedLine
      const path = compact(`${this.#store.root}${sep}${parsed[0]}`)
      if (this.#store.classify(path) !== undefined) take(path, fromLine(path, parsed))
    })
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

const NONE: readonly string[] = []
const OF_FILE = { path: '', hash: '' }

/** A line has of a fact what is other than here, in this order; the rest follows from its file. */
const BLANK: { readonly [Kind in Fact['kind']]: Extract<Fact, { kind: Kind }> } = {
  task: {
    kind: 'task',
    ...OF_FILE,
    id: '',
    sent: '',
    status: '',
    standing: undefined,
    isMisnamed: false,
    milestone: undefined,
    attempt: undefined,
    deps: NONE,
  },
  session: {
    kind: 'session',
    ...OF_FILE,
    id: '',
    sent: '',
    task: '',
    attempt: '',
    status: '',
    startedAtMs: 0,
  },
  live: { kind: 'live', ...OF_FILE, id: '', sent: '', heartbeatAtMs: 0 },
  run: { kind: 'run', ...OF_FILE, id: '', sent: '' },
  board: {
    kind: 'board',
    ...OF_FILE,
    id: 'board',
    sent: '',
    isRead: false,
    staleAfterMs: 0,
    closed: NONE,
    states: NONE,
    prefix: undefined,
    project: undefined,
  },
  setting: { kind: 'setting', ...OF_FILE, id: '', sent: '', value: '' },
}

/** By the kind: all but that and the path. */
const FIELDS = new Map(
  Object.values(BLANK).map(({ kind, path: _, ...fields }) => [kind, Object.keys(fields)]),
)

function fieldsOf(kind: Fact['kind']): readonly string[] {
  const names = FIELDS.get(kind)
  if (!names) throw new Error('a line is of no known kind')
  return names
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

/** In place of what is as in the blank. */
const SAME = 0

type AnyFact = Fact & Record<string, unknown>

function pack(fact: Fact, hash: string): CachedFact {
  const { kind } = fact
  const packed: CachedFact = [kind]
  for (const name of fieldsOf(kind)) {
    const value = (fact as AnyFact)[name]
    const usual = name === 'hash' ? hash : (BLANK[kind] as AnyFact)[name]
    const isEmpty = Array.isArray(value) && value.length === 0
    packed.push(isEmpty || value === usual ? SAME : value)
  }
  return packed
}

function unpack(path: string, hash: string, packed: CachedFact): Fact {
  const [kind] = packed
  const fact = { ...BLANK[kind], path, hash } as AnyFact
  let n = 0
  for (const name of fieldsOf(kind)) {
    const value = packed[++n]
    // Of few texts one is enough for all.
    const isShared = name === 'status' || name === 'milestone'
    if (value !== SAME) fact[name] = isShared ? interned(String(value)) : value
  }
  return fact
}
