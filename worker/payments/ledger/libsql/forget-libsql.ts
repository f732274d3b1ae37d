// Forgets who paid: deletes what may name a payer, in payments that are settled. Sums and statuses
// stay, the shop's references, and the names of webhooks, so that none is applied twice.

import { encodeTime } from 'ulid'
import { backoffMs, type Clock, pause } from '../../../shared/clock.ts'
import { type Database, isTransient } from './database-libsql.ts'
import { type Statement, statement, type Value } from './statement-libsql.ts'
import { advance } from './store-libsql.ts'

/** Payments whose last change was before a time in ms, or all of an order. */
export type Payers = { before: number } | { reference: string }

const which = (payers: Payers): string =>
  'before' in payers ? 't.updated_at < :before' : 't.reference = :reference'

/** Nothing of it is left to do: no gateway, no person and no subscriber needs what is deleted. */
const SETTLED = `t.status <> 'Pending' AND t.next_check_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM payment_refunds r
    WHERE r.transaction_id = t.id AND r.status IN ('claimed', 'accepted'))
  AND NOT EXISTS (SELECT 1 FROM payment_alerts a
    WHERE a.transaction_id = t.id AND a.acknowledged_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM payment_outbox o LEFT JOIN payment_deliveries d
    ON d.outbox_id = o.id AND d.status = 'pending'
    WHERE o.transaction_id = t.id AND (o.done_at IS NULL OR d.id IS NOT NULL))`

/** There is something to forget. A webhook may have come since the last time. */
const KNOWN = `(t.description IS NOT NULL OR EXISTS (SELECT 1 FROM payment_webhook_events e
    WHERE e.transaction_id = t.id AND e.raw IS NOT NULL)
  OR EXISTS (SELECT 1 FROM payment_notes n WHERE n.transaction_id = t.id))`

/** All payments may have to be looked at. */
const inTime = () => AbortSignal.timeout(60_000)

/** How many payments would be forgotten, and how many are not settled and would stay. */
export async function countPayers(
  { load }: Database,
  payers: Payers,
): Promise<{ settled: number; open: number }> {
  const sql = `SELECT COUNT(*) AS known, COALESCE(SUM(${SETTLED}), 0) AS settled
    FROM payment_transactions t WHERE ${which(payers)} AND ${KNOWN}`
  const [[{ known, settled } = {}] = []] = await load([statement(sql, payers)], inTime())
  return { settled: Number(settled), open: Number(known) - Number(settled) }
}

/**
 * As long as a ledger may be kept waiting. It compares the number of saves with what it has loaded:
 * raising it makes a ledger load again what has changed here, and no other save can come between.
 */
const PAYMENTS_AT_ONCE = 200
const WRITE_WITHIN_MS = 6_000
const ADVANCE = advance('true')

/** For the story of each payment. Its id begins with the time, and ends as the payment's. */
const RECORD = `INSERT INTO payment_audit (id, at, action, subject, transaction_id)
  SELECT :time || substr(t.id, 11), :now, 'forget', :by, t.id FROM payment_transactions t`

const FORGET = `UPDATE payment_transactions AS t SET description = NULL, metadata = NULL,
  request = NULL, redirect_url = NULL, charge_answer = NULL`

/** The reference stays, which is the first line. */
const FORGET_TEXT = `UPDATE payment_search
  SET text = substr(text, 1, instr(substr(text, 2), char(10)) + 1)`

const OF_PAYMENTS = [
  'DELETE FROM payment_notes',
  'UPDATE payment_webhook_events SET raw = NULL',
  "UPDATE payment_refunds SET reason = ''",
  `UPDATE payment_outbox SET payload = json_remove(payload, '$.gateway', '$.request',
    '$.transaction.description', '$.transaction.metadata', '$.transaction.redirectUrl')`,
]

const RETRY = { firstMs: 50, maxMs: 1_000 }
const MAX_FAILURES = 20

/**
 * Answers how many payments were forgotten. What was done before a failure stays done. `by`: the
 * subject, for the audit trail.
 */
export async function forgetPayers(
  { load, write }: Database,
  payers: Payers,
  { by, clock }: { by: string; clock: Clock },
): Promise<number> {
  const now = clock.now()
  const args = { ...payers, by, now, time: encodeTime(now, 10) }
  let forgotten = 0
  let after = ''
  for (let failures = 0; ; ) {
    const [[{ upto } = {}] = []] = await load([partAfter(after, payers)], inTime())
    if (upto == null) return forgotten
    try {
      const statements = forgetting(payers, { ...args, after, upto })
      const [, , ids = []] = await write(statements, AbortSignal.timeout(WRITE_WITHIN_MS))
      forgotten += ids.length
      after = String(upto)
      failures = 0
    } catch (error) {
      if (!isTransient(error) || ++failures > MAX_FAILURES) throw error
      await pause(clock, backoffMs(failures, RETRY, clock.random()))
    }
  }
}

const partAfter = (after: string, payers: Payers): Statement =>
  statement(
    `SELECT MAX(id) AS upto FROM (SELECT t.id FROM payment_transactions t
      WHERE t.id > :after AND ${which(payers)} AND ${KNOWN} AND ${SETTLED}
      ORDER BY t.id LIMIT ${PAYMENTS_AT_ONCE})`,
    { ...payers, after },
  )

/** The third one answers the ids: after it, it cannot be read which payments had a payer. */
function forgetting(payers: Payers, args: Readonly<Record<string, Value>>): Statement[] {
  const part = `t.id > :after AND t.id <= :upto AND ${which(payers)} AND ${SETTLED}`
  const ids = `SELECT t.id FROM payment_transactions t WHERE ${part}`
  return [
    ADVANCE,
    `${RECORD} WHERE ${part} AND ${KNOWN}`,
    `${FORGET} WHERE ${part} AND ${KNOWN} RETURNING id`,
    `${FORGET_TEXT} WHERE n IN (SELECT t.rowid FROM payment_transactions t WHERE ${part})`,
    ...OF_PAYMENTS.map((sql) => `${sql} WHERE transaction_id IN (${ids})`),
  ].map((sql) => statement(sql, args))
}
