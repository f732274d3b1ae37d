// Payments on libSQL: one by its id, and the list. Among a million payments an index finds few of
// them, or a scan from the newest on finds enough soon: which, is decided by a look at the indexes.
// A search that nothing narrows reads the texts of all.

import { encodeTime } from 'ulid'
import { TRANSACTIONS, type TransactionRow, toTransaction } from '../domain/rows.ts'
import { searchOf } from '../domain/search.ts'
import type { PaymentStatus } from '../domain/status.ts'
import { DAY_MS } from '../domain/time.ts'
import type { Listed, Transaction } from '../domain/types.ts'
import { type Given, statement } from '../ledger/libsql/statement-libsql.ts'
import {
  allOf,
  bytesOf,
  inParts,
  listed,
  partOf,
  type RunQuery,
  rowsOf,
  type Table,
} from './query-libsql.ts'
import { CURRENCIES, searchArgs, searchSql } from './search-libsql.ts'

export interface TransactionFilter {
  status?: PaymentStatus
  gateway?: string
  reference?: string
  /** Only those with an open alert. */
  needs?: 'person'
  /** A part of what is known of it: see `searchOf` for what that finds. */
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
    const terms = termsOf(filter, search !== undefined)
    const args: Given = {
      ...Object.assign({}, ...terms.map((term) => term.args)),
      ...(search && searchArgs(search)),
      cursor: page.before,
      limit: page.limit,
    }
    const few = await narrowest(run, terms, args)
    const isFound = search !== undefined || few !== undefined
    const within = {
      conditions: allOf(terms.map(({ where }) => where(isFound ? '+' : ''))),
      bounds: allOf(terms.flatMap(({ bounds = [] }) => bounds)),
      few,
      isLater: page.before !== undefined,
    }
    const sql = search
      ? searchSql(search, within)
      : `SELECT t.rowid AS n, t.id AS newest FROM payment_transactions t
          WHERE true ${few === undefined ? '' : `AND t.rowid IN (${few})`} ${within.conditions}
            ${within.isLater ? 'AND t.id < :cursor' : ''}
          ORDER BY t.id DESC LIMIT :limit`
    const picked = `SELECT n, row_number() OVER (ORDER BY newest DESC) FROM (${sql})`
    const rows = await inParts<TransactionRow>(run, partOf(SHOWN, picked), args)
    return rows.map(listed(toTransaction))
  },
  /** By our id or the gateway's, among the gateway's payments. */
  find: (gateway: string, transaction: string): Promise<TransactionRow | undefined> =>
    run({
      statements: [statement(FIND, { gateway, transaction })],
      read: ([rows]) => rowsOf<TransactionRow>(rows)[0],
    }),
  /** By our id. */
  byId: (id: string): Promise<TransactionRow | undefined> =>
    run({
      statements: [statement('SELECT * FROM payment_transactions WHERE id = :id', { id })],
      read: ([rows]) => rowsOf<TransactionRow>(rows)[0],
    }),
  /** Payments of this order that may be paid at other gateways, at `now`, in ms. */
  openElsewhere: (
    order: { gateway: string; reference: string },
    now: number,
  ): Promise<{ gateway: string; transactionId: string }[]> =>
    run({
      statements: [statement(OPEN_ELSEWHERE, { ...order, now })],
      read: ([rows]) =>
        rowsOf<TransactionRow>(rows).map(({ gateway, id }) => ({ gateway, transactionId: id })),
    }),
})

const FIND = `SELECT * FROM payment_transactions WHERE id = COALESCE(
  (SELECT id FROM payment_transactions WHERE id = :transaction AND gateway = :gateway),
  (SELECT id FROM payment_transactions
    WHERE gateway = :gateway AND gateway_transaction_id = :transaction))`

const OPEN_ELSEWHERE = `SELECT id, gateway FROM payment_transactions
  WHERE reference = :reference AND gateway <> :gateway AND +status = 'Pending'
    AND gateway_transaction_id IS NOT NULL AND (expires_at IS NULL OR expires_at > :now)
  ORDER BY id LIMIT 20`

/** Each may have as much metadata as a request may have. */
const SHOWN: Table = {
  name: TRANSACTIONS.name,
  columns: TRANSACTIONS.names
    .filter((column) => column !== 'request' && column !== 'charge_answer')
    .map((column) => `e.${column}`),
  own: `${bytesOf('metadata')} + ${bytesOf('error')}`,
}

/** One filter of the list. */
interface Term {
  /**
   * Of `t`. `free` is a plus where other indexes find the rows: it stops libSQL from using that of
   * this column.
   */
  where(free: '' | '+'): string
  /** A query of all rowids that its own index has. Missing: something else finds a page soon. */
  rowids?: string | false
  /** Of the texts `s`, which are read by their rowids. */
  bounds?: string[]
  /** Values of all names that it has. */
  args?: Given
}

