// The list of payments and the search in it, on libSQL. Among a million payments an index finds few
// of them, or a scan from the newest on finds enough soon: which, is decided by a look at the
// indexes. A search that nothing narrows reads the texts of all.

import { encodeTime } from 'ulid'
import { DAY_MS } from '../domain/check-times.ts'
import { decimalsOf, OTHER_DECIMALS } from '../domain/money.ts'
import { TRANSACTIONS, type TransactionRow } from '../domain/rows.ts'
import { type Search, searchOf } from '../domain/search.ts'
import { listed, toTransaction } from '../domain/shown.ts'
import type { PaymentStatus } from '../domain/status.ts'
import type { Listed, Transaction } from '../domain/types.ts'
import { statement, type Value } from '../ledger/libsql/statement-libsql.ts'
import {
  allOf,
  bytesOf,
  inParts,
  partOf,
  type Query,
  type RunQuery,
  type Table,
} from './query-libsql.ts'

export interface TransactionFilter {
  status?: PaymentStatus
  gateway?: string
  reference?: string
  /** Only those with an open alert. */
  needs?: 'person'
  /** What somebody has of it: `searchOf` says what that finds. */
  q?: string
  /** Minor units, of what was requested or of what was paid. */
  amount?: number
  currency?: string
  /** The time that `after` and `before` are about; `created` if it is missing. */
  by?: 'created' | 'paid' | 'updated'
  /** In ms: from the first on, and before the second. */
  after?: number
  before?: number
}

/** Only what is older than `before`, an id. */
export interface Page {
  before?: string
  limit: number
}

export const transactionQueries = (run: RunQuery) => ({
  /** Newest first. */
  transactions: async (filter: TransactionFilter, page: Page): Promise<Listed<Transaction>[]> => {
    const search = searchOf(filter.q ?? '')
    const args = argsOf(filter, search, page)
    const indexes = indexesOf(filter, search !== undefined)
    const index = indexes.length === 0 ? undefined : await run(narrowest(indexes, args))
    const picked = `SELECT n, row_number() OVER (ORDER BY newest DESC)
      FROM (${sqlOf(filter, search, page, index)})`
    const rows = await inParts<TransactionRow>(run, partOf(SHOWN, picked), args)
    return rows.map(listed(toTransaction))
  },
})

/** Each may have as much metadata as a request may have. */
const SHOWN: Table = {
  name: TRANSACTIONS.name,
  columns: TRANSACTIONS.names
    .filter((column) => column !== 'request' && column !== 'charge_answer')
    .map((column) => `e.${column}`),
  own: `${bytesOf('metadata')} + ${bytesOf('error')}`,
}

function argsOf(
  { status, gateway, reference, amount, currency, by = 'created', ...times }: TransactionFilter,
  search: Search | undefined,
  { before: cursor, limit }: Page,
): Record<string, Value> {
  const { after = 0, before = 0 } = times
  const at = (ms: number) => (by === 'created' ? idAt(ms) : ms)
  const given = { status, gateway, reference, amount, currency, cursor }
  const { patterns = [], beginnings = [], end = '', amounts = [] } = search ?? {}
  return {
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, value ?? null])),
    limit,
    after: at(after),
    before: at(before),
    made_before: idAt(before + DAY_MS),
    ...Object.fromEntries(patterns.map((pattern, n) => [`pattern${n}`, pattern])),
    ...Object.fromEntries(beginnings.map((text, n) => [`begin${n}`, text])),
    ...Object.fromEntries(
      amounts.flatMap((amount, n) =>
        [0, 2, 3].map((decimals) => [`amount${n}_${decimals}`, amount[decimals] ?? null]),
      ),
    ),
    last: LAST,
    end,
    end_first: [...end].reverse().slice(0, END_CHARS).join(''),
  }
}

/** Ids begin with the time at which the payment was made. */
const idAt = (ms: number): string => encodeTime(Math.min(Math.max(0, ms), 2 ** 48 - 1), 10)

/** The length of the indexed ends. */
const END_CHARS = 8

