// The route that compares a settlement's rows with our payments. It reads, and changes nothing.

import { Hono } from 'hono'
import * as z from 'zod'
import { bodyLimit, readJson } from '../../shared/body-limit-hono.ts'
import { checkFields } from '../../shared/fields.ts'
import { Problem } from '../../shared/problem.ts'
import { CURRENCY, MAX_AMOUNT } from '../domain/money.ts'
import { SETTLED_AS, SETTLED_TYPES, type Settled } from '../domain/settled-movements.ts'
import { settleRows } from '../domain/settlement.ts'
import { statusSchema } from '../schemas.ts'
import type { PaymentQueries } from './queries-libsql.ts'

const MAX_ROWS = 5_000
const MAX_BODY_BYTES = 4 << 20

const name = z.string().min(1).max(255)

export const settlementSchema = z.strictObject({
  gateway: z.string().min(1).describe('Key of the configuration.'),
  rows: z
    .array(
      z.strictObject({
        type: z
          .enum(SETTLED_TYPES)
          .describe('`refund_failed`: a refund came back. `unknown_word`: it agrees with nothing.'),
        id: name
          .describe('The gateway’s id of the payment; of a refund its own does, too.')
          .exactOptional(),
        ours: name.describe('Our id of it, or its external reference.').exactOptional(),
        reference: name
          .describe('The host application’s; it counts only with the amount.')
          .exactOptional(),
        refund: name.describe('The gateway’s id of the refund.').exactOptional(),
        amount: z.int().positive().max(MAX_AMOUNT).describe('Minor units.'),
        currency: z.string().regex(CURRENCY, 'must be three capital letters'),
      }),
    )
    .min(1)
    .max(MAX_ROWS),
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

/** Mounted before the limit of other requests, which is lower. */
export function settlementRoutes(queries: PaymentQueries): Hono {
  const app = new Hono()
  const tooLarge = () => {
    throw new Problem('payload_too_large', 'Rows of a settlement may have at most 4 MiB.')
  }
  app.post('/', bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }), async (c) => {
    const checked = checkFields(settlementSchema, await readJson(c))
    if (!checked.ok) throw new Problem('invalid_argument', checked.error)
    const { gateway, rows } = checked.value
    const known = await queries.settledPayments(gateway, rows)
    return c.json({ rows: settleRows(rows, known).map(shown) } satisfies z.infer<
      typeof settledSchema
    >)
  })
  return app
}

function shown({ as, transaction: row, refund, movements = [], amount = 0 }: Settled) {
  if (!row) return { as }
  const [movement, ...more] = movements
  const booked = row.paid_at === null ? row.currency : (row.paid_currency ?? row.currency)
  return {
    as,
    transactionId: row.id,
    ...(row.gateway_transaction_id !== null && {
      gatewayTransactionId: row.gateway_transaction_id,
    }),
    reference: row.reference,
    status: row.status,
    amount,
    currency: movement?.currency ?? booked,
    ...(refund && { refundId: refund.id }),
    ...(movement && { movementId: movement.id }),
    ...(more.length > 0 && { moreMovementIds: more.map(({ id }) => id) }),
  }
}
