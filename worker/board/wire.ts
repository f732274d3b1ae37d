// The protocol between sidecar and edge, and the types that clients read. No I/O, no platform: only
// types and hash arithmetic. The sidecar imports no other file of the board. A change here changes
// the protocol: commit it as `wire:`.

import type * as z from 'zod'
import type * as publishing from './publishing.ts'
import type * as records from './records.ts'

/** A task as `GET /api/tasks/{id}` returns it. Times are RFC 3339, UTC. */
export type Task = z.infer<typeof records.taskSchema>
/** As lists have it. */
export type LightTask = Omit<Task, (typeof records.LEFT_OUT)[number]>
export type Session = z.infer<typeof records.sessionSchema>
/** The last report of an agent about its running session. */
export type Live = z.infer<typeof records.liveSchema>
/** One run of a task's checks, from its log file. */
export type Run = z.infer<typeof records.runSchema>
export type LayoutName = z.infer<typeof records.layoutSchema>
/** The board's configuration, as `GET /api/status` returns it. */
export type BoardConfig = z.infer<typeof records.boardSchema>

/**
 * One record of the read model. `hash` (32 hex digits) covers the bytes of its file, every derived
 * value and the key. Records with equal hashes are equal, and the hashes of buckets and of the root
 * are sums (XOR) of them. `file` (32 hex digits) covers only the task's own file. If it is
 * unchanged, another file caused the change, and clients get a message about that one.
 */
export type DataRecord = z.infer<typeof records.recordSchema>

export type Kind = DataRecord['kind']
/** `<kind>:<id>`; a run's id is its file name. */
export type Key = `${Kind}:${string}`

/** The change message, the only kind of message in a stream. */
export type Message = z.infer<typeof records.messageSchema>

/** What the sidecar reports about itself and its store with every sync. */
export type StoreState = z.infer<typeof publishing.storeSchema>

/**
 * The version of this protocol. Every message and every successful answer has it as `wire`; without
 * that field it is version 1. Raise it when either side would misread the other.
 */
export const WIRE = 3
/** A sidecar syncs at least this often, also without changes: silence means that it is gone. */
export const REPORT_MS = 30_000
/** Over a socket a sidecar pings so often, and reports nothing. */
export const SOCKET_PING_MS = 25_000
/** Over a socket it compares everything so often. */
export const COMPARE_MS = 3_600_000
/** Without changes, a sidecar reports to the directory of boards this often. */
export const HEARTBEAT_MS = 86_400_000
/** A directory that is full may have room then. */
export const ROOM_MS = 300_000

/** The error of both sides when their versions differ. */
export const wireProblem = (edge: number, sidecar: number): string =>
  `The edge speaks version ${edge} of the publishing protocol, the sidecar version ${sidecar}: ` +
  `upgrade the ${edge < sidecar ? 'edge' : 'sidecar'}.`

type Steps = typeof publishing.SYNC_STEPS
type Answers = typeof publishing.SYNC_ANSWERS

/**
 * Body of `POST /api/sync`. The steps narrow a difference down: one root hash, 256 bucket hashes,
 * then the hashes of the buckets that differ. `run: null` asks for a new run number, which is in
 * every later message. Of two sidecars with one repository, the one that started later publishes
 * until it ends or is silent for too long; the other one asks for that with its own, older run.
 */
export type SyncRequest = z.infer<Steps['root' | 'buckets' | 'entries' | 'end']>

/**
 * Also a body of `POST /api/sync`: asks whether the edge accepts messages. Changes nothing.
 * @forTests Asks as a sidecar does.
 */
export type Probe = z.infer<Steps['probe']>

export type SyncAnswer = z.infer<Answers[keyof Answers]>

/**
 * Body of `POST /api/changes`. `(run, batch)` rises with every message; the edge applies each pair
 * once, and refuses an older one. `epoch` comes from the edge's answer to the sync. If the edge has
 * another one now, it has lost its state and needs a sync first.
 */
export type ChangesRequest = z.infer<typeof publishing.changesSchema>

export type Reading = z.infer<typeof publishing.readingSchema>

export type MainTree = z.infer<typeof publishing.mainTreeSchema>
export type Place = z.infer<typeof publishing.placeSchema>

export type ChangesAnswer = z.infer<typeof publishing.changesAnswerSchema>

/** Answer of `GET /api/notices/due`, and body of `POST`. */
export type DueCommands = z.infer<typeof publishing.dueCommandsSchema>
export type CommandEnd = z.infer<typeof publishing.commandEndSchema>

/**
 * Body of `PUT /api/boards`: the row of a board in the edge's directory, whole. Of two sidecars the
 * row of the later run stands, until that one ends or is silent.
 */
export type BoardReport = z.infer<typeof publishing.boardReportSchema>

/** The largest message that the sidecar sends, in bytes of JSON. */
export const PART_BYTES = 1 << 20
/** Longer task bodies and outputs are cut to this many bytes of UTF-8. */
export const TEXT_BYTES = 512 << 10
/**
 * The largest record that the edge accepts, in bytes of JSON: a row in the database of a Durable
 * Object can have 2 MB. A failed insert would be an error of the edge, after which the
 * sidecar repeats the message for ever. A record refused as too large is sent without its text.
 */
export const RECORD_BYTES = 1_800_000
export const BUCKETS = 256
/** The sum of no hashes: the hash of an empty bucket or board. */
export const EMPTY_HASH = '0'.repeat(32)

export const keyOf = (record: { kind: Kind; id: string }): Key => `${record.kind}:${record.id}`

/** Splits a key at its first colon. An id may contain more of them (`task:tag:5`). */
export function parseKey(key: Key): { kind: Kind; id: string } {
  const colon = key.indexOf(':')
  return { kind: key.slice(0, colon) as Kind, id: key.slice(colon + 1) }
}

/** The bucket of a key, 0–255: FNV-1a over UTF-16 units, folded. Both sides must agree on it. */
export function bucketOf(key: Key): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff
}

/**
 * Adds a hash to a sum, or removes it again: XOR of 32 hex digits. The order does not matter, and
 * the sum can be updated for one record without reading the others.
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
