// What the routes of boards answer, as schemas of the OpenAPI document.

import * as z from 'zod'
import { changesAnswerSchema, changesSchema, SYNC_ANSWERS, SYNC_STEPS } from './publishing.ts'
import { boardSchema, runSchema, sessionSchema, taskSchema } from './records.ts'
import { WIRE } from './wire.ts'

const SINCE = {
  gone: z
    .array(z.string())
    .describe('With `since`: ids of what changed and is not in the list now, known before or not.')
    .exactOptional(),
  whole: z
    .literal(true)
    .describe(
      'With `since`: this is the whole list, since too much has changed, or the place is too old.',
    )
    .exactOptional(),
  seq: z.string().describe('With `since`: the place to go on from.').exactOptional(),
}
export const tasksSchema = z.object({ tasks: z.array(taskSchema), ...SINCE })
export const sessionsSchema = z.object({
  sessions: z.array(sessionSchema).describe('Newest first; in any order with `since`.'),
  ...SINCE,
})
export const runsSchema = z.object({ runs: z.array(runSchema).describe('Newest first.') })
export const taskDetailSchema = taskSchema
  .extend({ ...runsSchema.shape, ...sessionsSchema.pick({ sessions: true }).shape })
  .describe('A task with its runs and sessions.')

const time = z.string().meta({ format: 'date-time' })
const count = z.int().nonnegative()
const { layout, ...config } = boardSchema.shape

export const statusSchema = z.object({
  layout: layout.exactOptional(),
  config: z.object(config).describe('As the board itself has it.').exactOptional(),
  store: z.enum(['present', 'missing']).describe('Missing: the folder is gone, the data is kept.'),
  counts: z.object({ tasks: count, sessions: count, runs: count, invalid: count }),
  sidecar: z.object({ lastSeenAt: time.exactOptional(), version: z.string().exactOptional() }),
  currentAt: time
    .describe('Until then, the edge had all that the sidecar saw in the folder.')
    .exactOptional(),
  now: time.describe('The clock of the edge. It is not compared by `If-None-Match`.'),
  streams: count.describe('Connected streams, in round numbers.'),
  awakeSince: time.describe('Since when the repository is in memory.'),
})

export const ticketSchema = z.object({
  ticket: z.string().describe('For `?ticket=` of `GET /api/events`.'),
  path: z.string(),
  expiresAt: time,
})

const wire = { wire: z.literal(WIRE).describe('The version of the publishing protocol.') }

export const syncSchema = z.discriminatedUnion('step', [
  SYNC_STEPS.probe.extend(wire),
  SYNC_STEPS.root.extend(wire),
  SYNC_STEPS.buckets.extend(wire),
  SYNC_STEPS.entries.extend(wire),
  SYNC_STEPS.end.extend(wire),
])
export const syncAnswerSchema = z.discriminatedUnion('step', [
  SYNC_STEPS.probe.extend(wire),
  SYNC_ANSWERS.root.extend(wire),
  SYNC_ANSWERS.buckets.extend(wire),
  SYNC_ANSWERS.entries.extend(wire),
  SYNC_ANSWERS.end.extend(wire),
])
export const publishSchema = changesSchema.extend(wire)
export const publishedSchema = changesAnswerSchema.extend(wire)
