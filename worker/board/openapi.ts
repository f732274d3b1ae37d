// What the OpenAPI document says of the routes of boards.

import * as z from 'zod'
import type { Answer, Description, Operation } from '../shared/openapi/operation.ts'
import type { Reason } from '../shared/problem.ts'
import {
  publishedSchema,
  publishSchema,
  runsSchema,
  sessionsSchema,
  statusSchema,
  syncAnswerSchema,
  syncSchema,
  taskDetailSchema,
  tasksSchema,
  ticketSchema,
} from './answers.ts'
import { repositoryQuery, sessionsQuery, tasksQuery } from './parameters.ts'
import * as records from './records.ts'

const PUBLISH_FAILURES = [
  ...(['invalid_path', 'invalid_request', 'payload_too_large'] as const),
  ...(['sync_required', 'superseded', 'stale_batch', 'wire_version'] as const),
] satisfies Reason[]

const read = (
  of: Pick<Operation, 'id' | 'summary' | 'path'>,
  schema: z.ZodType,
  more: { query?: z.ZodObject; failures?: readonly Reason[] } = {},
): Operation => ({
  ...of,
  needs: 'board:read',
  query: more.query ?? repositoryQuery,
  headers: ['If-None-Match'],
  answers: {
    200: {
      description: 'As it is now.',
      schema,
      headers: ['ETag', 'X-Signalbox-Seq', 'Cache-Control'],
    },
    304: {
      description: 'Nothing has changed since `If-None-Match`.',
      headers: ['ETag', 'X-Signalbox-Seq', 'Cache-Control'],
    },
  },
  failures: ['invalid_path', 'unknown_filter', 'unknown_repository', ...(more.failures ?? [])],
})

const publishing = (
  of: Pick<Operation, 'id' | 'summary' | 'description'>,
  body: z.ZodType,
  answer: Answer,
) => ({
  ...of,
  needs: 'board:write' as const,
  query: repositoryQuery,
  body,
  answers: { 200: answer },
  failures: PUBLISH_FAILURES,
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
    query: repositoryQuery.extend({
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
    failures: ['invalid_path'],
  },
  'POST /api/tickets': {
    id: 'createTicket',
    summary: 'A ticket for EventSource, which sends no headers',
    needs: 'board:read',
    query: repositoryQuery,
    answers: { 201: { description: 'For the stream of one repository.', schema: ticketSchema } },
    failures: ['invalid_path'],
  },
  'GET /api/tasks': read({ id: 'listTasks', summary: 'Tasks' }, tasksSchema, {
    query: tasksQuery,
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
    { query: sessionsQuery, failures: ['invalid_request'] },
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

export const describeBoard = (): Description => ({
  tag: { name: 'Board', description: 'Tasks, work sessions, their changes, and publishing them.' },
  operations: OPERATIONS,
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
    Ticket: ticketSchema,
    SyncRequest: syncSchema,
    SyncAnswer: syncAnswerSchema,
    ChangesRequest: publishSchema,
    ChangesAnswer: publishedSchema,
  },
})
