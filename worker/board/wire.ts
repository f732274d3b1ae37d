// What the sidecar and the edge say to each other, and the shapes that clients read.
// Pure types and set arithmetic: no I/O, no platform. The sidecar imports this file and no other
// of the worker, so whatever stands here is a protocol: change it with a `wire:` commit.

import type * as z from 'zod'
import type * as publishing from './publishing.ts'
import type * as records from './records.ts'

/** A task as `GET /api/tasks/{id}` answers it. Times are RFC 3339, UTC. */
export type Task = z.infer<typeof records.taskSchema>
export type Execution = z.infer<typeof records.executionSchema>
export type Check = z.infer<typeof records.checkSchema>
export type Provenance = z.infer<typeof records.provenanceSchema>
export type Session = z.infer<typeof records.sessionSchema>
/** What an agent last said of a running session. */
export type Live = z.infer<typeof records.liveSchema>
/** One run of a task's checks, from its log file. */
export type Run = z.infer<typeof records.runSchema>
export type LayoutName = z.infer<typeof records.layoutSchema>
/** The board's own configuration, as `GET /api/status` shows it. */
export type BoardConfig = z.infer<typeof records.boardSchema>

/**
 * One record of the read model. `hash` (32 hex digits) covers the bytes of its file and every
 * derived value, so two equal hashes are the same record; it also covers the key, because root
 * and bucket hashes are sums (XOR) of them. `file` (32 hex digits) covers only what the task's own
 * file says: where it is as it was, the change follows from another file, which is the one that
 * clients are told of.
 */
export type DataRecord = z.infer<typeof records.recordSchema>

export type Kind = DataRecord['kind']
/** `<kind>:<id>`; a run's id is its file name. */
export type Key = `${Kind}:${string}`

/** The change message: the whole of what a stream tells a client. */
export type Message = z.infer<typeof records.messageSchema>

/** What the sidecar says of itself and of its store with every sync. */
export type StoreState = z.infer<typeof publishing.storeSchema>

/**
 * Version of this protocol. Every message and every answer that succeeds carries it as `wire`; what
 * has none is of version 1. Raise it when either side would misread the other.
 */
export const WIRE = 2

/** What both sides say when their versions differ: which of them is behind. */
export const wireProblem = (edge: number, sidecar: number): string =>
  `The edge speaks version ${edge} of the publishing protocol, the sidecar version ${sidecar}: ` +
  `upgrade the ${edge < sidecar ? 'edge' : 'sidecar'}.`

type Steps = typeof publishing.SYNC_STEPS
type Answers = typeof publishing.SYNC_ANSWERS

/**
 * Body of `POST /api/sync`. The steps narrow a difference down: one root hash, 256 bucket hashes,
 * then the hashes of the buckets that differ. `run: null` asks for a new run number, which every
 * later message carries: of two sidecars of one repository the later wins.
 */
export type SyncRequest = z.infer<Steps['root' | 'buckets' | 'entries']>

/** Body of `POST /api/sync` too: asks whether the edge would take messages, and changes nothing. */
export type Probe = z.infer<Steps['probe']>

export type SyncAnswer = z.infer<Answers[keyof Answers]>

/**
 * Body of `POST /api/changes`. `(run, batch)` rises with every message; the edge applies each pair
 * once, and refuses an older one. `epoch` is the edge's own, from the sync: another one means that
 * the edge lost its state and wants a sync first.
 */
export type ChangesRequest = z.infer<typeof publishing.changesSchema>

export type ChangesAnswer = z.infer<typeof publishing.changesAnswerSchema>

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
