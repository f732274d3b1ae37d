// What reads of a board answer, for the OpenAPI document and for the tools of MCP.

import * as z from 'zod'
import { boardReportSchema } from '../../worker/board/publishing.ts'
import * as records from '../../worker/board/records.ts'

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
export const tasksSchema = z.object({
  tasks: z.array(records.taskSchema).describe('In the order of their ids.'),
  next: z.string().describe('With `limit`: there are more, `after=` it.').exactOptional(),
  ...SINCE,
})
export const sessionsSchema = z.object({
  sessions: z.array(records.sessionSchema).describe('Newest first; in any order with `since`.'),
  ...SINCE,
})
export const runsSchema = z.object({ runs: z.array(records.runSchema).describe('Newest first.') })
export const taskDetailSchema = records.taskSchema
  .extend({ ...runsSchema.shape, ...sessionsSchema.pick({ sessions: true }).shape })
  .describe('A task with its runs and sessions.')

const time = z.string().meta({ format: 'date-time' })
const { run: _, sidecar, changedAt, ...listed } = boardReportSchema.shape
export const listedBoardSchema = z
  .object({
    path: z.string(),
    ...listed,
    sidecar: z.object({
      state: z
        .enum([...sidecar.shape.state.options, 'offline'])
        .describe(
          'As of `lastSeenAt`. A sidecar writes it when it begins and ends, and once a day; who ' +
            'reads the status of a board whose sidecar is offline has that written.',
        ),
      lastSeenAt: time.describe('When this was written, or since when it is offline.'),
      version: z.string(),
    }),
    lastChangeAt: changedAt,
  })
  .describe('A board as its sidecar reported it last, at most 30 s after a change.')
export const boardsSchema = z.object({
  boards: z
    .array(listedBoardSchema)
    .describe(
      'Those that the token covers: those that run first, those whose files are gone last.',
    ),
})