function termsOf(filter: TransactionFilter, isSearch: boolean): Term[] {
  const { status, gateway, reference, needs } = filter
  const { amount, currency, after, before } = filter
  return [
    (amount ?? currency) !== undefined && moneyTerm(filter),
    (after ?? before) !== undefined && timeTerm(filter, isSearch),
    status !== undefined && statusTerm(status, isSearch),
    needs !== undefined && {
      where: () => 't.alert IS NOT NULL',
      rowids: rowidsBy('need', 't.alert IS NOT NULL'),
    },
    reference !== undefined && {
      where: (free: string) => `${free}t.reference = :reference`,
      rowids: isSearch && rowidsBy('reference', 't.reference = :reference'),
      args: { reference },
    },
    // Many rows have the same gateway. Its index would find all of them and sort them for one page.
    gateway !== undefined && {
      where: (free: string) => `${reference === undefined ? '+' : free}t.gateway = :gateway`,
      rowids: reference === undefined && rowidsBy('gateway_id', 't.gateway = :gateway'),
      args: { gateway },
    },
  ].filter((term) => term !== false)
}

const rowidsBy = (index: string, condition: string, from = ''): string =>
  `SELECT t.rowid FROM ${from} payment_transactions t
    INDEXED BY payment_transactions_by_${index} WHERE ${condition}`

const and = (...conditions: (string | false)[]): string => conditions.filter(Boolean).join(' AND ')

/** The index by status does not have Paid. A query uses it only with the same condition. */
function statusTerm(status: PaymentStatus, isSearch: boolean): Term {
  const isOther = status !== 'Paid' && "t.status <> 'Paid'"
  return {
    where: (free) => and(`${free}t.status = :status`, isOther),
    // Without a search, it finds a page soon.
    rowids: isSearch && isOther && rowidsBy('status_not_paid', and('t.status = :status', isOther)),
    args: { status },
  }
}

/** Requested or paid. */
function moneyTerm({ amount, currency }: TransactionFilter): Term {
  const money = (of: string) =>
    and(
      amount !== undefined && `${of}amount = :amount`,
      currency !== undefined && `${of}currency = :currency`,
    )
  const ofEach = currency === undefined
  const requested = rowidsBy(
    'amount',
    and(ofEach && 't.currency = c.currency', money('t.')),
    ofEach ? `(${CURRENCIES}) c CROSS JOIN` : '',
  )
  const isOther = '(t.paid_amount <> t.amount OR t.paid_currency <> t.currency)'
  const paid = rowidsBy('other_amount', and(money('t.paid_'), isOther))
  return {
    where: () => `((${money('+t.')}) OR (${money('+t.paid_')}))`,
    rowids: `${requested} UNION ALL ${paid}`,
    args: { amount, currency },
  }
}

/** Ids begin with the time at which the payment was made. */
const idAt = (ms: number): string => encodeTime(Math.min(Math.max(0, ms), 2 ** 48 - 1), 10)

/**
 * A span of time. The rowids of its payments rise with the ids, unless a clock was set back: until
 * it has caught up, few payments are made.
 */
function timeTerm({ by = 'created', after, before }: TransactionFilter, isSearch: boolean): Term {
  const span = (time: string) =>
    and(after !== undefined && `${time} >= :after`, before !== undefined && `${time} < :before`)
  const rowid = (found: string, condition: string, order: string) => `(SELECT ${found}(rowid) FROM
    (SELECT rowid FROM payment_transactions WHERE ${condition} ORDER BY id ${order} LIMIT 1000))`
  const first = `s.n >= ${rowid('min', 'id >= :after', '')}`
  const last = (condition: string) => `s.n <= ${rowid('max', condition, 'DESC')}`
  if (by === 'created') {
    return {
      where: () => span('t.id'),
      rowids: isSearch && `SELECT t.rowid FROM payment_transactions t WHERE ${span('t.id')}`,
      bounds: [
        ...(after === undefined ? [] : [first]),
        ...(before === undefined ? [] : [last('id < :before')]),
      ],
      args: {
        ...(after !== undefined && { after: idAt(after) }),
        ...(before !== undefined && { before: idAt(before) }),
      },
    }
  }
  const rowids = rowidsBy(by, span(`t.${by}_at`))
  if (before === undefined) return { where: () => span(`+t.${by}_at`), rowids, args: { after } }
  // Nothing is paid before it was made, but for the gateway's clock.
  return {
    where: () => and(span(`+t.${by}_at`), 't.id < :made_before'),
    rowids,
    bounds: [last('id < :made_before')],
    args: { after, before, made_before: idAt(before + DAY_MS) },
  }
}

/** So many payments are read and sorted in some 30 ms. */
const FEW = 20_000

/** What the index has that finds the fewest payments, if those are few. */
async function narrowest(
  run: RunQuery,
  terms: readonly Term[],
  args: Given,
): Promise<string | undefined> {
  const indexes = terms.flatMap(({ rowids }) => rowids || [])
  if (indexes.length === 0) return undefined
  const counts = indexes.map(
    (rowids, n) => `(SELECT COUNT(*) FROM (SELECT * FROM (${rowids}) LIMIT ${FEW + 1})) AS n${n}`,
  )
  const [row] = await run({
    statements: [statement(`SELECT ${counts.join(', ')}`, args)],
    read: ([counted = []]) => counted,
  })
  const [least] = indexes
    .map((rowids, n) => ({ rowids, count: Number(row?.[`n${n}`]) }))
    .filter(({ count }) => count <= FEW)
    .toSorted((a, b) => a.count - b.count)
  return least?.rowids
}
