// The query parameters of the read routes of payments. The schemas validate, and describe the
// parameters in the OpenAPI document.

import * as z from 'zod'
import { choice, count, readQuery } from '../../shared/query.ts'
import { isZone } from '../domain/days.ts'
import { CURRENCY } from '../domain/money.ts'
import { ACTIONS, OUTCOMES, PAYMENT_STATUSES } from '../domain/status.ts'

const MAX_SEARCH_CHARS = 255
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** One page of a list that is ordered from new to old. */
const page = {
  cursor: z.string().describe('From the page before: this one begins after it.').exactOptional(),
  limit: count({ fallback: 50, max: 200 }).describe('The size of the page.'),
}
const gateway = z.string().describe('Key of the configuration.').exactOptional()

const dateOrTime = z.union(
  [z.iso.date(), z.iso.datetime({ offset: true })],
  'must be a date or a time of ISO 8601',
)
const time = dateOrTime.transform((text) => Date.parse(text))
const date = z.iso.date('must be a date, such as 2026-11-27')
const zone = z
  .string()
  .refine(isZone, 'must be a time zone, such as Asia/Baghdad')
  .describe('An IANA time zone: a date begins at its midnight.')
  .default('UTC')

const exportFormat = choice(['json', 'csv', 'jsonl'])
  .describe('`csv` and `jsonl` are all that there is, and not one page.')
  .default('json')

export const transactionsQuery = z.object({
  status: choice(PAYMENT_STATUSES).exactOptional(),
  gateway,
  needs: choice(['person'])
    .describe('`person`: a person should look at it: it has an open alert about its money.')
    .exactOptional(),
  reference: z.string().describe('The host application’s own name for it.').exactOptional(),
  q: z
    .string()
    .max(MAX_SEARCH_CHARS, `may have at most ${MAX_SEARCH_CHARS} characters`)
    .describe(
      'From three letters or digits on any part of the reference, the description or a value of ' +
        'the metadata, or the end of an id; always the beginning of our id, of the gateway’s or ' +
        'of the external reference. Each word is found by itself, in any order. Digits alone, ' +
        'such as `20,00`, find the amount, too; from three letters or digits on, also the notes. ' +
        'Case, separators, the script of digits and letters that keyboards exchange do not matter.',
    )
    .exactOptional(),
  amount: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a whole number, in minor units')
    .transform(Number)
    .describe('In minor units: of what was requested, or of what was paid.')
    .exactOptional(),
  currency: z
    .string()
    .regex(CURRENCY, 'must be three capital letters')
    .describe('What was requested, or what was paid.')
    .exactOptional(),
  by: choice(['created', 'paid', 'updated'])
    .describe('The time that `after` and `before` are about.')
    .default('created'),
  after: time.describe('At this time or later.').exactOptional(),
  before: time.describe('Earlier than this time.').exactOptional(),
  format: exportFormat,
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

export const auditQuery = z.object({
  format: exportFormat,
  reference: z.string().exactOptional(),
  transaction: z.string().describe('Our id of a payment.').exactOptional(),
  subject: z.string().describe('Who asked.').exactOptional(),
  action: choice(ACTIONS).exactOptional(),
  after: time.describe('At this time or later.').exactOptional(),
  before: time.describe('Earlier than this time.').exactOptional(),
  ...page,
})

export const ratesQuery = z.object({
  minutes: count({ fallback: HOUR_MINUTES, max: DAY_MINUTES }),
})

export const noQuery = z.object({})

export const movementsQuery = z.object({
  after: dateOrTime.describe('Booked at this time or later.').exactOptional(),
  before: dateOrTime.describe('Booked earlier than this time.').exactOptional(),
  gateway,
  zone,
  format: choice(['json', 'csv', 'jsonl'])
    .describe('`csv` has the `day` of each in the zone, too.')
    .default('json'),
  for: choice(['spreadsheet'])
    .describe('Of `csv`: a spreadsheet opens it by a press, in any script.')
    .exactOptional(),
  decimal: choice(['.', ','])
    .describe('Of a spreadsheet: with `,` a `;` stands between the columns.')
    .default('.'),
})

/** Of the books, day by day. */
export const MAX_DAYS = 100

export const movementDaysQuery = z.object({
  after: date.describe('The first day.'),
  before: date.describe(`The day after the last one, ${MAX_DAYS} later at most.`),
  gateway,
  zone,
})

/** The parameters of a request, by its URL. */
export const queryOf = <Schema extends z.ZodObject>(
  url: string,
  schema: Schema,
): z.output<Schema> => readQuery(url, schema, { reason: 'invalid_argument' })
