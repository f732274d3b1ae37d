// Validates what a publisher sent. The types are those of wire.ts.

import * as z from 'zod'
import { changesSchema, SYNC_STEPS, storeSchema } from './publishing.ts'
import { boardSchema, RECORDS, runSchema, sessionSchema, taskSchema } from './records.ts'
import { BUCKETS, type ChangesRequest, type Probe, type SyncRequest, WIRE } from './wire.ts'

// Only the fields that the edge itself reads are checked one by one: the rest of a record is the
// publisher's to say, and goes to clients as it came.
const task = taskSchema
  .pick({ id: true, title: true, status: true, ready: true, assignee: true, assignees: true })
  .extend(taskSchema.pick({ labels: true, executionState: true, folder: true }).shape)
  .loose()
const session = sessionSchema
  .pick({ id: true, task: true, actor: true, status: true, startedAt: true, health: true })
  .loose()
const run = runSchema.pick({ file: true, at: true, exit: true, timedout: true }).loose()
// Of a later version, the layout may be one that this edge does not know.
const board = boardSchema
  .pick({ states: true, closed: true })
  .extend({ layout: z.string() })
  .loose()

const { taskRecord, sessionRecord, runRecord, boardRecord } = RECORDS
const changes = changesSchema.extend({
  upserts: z.array(
    z.discriminatedUnion('kind', [
      taskRecord.extend({ task }),
      sessionRecord.extend({ session }),
      runRecord.extend({ run }),
      boardRecord.extend({ board }),
    ]),
  ),
})

const { probe, root, buckets, entries, end } = SYNC_STEPS
const sync = z.discriminatedUnion('step', [
  probe,
  root.extend({ store: storeSchema.extend({ layout: z.string().exactOptional() }) }),
  buckets.extend({ buckets: buckets.shape.buckets.length(BUCKETS) }),
  entries,
  end,
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
