// Describes what sidecars send, for the OpenAPI document.

import * as z from 'zod'
import {
  boardReportSchema,
  changesAnswerSchema,
  changesSchema,
  SYNC_ANSWERS,
  SYNC_STEPS,
} from '../../worker/board/publishing.ts'
import * as queries from '../../worker/board/queries.ts'
import { WIRE } from '../../worker/board/wire.ts'
import type { Reason } from '../../worker/shared/problem.ts'
import type { Answer, Operation } from './operation.ts'

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

const publishing = (
  of: Pick<Operation, 'id' | 'summary' | 'description'>,
  body: z.ZodType,
  answer: Answer,
) => ({
  ...of,
  needs: 'board:write' as const,
  query: queries.repositoryQuery,
  body,
  answers: { 200: answer },
  failures: PUBLISH_FAILURES,
})

const SOCKET = ['unknown_filter', 'upgrade_required', 'too_many_sidecars'] as const

const OPERATIONS: Record<string, Operation> = {
  'PUT /api/boards': {
    id: 'reportBoard',
    summary: 'For sidecars: what the list of boards says of one',
    description:
      'After the first sync, at most every 30 s where something changed, every 5 minutes where ' +
      'nothing did, and at the end. The edge keeps 10,000 boards, each for 30 days after its ' +
      'last report. One more takes the place of one whose sidecar ended or is offline; one ' +
      'subject has a quarter of them at most.',
    needs: 'board:write',
    query: queries.repositoryQuery,
    body: reportSchema,
    answers: { 200: { description: 'It is stored.', schema: z.object(wire) } },
    failures: [
      ...(['invalid_path', 'unknown_filter', 'invalid_request', 'payload_too_large'] as const),
      ...(['superseded', 'wire_version', 'directory_full'] as const),
    ],
  },
  'GET /api/sidecar': {
    id: 'attachSidecar',
    summary: 'For sidecars: a WebSocket that shows that one is there',
    description:
      'Where the answer to a root sync has `socket`. `ping` at once and every 25 s, in place of ' +
      'reports; `free` tells one that waits to publish, `notices` that commands are due.',
    needs: 'board:write',
    query: queries.sidecarQuery,
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

export const PUBLISHING = {
  operations: OPERATIONS,
  schemas: {
    BoardReport: reportSchema,
    SyncRequest: syncSchema,
    SyncAnswer: syncAnswerSchema,
    ChangesRequest: publishSchema,
    ChangesAnswer: publishedSchema,
  },
}
