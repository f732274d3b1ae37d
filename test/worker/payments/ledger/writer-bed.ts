// A ledger over SQLite in memory, whose connection a test may break.

import { beforeEach } from 'vitest'
import type { Subscribers } from '../../../../worker/payments/domain/events.ts'
import { createLedger } from '../../../../worker/payments/ledger/create-ledger.ts'
import {
  type Database,
  DatabaseUnreachable,
} from '../../../../worker/payments/ledger/libsql/http-libsql.ts'
import type { Statement } from '../../../../worker/payments/ledger/libsql/statement-libsql.ts'
import { libsqlStore } from '../../../../worker/payments/ledger/libsql/store-libsql.ts'
import { libsqlQueries } from '../../../../worker/payments/queries/queries-libsql.ts'
import { type Clock, hostClock } from '../../../../worker/shared/clock.ts'
import { FakeDispatcher, FakeGuard, LISTENERS } from '../../../contract/ledger-fakes.ts'
import { World } from '../../../contract/ledger-world.ts'
import { type SqliteDatabase, sqliteDatabase } from '../../../support/sqlite-database.ts'

/** Of the current test. */
export let database: SqliteDatabase
/** The names of the logged lines. */
export let logged: string[]

/** For the calling file: both are new for each test. */
export function useWriterBed(): void {
  beforeEach(() => {
    database = sqliteDatabase()
    logged = []
  })
}

export function worldOver(
  connection: Database,
  {
    over = database,
    clock = hostClock,
    subscribers = LISTENERS,
  }: { over?: SqliteDatabase; clock?: Clock; subscribers?: Subscribers } = {},
): World {
  const [guard, dispatcher] = [new FakeGuard(), new FakeDispatcher()]
  const ledger = createLedger({
    ...{
      store: libsqlStore(connection),
      guard,
      subscribers,
      dispatch: dispatcher.dispatch,
    },
    ...{ clock, log: (_, event) => void logged?.push(event) },
  })
  const queries = libsqlQueries(over)
  const close = async () => undefined
  return new World({ ledger, outbox: ledger, queries, close }, { guard, dispatcher })
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
