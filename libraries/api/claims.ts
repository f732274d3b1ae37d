// Describes the routes of claims, and of what a lead sets about them, for the OpenAPI document.

import type * as z from 'zod'
import {
  claimedSchema,
  claimSchema,
  heldSchema,
  releaseSchema,
  renewSchema,
} from '../../worker/board/api/claim-requests.ts'
import { settingsChangeSchema, settingsSchema } from '../../worker/board/claims/settings-schema.ts'
import { repositoryQuery } from '../../worker/board/queries.ts'
import { LIMITED } from '../../worker/shared/board-settings.ts'
import type { Reason } from '../../worker/shared/problem.ts'
import type { Operation } from './operation.ts'

const CLAIM_FAILURES = [
  ...(['invalid_path', 'unknown_filter', 'invalid_request', 'payload_too_large'] as const),
  'unknown_repository',
] satisfies Reason[]

const claiming = (
  of: Pick<Operation, 'id' | 'summary' | 'description'>,
  body: z.ZodType,
  answers: Operation['answers'],
  failures: readonly Reason[],
): Operation => ({
  ...of,
  needs: 'board:work',
  query: repositoryQuery,
  body,
  answers,
  failures: [...CLAIM_FAILURES, ...failures],
})

const CLAIMS: Record<string, Operation> = {
  'POST /api/claims': claiming(
    {
      id: 'claimTask',
      summary: 'One agent, one task: claim one, or the next that is free',
      description:
        'At no time are two claims of one task valid. Nothing is written into the files of the ' +
        'board. The token needs `board:read`, too.',
    },
    claimSchema,
    {
      200: { description: 'This claim was made before, and is valid.', schema: claimedSchema },
      201: { description: 'The task is yours until `expiresAt`.', schema: claimedSchema },
    },
    [
      ...(['nothing_ready', 'not_found', 'claimed', 'closed', 'not_ready'] as const),
      ...(['already_holding', 'claim_lost', 'too_many_claims'] as const),
      ...LIMITED,
    ],
  ),
  'POST /api/claims/renew': claiming(
    { id: 'renewClaim', summary: 'Goes on holding a task, and says what is done' },
    renewSchema,
    { 200: { description: 'It holds, or `end` says how it ended.', schema: heldSchema } },
    ['unknown_claim', 'claim_lost'],
  ),
  'POST /api/claims/release': claiming(
    {
      id: 'releaseClaim',
      summary: 'Gives a task back, done or not',
      description: 'It may be sent again. By `session`, a person ends the claim of another.',
    },
    releaseSchema,
    { 200: { description: 'It has ended.', schema: heldSchema } },
    ['unknown_claim', 'claim_lost'],
  ),
}

const SETTINGS: Record<string, Operation> = {
  'GET /api/board-settings': {
    id: 'getBoardSettings',
    summary: 'What a lead has set for a board',
    needs: 'board:read',
    query: repositoryQuery,
    answers: { 200: { description: 'As it is now.', schema: settingsSchema } },
    failures: ['invalid_path', 'unknown_filter', 'unknown_repository'],
  },
  'PUT /api/board-settings': {
    id: 'setBoardSettings',
    summary: 'Sets whether tasks are handed out, and to how many at once',
    description:
      'Fields that are not named stay. A change is `tasks-changed`. No token of an agent has ' +
      'this scope.',
    needs: 'board:lead',
    query: repositoryQuery,
    body: settingsChangeSchema,
    answers: { 200: { description: 'As it is now.', schema: settingsSchema } },
    failures: CLAIM_FAILURES,
  },
}

export const CLAIMING = { ...CLAIMS, ...SETTINGS }

export const CLAIM_SCHEMAS = {
  BoardSettings: settingsSchema,
  BoardSettingsChange: settingsChangeSchema,
  ClaimRequest: claimSchema,
  Claimed: claimedSchema,
  ClaimRenewal: renewSchema,
  ClaimRelease: releaseSchema,
  HeldClaim: heldSchema,
}
