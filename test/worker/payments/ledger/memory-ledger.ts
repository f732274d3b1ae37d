// A ledger over SQLite in memory, whose connection a test may break.

import { beforeEach } from 'vitest'
import type { Subscribers } from '../../../../worker/payments/acts/act.ts'
import { type Ledger, openLedger } from '../../../../worker/payments/ledger/ledger.ts'
import {
  type Database,
  DatabaseUnreachable,
} from '../../../../worker/payments/ledger/libsql/database-libsql.ts'
import type { Statement } from '../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import {
  answersOf,
  type LedgerApi,
  type LedgerNamespace,
  objectLedger,
} from '../../../../worker/payments/ledger/rpc.ts'
import { libsqlQueries } from '../../../../worker/payments/queries/queries-libsql.ts'
import { type Clock, hostClock } from '../../../../worker/shared/clock.ts'
import type { Log } from '../../../../worker/shared/log.ts'
import { RULES } from '../../../support/acts.ts'
import { BOTH, FakeDeliverer, LISTENERS } from '../../../support/ledger-fakes.ts'
import { LedgerSetup } from '../../../support/ledger-setup.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../../support/sqlite-database.ts'

/** That of the current test. */
export let database: SqliteDatabase
/** The names of the lines that a setup over a broken connection has logged. */
export let logged: string[]

/** For the calling file: both are new for each test. */
export function useMemoryLedger(): void {
  beforeEach(() => {
    database = sqliteDatabase()
    logged = []
  })
}

export function setupOver(
  connection: Database,
  { clock = hostClock, subscribers = LISTENERS }: { clock?: Clock; subscribers?: Subscribers } = {},
): LedgerSetup {
  const deliverer = new FakeDeliverer()
  const { deliver } = deliverer
  const log: Log = (level, event) => void (level === 'debug' || logged?.push(event))
  const ledger = openLedger({
    database: connection,
    rules: RULES,
    subscribers,
    deliver,
    clock,
    log,
  })
  const queries = libsqlQueries(connection)
  return new LedgerSetup({ ledger, outbox: ledger, queries }, deliverer)
}

/** A save is sent again without a pause. */
export const impatient: Clock = {
  ...hostClock,
  after: (ms, call) => hostClock.after(ms <= 2_000 ? 0 : ms, call),
}

/**
 * What no caller may notice: the ledger is in an object, so all is copied that passes, and another
 * ledger writes, so every second save is refused and decided again.
 */
export function rivalledSetup(
  subscribers: Subscribers = BOTH,
  database = sqliteDatabase(),
): LedgerSetup {
  let isRefused = true
  const rivalled: Database = {
    ...database,
    async write(statements, signal) {
      if (isRefused) database.exec('UPDATE payment_ledger SET batch = batch + 1')
      isRefused = !isRefused
      return await database.write(statements, signal)
    },
  }
  const deliverer = new FakeDeliverer()
  const { deliver } = deliverer
  const lines: LedgerSetup['logged'] = []
  const log: Log = (level, event, fields) => {
    if (level !== 'debug' && event !== 'payments.ledger.retry') lines.push([event, fields, level])
  }
  const ledger = openLedger({
    database: rivalled,
    rules: RULES,
    subscribers,
    deliver,
    clock: impatient,
    log,
  })
  const open = () => ledger as Ledger as LedgerApi
  const object: LedgerNamespace = {
    getByName: () => ({ call: answersOf(open, log) }),
  }
  const behind = objectLedger({ namespace: object, name: 'main', clock: hostClock })
  const queries = libsqlQueries(database)
  return new LedgerSetup({ ledger: behind, outbox: ledger, queries }, deliverer, { logged: lines })
}

const never = new AbortController().signal
/** Holds the next save back. To the ledger it looks like one whose answer was lost. */
export function holding() {
  let held: readonly Statement[] | undefined
  let holds = false
  return {
    database: {
      ...database,
      async write(statements: readonly Statement[], signal: AbortSignal) {
        if (!holds) return await database.write(statements, signal)
        holds = false
        held = statements
        throw new DatabaseUnreachable('no answer')
      },
    },
    hold: () => {
      holds = true
    },
    land: () => database.write(held ?? [], never),
    /** Without its first statement, which compares the batch number. */
    landUncompared: () => database.write(held?.slice(1) ?? [], never),
  }
}
