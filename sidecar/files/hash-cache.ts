// What was known of every file when the sidecar last ran, so that a restart reads only what changed
// meanwhile, and who holds an id that several claim. One independent line for each file, of
// positions instead of names: at 100,000 files the names alone would be 15 MB to read before the
// sidecar is ready. Losing it costs time, and such ids go by the names of the files again.

import { relative, sep } from 'node:path'
import type { Log } from '../../worker/shared/log.ts'
import type { Standing, Store } from '../layouts/layout.ts'
import { compact, word } from './compact.ts'
import type { Fact, SavedFile } from './facts.ts'
import type { SeenStat } from './file-stat.ts'
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

type CachedFact =
  | [
      't',
      id: string,
      hash: string | 0,
      sent: string,
      status: string,
      standing: Standing | 0,
      isMisnamed: 0 | 1,
      milestone: string | 0,
      attempt: string | 0,
      ...deps: string[],
    ]
  | [
      's',
      id: string,
      sent: string,
      task: string,
      attempt: string,
      status: string,
      startedAtMs: number,
    ]
  | ['l', id: string, sent: string, heartbeatAtMs: number]
  | ['r', id: string, sent: string]
  | [
      'b',
      hash: string,
      isRead: 0 | 1,
      staleAfterMs: number,
      closed: string[],
      states: string[],
      prefix: string | 0,
      project: string | 0,
    ]
  | ['v', id: string, sent: string, value: string]

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
  switch (fact.kind) {
    case 'task': {
      const hash = fact.hash === fileHash ? 0 : fact.hash
      return [
        't',
        fact.id,
        hash,
        fact.sent,
        fact.status,
        fact.standing ?? 0,
        fact.isMisnamed ? 1 : 0,
        fact.milestone ?? 0,
        fact.attempt ?? 0,
        ...fact.deps,
      ]
    }
    case 'session':
      return ['s', fact.id, fact.sent, fact.task, fact.attempt, fact.status, fact.startedAtMs]
    case 'live':
      return ['l', fact.id, fact.sent, fact.heartbeatAtMs]
    case 'run':
      return ['r', fact.id, fact.sent]
    case 'board':
      return [
        'b',
        fact.hash,
        fact.isRead ? 1 : 0,
        fact.staleAfterMs,
        [...fact.closed],
        [...fact.states],
        fact.prefix ?? 0,
        fact.project ?? 0,
      ]
    case 'setting':
      return ['v', fact.id, fact.sent, fact.value]
  }
}

function unpack(path: string, fileHash: string, packed: CachedFact): Fact {
  switch (packed[0]) {
    case 't': {
      const [, id, hash, sent, status, standing, isMisnamed, milestone, attempt, ...deps] = packed
      return {
        kind: 'task',
        path,
        id,
        hash: hash === 0 ? fileHash : hash,
        sent,
        status: word(status),
        standing: standing === 0 ? undefined : standing,
        isMisnamed: isMisnamed === 1,
        milestone: milestone === 0 ? undefined : word(milestone),
        deps: deps.length === 0 ? NONE : deps,
        attempt: attempt === 0 ? undefined : attempt,
      }
    }
    case 's': {
      const [, id, sent, task, attempt, status, startedAtMs] = packed
      return {
        kind: 'session',
        path,
        id,
        hash: fileHash,
        sent,
        task,
        attempt,
        status: word(status),
        startedAtMs,
      }
    }
    case 'l': {
      const [, id, sent, heartbeatAtMs] = packed
      return { kind: 'live', path, id, hash: fileHash, sent, heartbeatAtMs }
    }
    case 'r': {
      const [, id, sent] = packed
      return { kind: 'run', path, id, hash: fileHash, sent }
    }
    case 'b': {
      const [, hash, isRead, staleAfterMs, closed, states, prefixed, named] = packed
      const project = named === 0 ? undefined : named
      const prefix = prefixed === 0 ? undefined : prefixed
      const rules = { isRead: isRead === 1, closed, states, staleAfterMs, prefix }
      return { kind: 'board', path, id: 'board', hash, sent: hash, ...rules, project }
    }
    case 'v': {
      const [, id, sent, value] = packed
      return { kind: 'setting', path, id, hash: fileHash, sent, value }
    }
    default:
      throw new Error('a line is of no known kind')
  }
}
