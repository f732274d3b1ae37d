// The query parameters of the read routes of payments. The schemas validate, and describe the
// parameters in the OpenAPI document.

import * as z from 'zod'
import { choice, count } from '../../shared/query.ts'
import { OUTCOMES, PAYMENT_STATUSES } from '../domain/status.ts'

const MAX_SEARCH_CHARS = 255
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** One page of a list that is ordered from new to old. */
const page = {
  cursor: z.string().describe('Of the page before: begins after it.').exactOptional(),
  limit: count({ fallback: 50, max: 200 }).describe('The size of the page.'),
}
const gateway = z.string().describe('Key of the configuration.').exactOptional()

export const transactionsQuery = z.object({
  status: choice(PAYMENT_STATUSES).exactOptional(),
  gateway,
  reference: z.string().describe('The host application’s own name for it.').exactOptional(),
  q: z
    .string()
    .max(MAX_SEARCH_CHARS, `may have at most ${MAX_SEARCH_CHARS} characters`)
    .describe('The beginning of our id, of the gateway’s or of the reference; case-sensitive.')
    .exactOptional(),
  ...page,
})

export const eventsQuery = z.object({
  outcome: choice(OUTCOMES).exactOptional(),
  gateway,
  ...page,
})

export const alertsQuery = z.object({
  all: choice(['true', 'false'])
    .describe('`true`: those that are acknowledged too.')
    .exactOptional(),
  ...page,
})

export const ratesQuery = z.object({
  minutes: count({ fallback: HOUR_MINUTES, max: DAY_MINUTES }),
})

export const noQuery = z.object({})
