// Describes the routes of notices, for the OpenAPI document.

import * as z from 'zod'
import {
  deliverySchema,
  noticesSchema,
  testedSchema,
  testSchema,
} from '../../worker/board/notices/notice-calls.ts'
import { commandEndSchema, dueCommandsSchema } from '../../worker/board/publishing.ts'
import { repositoryQuery } from '../../worker/board/queries.ts'
import { WIRE } from '../../worker/board/wire.ts'
import type { Operation } from './operation.ts'

const wire = { wire: z.literal(WIRE).describe('The version of the publishing protocol.') }
const query = repositoryQuery

export const NOTICES = {
  operations: {
    'GET /api/notices': {
      id: 'listNotices',
      summary: 'What people are told of a board: the rules, and the last deliveries',
      needs: 'board:read',
      query,
      answers: { 200: { description: 'As it is now.', schema: noticesSchema } },
      failures: ['invalid_path', 'unknown_filter', 'unknown_repository'],
    },
    'POST /api/notices/test': {
      id: 'testNotice',
      summary: 'Sends a test to each target of a rule',
      description: 'Once, and waits for the answer; a command is run later, by the sidecar.',
      needs: 'board:lead',
      query,
      body: testSchema,
      answers: { 200: { description: 'What came of it.', schema: testedSchema } },
      failures: [
        ...(['invalid_path', 'unknown_filter', 'invalid_request', 'payload_too_large'] as const),
        'unknown_rule',
      ],
    },
    'GET /api/notices/due': {
      id: 'listDueCommands',
      summary: 'For sidecars: commands of notices that are to run now',
      description:
        'A text frame `notices` on the socket says that there are some, or `notices` in the ' +
        'answer to a root sync. Who gets one runs it and says so within a minute, or it is due ' +
        'again.',
      needs: 'board:write',
      query,
      answers: { 200: { description: 'May be none.', schema: dueCommandsSchema.extend(wire) } },
      failures: ['invalid_path', 'unknown_filter'],
    },
    'POST /api/notices/due': {
      id: 'endDueCommand',
      summary: 'For sidecars: a command of a notice has run',
      needs: 'board:write',
      query,
      body: commandEndSchema,
      answers: { 200: { description: 'It is stored.', schema: z.object(wire) } },
      failures: [
        ...(['invalid_path', 'unknown_filter', 'invalid_request', 'payload_too_large'] as const),
        'unknown_delivery',
      ],
    },
  } satisfies Record<string, Operation>,
  schemas: {
    Notices: noticesSchema,
    NoticeDelivery: deliverySchema,
  },
}
