// Old events are dropped, and only their keys stay, so that none is applied twice. Payers are
// forgotten by `forget-libsql.ts`.

import { SCHEMA_VERSION } from '../../domain/rows.ts'
import { type Database, reachable } from './database-libsql.ts'
import { SCHEMA } from './schema-version-libsql.ts'
import { statement } from './statement-libsql.ts'

/** As long as the group commit gives one of its groups. */
const DROP_WITHIN_MS = 6_000

/** A parked event may be a payer's money: it stays until its payment appears. */
const OLD = `FROM payment_webhook_events WHERE received_at < :before AND outcome <> 'parked'
  AND ${SCHEMA} = ${SCHEMA_VERSION} ORDER BY received_at, id LIMIT :limit`

const KEEP_KEYS = `INSERT INTO payment_event_keys (gateway, event_id, received_at)
  SELECT gateway, event_id, received_at ${OLD}`

const DROP = `DELETE FROM payment_webhook_events WHERE id IN (SELECT id ${OLD}) RETURNING id`

/** They came in the order of their age: without an index, and without reading all of them. */
const DROP_KEYS = `DELETE FROM payment_event_keys WHERE received_at < :keysBefore
  AND ${SCHEMA} = ${SCHEMA_VERSION}
  AND rowid IN (SELECT rowid FROM payment_event_keys ORDER BY rowid LIMIT :limit)`

/**
 * Leaves the bare keys of settled webhook events that are older, and deletes keys of before
 * `keysBefore`; answers how many events, `limit` of each at most.
 */
export async function dropOldEvents(
  database: Database,
  before: number,
  limit: number,
  keysBefore: number | undefined,
): Promise<number> {
  const signal = AbortSignal.timeout(DROP_WITHIN_MS)
  const statements = [
    statement(KEEP_KEYS, { before, limit }),
    statement(DROP, { before, limit }),
    ...(keysBefore === undefined ? [] : [statement(DROP_KEYS, { keysBefore, limit })]),
  ]
  const [, rows = []] = await reachable(database.write(statements, signal))
  return rows.length
}
