// Describes the routes of boards for the OpenAPI document.

import * as z from 'zod'
import {
  activityQuery,
  activityRowSchema,
  activitySchema,
} from '../../worker/board/activity/activity-rows.ts'
import { placeSchema, readingSchema } from '../../worker/board/publishing.ts'
import * as queries from '../../worker/board/queries.ts'
import * as records from '../../worker/board/records.ts'
import type { Reason } from '../../worker/shared/problem.ts'
import {
  boardsSchema,
  listedBoardSchema,
  runsSchema,
  sessionsSchema,
  taskDetailSchema,
  tasksSchema,
} from './board-answers.ts'
import { CLAIM_SCHEMAS, CLAIMING } from './claims.ts'
import { NOTICES } from './notices.ts'
import { type Description, type Operation, revalidated } from './operation.ts'
import { PUBLISHING } from './publishing.ts'

const time = z.string().meta({ format: 'date-time' })
const count = z.int().nonnegative()
const { layout, ...config } = records.boardSchema.shape

const statusSchema = z.object({
  layout: layout.exactOptional(),
  config: z.object(config).describe('As the board itself has it.').exactOptional(),
  store: z.enum(['present', 'missing']).describe('Missing: the folder is gone, the data is kept.'),
  counts: z.object({ tasks: count, sessions: count, runs: count, invalid: count }),
  sidecar: z.object({
    state: z
      .enum(['running', 'offline', 'ended'])
      .describe('`ended`: in order. `offline`: it was killed, or cannot reach the edge.'),
    since: time.describe('Of `offline` and `ended`.').exactOptional(),
    lastSeenAt: time.exactOptional(),
    version: z.string().exactOptional(),
    unwatched: z
      .literal(true)
      .exactOptional()
      .describe('Its watcher has failed: changes are found by scans, each second or later.'),
  }),
  currentAt: time
    .describe('Until then, the edge had all that the sidecar saw in the folder.')
    .exactOptional(),
  reading: readingSchema.exactOptional(),
  main: placeSchema
    .describe('Where git has the main tree of the board, where it is in one.')
    .exactOptional(),
  now: time.describe('The clock of the edge. It is not compared by `If-None-Match`.'),
  streams: count.describe('Connected streams, in round numbers.'),
  awakeSince: time.describe('Since when the repository is in memory.'),
  silentAfterMs: count.describe(
    'Who works and shows no sign of it for so long is silent: the variable `SILENT_AFTER`.',
  ),
})

const ticketSchema = z.object({
  ticket: z.string().describe('For `?ticket=` of `GET /api/events`.'),
  path: z.string(),
  expiresAt: time,
})

const read = (
  of: Pick<Operation, 'id' | 'summary' | 'path' | 'description'>,
  schema: z.ZodType,
  more: { query?: z.ZodObject; failures?: readonly Reason[] } = {},
): Operation => ({
  ...of,
  needs: 'board:read',
  query: more.query ?? queries.repositoryQuery,
  headers: ['If-None-Match'],
  answers: revalidated(schema, ['ETag', 'X-Signalbox-Seq', 'Cache-Control']),
  failures: ['invalid_path', 'unknown_filter', 'unknown_repository', ...(more.failures ?? [])],
})

const TASK = { path: { id: 'The id of the task.' } }
const UNKNOWN_TASK = { failures: ['unknown_task'] } as const

