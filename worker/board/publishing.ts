// What a sidecar sends and gets: its schemas, from which the types of wire.ts are derived, and the
// check of what came.

import * as z from 'zod'
import { type Checked, checkFields, timeSchema } from '../shared/fields.ts'
import { publishedRulesSchema } from '../shared/notice-schemas.ts'
import {
  boardSchema,
  hashSchema,
  keySchema,
  layoutSchema,
  messageSchema,
  RECORDS,
  recordSchema,
  runSchema,
  sessionSchema,
  taskSchema,
  treeSchema,
} from './records.ts'

const counter = z.int().nonnegative()

export const storeSchema = z.object({
  state: z
    .enum(['present', 'missing', 'bare'])
    .describe('`bare`: without the file or folder of its tasks, as if it never had one.'),
  layout: layoutSchema.exactOptional(),
  version: z.string().max(64).describe('The version of the sidecar.'),
  unwatched: z
    .literal(true)
    .exactOptional()
    .describe('Its watcher has failed: changes are found by scans, each second or later.'),
})

const commitSchema = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)

/** Where git has the main tree. */
export const placeSchema = z.object({
  head: commitSchema,
  branch: z.string().max(1_024).exactOptional(),
})

export const mainTreeSchema = placeSchema
  .extend({
    switched: z
      .literal(true)
      .describe('Since it was last sent: another branch, no later commit, or away and back.')
      .exactOptional(),
    from: commitSchema
      .describe('Of a switch: where that branch is, if not as last sent, or where it was.')
      .exactOptional(),
  })
  .describe('Where git has the main tree. Absent: it is as it was, or nothing is known of it.')

export const SYNC_STEPS = {
  probe: z
    .object({ step: z.literal('probe') })
    .describe('Asks whether the edge would take messages, and changes nothing.'),
  root: z.object({
    step: z.literal('root'),
    run: counter.nullable().describe('Null asks for a new run, which every later message carries.'),
    root: hashSchema.describe('The XOR of all record hashes.'),
    store: storeSchema,
    notices: publishedRulesSchema
      .describe('Rules of notices; absent: as they were. A command has a name, and stays here.')
      .exactOptional(),
  }),
  buckets: z.object({
    step: z.literal('buckets'),
    run: counter,
    buckets: z.array(hashSchema).length(256).describe('The sums of the 256 buckets.'),
  }),
  entries: z.object({
    step: z.literal('entries'),
    run: counter,
    batch: counter,
    buckets: z
      .record(
        z.string().regex(/^(\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])$/),
        z.record(keySchema, hashSchema),
      )
      .describe('Bucket number → every key of that bucket with its hash.'),
    more: z.boolean().describe('Further `entries` messages of this sync follow.'),
    main: mainTreeSchema.exactOptional(),
  }),
  end: z
    .object({ step: z.literal('end'), run: counter })
    .describe('The sidecar ends in order: another one that waits publishes from now on.'),
}

export const readingSchema = z
  .object({ done: counter, total: counter })
  .describe('How many of its files the sidecar has read for the first publication.')

export const changesSchema = z.object({
  epoch: z.string().describe('The edge’s own, from the sync.'),
  run: counter,
  batch: counter.describe('Rises with every message; the edge applies each one once.'),
  upserts: z.array(recordSchema),
  deletes: z.array(keySchema),
  touched: z
    .array(keySchema)
    .describe('Keys that clients should refetch although no record of theirs is in this message.')
    .exactOptional(),
  more: z
    .boolean()
    .describe('More parts of this change follow. Clients get its message after the last one.')
    .exactOptional(),
  reading: readingSchema.exactOptional(),
  main: mainTreeSchema.exactOptional(),
})