/**
 * Sorts after every other character, so that nothing needs to be escaped. Not in the text of a
 * query: its server takes 5,000 bytes by name, and the client counts characters.
 */
const LAST = '\u{10FFFF}'

/**
 * As conditions on `t`, each with its AND. `isFound`: other indexes find the rows; the `+` stops
 * libSQL from using those of these columns.
 */
function conditionsOf(filter: TransactionFilter, isFound: boolean): string {
  const { status, gateway, reference, needs, amount, currency, by = 'created' } = filter
  const { after, before } = filter
  const money = (of: string) =>
    [
      ...(amount === undefined ? [] : [`+t.${of}amount = :amount`]),
      ...(currency === undefined ? [] : [`+t.${of}currency = :currency`]),
    ].join(' AND ')
  const time = by === 'created' ? 't.id' : `+t.${by}_at`
  const free = isFound ? '+' : ''
  return allOf([
    // The index by status does not have Paid. A query uses it only with the same condition.
    status !== undefined &&
      `${free}t.status = :status ${status === 'Paid' ? '' : "AND t.status <> 'Paid'"}`,
    // Many rows have the same gateway. Its index would find all of them and sort them for one page.
    gateway !== undefined && `${reference === undefined ? '+' : free}t.gateway = :gateway`,
    reference !== undefined && `${free}t.reference = :reference`,
    needs !== undefined && 't.alert IS NOT NULL',
    (amount ?? currency) !== undefined && `((${money('')}) OR (${money('paid_')}))`,
    after !== undefined && `${time} >= :after`,
    before !== undefined && `${time} < :before`,
    // Nothing is paid before it was made, but for the gateway's clock.
    before !== undefined && by !== 'created' && 't.id < :made_before',
  ])
}

/** So many payments are read and sorted in some 30 ms. */
const FEW = 20_000

/** The index that finds the fewest payments, if those are few. */
function narrowest(
  indexes: readonly string[],
  args: Record<string, Value>,
): Query<string | undefined> {
  const counts = indexes.map(
    (rowids, n) => `(SELECT COUNT(*) FROM (SELECT * FROM (${rowids}) LIMIT ${FEW + 1})) AS n${n}`,
  )
  return {
    statements: [statement(`SELECT ${counts.join(', ')}`, args)],
    read([counted = []]) {
      const [row] = counted
      const found = indexes
        .map((rowids, n) => ({ rowids, count: Number(row?.[`n${n}`]) }))
        .filter(({ count }) => count <= FEW)
      return found.toSorted((a, b) => a.count - b.count)[0]?.rowids
    },
  }
}

/**
 * What each condition's own index has, as queries of rowids. Without a search, the order of the ids
 * or the index by status finds a page soon.
 */
function indexesOf(filter: TransactionFilter, isSearch: boolean): string[] {
  const { status = 'Paid', gateway, reference, amount, currency, by = 'created' } = filter
  const isTimed = (filter.after ?? filter.before) !== undefined
  const rowids = (index: string, condition: string, from = '') =>
    `SELECT t.rowid FROM ${from} payment_transactions t
      INDEXED BY payment_transactions_by_${index} WHERE ${condition}`
  const span = (time: string) =>
    [
      filter.after !== undefined && `${time} >= :after`,
      filter.before !== undefined && `${time} < :before`,
    ]
      .filter(Boolean)
      .join(' AND ')
  const isOther = '(t.paid_amount <> t.amount OR t.paid_currency <> t.currency)'
  const isIn = currency === undefined ? 't.currency = c.currency' : 't.currency = :currency'
  const ofMoney = [
    rowids(
      'amount',
      `${isIn} ${amount === undefined ? '' : 'AND t.amount = :amount'}`,
      currency === undefined ? `(${CURRENCIES}) c CROSS JOIN` : '',
    ),
    rowids(
      'other_amount',
      `${currency === undefined ? '' : 't.paid_currency = :currency AND'}
        ${amount === undefined ? '' : 't.paid_amount = :amount AND'} ${isOther}`,
    ),
  ]
  return [
    (amount ?? currency) !== undefined && ofMoney.join(' UNION ALL '),
    isTimed && by !== 'created' && rowids(by, span(`t.${by}_at`)),
    isSearch &&
      isTimed &&
      by === 'created' &&
      `SELECT t.rowid FROM payment_transactions t WHERE ${span('t.id')}`,
    isSearch &&
      status !== 'Paid' &&
      rowids('status_not_paid', "t.status = :status AND t.status <> 'Paid'"),
    filter.needs !== undefined && rowids('need', 't.alert IS NOT NULL'),
    isSearch && reference !== undefined && rowids('reference', 't.reference = :reference'),
    gateway !== undefined &&
      reference === undefined &&
      rowids('gateway_id', 't.gateway = :gateway'),
  ].filter((each) => each !== false)
}

