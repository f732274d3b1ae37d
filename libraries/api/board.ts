// Describes the routes of boards for the OpenAPI document.

import * as z from 'zod'
import {
  boardReportSchema,
  changesAnswerSchema,
  changesSchema,
  readingSchema,
  SYNC_ANSWERS,
  SYNC_STEPS,
} from '../../worker/board/publishing.ts'
import * as records from '../../worker/board/records.ts'
import { WIRE } from '../../worker/board/wire.ts'
import type { Reason } from '../../worker/shared/problem.ts'
import { CLAIM_SCHEMAS, CLAIMS } from './claims.ts'
import { type Answer, type Description, type Operation, revalidated } from './operation.ts'

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
const tasksSchema = z.object({ tasks: z.array(records.taskSchema), ...SINCE })
const sessionsSchema = z.object({
  sessions: z.array(records.sessionSchema).describe('Newest first; in any order with `since`.'),
  ...SINCE,
})
const runsSchema = z.object({ runs: z.array(records.runSchema).describe('Newest first.') })
const taskDetailSchema = records.taskSchema
  .extend({ ...runsSchema.shape, ...sessionsSchema.pick({ sessions: true }).shape })
  .describe('A task with its runs and sessions.')

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
  now: time.describe('The clock of the edge. It is not compared by `If-None-Match`.'),
  streams: count.describe('Connected streams, in round numbers.'),
  awakeSince: time.describe('Since when the repository is in memory.'),
  silentAfterMs: count.describe(
    'Who works and shows no sign of it for so long is silent: the variable `SILENT_AFTER`.',
  ),
})

const { run: _, sidecar, changedAt, ...listed } = boardReportSchema.shape
const listedBoardSchema = z
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
const boardsSchema = z.object({
  boards: z
    .array(listedBoardSchema)
    .describe(
      'Those that the token covers: those that run first, those whose files are gone last.',
    ),
})

const ticketSchema = z.object({
  ticket: z.string().describe('For `?ticket=` of `GET /api/events`.'),
  path: z.string(),
  expiresAt: time,
})

const wire = { wire: z.literal(WIRE).describe('The version of the publishing protocol.') }

const syncSchema = z.discriminatedUnion('step', [
  SYNC_STEPS.probe.extend(wire),
  SYNC_STEPS.root.extend(wire),
  SYNC_STEPS.buckets.extend(wire),
  SYNC_STEPS.entries.extend(wire),
  SYNC_STEPS.end.extend(wire),
])
const syncAnswerSchema = z.discriminatedUnion('step', [
  SYNC_STEPS.probe.extend(wire),
  SYNC_ANSWERS.root.extend(wire),
  SYNC_ANSWERS.buckets.extend(wire),
  SYNC_ANSWERS.entries.extend(wire),
  SYNC_ANSWERS.end.extend(wire),
])
const publishSchema = changesSchema.extend(wire)
const publishedSchema = changesAnswerSchema.extend(wire)
const reportSchema = boardReportSchema.extend(wire)

const PUBLISH_FAILURES = [
  ...(['invalid_path', 'unknown_filter', 'invalid_request', 'payload_too_large'] as const),
  ...(['sync_required', 'superseded', 'stale_batch', 'wire_version'] as const),
] satisfies Reason[]

const read = (
  of: Pick<Operation, 'id' | 'summary' | 'path'>,
  schema: z.ZodType,
  more: { query?: z.ZodObject; failures?: readonly Reason[] } = {},
): Operation => ({
  ...of,
  needs: 'board:read',
  query: more.query ?? records.repositoryQuery,
  headers: ['If-None-Match'],
  answers: revalidated(schema, ['ETag', 'X-Signalbox-Seq', 'Cache-Control']),
  failures: ['invalid_path', 'unknown_filter', 'unknown_repository', ...(more.failures ?? [])],
})

const publishing = (
  of: Pick<Operation, 'id' | 'summary' | 'description'>,
  body: z.ZodType,
  answer: Answer,
) => ({
  ...of,
  needs: 'board:write' as const,
  query: records.repositoryQuery,
  body,
  answers: { 200: answer },
  failures: PUBLISH_FAILURES,
})

const TASK = { path: { id: 'The id of the task.' } }
const UNKNOWN_TASK = { failures: ['unknown_task'] } as const

