// A ledger over libSQL's own server, with counters for tests of load and faults.

import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { type LibsqlServer, startLibsql } from '../../../../tools/harness/database.ts'
import type { Ledger } from '../../../../worker/payments/ledger/ledger.ts'
import { openLedger } from '../../../../worker/payments/ledger/ledger.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { RULES } from '../../../support/acts.ts'
import { ALERTED, FakeDeliverer } from '../../../support/ledger-fakes.ts'
import { wipe } from '../../../support/libsql-server.ts'

export let libsql: LibsqlServer
export let ledger: Ledger
export let deliverer: FakeDeliverer

interface Batches {
  /** Why the ledger had to send batches again. */
  retries: string[]
  /** Called while a batch is on its way, with the number of batches before it. */
  onSend: (batch: number) => void
}
export let batches: Batches

/** One server for the calling file; tables and ledger are new for each test. */
export function useLibsqlLedger(): void {
  beforeAll(async () => {
    libsql = await startLibsql()
  })
  afterAll(() => libsql.close())
  beforeEach(async () => {
    await wipe(libsql)
    deliverer = new FakeDeliverer()
    const current: Batches = { retries: [], onSend: () => undefined }
    batches = current
    let sent = 0
    const { load, read, write } = libsql.database
    ledger = openLedger({
      database: {
        load,
        read,
        write(statements, signal) {
          const written = write(statements, signal)
          current.onSend(sent++)
          return written
        },
      },
      rules: RULES,
      subscribers: ALERTED,
      deliver: deliverer.deliver,
      clock: hostClock,
      // The ledger logs a line for each batch that it sends again.
      log: (level, event, { error }) => {
        if (level !== 'debug') current.retries.push(`${event}: ${error}`)
      },
    })
  })
}

export const count = async (sql: string) =>
  Number((await libsql.query(`SELECT count(*) AS n ${sql}`))[0]?.n)

export const expectEachPaidOnce = async (of: number) => {
  expect(await count(`FROM payment_transactions WHERE status = 'Paid'`)).toBe(of)
  expect(await count(`FROM payment_webhook_events WHERE outcome = 'applied'`)).toBe(of)
  expect(await count('FROM payment_webhook_events')).toBe(of)
  expect(await count(`FROM payment_outbox WHERE type = 'PaymentSucceeded'`)).toBe(of)
  expect(await count('FROM (SELECT DISTINCT transaction_id FROM payment_outbox)')).toBe(of)
}
