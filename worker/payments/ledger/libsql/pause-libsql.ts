// Where a database keeps that its payments are paused: in the row that each save compares, so that
// no charge which was decided before a pause is stored after it.

import type { Pause } from '../../acts/working-set.ts'
import type { Database } from './database-libsql.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'

export const PAUSE = 'paused_at, paused_by'

export const pauseIn = ({ paused_at: since, paused_by: by }: Row): Pause | undefined =>
  since == null ? undefined : { since: Number(since), by: String(by) }

export const pauseAs = (pause: Pause | undefined): Statement =>
  statement('UPDATE payment_ledger SET paused_at = :since, paused_by = :by', {
    since: pause?.since ?? null,
    by: pause?.by ?? null,
  })

export const READ_PAUSE = statement(`SELECT ${PAUSE} FROM payment_ledger`)

/** For who has no ledger. */
export async function readPause({ read }: Pick<Database, 'read'>): Promise<Pause | undefined> {
  const [[row = {}] = []] = await read([READ_PAUSE])
  return pauseIn(row)
}
