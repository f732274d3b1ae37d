// What a search finds, on libSQL: the texts that have each of its words, the ids that begin or end
// so, the amounts. What was typed is read in domain/search.ts.

import { decimalsOf, OTHER_DECIMALS } from '../domain/money.ts'
import type { Search } from '../domain/search.ts'
import type { Value } from '../ledger/libsql/statement-libsql.ts'

/** The length of the indexed ends. */
const END_CHARS = 8

/**
 * Sorts after every other character, so that nothing needs to be escaped. Not in the text of a
 * query: its server takes 5,000 bytes by name, and the client counts characters.
 */
const LAST = '\u{10FFFF}'

/** Values of the names that `searchSql` has. */
export const searchArgs = ({ patterns, beginnings, end = '', amounts }: Search) =>
  Object.fromEntries<Value>([
    ...patterns.map((pattern, n) => [`pattern${n}`, pattern] as const),
    ...beginnings.map((text, n) => [`begin${n}`, text] as const),
    ...amounts.flatMap((amount, n) =>
      [0, 2, 3].map((decimals) => [`amount${n}_${decimals}`, amount[decimals] ?? null] as const),
    ),
    ['last', LAST],
    ['end', end],
    ['end_first', [...end].reverse().slice(0, END_CHARS).join('')],
  ])

/** What else a payment has to be. */
export interface Within {
  /** Of `t`, each with its AND. */
  conditions: string
  /** Of `s`, each with its AND: between which texts those of a span of time are. */
  bounds: string
  /** A query of the rowids of few payments, among which all are. Undefined: there is none. */
  few: string | undefined
  /** Older than the one with the id `:cursor`. */
  isLater: boolean
}

/**
 * The newest that are found, as rowids `n`. Among few, each is compared with all that was typed;
 * else each index finds its own, and the texts of all are read.
 */
export function searchSql(search: Search, { conditions, bounds, few, isLater }: Within): string {
  // Later pages have what was stored before.
  const older = (rowid: string) =>
    isLater ? `AND ${rowid} < (SELECT rowid FROM payment_transactions WHERE id = :cursor)` : ''
  const newest = 'ORDER BY t.rowid DESC LIMIT :limit'
  const finds = findsOf(search)
  if (few !== undefined) {
    const isFound = [...finds, ...search.amounts.map((_, n) => ({ where: hasAmount(n) }))]
      .map(({ where }) => `(${where})`)
      .join(' OR ')
    return `SELECT t.rowid AS n, t.rowid AS newest
      FROM payment_transactions t LEFT JOIN payment_search s ON s.n = t.rowid
      WHERE t.rowid IN (${few}) ${conditions} AND (${isFound}) ${older('t.rowid')} ${newest}`
  }
  const parts = finds.map(
    ({ from, where, order }) => `SELECT n FROM (SELECT t.rowid AS n FROM ${from}
      WHERE ${where} ${conditions} ${older(order === 's.n' ? order : 't.rowid')}
      ${order === 's.n' ? bounds : ''} ORDER BY ${order} DESC LIMIT :limit)`,
  )
  const ofAmounts = search.amounts.map((_, n) => {
    const among = (rest: string) => `${rest} ${conditions} ${older('t.rowid')} ${newest}`
    return `SELECT f.rowid AS n FROM (${CURRENCIES}) c
        CROSS JOIN payment_transactions f ON f.rowid IN (${among(requestedAs(n))})
      UNION SELECT n FROM (${among(paidAs(n))})`
  })
  const found = [...parts, ...ofAmounts].join(' UNION ')
  return `SELECT t.rowid AS n, t.rowid AS newest FROM payment_transactions t
    WHERE t.rowid IN (${found}) ${newest}`
}

/** The values of an index's first column, one lookup each: old ones are in no configuration. */
const valuesOf = (column: string) => `WITH RECURSIVE v(${column}) AS (
  SELECT min(${column}) FROM payment_transactions
  UNION ALL SELECT (SELECT min(t.${column}) FROM payment_transactions t
      WHERE t.${column} > v.${column})
    FROM v WHERE v.${column} IS NOT NULL)
  SELECT ${column} FROM v WHERE ${column} IS NOT NULL`
export const CURRENCIES = valuesOf('currency')
const GATEWAYS = valuesOf('gateway')

interface Find {
  from: string
  where: string
  /** What an index or the table itself is read by. */
  order: 's.n' | 't.id' | 't.rowid'
}

/** A payment is found by any of these. */
function findsOf({ patterns, beginnings, end }: Search): Find[] {
  const order = 't.rowid'
  const of = 'payment_transactions t'
  const ofGateways = `(${GATEWAYS}) g CROSS JOIN ${of} ON t.gateway = g.gateway`
  const isBegun = (name: string, n: number) =>
    `t.${name} >= :begin${n} AND t.${name} < :begin${n} || :last`
  const isEnded = (name: string, its: string) =>
    `t.${its} >= :end_first AND t.${its} < :end_first || :last
      AND substr(lower(t.${name}), -length(:end)) = :end`
  const text: Find = {
    from: `payment_search s CROSS JOIN ${of} ON t.rowid = s.n`,
    where: patterns.map((_, n) => `s.text GLOB :pattern${n}`).join(' AND '),
    order: 's.n',
  }
  return [
    ...(patterns.length === 0 ? [] : [text]),
    ...beginnings.flatMap((_, n) => [
      { from: of, where: isBegun('id', n), order: 't.id' } as const,
      { from: ofGateways, where: isBegun('gateway_transaction_id', n), order } as const,
      { from: ofGateways, where: isBegun('external_reference_id', n), order } as const,
    ]),
    ...(end === undefined
      ? []
      : [
          { from: of, where: isEnded('id', 'id_end'), order } as const,
          { from: of, where: isEnded('gateway_transaction_id', 'gateway_id_end'), order } as const,
        ]),
  ]
}

/** The typed amount in minor units of this currency; NULL, which is no amount, if it has none. */
const amountIn = (currency: string, n: number): string => {
  const listOf = (decimals: number) =>
    OTHER_DECIMALS.filter((each) => decimalsOf(each) === decimals).map((each) => `'${each}'`)
  return `CASE WHEN ${currency} IN (${listOf(0)}) THEN :amount${n}_0
    WHEN ${currency} IN (${listOf(3)}) THEN :amount${n}_3 ELSE :amount${n}_2 END`
}

const hasAmount = (n: number): string =>
  `t.amount = ${amountIn('t.currency', n)} OR t.paid_amount = ${amountIn('t.paid_currency', n)}`

/** Within a currency and an amount the index has the order of the rowids: a page is found soon. */
const requestedAs = (n: number): string => `SELECT t.rowid FROM payment_transactions t
  INDEXED BY payment_transactions_by_amount
  WHERE t.currency = c.currency AND t.amount = ${amountIn('c.currency', n)}`

const paidAs = (n: number): string => `SELECT t.rowid AS n FROM payment_transactions t
  INDEXED BY payment_transactions_by_other_amount
  WHERE (t.paid_amount <> t.amount OR t.paid_currency <> t.currency)
    AND t.paid_amount = ${amountIn('t.paid_currency', n)}`