const OPERATIONS: Record<string, Operation> = {
  'GET /api/events': {
    id: 'streamEvents',
    summary: 'The changes of a board, as they happen',
    description:
      'A stream of server-sent events that never ends. Each event is one line of `data` with a ' +
      '`Message`, and says what to fetch again.',
    needs: 'board:read',
    takesTicket: true,
    query: queries.repositoryQuery.extend({
      last_event_id: z
        .string()
        .describe('For clients that send no headers: `Last-Event-ID`, which comes before it.')
        .exactOptional(),
    }),
    headers: ['Last-Event-ID'],
    answers: {
      200: {
        description: 'The stream, with a comment every 15 s.',
        schema: z.string(),
        type: 'text/event-stream',
        headers: ['Cache-Control'],
      },
    },
    failures: ['invalid_path', 'unknown_filter'],
  },
  'POST /api/tickets': {
    id: 'createTicket',
    summary: 'A ticket for EventSource, which sends no headers',
    needs: 'board:read',
    query: queries.repositoryQuery,
    answers: { 201: { description: 'For the stream of one repository.', schema: ticketSchema } },
    failures: ['invalid_path', 'unknown_filter'],
  },
  'GET /api/tasks': read({ id: 'listTasks', summary: 'Tasks' }, tasksSchema, {
    query: queries.tasksQuery,
    failures: ['invalid_request', 'bad_limit'],
  }),
  'GET /api/tasks/:id': read(
    { id: 'getTask', summary: 'One task with its body, runs and sessions', ...TASK },
    taskDetailSchema,
    UNKNOWN_TASK,
  ),
  'GET /api/tasks/:id/runs': read(
    { id: 'listRunsOfTask', summary: 'The runs of a task, newest first', ...TASK },
    runsSchema,
    UNKNOWN_TASK,
  ),
  'GET /api/tasks/:id/sessions': read(
    { id: 'listSessionsOfTask', summary: 'The sessions of a task, newest first', ...TASK },
    sessionsSchema,
    UNKNOWN_TASK,
  ),
  'GET /api/sessions': read(
    { id: 'listSessions', summary: 'Work sessions, newest first' },
    sessionsSchema,
    { query: queries.sessionsQuery, failures: ['invalid_request'] },
  ),
  'GET /api/sessions/:id': read(
    {
      id: 'getWorkSession',
      summary: 'One work session',
      path: { id: 'The id of the session.' },
    },
    records.sessionSchema,
    { failures: ['unknown_session'] },
  ),
  'GET /api/activity': read(
    {
      id: 'listActivity',
      summary: 'The history of a board, newest first',
      description:
        'A row for each change of a task and of a claim, of 90 days and 100,000 rows at most. No ' +
        'publication changes a row. What nobody ever did is an empty list.',
    },
    activitySchema,
    { query: activityQuery, failures: ['invalid_request', 'bad_since', 'bad_limit'] },
  ),
  'GET /api/status': read(
    { id: 'getStatus', summary: 'The board’s configuration, counts, sidecar and streams' },
    statusSchema,
  ),
  'GET /api/boards': {
    id: 'listBoards',
    summary: 'The boards that the token covers',
    description: 'From the directory that sidecars write; no repository is woken.',
    needs: 'board:read',
    headers: ['If-None-Match'],
    answers: revalidated(boardsSchema, ['ETag', 'Cache-Control']),
    failures: ['unknown_filter'],
  },
  'DELETE /api/boards': {
    id: 'forgetBoard',
    summary: 'Takes a board that no sidecar publishes off the list',
    description:
      'It is listed again when a sidecar publishes it again. What was published of it can be ' +
      'read as before.',
    needs: 'board:write',
    query: queries.repositoryQuery,
    answers: { 204: { description: 'It is not listed any more.' } },
    failures: [...(['invalid_path', 'unknown_filter', 'unknown_repository', 'published'] as const)],
  },
}

export const BOARD: Description = {
  tag: { name: 'Board', description: 'Tasks, work sessions, their changes, and publishing them.' },
  operations: { ...OPERATIONS, ...PUBLISHING.operations, ...CLAIMING, ...NOTICES.operations },
  schemas: {
    Task: records.taskSchema,
    Check: records.checkSchema,
    Provenance: records.provenanceSchema,
    Session: records.sessionSchema,
    Live: records.liveSchema,
    Run: records.runSchema,
    BoardConfig: records.boardSchema,
    BoardRecord: records.recordSchema,
    Message: records.messageSchema,
    Tasks: tasksSchema,
    Activity: activitySchema,
    ActivityRow: activityRowSchema,
    TaskDetail: taskDetailSchema,
    Runs: runsSchema,
    Sessions: sessionsSchema,
    BoardStatus: statusSchema,
    ListedBoard: listedBoardSchema,
    Boards: boardsSchema,
    ...CLAIM_SCHEMAS,
    ...NOTICES.schemas,
    Ticket: ticketSchema,
    ...PUBLISHING.schemas,
  },
}
