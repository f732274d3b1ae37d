// What the sidecar and the edge say to each other, and the shapes that clients read.
// Pure types and set arithmetic: no I/O, no platform. The sidecar imports this file and no other
// of the worker, so whatever stands here is a protocol: change it with a `wire:` commit.

/** A task as `GET /api/tasks/{id}` answers it. Times are RFC 3339, UTC. */
export interface Task {
  id: string
  title: string
  status: string
  assignee?: string
  /** All of them, `assignee` first; only where a task has more than one. */
  assignees?: string[]
  /** Ids of the tasks that must be closed before this one is `ready`. */
  deps?: string[]
  /** Not closed, every dep is closed, and the file is not `invalid`. */
  ready: boolean
  updatedAt?: string
  rank?: number
  labels?: string[]
  priority?: string
  parent?: string
  activeAttempt?: string
  executionState?: Execution
  sessionId?: string
  checks?: Check[]
  provenance?: Provenance[]
  /** Fields of the file that Signalbox does not know, as they stand there. */
  extra?: Record<string, unknown>
  /** Markdown; cut at 512 KiB with a last line that says so. */
  body?: string
  /** Why the file could not be read whole, in one sentence. The task stays listed. */
  invalid?: string
}

export const EXECUTIONS = ['active', 'stalled', 'awaiting_review'] as const
export type Execution = (typeof EXECUTIONS)[number]

export const HEALTHS = ['active', 'stalled', 'finished', 'canceled'] as const
export type Health = (typeof HEALTHS)[number]

export interface Check {
  desc: string
  cmd?: string
  type?: string
  result?: string
  cwd?: string
  timeout?: number
}

export interface Provenance {
  who: string
  at: string
  did: string
  text?: string
}

export interface Session {
  id: string
  task: string
  attempt: string
  actor: string
  client?: string
  model?: string
  status: string
  startedAt: string
  endedAt?: string
  branch?: string
  headStarted?: string
  headFinished?: string
  summary?: string
  cancelReason?: string
  health: Health
  live?: Live
  invalid?: string
}

/** What an agent last said of a running session. */
export interface Live {
  heartbeatAt: string
  progress?: string
  worktree?: string
}

/** One run of a task's checks, from its log file. */
export interface Run {
  file: string
  at?: string
  cmd?: string
  cwd?: string
  head?: string
  exit: number
  timedout: boolean
  duration?: string
  /** Cut at 512 KiB with a last line that says so. */
  output?: string
  invalid?: string
}

export type LayoutName = 'cairn' | 'backlog-md' | 'task-master'

/** The board's own configuration, as `GET /api/status` shows it. */
export interface BoardConfig {
  layout: LayoutName
  prefix?: string
  states: string[]
  closed: string[]
  initial?: string
  extra?: Record<string, unknown>
  invalid?: string
}

/**
 * One record of the read model. `hash` (32 hex digits) covers the bytes of its file and every
 * derived value, so two equal hashes are the same record; it also covers the key, because root
 * and bucket hashes are sums (XOR) of them. `file` (32 hex digits) covers only what the task's own
 * file says: where it is as it was, the change follows from another file, which is the one that
 * clients are told of.
 */
export type DataRecord =
  | { kind: 'task'; id: string; hash: string; file: string; task: Task }
  | { kind: 'session'; id: string; hash: string; session: Session }
  | { kind: 'run'; id: string; hash: string; task: string; run: Run }
  | { kind: 'board'; id: 'board'; hash: string; board: BoardConfig }

export type Kind = DataRecord['kind']
/** `<kind>:<id>`; a run's id is its file name. */
export type Key = `${Kind}:${string}`

/** The change message: the whole of what a stream tells a client. */
export type Message =
  | { type: 'task-changed'; id: string }
  | { type: 'tasks-changed' }
  | { type: 'session-changed'; session: string }

/** What the sidecar says of itself and of its store with every sync. */
export interface StoreState {
  state: 'present' | 'missing'
  layout?: LayoutName
  /** Version of the sidecar. */
  version: string
}

