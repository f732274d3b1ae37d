// How the rows of the history are chained: each hash covers the row and the hash before it, so an
// export that was changed shows it. No I/O.

import { sha256Sync } from '../../shared/sha256-sync.ts'

/** Before the first row of a board. */
export const NO_HASH = '0'.repeat(64)

/** Then the oldest rows go. */
export const KEPT_ROWS = 100_000

/** `json`: of the row, without its marks and its hash. */
export const hashAfter = (previous: string, json: string): string =>
  sha256Sync(`${previous}\n${json}`)

/** What an export ends with. `previous` and `head`: the hashes before its rows, and after. */
export interface Trailer {
  count: number
  first: number
  last: number
  previous: string
  head: string
}

export interface Chained {
  seq: number
  hash: string
}

/** An export, or lines of the log that name a head. */
export interface Proof {
  rows: Chained[]
  heads: Chained[]
}

/**
 * Reads what is to be compared with a running Signalbox. `fault`: the sentence that says what was
 * changed since it was written, with its line.
 */
export function readProof(text: string): (Proof & { fault?: undefined }) | { fault: string } {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const values = lines.map(parsed)
  const heads = values.filter(isHeadLine).map(({ seq, head }) => ({ seq, hash: head }))
  // An export does not become a log by a line that somebody put into it.
  if (heads.length > 0 && !values.some((value) => isRow(value) || isTrailer(value))) {
    return { rows: [], heads }
  }
  const trailer = values.at(-1)
  if (!isTrailer(trailer))
    return { fault: 'It does not end as an export does: its end is cut off.' }
  const rows: Chained[] = []
  let { previous } = trailer
  for (const [at, value] of values.slice(0, -1).entries()) {
    const wrong = (what: string) => ({ fault: `Line ${at + 1}: ${what}` })
    if (!isRow(value)) return wrong('it is no row of a history.')
    const { hash, ...row } = value
    const { seq } = row
    if (seq !== trailer.first + at) return wrong(`row ${trailer.first + at} is not here.`)
    if (JSON.stringify(value) !== lines[at]) return wrong('it is not as it was written.')
    if (hashAfter(previous, JSON.stringify(row)) !== hash) {
      return wrong(`row ${seq}, or one before it, was changed.`)
    }
    previous = hash
    rows.push({ seq, hash })
  }
  const { count, head, last, first } = trailer
  const isWhole = rows.length === count && previous === head && last === first + count - 1
  return isWhole ? { rows, heads } : { fault: 'Rows at its end or beginning are cut off.' }
}

/** Of rows that follow one another, the oldest first. */
export const trailerOf = (rows: readonly Chained[], previous: string): Trailer => ({
  count: rows.length,
  first: rows[0]?.seq ?? 0,
  last: rows.at(-1)?.seq ?? -1,
  previous,
  head: rows.at(-1)?.hash ?? previous,
})

/** Of rows that follow those of `before`. */
export const joined = (before: Trailer | undefined, next: Trailer): Trailer =>
  before
    ? { ...next, count: before.count + next.count, first: before.first, previous: before.previous }
    : next

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const has = (value: unknown, fields: Readonly<Record<string, 'number' | 'string'>>): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(fields).every(([name, type]) => typeof (value as never)[name] === type)

const isRow = (value: unknown): value is Chained & Record<string, unknown> =>
  has(value, { seq: 'number', kind: 'string', hash: 'string' })

const isTrailer = (value: unknown): value is Trailer =>
  has(value, {
    count: 'number',
    first: 'number',
    last: 'number',
    previous: 'string',
    head: 'string',
  })

const isHeadLine = (value: unknown): value is { seq: number; head: string } =>
  has(value, { event: 'string', seq: 'number', head: 'string' }) &&
  (value as { event: string }).event === 'history.head'
