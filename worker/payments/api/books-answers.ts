// What the routes of the books answer: movements, their sums, and rows of a settlement beside them.
// Only the OpenAPI document loads this file.

import * as z from 'zod'
import { timeSchema } from '../../shared/fields.ts'
import { SETTLED_AS } from '../domain/settlement.ts'
import { MOVEMENT_KINDS } from '../domain/status.ts'
import { listedSchema } from './answers.ts'
import { statusSchema } from './payment-schemas.ts'

const majorSchema = z.string().describe('In major units, such as `-12.50`.')

export const movementSchema = z
  .object({
    id: z.string(),
    kind: z
      .enum(MOVEMENT_KINDS)
      .describe(
        '`late_paid`: after the payment had ended. `refund_failed`: what was refunded came back. ' +
          '`refused_paid`: of another amount, and refused by the configuration. `disputed`: the ' +
          'payer’s bank has taken it back. `dispute_returned`: the bank has given that back, ' +
          'below 0: both add up to what is still out. The last three are in no sum.',
      ),
    transactionId: z.string().describe('Ours.'),
    reference: z.string(),
    gateway: z.string(),
    gatewayTransactionId: z.string().exactOptional(),
    refundId: z.string().describe('The gateway’s, or ours if it gives none.').exactOptional(),
    amount: majorSchema,
    amountMinor: z.int().describe('Signed: what is given back is below 0.'),
    currency: z.string(),
    bookedAt: timeSchema.describe('By our clock: it decides the day.'),
    occurredAt: timeSchema.describe('By the gateway’s clock, where it told a time.'),
    estimated: z
      .literal(true)
      .describe('Made by an upgrade out of what was known: the time may be another one.')
      .exactOptional(),
  })
  .describe('An amount that was paid or given back. It never changes.')

export const movementSumSchema = z
  .object({
    gateway: z.string(),
    currency: z.string(),
    amount: majorSchema,
    amountMinor: z.int().describe('What was paid less what was given back.'),
    kinds: z
      .partialRecord(
        z.enum(MOVEMENT_KINDS),
        z.object({ count: z.int(), amount: majorSchema, amountMinor: z.int() }),
      )
      .describe('Each by itself, with those that are in no sum.'),
  })
  .describe('The movements of one gateway in one currency.')

export const movementDaySchema = z.object({
  day: z.iso.date().describe('A day of the zone.'),
  sums: z.array(movementSumSchema),
})

export const movementsSchema = z.object({
  movements: listedSchema(movementSchema).describe('All of them, oldest first.'),
  sums: z.array(movementSumSchema),
})
export const movementDaysSchema = z.object({
  days: z.array(movementDaySchema).describe('Oldest first; a day without any is not listed.'),
})

export const settledSchema = z.object({
  rows: z.array(
    z.object({
      as: z
        .enum(SETTLED_AS)
        .describe(
          'The first that is so. `paid_there`, `refunded_there`: not here. `refund_failed`: it ' +
            'came back there, and not here. `refused_paid`: paid, and refused here for its ' +
            'amount. `late`: paid, or refunded, after it had ended, and a part is still here. ' +
            '`twice`: each movement here has another row.',
        ),
      transactionId: z.string().describe('Ours.').exactOptional(),
      gatewayTransactionId: z.string().exactOptional(),
      reference: z.string().exactOptional(),
      status: statusSchema.exactOptional(),
      amount: z
        .int()
        .describe('What we have: what was booked, else requested; of a refund, its own.')
        .exactOptional(),
      currency: z.string().exactOptional(),
      refundId: z.string().describe('Ours.').exactOptional(),
      movementId: z
        .string()
        .describe(
          'The movement that it agrees with. Rows of one payment that are asked about in ' +
            'several requests may get the same one: it counts once.',
        )
        .exactOptional(),
      moreMovementIds: z
        .array(z.string())
        .describe('Further movements, of a row that has their sum.')
        .exactOptional(),
    }),
  ),
})
