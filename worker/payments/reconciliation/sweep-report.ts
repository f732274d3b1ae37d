// The result of a sweep, as a schema. At run time only the OpenAPI document loads this file.

import * as z from 'zod'

export const sweepReportSchema = z.object({
  isIdle: z.boolean().describe('Nothing was due, and the ledger was not called.'),
  delivered: z.int().describe('Stored events that all subscribers accepted.'),
  undelivered: z.int().describe('Stored events that failed for at least one subscriber.'),
  checked: z.int().describe('Payments that their gateway was asked about.'),
  moved: z.int().describe('Of those: the status changed.'),
  chargedAgain: z.int().describe('Of those: the charge was sent again, and was answered.'),
  unreachable: z.int().describe('Of those: the gateway did not answer.'),
  alerts: z.int(),
  forgotten: z.int().describe('Old webhook events that were deleted.'),
  failed: z.int().describe('Parts that failed because of a bug or the database.'),
})
