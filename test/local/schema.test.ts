import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../harness/free-port.ts'
import { type Child, spawnChild } from '../../local/child.ts'
import { statementsOf } from '../../local/migrate.ts'
import { loopbackUrl } from '../../local/ports.ts'
import { libsqlServer } from '../../local/processes.ts'
import { databaseAccess } from '../../local/tokens.ts'
import { untilAnswers } from '../../local/until.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { SECRET } from '../support/edge.ts'

type Cell = { type: string; value?: string }
interface Result {
  cols: { name: string }[]
  rows: Cell[][]
}

const signal = AbortSignal.timeout(300_000)
let dir: string
let server: Child
let url: string
let token: string
let schema: string

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'signalbox-schema-'))
  const port = await freePort()
  url = loopbackUrl(port)
  const access = await databaseAccess(SECRET)
  token = access.token
  const place = { dir: join(dir, 'db'), port, publicKey: access.publicKey }
  server = spawnChild(libsqlServer(place, { env: {}, logFile: join(dir, 'sqld.log') }))
  await untilAnswers(`${url}/health`, { what: 'sqld', waitMs: 60_000, signal })
  schema = await readFile('schema.sql', 'utf8')
})

afterAll(async () => {
  server.stop()
  await server.ended
  await rm(dir, { recursive: true, force: true })
})

const runScript = (script: string) =>
  libsqlDatabase({ url, authToken: token }, Date.now).write(
    statementsOf(script).map((sql) => statement(sql)),
    signal,
  )

type Args = Record<string, string | number | null>

function argument(value: string | number | null): Cell {
  if (value === null) return { type: 'null' }
  if (typeof value === 'number') return { type: 'integer', value: String(value) }
  return { type: 'text', value }
}

/** Runs statements as one transaction, in one request, as the ledger will. Throws the first error. */
async function batch(statements: { sql: string; args?: Args }[]) {
  const stmt = ({ sql, args = {} }: { sql: string; args?: Args }) => ({
    sql,
    named_args: Object.entries(args)
      .filter(([name]) => sql.match(new RegExp(`:${name}\\b`)))
      .map(([name, value]) => ({ name, value: argument(value) })),
  })
  const chain = [{ sql: 'BEGIN IMMEDIATE' }, ...statements, { sql: 'COMMIT' }]
  const steps = chain.map((statement, index) => ({
    stmt: stmt(statement),
    ...(index > 0 && { condition: { type: 'ok', step: index - 1 } }),
  }))
  const response = await fetch(`${url}/v2/pipeline`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ requests: [{ type: 'batch', batch: { steps } }, { type: 'close' }] }),
  })
  const answer = (await response.json()) as {
    results: [
      {
        response: {
          result: { step_results: (Result | null)[]; step_errors: ({ message: string } | null)[] }
        }
      },
    ]
  }
  const { step_results: results, step_errors: errors } = answer.results[0].response.result
  const failed = errors.find((error) => error !== null)
  if (failed) throw new Error(failed.message)
  return results
    .slice(1, -1)
    .map((result) =>
      (result?.rows ?? []).map((row) =>
        Object.fromEntries(row.map((cell, i) => [result?.cols[i]?.name, cell.value ?? null])),
      ),
    )
}

const query = async (sql: string, args: Args = {}) => (await batch([{ sql, args }]))[0] ?? []

/** A webhook's whole effect: the memory of it, the move, the lifecycle event, and what came of it. */
function webhook(args: Args) {
  const from = args.to === 'Paid' ? `'Pending'` : `'Paid', 'PartiallyRefunded'`
  return [
    {
      args,
      sql: `INSERT INTO payment_webhook_events (id, gateway, event_id, gateway_transaction_id,
          external_reference_id, reference, transaction_id, from_status, to_status, amount, currency,
          mismatch, outcome, raw, occurred_at, received_at)
        SELECT :id, :gateway, :event_id, :gtid, :extref, :reference, t.id, t.status, :to, :amount,
          :currency, :to = 'Paid' AND t.id IS NOT NULL AND (t.amount <> :amount OR t.currency <> :currency),
          CASE WHEN t.id IS NULL THEN 'parked'
            WHEN t.status = :to AND :to <> 'PartiallyRefunded' THEN 'unchanged'
            WHEN t.status NOT IN (${from}) THEN CASE WHEN :to = 'Paid'
              AND t.status IN ('Failed','Cancelled','Expired') THEN 'late_payment' ELSE 'illegal' END
            WHEN :policy = 'reject' AND :to = 'Paid'
              AND (t.amount <> :amount OR t.currency <> :currency) THEN 'rejected'
            ELSE 'applied' END, :raw, :now, :now
        FROM (SELECT 1) LEFT JOIN payment_transactions t ON t.id = COALESCE(
          (SELECT id FROM payment_transactions WHERE gateway = :gateway AND gateway_transaction_id = :gtid),
          (SELECT id FROM payment_transactions WHERE gateway = :gateway AND external_reference_id = :extref),
          (SELECT id FROM payment_transactions WHERE gateway = :gateway AND reference = :reference
            AND gateway_transaction_id IS NULL ORDER BY id DESC LIMIT 1))
        WHERE true ON CONFLICT (gateway, event_id) DO NOTHING`,
    },
    {
      args,
      sql: `UPDATE payment_transactions SET status = :to, updated_at = :now,
          gateway_transaction_id = COALESCE(gateway_transaction_id, :gtid)
        WHERE changes() = 1 AND id = (SELECT transaction_id FROM payment_webhook_events
          WHERE id = :id AND outcome = 'applied')`,
    },
    {
      args,
      sql: `INSERT INTO payment_outbox (id, transaction_id, type, payload, created_at, next_attempt_at)
        SELECT :id, id, 'PaymentSucceeded', json_object('id', id, 'status', status), :now, :now
        FROM payment_transactions WHERE changes() = 1
          AND id = (SELECT transaction_id FROM payment_webhook_events WHERE id = :id)`,
    },
    {
      args,
      sql: `SELECT id = :id AS mine, outcome, mismatch, transaction_id FROM payment_webhook_events
        WHERE gateway = :gateway AND event_id = :event_id`,
    },
  ]
}

