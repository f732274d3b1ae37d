// The routes of the books: movements of any span of time, and the sums of each day.

import { Hono } from 'hono'
import * as z from 'zod'
import { Problem } from '../../shared/problem.ts'
import { choice, readQuery } from '../../shared/query.ts'
import { daysBetween, isZone, startOfDay } from '../domain/day.ts'
import { majorText } from '../domain/money.ts'
import { BESIDE_SUMS } from '../domain/status.ts'
import type { Listed, Movement, MovementDay, MovementSum } from '../domain/types.ts'
import { exported, pagesOf, streamed } from './export.ts'
import type { BookedIn, SummedRow } from './movements-libsql.ts'
import type { PaymentQueries } from './queries-libsql.ts'

const WRONG = { reason: 'invalid_argument' } as const
const MAX_DAYS = 100

const zone = z
  .string()
  .refine(isZone, 'must be a time zone, such as Asia/Baghdad')
  .describe('An IANA time zone: a date begins at its midnight.')
  .default('UTC')
const gateway = z.string().describe('Key of the configuration.').exactOptional()
const date = z.iso.date('must be a date, such as 2026-11-27')
const time = z.union(
  [z.iso.date(), z.iso.datetime({ offset: true })],
  'must be a date or a time of ISO 8601',
)

export const movementsQuery = z.object({
  after: time.describe('Booked at this time or later.').exactOptional(),
  before: time.describe('Booked earlier than this time.').exactOptional(),
  gateway,
  zone,
  format: choice(['json', 'csv', 'jsonl']).default('json'),
})

type Asked = Omit<z.infer<typeof movementsQuery>, 'format'>

export const movementDaysQuery = z.object({
  after: date.describe('The first day.'),
  before: date.describe(`The day after the last one, ${MAX_DAYS} later at most.`),
  gateway,
  zone,
})

// biome-ignore format: several names a line.
const TABLE = {
  name: 'movements',
  columns: [
    'id', 'kind', 'transactionId', 'reference', 'gateway', 'gatewayTransactionId', 'refundId',
    'amount', 'amountMinor', 'currency', 'bookedAt', 'occurredAt', 'estimated', 'invalid',
  ],
  numbers: ['amount', 'amountMinor'],
} as const

/** Mounted before the tags, for which an answer is read whole: a year of movements is long. */
export function bookRoutes(queries: PaymentQueries): Hono {
  const app = new Hono()
  app.get('/', async (c) => {
    const { format, ...asked } = readQuery(c.req.url, movementsQuery, WRONG)
    const range = bookedIn(asked)
    const pages = pagesOf((limit, cursor) => queries.movements(range, limit, cursor))
    const { body, headers } =
      format === 'json'
        ? await streamed('application/json', movementsJson(pages))
        : await exported(format, TABLE, pages)
    return c.body(body, 200, headers)
  })
  app.get('/days', async (c) => {
    const { after, before, gateway, zone } = readQuery(c.req.url, movementDaysQuery, WRONG)
    const days = daysBetween(after, before)
    if (days.length === 0) throw notLater()
    if (days.length > MAX_DAYS) {
      throw new Problem('invalid_argument', `before: may be ${MAX_DAYS} days after after at most`)
    }
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

/** The end of the times that a date can have. */
const LAST_MS = 8_640_000_000_000_000

function bookedIn({ after, before, gateway, zone }: Asked): BookedIn {
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