/**
 * Version of this protocol. Every message and every answer that succeeds carries it as `wire`; what
 * has none is of version 1. Raise it when either side would misread the other.
 */
export const WIRE = 2

/** What both sides say when their versions differ: which of them is behind. */
export const wireProblem = (edge: number, sidecar: number): string =>
  `The edge speaks version ${edge} of the publishing protocol, the sidecar version ${sidecar}: ` +
  `upgrade the ${edge < sidecar ? 'edge' : 'sidecar'}.`

/**
 * Body of `POST /api/sync`. The steps narrow a difference down: one root hash, 256 bucket hashes,
 * then the hashes of the buckets that differ. `run: null` asks for a new run number, which every
 * later message carries: of two sidecars of one repository the later wins.
 */
export type SyncRequest =
  | { step: 'root'; run: number | null; store: StoreState; root: string }
  | { step: 'buckets'; run: number; buckets: string[] }
  | {
      step: 'entries'
      run: number
      batch: number
      /** Bucket number → every key of that bucket with its hash. */
      buckets: Record<string, Record<Key, string>>
      /** Further `entries` messages of this sync follow. */
      more: boolean
    }

/** Body of `POST /api/sync` too: asks whether the edge would take messages, and changes nothing. */
export interface Probe {
  step: 'probe'
}

export type SyncAnswer =
  | { step: 'root'; run: number; epoch: string; match: boolean }
  | { step: 'buckets'; differ: number[] }
  | { step: 'entries'; lack: Key[]; dropped: number }

/**
 * Body of `POST /api/changes`. `(run, batch)` rises with every message; the edge applies each pair
 * once, and refuses an older one. `epoch` is the edge's own, from the sync: another one means that
 * the edge lost its state and wants a sync first.
 */
export interface ChangesRequest {
  epoch: string
  run: number
  batch: number
  upserts: DataRecord[]
  deletes: Key[]
  /** Keys that clients should refetch although no record of theirs is in this message. */
  touched?: Key[]
  /** Further parts of this change follow; clients are told after the last. */
  more?: boolean
}

export interface ChangesAnswer {
  /** `<epoch>-<seq>` of the newest change that clients were told of. */
  seq: string
  /** What clients were told now; null when nothing they can see changed. */
  message: Message | null
  /** This `(run, batch)` was applied before; nothing happened now. */
  duplicate?: true
}

/** Largest body of one publishing message that the sidecar makes, in bytes of JSON. */
export const PART_BYTES = 1 << 20
/** Bodies and outputs are cut at this many bytes of UTF-8. */
export const TEXT_BYTES = 512 << 10
/**
 * Largest record that the edge takes, in bytes of JSON: rows of an object's database end at 2 MB.
 * Found out there it would be a failure on the edge's side, which publishers repeat for ever; told
 * as too large, they send the record without its text.
 */
export const RECORD_BYTES = 1_800_000
export const BUCKETS = 256
/** The hash of nothing: what an empty bucket or an empty board sums to. */
export const EMPTY_HASH = '0'.repeat(32)

export const keyOf = (record: { kind: Kind; id: string }): Key => `${record.kind}:${record.id}`

/** Splits a key at its first colon; an id may hold further ones (`task:tag:5`). */
export function parseKey(key: Key): { kind: Kind; id: string } {
  const colon = key.indexOf(':')
  return { kind: key.slice(0, colon) as Kind, id: key.slice(colon + 1) }
}

/** The bucket of a key, 0–255: FNV-1a over UTF-16 units, folded. The same on both sides always. */
export function bucketOf(key: Key): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff
}

/**
 * Adds a hash to a sum, or takes it out again: XOR of 32 hex digits. A sum over a set is the same
 * in any order, and one change of one record updates it without looking at the others.
 */
export function toggleHash(sum: string, hash: string): string {
  let out = ''
  for (let i = 0; i < 32; i += 8) {
    const word =
      Number.parseInt(sum.slice(i, i + 8), 16) ^ Number.parseInt(hash.slice(i, i + 8), 16)
    out += (word >>> 0).toString(16).padStart(8, '0')
  }
  return out
}