const event = (id: string, more: Args): Args => ({
  id,
  gateway: 'shop',
  event_id: id,
  gtid: null,
  extref: null,
  reference: null,
  to: 'Paid',
  amount: 25_000,
  currency: 'IQD',
  policy: 'reject',
  raw: '{}',
  now: 1,
  ...more,
})

const transaction = (id: string, more: Args = {}) => {
  const row: Args = {
    id,
    gateway: 'shop',
    reference: id,
    gateway_transaction_id: null,
    amount: 25_000,
    currency: 'IQD',
    status: 'Pending',
    ...more,
  }
  const names = Object.keys(row)
  const values = names.map((name) => `:${name}`)
  return query(
    `INSERT INTO payment_transactions (${names}, created_at, updated_at) VALUES (${values}, 1, 1)`,
    row,
  )
}

describe('schema.sql', () => {
  it('can run again on a database with rows, and loses nothing', async () => {
    await runScript(schema)
    await transaction('kept')
    await runScript(schema)
    expect(await query('SELECT id FROM payment_transactions')).toEqual([{ id: 'kept' }])
    const tables = await query(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'payment%' ORDER BY name`,
    )
    expect(tables.map(({ name }) => name)).toEqual([
      'payment_alerts',
      'payment_charge_keys',
      'payment_deliveries',
      'payment_ledger',
      'payment_outbox',
      'payment_refunds',
      'payment_schema',
      'payment_transactions',
      'payment_webhook_events',
    ])
  })

  it('is applied completely or not at all: a statement that fails undoes the others', async () => {
    const script = 'CREATE TABLE IF NOT EXISTS half (x);\nCREATE TABLE broken (;'
    await expect(runScript(script)).rejects.toThrow()
    expect(await query(`SELECT name FROM sqlite_master WHERE name = 'half'`)).toEqual([])
  })

  it('lets a batch store events, change payments and fill the outbox, and repeat harmlessly', async () => {
    await transaction('paid', { gateway_transaction_id: 'g-paid' })
    await transaction('wrong', { reference: 'r-wrong' })
    await transaction('late', { status: 'Expired', gateway_transaction_id: 'g-late' })
    const calls = [
      event('e1', { gtid: 'g-paid' }),
      event('e2', { gtid: 'g-new', reference: 'r-wrong', amount: 1 }),
      event('e3', { gtid: 'g-late' }),
      event('e4', { gtid: 'g-unknown' }),
      // Another call for an event that is known: its own id is new.
      event('e5', { gtid: 'g-paid', event_id: 'e1' }),
      event('e6', { gtid: 'g-paid' }),
    ].flatMap(webhook)
    const outcomes = async () =>
      (await batch(calls)).filter((_, i) => i % 4 === 3).map(([row]) => row)
    const first = await outcomes()
    expect(first).toEqual([
      { mine: '1', outcome: 'applied', mismatch: '0', transaction_id: 'paid' },
      { mine: '1', outcome: 'rejected', mismatch: '1', transaction_id: 'wrong' },
      { mine: '1', outcome: 'late_payment', mismatch: '0', transaction_id: 'late' },
      { mine: '1', outcome: 'parked', mismatch: '0', transaction_id: null },
      { mine: '0', outcome: 'applied', mismatch: '0', transaction_id: 'paid' },
      { mine: '1', outcome: 'unchanged', mismatch: '0', transaction_id: 'paid' },
    ])
    expect(await outcomes()).toEqual(first)
    expect(await query('SELECT id, payload FROM payment_outbox')).toEqual([
      { id: 'e1', payload: '{"id":"paid","status":"Paid"}' },
    ])
    const moved = await query('SELECT id, status FROM payment_transactions ORDER BY id')
    expect(moved).toContainEqual({ id: 'paid', status: 'Paid' })
    expect(moved).toContainEqual({ id: 'wrong', status: 'Pending' })
    expect(moved).toContainEqual({ id: 'late', status: 'Expired' })
  })

  it('refuses a second refund of a transaction while one is under way, but not later', async () => {
    await transaction('back', { status: 'Paid' })
    const refund = (id: string) =>
      query(
        `INSERT INTO payment_refunds
          (id, transaction_id, amount, refunded_before, reason, created_at, updated_at)
          VALUES (:id, 'back', 1, 0, 'broken', 1, 1)`,
        { id },
      )
    await refund('f1')
    await expect(refund('f2')).rejects.toThrow(/UNIQUE/)
    await query(`UPDATE payment_refunds SET status = 'succeeded' WHERE id = 'f1'`)
    await refund('f2')
  })

  it.each([
    ['an unknown status', { status: 'paid' }, /CHECK/],
    ['an amount of 0', { amount: 0 }, /CHECK/],
    ['an amount that is text', { amount: 'much' }, /TEXT value in INTEGER/],
    ['the gateway id of another one', { gateway_transaction_id: 'g-twice' }, /UNIQUE/],
  ])('refuses a transaction with %s', async (_, wrong, why) => {
    await query(`DELETE FROM payment_transactions WHERE id IN ('twice', 'bad')`)
    await transaction('twice', { gateway_transaction_id: 'g-twice' })
    await expect(transaction('bad', wrong)).rejects.toThrow(why)
  })
})
