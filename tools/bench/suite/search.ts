// What support does: finds a payment among a million by what a customer has of it, over HTTP.

import { join } from 'node:path'
import { encodeTime } from 'ulid'
import { searchText } from '../../../worker/payments/ledger/libsql/store-libsql.ts'
import { fileIn, type PaymentsDatabase } from '../../harness/database.ts'
import { prepareNode } from '../../harness/hosts.ts'
import { Seeded } from '../../harness/seeded.ts'
import { atMost, type Bench } from '../bench.ts'
import { startPayments, tokenFor } from '../programs.ts'
import { LABEL } from '../target.ts'

const FULL = { payments: 1_000_000, searches: 20 }
const QUICK: typeof FULL = { payments: 5_000, searches: 3 }
const MAX_P95_MS = 150

const T0 = Date.parse('2026-01-01T00:00:00Z')
const EVERY_MS = 20_000
const ROWS_AT_ONCE = 5_000

export const runSearch: Bench = async ({ workDir, isQuick, report }) => {
  const { payments, searches } = isQuick ? QUICK : FULL
  const dir = join(workDir, 'edge')
  const database = fileIn(dir)
  await using edge = await startPayments(prepareNode, dir, database)
  await seed(database, payments)
  const headers = { authorization: `Bearer ${await tokenFor('payments:read')}` }
  const system = LABEL['signalbox-node']
  const random = new Seeded(7)
  const all: number[] = []
  for (const [what, queryOf] of Object.entries(KINDS)) {
    const took: number[] = []
    for (let n = 0; n < searches; n++) {
      const query = new URLSearchParams(queryOf(rowAt(random.below(payments))))
      const from = performance.now()
      const answer = await fetch(`${edge.url}/api/payments/transactions?${query}`, { headers })
      const { transactions } = (await answer.json()) as { transactions: object[] }
      took.push(performance.now() - from)
      if (transactions.length > 0 === NOBODYS.includes(what)) {
        throw new Error(`${what} found ${transactions.length}: ${query}`)
      }
    }
    report({ what, system, unit: 'ms' }, took)
    all.push(...took)
  }
  const what = `any of these, among ${payments.toLocaleString('en')} payments`
  report({ what, system, unit: 'ms' }, all, { aim: atMost(MAX_P95_MS, 'p95') })
}

const NAMES = ['Ali', 'Sara', 'Hussein', 'Zainab', 'Noor', 'Omar', 'Fatima', 'Maryam', 'Ahmed']
const FAMILIES = ['al-Jubouri', 'Hadi', 'Kareem', 'Salman', 'Abbas', 'Jasim', 'al-Saadi', 'Rashid']
const THINGS = ['lamp', 'desk', 'chair', 'carpet', 'kettle', 'mirror', 'vase', 'shelf', 'clock']
const SEVENTH = ['Failed', 'Expired', 'Cancelled', 'Refunded'] as const
const CHARS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

type Row = ReturnType<typeof rowAt>

/** The same for the same number. */
function rowAt(n: number) {
  const own = new Seeded(n)
  const one = <Value>(of: readonly Value[]) => of[own.below(of.length)] as Value
  const chars = (count: number) => Array.from({ length: count }, () => one([...CHARS])).join('')
  const createdAt = T0 + n * EVERY_MS
  const customer = `${one(NAMES)} ${one(FAMILIES)}`
  const thing = one(THINGS)
  const phone = `+9647${String(own.below(1e9)).padStart(9, '0')}`
  return {
    id: encodeTime(createdAt, 10) + chars(16),
    gatewayId: `cs_live_${chars(24).toLowerCase()}`,
    reference: `ORD-${100_000 + n}`,
    description: `Order ${100_000 + n}: ${thing}`,
    metadata: JSON.stringify({ customer, phone }),
    status: own.next() < 0.85 ? 'Paid' : one(SEVENTH),
    customer,
    phone,
    thing,
    amount: own.next() < 0.9 ? one([5, 10, 15, 25, 35, 50]) * 1_000 : 1 + own.below(300_000),
    createdAt,
  }
}

const within = (at: number, ms: number) => ({
  after: new Date(at - ms).toISOString(),
  before: new Date(at + ms).toISOString(),
})

/** What people have, as a query. */
const KINDS: Record<string, (row: Row) => Record<string, string>> = {
  'the digits of a reference': ({ reference }) => ({ q: reference.slice(4) }),
  'a reference in other letters': ({ reference }) => {
    return { q: `#${reference.toLowerCase().replace('-', ' ')}` }
  },
  'a phone’s last seven digits': ({ phone }) => ({ q: phone.slice(-7) }),
  'a name': ({ customer }) => ({ q: customer }),
  'a name and an amount': ({ customer: q, amount }) => {
    return { q, amount: String(amount), currency: 'IQD' }
  },
  'a word and a rare status': ({ thing }) => ({ q: thing, status: 'Refunded' }),
  'a word of one day': ({ thing: q, createdAt }) => ({ q, ...within(createdAt, 43_200_000) }),
  'the end of our id': ({ id }) => ({ q: id.slice(-6) }),
  'the end of the gateway’s id': ({ gatewayId }) => ({ q: gatewayId.slice(-8) }),
  'an amount': ({ amount }) => ({ amount: String(amount) }),
  'what nobody has': ({ thing }) => ({ q: `${thing} for nobody` }),
  'another currency': ({ thing }) => ({ q: thing, currency: 'EUR' }),
  'paid within an hour': ({ createdAt }) => ({ by: 'paid', ...within(createdAt, 1_800_000) }),
}
/** They find nothing. */
const NOBODYS = ['what nobody has', 'another currency']

async function seed({ query }: PaymentsDatabase, payments: number): Promise<void> {
  for (let first = 0; first < payments; first += ROWS_AT_ONCE) {
    const length = Math.min(ROWS_AT_ONCE, payments - first)
    const rows = Array.from({ length }, (_, n) => rowAt(first + n))
    await query(INSERT, { rows: JSON.stringify(rows) })
    const texts = rows.map((row) => [row.id, searchText(row)])
    await query(INSERT_TEXT, { texts: JSON.stringify(texts) })
  }
}

const INSERT = `INSERT INTO payment_transactions (id, gateway, reference, gateway_transaction_id,
    external_reference_id, status, amount, currency, description, metadata, request, created_at,
    updated_at, paid_at, paid_amount, paid_currency)
  SELECT value ->> 'id', 'redirect', value ->> 'reference', value ->> 'gatewayId',
    'ours-' || (value ->> 'id'), value ->> 'status', value ->> 'amount', 'IQD',
    value ->> 'description', value ->> 'metadata', '{}', value ->> 'createdAt',
    value ->> 'createdAt', value ->> 'createdAt', value ->> 'amount', 'IQD'
    FROM json_each(:rows)`
const INSERT_TEXT = `REPLACE INTO payment_search (n, text) SELECT t.rowid, value ->> 1
  FROM json_each(:texts) CROSS JOIN payment_transactions t WHERE t.id = value ->> 0`
