// The ledger on libSQL when the server is killed.

import { describe, expect, it } from 'vitest'
import { atATime } from '../../../support/at-a-time.ts'
import {
  batches,
  count,
  expectEachPaidOnce,
  ledger,
  libsql,
  useLibsqlLedger,
} from './libsql-bed.ts'
import { insertPending, numbers, paid } from './shop-payments.ts'

useLibsqlLedger()

const expectEachAlertIsOneEvent = async (of: number) => {
  const raised = `FROM payment_outbox WHERE type = 'AlertRaised'`
  expect(await count('FROM payment_alerts')).toBe(of)
  expect(await count(raised)).toBe(of)
  expect(
    await count(`${raised} AND payload ->> '$.alert.id' IN (SELECT id FROM payment_alerts)
      AND EXISTS (SELECT 1 FROM payment_deliveries d WHERE d.outbox_id = payment_outbox.id)`),
  ).toBe(of)
  expect(await count(`FROM (SELECT DISTINCT payload ->> '$.alert.id' ${raised})`)).toBe(of)
}

describe('the ledger on libSQL, when the server dies', () => {
  it('has stored each acknowledged event once, and stores the rest when they are repeated', async () => {
    const total = 600
    await insertPending(libsql, total)
    const acknowledged = new Set<number>()
    // Every third one raises an alert.
    const webhook = (number: number) => paid(number, number % 3 === 0 ? { amount: 20_000 } : {})
    const arrivals = numbers(total).map(webhook)
    const killed = new Promise<void>((resolve) => {
      // The fourth batch is on its way, and most webhooks are still to come.
      batches.onSend = (batch) => {
        if (batch === 3) resolve(libsql.kill())
      }
    })
    const burst = atATime(64, arrivals, async (arrival) => {
      const { outcome } = await ledger.webhook(arrival)
      expect(outcome).toBe('applied')
      acknowledged.add(arrivals.indexOf(arrival))
    })
    await killed
    const known = new Set(acknowledged)
    expect(known.size).toBeGreaterThan(0)
    expect(known.size).toBeLessThan(total)
    await libsql.restart()

    const stored = await libsql.query(`SELECT gateway_transaction_id AS name
      FROM payment_transactions WHERE status = 'Paid'`)
    const names = new Set(stored.map(({ name }) => name))
    for (const number of known) expect(names).toContain(`g-${number}`)

    // The ledger itself repeats those that were under way.
    await burst
    expect(batches.retries).not.toEqual([])
    await expectEachPaidOnce(total)
    await expectEachAlertIsOneEvent(total / 3)

    // The gateway repeats its webhooks, and callers repeat calls whose answer was lost.
    const again = await Promise.all(arrivals.map((_, number) => ledger.webhook(webhook(number))))
    expect(new Set(again.map(({ outcome }) => outcome))).toEqual(new Set(['duplicate']))
    const repeated = await Promise.all(arrivals.map((arrival) => ledger.webhook(arrival)))
    expect(new Set(repeated.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
    await expectEachPaidOnce(total)
    await expectEachAlertIsOneEvent(total / 3)
  })
})
