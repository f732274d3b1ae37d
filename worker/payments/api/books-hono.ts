// The routes of the books: what moved, by day and by currency, and what a settlement is compared
// with. Its path is `/reconcile`; to ask a gateway about one payment is `reconciliation/`.

import { Hono } from 'hono'
import * as z from 'zod'
import { bodyLimit, readJson } from '../../shared/body-limit-hono.ts'
import { checkFields } from '../../shared/fields.ts'
import { Problem } from '../../shared/problem.ts'
import { dayOf, daysBetween, startOfDay } from '../domain/days.ts'
import { CURRENCY, MAX_AMOUNT, majorText } from '../domain/money.ts'
import { type Compared, compareRows, SETTLED_TYPES } from '../domain/settlement.ts'
import { BESIDE_SUMS } from '../domain/status.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Listed, Movement, MovementDay, MovementSum } from '../domain/types.ts'
import type { BookedIn, SummedRow } from '../queries/books-libsql.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import type { settledSchema } from './books-answers.ts'
import { exported, pagesOf, streamed } from './export.ts'
import { MAX_DAYS, movementDaysQuery, movementsQuery, queryOf } from './query-parameters.ts'

type MovementsQuery = Omit<z.infer<typeof movementsQuery>, 'format' | 'for' | 'decimal'>

// biome-ignore format: several names a line.
const TABLE = {
  name: 'movements',
  columns: [
    'id', 'day', 'kind', 'transactionId', 'reference', 'gateway', 'gatewayTransactionId',
    'refundId', 'amount', 'amountMinor', 'currency', 'bookedAt', 'occurredAt', 'estimated',
    'invalid',
  ],
  numbers: ['amount', 'amountMinor'],
} as const

/** Mounted before the tags, for which an answer is read whole: a year of movements is long. */
export function bookRoutes(queries: PaymentQueries): Hono {
  const app = new Hono()
  app.get('/', async (c) => {
    const { format, for: whom, decimal, ...query } = queryOf(c.req.url, movementsQuery)
    const isMarked = whom !== undefined
    if (isMarked ? format !== 'csv' : decimal !== '.') {
      throw new Problem('invalid_argument', 'for: is of format=csv, and decimal of for=spreadsheet')
    }
    const dayIn = daysIn(query.zone)
    const withDay = (row: Listed<Movement>) =>
      'invalid' in row ? row : { ...row, day: dayIn(Date.parse(row.bookedAt)) }
    const range = bookedIn(query)
    const pages = pagesOf((limit, cursor) => queries.movements(range, limit, cursor))
    const { body, headers } =
      format === 'json'
        ? await streamed('application/json', movementsJson(pages))
        : await exported(format, TABLE, pages, withDay, { isMarked, decimal })
    return c.body(body, 200, headers)
  })
  app.get('/days', async (c) => {
    const { after, before, gateway, zone } = queryOf(c.req.url, movementDaysQuery)
    const askedDays = (Date.parse(before) - Date.parse(after)) / DAY_MS
    if (askedDays <= 0) throw notLater()
    // Before they are listed: ten thousand years of days do not fit into memory.
    if (askedDays > MAX_DAYS) {
      throw new Problem('invalid_argument', `before: may be ${MAX_DAYS} days after after at most`)
    }
    const days = daysBetween(after, before)
    const starts = [...days, before].map((day) => startOfDay(day, zone))
    const spans = days.map((_, at) => [starts[at] ?? 0, starts[at + 1] ?? 0] as const)
    const summed = Map.groupBy(await queries.movementSums(spans, gateway), ({ span }) => span)
    const toDay = ([at, rows]: [number, SummedRow[]]): MovementDay => ({
      day: days[at] ?? '',
      sums: toSums(rows),
    })
    return c.json({ days: [...summed].map(toDay) })
  })
  return app
}

/** Clocks change at a quarter of an hour. */
const QUARTER_MS = 900_000

/** The day of a time; of rows that follow each other, it is asked for once. */
function daysIn(zone: string): (ms: number) => string {
  let known = { quarter: Number.NaN, day: '' }
  return (ms) => {
    const quarter = Math.floor(ms / QUARTER_MS)
    if (quarter !== known.quarter) known = { quarter, day: dayOf(ms, zone) }
    return known.day
  }
}

/** The end of the times that a date can have. */
const LAST_MS = 8_640_000_000_000_000

function bookedIn({ after, before, gateway, zone }: MovementsQuery): BookedIn {
  const moment = (text: string) => (text.includes('T') ? Date.parse(text) : startOfDay(text, zone))
  const range = {
    after: after === undefined ? 0 : moment(after),
    before: before === undefined ? LAST_MS : moment(before),
    gateway,
  }
  const isSpan = after !== undefined && before !== undefined
  if (isSpan && range.before <= range.after) throw notLater()
  return range
}

/** An empty answer would look as if nothing had been paid. */
const notLater = (): Problem =>
  new Problem('invalid_argument', 'before: must be later than after, since it is not part of them')

/** The sums are those of the rows that were sent, so they come after them. */
async function* movementsJson(
  pages: AsyncGenerator<readonly Listed<Movement>[]>,
): AsyncGenerator<string> {
  const summed = new Map<string, SummedRow>()
  let before = '{"movements":['
  for await (const movements of pages) {
    for (const each of movements) if (!('invalid' in each)) add(summed, each)
    yield before + movements.map((each) => JSON.stringify(each)).join()
    before = ','
  }
  yield `],"sums":${JSON.stringify(toSums([...summed.values()]))}}`
}

function add(summed: Map<string, SummedRow>, { gateway, currency, kind, amountMinor }: Movement) {
  const key = [gateway, currency, kind].join(' ')
  const known = summed.get(key) ?? { gateway, currency, kind, count: 0, amount: 0 }
  const { count, amount } = known
  summed.set(key, { ...known, count: count + 1, amount: amount + amountMinor })
}

function toSums(rows: readonly SummedRow[]): MovementSum[] {
  const byAccount = Map.groupBy(rows, ({ gateway, currency }) => `${gateway} ${currency}`)
  return [...byAccount]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, kinds]) => {
      const [first] = kinds
      if (!first) return []
      const { gateway, currency } = first
      const textOf = (amount: number) => ({
        amount: majorText(amount, currency),
        amountMinor: amount,
      })
      const counted = kinds.filter(({ kind }) => !BESIDE_SUMS.includes(kind))
      const sum = counted.reduce((total, { amount }) => total + amount, 0)
      return {
        gateway,
        currency,
        ...textOf(sum),
        kinds: Object.fromEntries(
          kinds.map(({ kind, count, amount }) => [kind, { count, ...textOf(amount) }]),
        ),
      }
    })
}

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

/** Mounted before the limit of other requests, which is lower. */
export function settlementRoutes(queries: PaymentQueries): Hono {
  const app = new Hono()
  const limit = bodyLimit(MAX_BODY_BYTES, 'Rows of a settlement may have at most 4 MiB.')
  app.post('/', limit, async (c) => {
    const checked = checkFields(settlementSchema, await readJson(c))
    if (!checked.ok) throw new Problem('invalid_argument', checked.error)
    const { gateway, rows } = checked.value
    const known = await queries.settledPayments(gateway, rows)
    return c.json({ rows: compareRows(rows, known).map(shown) } satisfies z.infer<
      typeof settledSchema
    >)
  })
  return app
}

function shown({ as, transaction: row, refund, movements = [], amount = 0 }: Compared) {
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
