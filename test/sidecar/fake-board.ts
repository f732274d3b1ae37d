// A board whose files are values in memory.

import { basename, dirname } from 'node:path'
import { Board } from '../../sidecar/board/board.ts'
import { digest } from '../../sidecar/files/compact.ts'
import type { ParsedFile } from '../../sidecar/files/facts.ts'
import type { FileState } from '../../sidecar/files/file-reader.ts'
import {
  type Entry,
  type FileKind,
  invalidOf,
  type TaskSource,
} from '../../sidecar/layouts/layout.ts'
import type { BoardConfig, Key } from '../../worker/board/wire.ts'

const KINDS: Record<string, FileKind> = {
  tasks: 'task',
  done: 'task',
  sessions: 'session',
  live: 'live',
  runs: 'run',
  many: 'tasks',
  milestones: 'setting',
}

export const fakeStore = {
  root: '/s',
  within: '',
  classify: (path: string): FileKind | undefined =>
    basename(path) === 'config' ? 'board' : KINDS[basename(dirname(path))],
  fold: (id: string): string => id.toLowerCase(),
}

export const task = (id: string, more: Partial<TaskSource> = {}): Entry => ({
  kind: 'task',
  id,
  task: { id, title: `Title of ${id}`, status: 'todo', ...more },
})

export const session = (id: string, of: string, status = 'active', startedAtMs = 0): Entry => ({
  kind: 'session',
  id,
  session: {
    id,
    task: of,
    attempt: 'a1',
    actor: 'agent:x',
    status,
    startedAt: new Date(startedAtMs).toISOString(),
  },
})

export const live = (id: string, atMs: number): Entry => ({
  kind: 'live',
  id,
  live: { heartbeatAt: new Date(atMs).toISOString(), progress: 'half' },
})

export const config = (closed: string[], more: Partial<BoardConfig> = {}): Entry => ({
  kind: 'board',
  id: 'board',
  board: { layout: 'cairn', states: ['todo', 'done'], closed, ...more },
  staleAfterMs: 1_000,
})

export const parsedOf = (entries: readonly Entry[]): ParsedFile => {
  const text = JSON.stringify(entries)
  const isBroken = entries.length > 0 && entries.every((it) => invalidOf(it) !== undefined)
  const state = isBroken ? 'broken' : 'ok'
  return { hash: digest(text), state, entries, chars: text.length }
}

export class FakeBoard {
  readonly files = new Map<string, readonly Entry[]>()
  /** Other answers of the reader, for files in a bad state. */
  readonly looks = new Map<string, FileState>()
  board = new Board(fakeStore, (path) => this.#look(path))
  reads = 0

  /** Writes a file, and passes it to the board. */
  put(path: string, ...entries: Entry[]): void {
    this.save(path, ...entries)
    this.board.ingest(path, parsedOf(entries))
  }

  remove(path: string): void {
    this.unlink(path)
    this.board.ingest(path, null)
  }

  /** The program ends and begins again, with what it saved. */
  restart(): void {
    const saved = [...this.board.saved()]
    this.board = new Board(fakeStore, (path) => this.#look(path))
    for (const [path, file] of saved) this.board.restore(path, file)
  }

  /** These two do not tell the board. */
  save = (path: string, ...entries: Entry[]): void => void this.files.set(path, entries)
  unlink = (path: string): void => void this.files.delete(path)

  #look(path: string): FileState {
    this.reads++
    const entries = this.files.get(path)
    const look = entries && ({ state: 'parsed', file: parsedOf(entries), unsure: false } as const)
    return this.looks.get(path) ?? look ?? { state: 'gone' }
  }
}

/** A board with a configuration and these files. */
export function started(...files: [string, ...Entry[]][]): FakeBoard {
  const fake = new FakeBoard()
  fake.put('/s/config', config(['done']))
  for (const [path, ...entries] of files) fake.put(path, ...entries)
  fake.board.takeChanged(0)
  return fake
}

export async function taskOf(fake: FakeBoard, key: Key) {
  const record = await fake.board.read(key)
  if (record?.kind !== 'task') throw new Error(`${key} is no task`)
  return record.task
}

export const sorted = (keys: Key[]): Key[] => keys.toSorted((a, b) => (a < b ? -1 : 1))

/** A new board with the same files. */
export function fresh(fake: FakeBoard, now = 0) {
  const other = new FakeBoard()
  for (const [path, entries] of [...fake.files].toReversed()) other.put(path, ...entries)
  other.board.takeChanged(now)
  return other.board
}
