// One file's facts as a line of the cache. Positions instead of names: at 100,000 files the names
// alone would be 15 MB to read before the sidecar is ready. No I/O.

import type { Standing } from '../layouts/layout.ts'
import { word } from './compact.ts'
import type { Fact, FileFacts } from './facts.ts'
import type { SeenStat } from './file-stat.ts'

type CachedFact =
  | [
      't',
      id: string,
      hash: string | 0,
      sent: string,
      status: string,
      standing: Standing | 0,
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
  | ['b', hash: string, staleAfterMs: number, closed: string[], states: string[]]
  | ['v', id: string, sent: string, value: string]

/** Path within the store, hash, stat, and whether the stat is racy. */
export type CachedLine = [
  path: string,
  hash: string,
  size: number,
  mtimeMs: number,
  ctimeMs: number,
  ino: number,
  isRacy: 0 | 1,
  ...facts: CachedFact[],
]

const NONE: readonly string[] = []

export function toLine(path: string, { hash, facts }: FileFacts, stat: SeenStat): string {
  const { size, mtimeMs, ctimeMs, ino, isRacy } = stat
  const line: CachedLine = [path, hash, size, mtimeMs, ctimeMs, ino, isRacy ? 1 : 0]
  for (const fact of facts) line.push(pack(fact, hash))
  return JSON.stringify(line)
}

/** Throws on a line that is none. */
export function fromLine(path: string, line: CachedLine): FileFacts {
  const [, hash, size, mtimeMs, ctimeMs, ino, isRacy, ...packed] = line
  if (typeof hash !== 'string' || typeof ino !== 'number') throw new Error('a line is out of order')
  const facts = packed.map((each) => unpack(path, hash, each))
  return { hash, facts, stat: { size, mtimeMs, ctimeMs, ino, isRacy: isRacy === 1 } }
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
      return ['b', fact.hash, fact.staleAfterMs, [...fact.closed], [...fact.states]]
    case 'setting':
      return ['v', fact.id, fact.sent, fact.value]
  }
}

function unpack(path: string, fileHash: string, packed: CachedFact): Fact {
  switch (packed[0]) {
    case 't': {
      const [, id, hash, sent, status, standing, milestone, attempt, ...deps] = packed
      return {
        kind: 'task',
        path,
        id,
        hash: hash === 0 ? fileHash : hash,
        sent,
        status: word(status),
        standing: standing === 0 ? undefined : standing,
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
      const [, hash, staleAfterMs, closed, states] = packed
      return { kind: 'board', path, id: 'board', hash, sent: hash, closed, states, staleAfterMs }
    }
    case 'v': {
      const [, id, sent, value] = packed
      return { kind: 'setting', path, id, hash: fileHash, sent, value }
    }
    default:
      throw new Error('a line is of no known kind')
  }
}
