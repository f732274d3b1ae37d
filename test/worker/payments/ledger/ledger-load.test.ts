// The ledger on libSQL with many calls at the same time, and when its server is killed.

import { describe, expect, it } from 'vitest'
import { openLedger } from '../../../../worker/payments/ledger/ledger.ts'
import { hostClock } from '../../../../worker/shared/clock.ts'
import { RULES } from '../../../support/acts.ts'
import { atATime } from '../../../support/at-a-time.ts'
import { LISTENERS } from '../../../support/ledger-fakes.ts'
import {
  batches,
  count,
  deliverer,
  expectEachPaidOnce,
  ledger,
  libsql,
  useLibsqlLedger,
} from './libsql-setup.ts'
import { insertPending, nextId, numbers, paid } from './shop-payments.ts'

useLibsqlLedger()

describe('the ledger on libSQL', () => {
  it('changes a payment once, with one event, for 50 identical webhooks at once', async () => {
    await insertPending(libsql, 1)
    const all = await Promise.all(numbers(50).map(() => ledger.webhook(paid(0))))
    expect(all.filter(({ outcome }) => outcome === 'applied')).toHaveLength(1)
    expect(all.filter(({ outcome }) => outcome === 'duplicate')).toHaveLength(49)
    expect(deliverer.take()).toHaveLength(1)
    await expectEachPaidOnce(1)
  })

  it('stores a repeated call once, also while it is under way', async () => {
    await insertPending(libsql, 2)
    const [first, second] = [paid(0), paid(1)]
    const together = [first, second, first, structuredClone(first)]
    const answers = await Promise.all(together.map((arrival) => ledger.webhook(arrival)))
    expect(answers.map(({ transactionId }) => transactionId)).toEqual(['t-0', 't-1', 't-0', 't-0'])
    expect(await ledger.webhook(first)).toEqual(answers[0])
    const refused = { ...paid(0), payload: { ...paid(0).payload, amount: 0.5 } }
    for (let n = 0; n < 2; n++) await expect(ledger.webhook(refused)).rejects.toThrow(RangeError)
    await expectEachPaidOnce(2)
  })

  it('dispatches the event of a parked webhook once, if two sweeps find it', async () => {
    await ledger.webhook(paid(0))
    await insertPending(libsql, 1)
    const now = Date.now()
    const { load, read, write } = libsql.database
    const slow = openLedger({
      database: {
        read,
        write,
        async load(statements, signal) {
          const rows = await load(statements, signal)
          await ledger.applyParked({ now, limit: 9 })
          return rows
        },
      },
      rules: RULES,
      subscribers: LISTENERS,
      deliver: deliverer.deliver,
      clock: hostClock,
      log: () => undefined,
    })
    await slow.applyParked({ now: now + 1, limit: 9 })
    expect(deliverer.take()).toMatchObject([{ type: 'PaymentSucceeded' }])
    await expectEachPaidOnce(1)
  })

  it('stores 1,000 different webhooks, 64 at a time', async () => {
    await insertPending(libsql, 1_000)
    const outcomes: string[] = []
    await atATime(64, numbers(1_000), async (number) => {
      outcomes.push((await ledger.webhook(paid(number))).outcome)
    })
    expect(new Set(outcomes)).toEqual(new Set(['applied']))
    await expectEachPaidOnce(1_000)
    // Each batch was decided on what the one before it had stored. A busy server may be slow.
    expect(batches.retries.filter((why) => !/DeadlineExceeded|TIMEOUT/.test(why))).toEqual([])
  })

  it.each([
    ['beyond 2^53', 2 ** 60],
    ['with a fraction', 1.5],
    ['that is not a number', Number.NaN],
  ])('rejects only the event with an amount %s, and stores 63 others', async (_, amount) => {
    await insertPending(libsql, 64)
    const all = await Promise.allSettled(
      numbers(64).map((number) => ledger.webhook(paid(number, number === 40 ? { amount } : {}))),
    )
    const failed = all.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []))
    expect(failed).toEqual([40])
    await expectEachPaidOnce(63)
  })

  it.each([
    ['the client refuses', 2 ** 60],
    ['the server refuses', 1.5],
  ])('rejects only the charge that %s, and stores the events beside it', async (_, amount) => {
    await insertPending(libsql, 63)
    const poison = ledger.beginCharge({
      id: nextId(),
      request: { gateway: 'shop', reference: 'p', amount, currency: 'IQD', description: 'x' },
      requestHash: 'x',
      chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
      now: 1,
      until: 2,
      mayCall: true,
    })
    const events = numbers(63).map((number) => ledger.webhook(paid(number)))
    const [charge, ...others] = await Promise.allSettled([poison, ...events])
    expect(charge?.status).toBe('rejected')
    expect(others.every(({ status }) => status === 'fulfilled')).toBe(true)
    await expectEachPaidOnce(63)
  })

  it('applies events that arrive together one after the other', async () => {
    await insertPending(libsql, 1)
    const all = await Promise.all([
      ledger.webhook(paid(0)),
      ledger.webhook(paid(0, { status: 'PartiallyRefunded', amount: 1_000, eventId: 'e-part' })),
      ledger.webhook(paid(0, { status: 'PartiallyRefunded', amount: 9_000, eventId: 'e-more' })),
      ledger.webhook(paid(0, { status: 'Failed', eventId: 'e-failed' })),
      ledger.webhook(paid(0, { status: 'Refunded', eventId: 'e-all' })),
      ledger.webhook(paid(0, { status: 'Refunded', eventId: 'e-all' })),
    ])
    expect(all.map(({ outcome }) => outcome)).toEqual([
      'applied',
      'applied',
      'applied',
      'illegal',
      'applied',
      'duplicate',
    ])
    const types = deliverer.take().map(({ type }) => type)
    expect(types).toEqual([
      'PaymentSucceeded',
      'PaymentRefunded',
      'RefundAmountChanged',
      'PaymentRefunded',
    ])
  })

  it('stores text that is not valid Unicode', async () => {
    await ledger.webhook(
      paid(0, { raw: { half: '\ud83d\u0000' }, reference: '\udc00 "\u0000" \'' }),
    )
    const [event] = await libsql.query('SELECT raw, reference FROM payment_webhook_events')
    expect(event).toMatchObject({ raw: '{"half":"\\ud83d\\u0000"}' })
  })
})

describe('a charge whose answer has the id of another payment', () => {
  it('is stored without that id and its page, and raises an alert', async () => {
    await insertPending(libsql, 1)
    const request = { gateway: 'shop', reference: 'r', amount: 1, currency: 'IQD', description: '' }
    const transactionId = nextId()
    const start = {
      id: transactionId,
      request,
      requestHash: 'h',
      chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
    }
    await ledger.beginCharge({ ...start, now: 1, until: 2, mayCall: true })
    const answer = {
      status: 'Pending',
      gateway: 'shop',
      reference: 'r',
      transactionId,
      gatewayTransactionId: 'g-0',
      redirectUrl: 'https://pay.example/1',
    } as const
    const transaction = await ledger.finishCharge({
      transactionId,
      eventId: nextId(),
      now: 2,
      result: { kind: 'answered', answer, nextCheckAt: 3 },
    })
    expect(transaction).toMatchObject({ redirect_url: null, gateway_transaction_id: null })
    const alerts = await libsql.query('SELECT kind, transaction_id FROM payment_alerts')
    expect(alerts).toEqual([{ kind: 'id_mismatch', transaction_id: transactionId }])
  })
})

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
        if (batch === 3) resolve(libsql.process.kill())
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
    await libsql.process.start()

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
