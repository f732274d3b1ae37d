// Webhook events are forgotten: their rows become keys, and keys may go. No rule depends on either.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { HOUR, T0 } from '../../../support/ledger-setup.ts'
import { sqliteDatabase } from '../../../support/sqlite-database.ts'
import { setupOver } from './memory-ledger.ts'

const DAY = 24 * HOUR

it('an event of which only the key is left is a duplicate, and without a key it changes nothing', async () => {
  const database = sqliteDatabase()
  const w = setupOver(database)
  const late = await w.reached('Failed')
  const event = { status: 'Paid', eventId: 'late', amount: 20_000 } as const
  expect(await w.webhook(late, event)).toMatchObject({ outcome: 'late_payment' })
  const [first, second] = await w.queries.alerts({}, { limit: 9 })
  for (const alert of [first, second]) {
    await w.ledger.acknowledge({
      id: alert?.id ?? '',
      by: 'ada',
      now: T0 + DAY,
      gatewayReference: 'given back by hand',
    })
  }
  expect(await w.ledger.dropOldEvents(T0 + DAY, 10)).toBe(2)
  expect(await w.webhook(late, event)).toMatchObject({ outcome: 'duplicate', pending: [] })
  await w.ledger.dropOldEvents(0, 10, T0 + DAY)
  expect(database.all('SELECT * FROM payment_event_keys')).toEqual([])
  const before = await w.read(late)
  expect(await w.webhook(late, event)).toMatchObject({ outcome: 'late_payment', pending: [] })
  expect(await w.read(late)).toEqual(before)
  expect(await w.alerts()).toEqual([])
  expect(await w.refund(late, { now: T0 + 2 * DAY })).toMatchObject({ state: 'not_refundable' })
})

const STATUSES = ['Paid', 'Failed', 'Cancelled', 'Expired', 'Refunded'] as const
/** An event, anew or again; the alerts are acknowledged; an event is forgotten, if that happens. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ status: fc.constantFrom(...STATUSES), less: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ again: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.constant('acknowledge' as const) },
  { weight: 4, arbitrary: fc.record({ forget: fc.nat(20) }) },
)

it('a world that forgets random events at random times is the one that forgets nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const ends = [await played(steps, true), await played(steps, false)]
      expect(ends[0]).toEqual(ends[1])
    }),
    { numRuns: 60 },
  )
})

async function played(
  steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[],
  forgets: boolean,
) {
  const database = sqliteDatabase()
  const w = setupOver(database)
  const transaction = await w.charged()
  const sent: Parameters<typeof w.webhook>[1][] = []
  for (const [at, each] of steps.entries()) {
    const receivedAt = T0 + 10_000 + at
    if (each === 'acknowledge') {
      for (const { id } of await w.queries.alerts({}, { limit: 9 })) {
        await w.ledger.acknowledge({ id, by: 'ada', now: receivedAt })
      }
    } else if ('forget' in each) {
      const name = `event-${each.forget % Math.max(1, sent.length)}`
      const sql = `DELETE FROM payment_webhook_events WHERE event_id = '${name}'`
      if (forgets) database.exec(sql)
    } else if ('again' in each) {
      const event = sent[each.again % Math.max(1, sent.length)]
      if (event) await w.webhook(transaction, event)
    } else {
      const { status, less } = each
      // One that is early asks the gateway, which has the last word: there is none here.
      if (status === 'Refunded' && !sent.some((event) => event?.status === 'Paid')) continue
      const event = { status, amount: less ? 20_000 : 25_000, receivedAt }
      sent.push({ ...event, eventId: `event-${sent.length}` })
      await w.webhook(transaction, sent.at(-1))
    }
  }
  return {
    payment: database.all(
      'SELECT status, refunded_amount, paid_at, paid_amount, updated_at FROM payment_transactions',
    ),
    alerts: database.all(
      'SELECT kind, detail, acknowledged_at FROM payment_alerts ORDER BY created_at, kind, detail',
    ),
    events: database.all('SELECT type FROM payment_outbox ORDER BY rowid'),
  }
}