export const SYNC_ANSWERS = {
  root: z.object({
    step: z.literal('root'),
    run: counter,
    epoch: z.string(),
    match: z.boolean(),
    store: z.enum(['present', 'missing']).describe('What clients see of the store.'),
    main: placeSchema.describe('What was last sent to the edge of it.').exactOptional(),
    socket: z
      .literal(true)
      .exactOptional()
      .describe('`GET /api/sidecar` takes a socket, which is held in place of reports.'),
    notices: z
      .literal(true)
      .exactOptional()
      .describe('`GET /api/notices/due` has commands for this sidecar.'),
  }),
  buckets: z.object({ step: z.literal('buckets'), differ: z.array(z.int()) }),
  entries: z.object({ step: z.literal('entries'), lack: z.array(keySchema), dropped: counter }),
  end: z.object({ step: z.literal('end') }),
}

export const changesAnswerSchema = z.object({
  seq: z.string().describe('`<epoch>-<seq>` of the newest change with a message to clients.'),
  message: messageSchema
    .nullable()
    .describe(
      'The message that clients got now. Null if they see no change, or before its last part.',
    ),
  duplicate: z
    .literal(true)
    .describe('This run and batch was applied before; nothing happened now.')
    .exactOptional(),
})

/** A board's row in the edge's directory of boards. */
export const boardReportSchema = z.object({
  run: counter.describe('The run of the sidecar, from its sync.'),
  sidecar: z.object({
    state: z.enum(['running', 'ended']).describe('`ended`: it ends in order.'),
    version: z.string().max(64),
  }),
  title: z.string().min(1).max(200),
  layout: layoutSchema,
  counts: z
    .object({ tasks: counter, closed: counter, ready: counter })
    .describe('What the tool lists: no drafts, and nothing of its archive.'),
  store: z.enum(['present', 'missing']).describe('Missing: the folder is gone, the data is kept.'),
  changedAt: z.iso
    .datetime()
    .describe('When a task last changed, by what the sidecar saw.')
    .exactOptional(),
})

/** What a sidecar runs for a notice, and how that ended. */
const dueCommandSchema = z.object({
  id: z.string(),
  command: z.string().describe('Its name, as the sidecar published it.'),
  at: timeSchema,
  text: z.string().describe('In words, for its last argument.'),
  body: z.string().describe('As a webhook gets it, for its standard input.'),
})
export const dueCommandsSchema = z.object({ commands: z.array(dueCommandSchema) })
export const commandEndSchema = z.object({
  id: z.string().max(64),
  error: z
    .string()
    .max(500)
    .describe('Why it failed. Absent: it ended with exit code 0.')
    .exactOptional(),
})

// Only the fields that the edge itself reads are checked one by one: the rest of a record goes
// from the publisher to clients as it came.
const task = taskSchema
  .pick({ id: true, title: true, status: true, ready: true, assignee: true, assignees: true })
  .extend(taskSchema.pick({ labels: true, executionState: true, folder: true }).shape)
  .extend(taskSchema.pick({ held: true, optional: true, partOf: true, unnumbered: true }).shape)
  .extend(taskSchema.pick({ file: true, tag: true, invalid: true, inMain: true }).shape)
  .extend(taskSchema.pick({ deps: true, parent: true, priority: true, rank: true }).shape)
  .extend({ trees: z.array(treeSchema.loose()).exactOptional() })
  .loose()
const session = sessionSchema
  .pick({ id: true, task: true, actor: true, status: true, startedAt: true, health: true })
  .loose()
const run = runSchema.pick({ file: true, at: true, exit: true, timedout: true }).loose()
// A later sidecar may have a layout that this edge does not know.
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
  buckets,
  entries,
  end,
])

const report = boardReportSchema.extend({ layout: z.string().max(64) })

// The schemas are looser than the types in what clients merely pass on, so the casts are the claim
// that a publisher with the write scope sends records of wire.ts.
type Steps = typeof SYNC_STEPS
export const checkSync = (body: unknown) =>
  checkFields(sync, body) as Checked<z.infer<Steps[keyof Steps]>>
export const checkChanges = (body: unknown) =>
  checkFields(changes, body) as Checked<z.infer<typeof changesSchema>>
export const checkReport = (body: unknown) =>
  checkFields(report, body) as Checked<z.infer<typeof boardReportSchema>>
export const checkCommandEnd = (body: unknown) => checkFields(commandEndSchema, body)
