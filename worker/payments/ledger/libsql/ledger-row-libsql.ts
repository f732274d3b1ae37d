// The one row of payment_ledger, which each save compares. It has the shop that the database is of:
// an empty one, or another shop's, must not be taken for it, as its orders could be paid again and
// its webhooks would be parked. And that payments are paused: no charge that was decided before a
// pause is stored after it.

import type { Pause } from '../../acts/act.ts'
import { OtherDatabase } from '../failures.ts'
import type { Database } from './database-libsql.ts'
import { type Row, type Statement, statement } from './statement-libsql.ts'

/** As the database draws it. */
export const INSTALLATION = /^[0-9a-f]{32}$/

/** What stands where an id is expected. `none`: there are no tables of payments. */
export type FoundInstallation = { is: 'none' } | { is: 'old' } | { is: 'made'; id: string }

type Run = (statements: readonly Statement[]) => Promise<Row[][]>

const TABLES = `SELECT name, sql FROM sqlite_master WHERE type = 'table'
  AND name IN ('payment_ledger', 'payment_transactions')`

/** `old`: of a schema that has no id yet; its migration derives one from what is in it. */
export async function readInstallation(run: Run): Promise<FoundInstallation> {
  const [tables = []] = await run([statement(TABLES)])
  if (tables.length === 0) return { is: 'none' }
  const ledger = tables.find(({ name }) => name === 'payment_ledger')
  const isNumbered = String(ledger?.sql).includes('installation')
  if (!isNumbered) return { is: 'old' }
  const [[row] = []] = await run([statement('SELECT installation FROM payment_ledger')])
  return row ? { is: 'made', id: String(row.installation) } : { is: 'none' }
}

/** What is wrong, as a clause. Undefined: nothing is. */
export function otherThan(found: FoundInstallation, expected: string): string | undefined {
  if (found.is === 'none') return `it is empty, and this is the shop ${expected}`
  if (found.is === 'old' || found.id === expected) return undefined
  return `it is that of the shop ${found.id}, and this is ${expected}`
}

export class Installation {
  #expected: string | undefined
  #other: OtherDatabase | undefined

  /** Undefined: any database will do. */
  constructor(expected?: string) {
    this.#expected = expected
  }

  get expected(): string | undefined {
    return this.#expected
  }

  /** From now on it is to be this one. */
  expect(id: string): void {
    this.#expected = id
  }

  /** Takes what was found now. Throws OtherDatabase; `refuseOther` does until it is right again. */
  compare(found: FoundInstallation): void {
    const why = this.#expected === undefined ? undefined : otherThan(found, this.#expected)
    this.#other = why === undefined ? undefined : new OtherDatabase(why)
    this.refuseOther()
  }

  /** Throws OtherDatabase. */
  refuseOther(): void {
    if (this.#other) throw this.#other
  }
}

const COMPARED_EVERY_MS = 60_000

/**
 * For a reader without a ledger beside it, such as a Worker's isolate: looks once a minute.
 * `now` in ms. Rejects with OtherDatabase. A database that cannot be read is found out by the read.
 */
export function comparing(
  installation: Installation,
  { read }: Pick<Database, 'read'>,
  now: () => number,
): () => Promise<void> {
  let comparedAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (installation.expected === undefined) return
    if (now() - comparedAt < COMPARED_EVERY_MS) return installation.refuseOther()
    const found = await readInstallation(read).catch(() => undefined)
    if (!found) return
    comparedAt = now()
    installation.compare(found)
  }
}

export const PAUSE = 'paused_at, paused_by'

export const pauseIn = ({ paused_at: since, paused_by: by }: Row): Pause | undefined =>
  since == null ? undefined : { since: Number(since), by: String(by) }

export const pauseAs = (pause: Pause | undefined): Statement =>
  statement('UPDATE payment_ledger SET paused_at = :since, paused_by = :by', {
    since: pause?.since ?? null,
    by: pause?.by ?? null,
  })

export const READ_PAUSE = statement(`SELECT ${PAUSE} FROM payment_ledger`)

/** For a reader without a ledger. */
export async function readPause({ read }: Pick<Database, 'read'>): Promise<Pause | undefined> {
  const [[row = {}] = []] = await read([READ_PAUSE])
  return pauseIn(row)
}