const SOCKET = ['unknown_filter', 'upgrade_required', 'too_many_sidecars'] as const

const OPERATIONS: Record<string, Operation> = {
  'GET /api/events': {
    id: 'streamEvents',
    summary: 'The changes of a board, as they happen',
    description:
      'A stream of server-sent events that never ends. Each event is one line of `data` with a ' +
      '`Message`, and says what to fetch again.',
    needs: 'board:read',
    takesTicket: true,
    query: records.repositoryQuery.extend({
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
    query: records.repositoryQuery,
    answers: { 201: { description: 'For the stream of one repository.', schema: ticketSchema } },
    failures: ['invalid_path', 'unknown_filter'],
  },
  'GET /api/tasks': read({ id: 'listTasks', summary: 'Tasks' }, tasksSchema, {
    query: records.tasksQuery,
    failures: ['invalid_request'],
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
    { query: records.sessionsQuery, failures: ['invalid_request'] },
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
  'PUT /api/boards': {
    id: 'reportBoard',
    summary: 'For sidecars: what the list of boards says of one',
    description:
      'After the first sync, at most every 30 s where something changed, every 5 minutes where ' +
      'nothing did, and at the end. The edge keeps 10,000 boards, each for 30 days after its ' +
      'last report. One more takes the place of one whose sidecar ended or is offline; one ' +
      'subject has a quarter of them at most.',
    needs: 'board:write',
    query: records.repositoryQuery,
    body: reportSchema,
    answers: { 200: { description: 'It is stored.', schema: z.object(wire) } },
    failures: [
      ...(['invalid_path', 'unknown_filter', 'invalid_request', 'payload_too_large'] as const),
      ...(['superseded', 'wire_version', 'directory_full'] as const),
    ],
  },
  'DELETE /api/boards': {
    id: 'forgetBoard',
    summary: 'Takes a board that no sidecar publishes off the list',
    description:
      'It is listed again when a sidecar publishes it again. What was published of it can be ' +
      'read as before.',
    needs: 'board:write',
    query: records.repositoryQuery,
    answers: { 204: { description: 'It is not listed any more.' } },
    failures: [...(['invalid_path', 'unknown_filter', 'unknown_repository', 'published'] as const)],
  },
  'GET /api/sidecar': {
    id: 'attachSidecar',
    summary: 'For sidecars: a WebSocket that shows that one is there',
    description:
      'Where the answer to a root sync has `socket`. `ping` at once and every 25 s, in place of ' +
      'reports; `free` tells one that waits to publish.',
    needs: 'board:write',
    query: records.sidecarQuery,
    answers: { 101: { description: 'The socket is open.' } },
    failures: ['invalid_path', 'invalid_request', 'not_found', 'sync_required', ...SOCKET],
  },
  'POST /api/sync': publishing(
    {
      id: 'sync',
      summary: 'For sidecars: find out what the edge lacks',
      description:
        'The steps narrow a difference down: one root hash, 256 bucket hashes, then the hashes ' +
        'of the buckets that differ.',
    },
    syncSchema,
    { description: 'The answer to this step.', schema: syncAnswerSchema },
  ),
  'POST /api/changes': publishing(
    {
      id: 'publishChanges',
      summary: 'For sidecars: publish what changed',
      description:
        'At most 8 MiB. A larger change is split; clients get its message after the last part.',
    },
    publishSchema,
    {
      description: 'It is applied. Clients get a message after the last part.',
      schema: publishedSchema,
    },
  ),
}

export const BOARD: Description = {
  tag: { name: 'Board', description: 'Tasks, work sessions, their changes, and publishing them.' },
  operations: { ...OPERATIONS, ...CLAIMS },
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
    TaskDetail: taskDetailSchema,
    Runs: runsSchema,
    Sessions: sessionsSchema,
    BoardStatus: statusSchema,
    ListedBoard: listedBoardSchema,
    Boards: boardsSchema,
    BoardReport: reportSchema,
    ...CLAIM_SCHEMAS,
    Ticket: ticketSchema,
    SyncRequest: syncSchema,
    SyncAnswer: syncAnswerSchema,
    ChangesRequest: publishSchema,
    ChangesAnswer: publishedSchema,
  },
}