/** The values of an index's first column, one lookup each: old ones are in no configuration. */
const valuesOf = (column: string) => `WITH RECURSIVE v(${column}) AS (
  SELECT min(${column}) FROM payment_transactions
  UNION ALL SELECT (SELECT min(t.${column}) FROM payment_transactions t
      WHERE t.${column} > v.${column})
    FROM v WHERE v.${column} IS NOT NULL)
  SELECT ${column} FROM v WHERE ${column} IS NOT NULL`
const CURRENCIES = valuesOf('currency')
const GATEWAYS = valuesOf('gateway')

/** `index`: a query of the rowids of few payments, among which all are. */
function sqlOf(
  filter: TransactionFilter,
  search: Search | undefined,
  { before: cursor }: Page,
  index?: string,
) {
  const conditions = conditionsOf(filter, search !== undefined || index !== undefined)
  const among = index === undefined ? '' : `AND t.rowid IN (${index})`
  if (!search) {
    const older = cursor === undefined ? '' : 'AND t.id < :cursor'
    return `SELECT t.rowid AS n, t.id AS newest FROM payment_transactions t
      WHERE true ${among} ${conditions} ${older}
      ORDER BY t.id DESC LIMIT :limit`
  }
  // Later pages have what was stored before.
  const older = (rowid: string) =>
    cursor === undefined
      ? ''
      : `AND ${rowid} < (SELECT rowid FROM payment_transactions WHERE id = :cursor)`
  const newest = 'ORDER BY t.rowid DESC LIMIT :limit'
  const finds = findsOf(search)
  if (index !== undefined) {
    const isFound = [...finds, ...search.amounts.map((_, n) => ({ where: hasAmount(n) }))]
      .map(({ where }) => `(${where})`)
      .join(' OR ')
    return `SELECT t.rowid AS n, t.rowid AS newest
      FROM payment_transactions t LEFT JOIN payment_search s ON s.n = t.rowid
      WHERE true ${among} ${conditions} AND (${isFound}) ${older('t.rowid')} ${newest}`
  }
  const parts = finds.map(
    ({ from, where, order }) => `SELECT n FROM (SELECT t.rowid AS n FROM ${from}
      WHERE ${where} ${conditions} ${older(order === 's.n' ? order : 't.rowid')}
      ${order === 's.n' ? boundsOf(filter) : ''} ORDER BY ${order} DESC LIMIT :limit)`,
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

/**
 * The texts of a span of time: rowids rise with the ids, unless a clock was set back. Until it has
 * caught up, few payments are made.
 */
function boundsOf({ by = 'created', after, before }: TransactionFilter): string {
  const rowid = (found: string, condition: string, order: string) => `(SELECT ${found}(rowid) FROM
    (SELECT rowid FROM payment_transactions WHERE ${condition} ORDER BY id ${order} LIMIT 1000))`
  const isCreated = by === 'created'
  const last = isCreated ? 'id < :before' : 'id < :made_before'
  return allOf([
    after !== undefined && isCreated && `s.n >= ${rowid('min', 'id >= :after', '')}`,
    before !== undefined && `s.n <= ${rowid('max', last, 'DESC')}`,
  ])
}
