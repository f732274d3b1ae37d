// Payments as an edge has them, out of a few words: real rows, queries and routes, without the
// webhooks that would make them.

import type { Movements, Settled } from '../../libraries/api/types.ts'
import type { Books } from '../../libraries/settlement/ask-edge.ts'
import { type Comparison, compare } from '../../libraries/settlement/compare.ts'
import { type Reading, readSettlement } from '../../libraries/settlement/read-settlement.ts'
import type { MovementKind, PaymentStatus } from '../../worker/payments/domain/status.ts'
import { libsqlQueries } from '../../worker/payments/queries/queries-libsql.ts'
import { token } from './edge.ts'
import { processEdge } from './in-process-edge.ts'
import { setUpPayments } from './payments-setup.ts'
import { readable, type SqliteDatabase, sqliteDatabase } from './sqlite-database.ts'

export interface Booked {
  /** The gateway's; `ours` and `reference` are made of it. */
  id: string
  amount: number
  currency?: string
  /** Default: Paid. */
  status?: PaymentStatus
  /** Of its payment and its movements. */
  day?: string
  /** In place of one `paid` of the amount. */
  paid?: readonly (readonly [MovementKind, number])[]
  refunds?: readonly {
    id: string
    amount: number
    /** Default: the payment's. */
    day?: string
    /** On this day it failed. */
    failed?: string
  }[]
}

export const DAY = '2026-11-27'

export interface Shop {
  books: Books
  asked: number[]
  /** Reads a file and compares it. */
  compared(text: string | Uint8Array, reading?: Reading): Promise<Comparison>
}

/** Its gateway is `bank`. */
export function shopWith(payments: readonly Booked[]): Shop {
  const database = sqliteDatabase()
  for (const [n, payment] of payments.entries()) insert(database, n, payment)
  const setup = setUpPayments()
  const queries = readable(libsqlQueries(database))
  const edge = processEdge({ payments: { ...setup.payments, queries } })
  const { books, asked } = booksOf(edge)
  return {
    books,
    asked,
    async compared(text, reading = {}) {
      const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
      const read = readSettlement(bytes, reading)
      if (!read.ok) throw new Error(`${read.needs}: ${read.message}`)
      return await compare(read.settlement, books)
    },
  }
}

/** What an edge answers of its gateway `bank`. `asked`: how many rows, each time. */
export function booksOf(edge: ReturnType<typeof processEdge>): Pick<Shop, 'books' | 'asked'> {
  const ask = async (path: string, body?: object) => {
    const Authorization = `Bearer ${await token({ scope: 'payments:read', repos: [] })}`
    const headers = { Authorization, 'Content-Type': 'application/json' }
    const init = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
    const answer = await edge.fetch(`/api/payments${path}`, init)
    if (!answer.ok) throw new Error(await answer.text())
    return await answer.json()
  }
  const asked: number[] = []
  const books: Books = {
    async settle(rows) {
      asked.push(rows.length)
      return ((await ask('/reconcile', { gateway: 'bank', rows })) as Settled).rows
    },
    async *movements(after, before) {
      const { movements } = (await ask(`/movements?after=${after}&before=${before}`)) as Movements
      for (const movement of movements) if (!('invalid' in movement)) yield movement
    },
  }
  return { books, asked }
}

const literal = (value: string | number | null): string =>
  typeof value === 'string' ? `'${value}'` : String(value)

function insert(database: SqliteDatabase, n: number, payment: Booked): void {
  const { id: gatewayId, amount, currency = 'EUR', status = 'Paid', day = DAY } = payment
  const put = (table: string, row: Record<string, string | number | null>) =>
    database.exec(
      `INSERT INTO payment_${table} (${Object.keys(row).join()})
        VALUES (${Object.values(row).map(literal).join()})`,
    )
  const id = `TX${String(n).padStart(6, '0')}`
  const at = Date.parse(`${day}T10:00:00Z`)
  const { refunds = [], paid = status === 'Pending' ? [] : [['paid', amount] as const] } = payment
  const isPaid = paid.some(([kind]) => kind !== 'refused_paid')
  put('transactions', {
    id,
    gateway: 'bank',
    reference: `order-${gatewayId}`,
    gateway_transaction_id: gatewayId,
    external_reference_id: `ext-${gatewayId}`,
    status,
    amount,
    currency,
    created_at: at,
    updated_at: at,
    paid_at: isPaid ? at : null,
    paid_amount: isPaid ? amount : null,
    paid_currency: isPaid ? currency : null,
    refunded_amount: refunds
      .filter(({ failed }) => failed === undefined)
      .reduce((sum, refund) => sum + refund.amount, 0),
  })
  let moved = 0
  const move = (kind: MovementKind, sum: number, of: { day: string; refund?: string }) => {
    const time = Date.parse(`${of.day}T10:00:00Z`) + moved
    put('movements', {
      id: `M${id}${String(moved++).padStart(3, '0')}`,
      kind,
      transaction_id: id,
      gateway: 'bank',
      refund_id: of.refund ?? null,
      amount: sum,
      currency,
      booked_at: time,
      occurred_at: time,
    })
  }
  for (const [kind, sum] of paid) move(kind, sum, { day })
  for (const refund of refunds) {
    const own = `RE${id}${refund.id}`
    put('refunds', {
      id: own,
      transaction_id: id,
      amount: refund.amount,
      reason: 'Back',
      status: refund.failed === undefined ? 'succeeded' : 'failed',
      gateway_refund_id: refund.id,
      created_at: at,
      updated_at: at,
    })
    move('refunded', -refund.amount, { day: refund.day ?? day, refund: own })
    if (refund.failed) move('refund_failed', refund.amount, { day: refund.failed, refund: own })
  }
}
