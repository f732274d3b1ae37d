// What support does: finds a payment among a million by what a customer has of it, over HTTP.

import { join } from 'node:path'
import { encodeTime } from 'ulid'
import { searchText } from '../../worker/payments/domain/search.ts'
import { Seeded } from '../harness/seeded.ts'
import { type Bench, rowOf } from './bench.ts'
import { startOurNodeEdge, tokenFor } from './payments/bench-edge.ts'
import { openStore } from './payments/database.ts'
import { LABEL } from './target.ts'

const FULL = { payments: 1_000_000, searches: 20 }
const QUICK: typeof FULL = { payments: 5_000, searches: 3 }
const MOST_P95_MS = 150

const T0 = Date.parse('2026-01-01T00:00:00Z')
const EVERY_MS = 20_000
const ROWS_AT_ONCE = 5_000

export const runSearch: Bench = async (run, report) => {
  const { payments, searches } = run.isQuick ? QUICK : FULL
  const edge = await startOurNodeEdge(join(run.workDir, 'edge'))
  try {
    await seed(edge.file, payments)
    const headers = { authorization: `Bearer ${await tokenFor('payments:read')}` }
    const system = LABEL['signalbox-node']
    const all: number[] = []
    for (const [kind, { of, finds }] of Object.entries(KINDS)) {
      const took: number[] = []
      for (let n = 0; n < searches; n++) {
        const query = new URLSearchParams(of(rowAt(random.below(payments))))
        const from = performance.now()
        const answer = await fetch(`${edge.url}/api/payments/transactions?${query}`, { headers })
        const { transactions } = (await answer.json()) as { transactions: object[] }
        took.push(performance.now() - from)
        if (transactions.length > 0 !== finds) {
          throw new Error(`${kind} found ${transactions.length}: ${query}`)
        }
      }
      report(rowOf({ what: kind, system, unit: 'ms' }, took))
      all.push(...took)
    }
    const what = `any of these, among ${payments.toLocaleString('en')} payments`
    report(rowOf({ what, system, unit: 'ms' }, all, { aim: { of: 'p95', most: MOST_P95_MS } }))
  } finally {
    await edge.stop()
  }
}

const random = new Seeded(7)

// biome-ignore format: several names a line.
const NAMES = [
  'Ali', 'Sara', 'Hussein', 'Zainab', 'Noor', 'Omar', 'Fatima', 'Karrar', 'Maryam', 'Ahmed',
  'Hassan', 'Layla', 'Yusuf', 'Dunya', 'Rand', 'Mustafa',
]
// biome-ignore format: several names a line.
const FAMILIES = [
  'al-Jubouri', 'Hadi', 'Kareem', 'Salman', 'Abbas', 'Jasim', 'al-Saadi', 'Rashid', 'Hamid',
  'Naji', 'Shaker', 'Fadhil',
]
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
  const amount =
    own.next() < 0.9 ? one([5, 10, 15, 25, 35, 50, 75, 100]) * 1_000 : 1 + own.below(300_000)
  return {
    id: encodeTime(createdAt, 10) + chars(16),
    gatewayId: `cs_live_${chars(24).toLowerCase()}`,
    reference: `ORD-${100_000 + n}`,
    description: `Order ${100_000 + n}: ${thing}`,
    metadata: JSON.stringify({
      customer,
      phone: `+9647${String(own.below(1e9)).padStart(9, '0')}`,
    }),
    status: own.next() < 0.85 ? 'Paid' : one(SEVENTH),
    customer,
    thing,
    amount,
    createdAt,
    alert: n % 1_000 === 0 ? ALERT : null,
  }
}

const ALERT = JSON.stringify({ id: 'alert', kind: 'late_payment' })

const phoneOf = ({ metadata }: Row) => (JSON.parse(metadata) as { phone: string }).phone

/** What people have, as a query. */
const KINDS: Record<string, { of(row: Row): Record<string, string>; finds: boolean }> = {
  'the digits of a reference': { of: ({ reference }) => ({ q: reference.slice(4) }), finds: true },
  'a reference in other letters': {
    of: ({ reference }) => ({ q: `#${reference.toLowerCase().replace('-', ' ')}` }),
    finds: true,
  },
  'a phone’s last seven digits': { of: (row) => ({ q: phoneOf(row).slice(-7) }), finds: true },
  'a name': { of: ({ customer }) => ({ q: customer }), finds: true },
  'a name and an amount': {
    of: ({ customer, amount }) => ({ q: customer, amount: String(amount), currency: 'IQD' }),
    finds: true,
  },
  'a word and a rare status': {
    of: ({ thing }) => ({ q: thing, status: 'Refunded' }),
    finds: true,
  },
  'a word of one day': {
    of: ({ thing, createdAt }) => ({
      q: thing,
      after: new Date(createdAt - 43_200_000).toISOString(),
      before: new Date(createdAt + 43_200_000).toISOString(),
    }),
    finds: true,
  },
  'the end of our id': { of: ({ id }) => ({ q: id.slice(-6) }), finds: true },
  'the end of the gateway’s id': {
    of: ({ gatewayId }) => ({ q: gatewayId.slice(-8) }),
    finds: true,
  },
  'an amount': { of: ({ amount }) => ({ amount: String(amount) }), finds: true },
  'an amount, as it is typed': {
    of: ({ amount }) => ({ q: amount.toLocaleString('de') }),
    finds: true,
  },
  'the list, its first page': { of: () => ({}), finds: true },
  'what needs a person': { of: () => ({ needs: 'person' }), finds: true },
  'what nobody has': { of: ({ thing }) => ({ q: `${thing} for nobody` }), finds: false },
  'another currency': { of: ({ thing }) => ({ q: thing, currency: 'EUR' }), finds: false },
  'paid within an hour': {
    of: ({ createdAt }) => ({
      by: 'paid',
      after: new Date(createdAt).toISOString(),
      before: new Date(createdAt + 3_600_000).toISOString(),
    }),
    finds: true,
  },
}

async function seed(file: string, payments: number): Promise<void> {
  const store = openStore(file)
  for (let first = 0; first < payments; first += ROWS_AT_ONCE) {
    const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, payments - first) }, (_, n) =>
      rowAt(first + n),
    )
    await store.write(INSERT, { rows: JSON.stringify(rows) })
    const texts = rows.map((row) => [row.id, searchText(row)])
    await store.write(INSERT_TEXT, { texts: JSON.stringify(texts) })
  }
  // As the database of a shop is: most of it is not in the log.
  await store.read('PRAGMA wal_checkpoint(TRUNCATE)')
  store.close()
}

const INSERT = `INSERT INTO payment_transactions (id, gateway, reference, gateway_transaction_id,
    external_reference_id, status, amount, currency, description, metadata, request, created_at,
    updated_at, paid_at, paid_amount, paid_currency, alert)
  SELECT value ->> 'id', 'redirect', value ->> 'reference', value ->> 'gatewayId',
    'ours-' || (value ->> 'id'), value ->> 'status', value ->> 'amount', 'IQD',
    value ->> 'description', value ->> 'metadata', '{}', value ->> 'createdAt',
    value ->> 'createdAt', value ->> 'createdAt', value ->> 'amount', 'IQD', value ->> 'alert'
    FROM json_each(:rows)`
const INSERT_TEXT = `REPLACE INTO payment_search (n, text) SELECT t.rowid, value ->> 1
  FROM json_each(:texts) CROSS JOIN payment_transactions t WHERE t.id = value ->> 0`
