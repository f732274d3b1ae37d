// Checks what a publisher sent, before anything of it is believed. Shapes are wire.ts's.

import * as z from 'zod'
import {
  BUCKETS,
  type ChangesRequest,
  EXECUTIONS,
  HEALTHS,
  type Probe,
  type SyncRequest,
  WIRE,
} from './wire.ts'

const hash = z.string().regex(/^[0-9a-f]{32}$/)
const idText = z.string().min(1).max(1_024)
// Half of a surrogate pair is stored as another character: two ids would share one row, and the
// sums would never again be those of the publisher.
const isWhole = (text: string): boolean => text.isWellFormed()
const id = idText.refine(isWhole)
const key = z
  .templateLiteral([z.enum(['task', 'session', 'run', 'board']), ':', idText])
  .refine(isWhole)
const counter = z.int().nonnegative()
const text = z.string()

// Only the fields that the edge itself reads are checked one by one: the rest of a record is the
// publisher's to say, and goes to clients as it came.
const task = z.looseObject({
  id,
  title: text,
  status: text,
  ready: z.boolean(),
  assignee: text.optional(),
  assignees: z.array(text).optional(),
  labels: z.array(text).optional(),
  executionState: z.enum(EXECUTIONS).optional(),
})
const session = z.looseObject({
  id,
  task: text,
  actor: text,
  status: text,
  startedAt: text,
  health: z.enum(HEALTHS),
})
const run = z.looseObject({
  file: id,
  at: text.optional(),
  exit: z.number(),
  timedout: z.boolean(),
})
const board = z.looseObject({ layout: text, states: z.array(text), closed: z.array(text) })

const record = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('task'), id, hash, file: hash, task }),
  z.object({ kind: z.literal('session'), id, hash, session }),
  z.object({ kind: z.literal('run'), id, hash, task: text, run }),
  z.object({ kind: z.literal('board'), id: z.literal('board'), hash, board }),
])

const changes = z.object({
  epoch: text,
  run: counter,
  batch: counter,
  upserts: z.array(record),
  deletes: z.array(key),
  touched: z.array(key).optional(),
  more: z.boolean().optional(),
})

const bucketNumber = z.string().regex(/^(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/)
const sync = z.discriminatedUnion('step', [
  z.object({ step: z.literal('probe') }),
  z.object({
    step: z.literal('root'),
    run: counter.nullable(),
    root: hash,
    store: z.object({
      state: z.enum(['present', 'missing']),
      layout: text.optional(),
      version: text.max(64),
    }),
  }),
  z.object({ step: z.literal('buckets'), run: counter, buckets: z.array(hash).length(BUCKETS) }),
  z.object({
    step: z.literal('entries'),
    run: counter,
    batch: counter,
    buckets: z.record(bucketNumber, z.record(key, hash)),
    more: z.boolean(),
  }),
])

// The first version had none. What is no message at all, the other schemas refuse.
const versioned = z.object({ wire: z.int().catch(1) }).catch({ wire: WIRE })

/** `error` is one sentence that names the first place that is wrong. */
export type Checked<T> = { ok: true; value: T } | { ok: false; error: string }

/** The version of the protocol that a message is of. */
export const wireOf = (body: unknown): number => versioned.parse(body).wire

export const checkSync = (body: unknown) => check<SyncRequest | Probe>(sync, body)
export const checkChanges = (body: unknown) => check<ChangesRequest>(changes, body)

function check<T>(schema: z.ZodType, body: unknown): Checked<T> {
  const parsed = schema.safeParse(body)
  // The schema is looser than the type in what clients merely pass on, so the cast is the claim
  // that a publisher with the write scope sends records of wire.ts.
  if (parsed.success) return { ok: true, value: parsed.data as T }
  const [issue] = parsed.error.issues
  const place = issue?.path.join('.') || 'the body'
  return { ok: false, error: `${place}: ${issue?.message ?? 'is not what was expected'}` }
}
