// A verified event changes its payment once, as the status graph allows.

import { describe, expect, it } from 'vitest'
import { eventOf, judge, PAYMENT_STATUSES } from '../../worker/payments/domain/status.ts'
import type { On } from './ledger.ts'
import { NOBODY } from './ledger-fakes.ts'
import { iso, T0 } from './ledger-world.ts'

export function webhookContract(on: On): void {
  describe('a webhook', () => {
    it(
      'changes its payment, and stores one event, which is dispatched',
      on(async (w) => {
        const transaction = await w.charged()
        const arrival = w.arrival(transaction, { receivedAt: T0 + 10_000, eventId: 'e-1' })
        const recorded = await w.caused(w.ledger.webhook(arrival))
        expect(recorded).toMatchObject({
          outcome: 'applied',
          isMismatch: false,
          transactionId: transaction.id,
          pending: [
            {
              outboxId: arrival.id,
              type: 'PaymentSucceeded',
              correlationId: 'correlation-2',
              createdAt: T0 + 10_000,
              listeners: { attempts: 0 },
              delivery: { attempts: 0 },
            },
          ],
        })
        const story = await w.story(transaction)
        expect(story.transaction).toMatchObject({ status: 'Paid', updatedAt: iso(T0 + 10_000) })
        expect(story.transaction.paidAt).toBe(iso(T0 + 10_000))
        expect(story.events.map(({ type }) => type)).toEqual([
          'PaymentInitiated',
          'PaymentSucceeded',
        ])
        expect(story.events[1]?.id).toBe(arrival.id)
        expect(story.events[1]?.payload).toEqual({ transaction: story.transaction })
        expect(story.webhookEvents).toEqual([
          {
            id: arrival.id,
            gateway: 'redirect',
            eventId: 'e-1',
            gatewayTransactionId: transaction.gatewayTransactionId,
            reference: 'order-1',
            transactionId: transaction.id,
            fromStatus: 'Pending',
            toStatus: 'Paid',
            amount: 25_000,
            currency: 'IQD',
            isMismatch: false,
            outcome: 'applied',
            raw: { a: ['body', 1, null] },
            correlationId: 'correlation-2',
            occurredAt: iso(T0 + 10_000),
            receivedAt: iso(T0 + 10_000),
          },
        ])
      }),
    )

    it(
      'is recorded once when the ledger is called twice at the same time',
      on(async (w) => {
        const known = await w.charged()
        const parked = await w.pending({ request: { reference: 'order-7' } })
        const unknown = { reference: '', gatewayTransactionId: 'nobody' }
        for (const arrival of [w.arrival(known), w.arrival(parked, unknown)]) {
          const [one, other] = await Promise.all([
            w.ledger.webhook(arrival),
            w.ledger.webhook(structuredClone(arrival)),
          ])
          expect(one).toEqual(other)
          expect(await w.ledger.webhook(arrival)).toEqual(one)
        }
        expect(await w.eventsOf(known)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
        expect((await w.story(known)).webhookEvents).toHaveLength(1)
        const left = await w.queries.webhookEvents({ outcome: 'parked' }, { limit: 9 })
        expect(left).toHaveLength(1)
      }),
    )

    it(
      'stores its event with the payment as it was then, though the payment changes later',
      on(async (w) => {
        const transaction = await w.reached('Refunded')
        const [, succeeded, refunded] = (await w.story(transaction)).events
        expect(succeeded?.payload).toMatchObject({ transaction: { status: 'Paid' } })
        expect(refunded?.payload).toMatchObject({
          transaction: { status: 'Refunded', refundedAmount: 25_000 },
        })
      }),
    )

    it(
      'is a duplicate when it comes again, and changes nothing',
      on(async (w) => {
        const transaction = await w.charged()
        await w.webhook(transaction, { eventId: 'e-1' })
        const before = await w.story(transaction)
        const again = await w.webhook(transaction, { eventId: 'e-1', status: 'Refunded' })
        expect(again).toMatchObject({ outcome: 'duplicate', pending: [] })
        expect(await w.story(transaction)).toEqual(before)
      }),
    )

    it(
      'gets the same answer when its call is repeated, and changes nothing twice',
      on(async (w) => {
        const transaction = await w.charged()
        for (const wish of [
          { status: 'Paid', amount: 1 },
          { status: 'Paid' },
          { status: 'Failed' },
          { status: 'PartiallyRefunded', amount: 9 },
          { gatewayTransactionId: 'nobody', reference: 'nothing' },
        ] as const) {
          const arrival = w.arrival(transaction, wish)
          const first = await w.ledger.webhook(arrival)
          const before = await w.story(transaction)
          const alerts = await w.alerts()
          expect(await w.ledger.webhook(arrival)).toEqual(first)
          expect(await w.story(transaction)).toEqual(before)
          expect(await w.alerts()).toEqual(alerts)
        }
      }),
    )

    it(
      'with the same event id from two gateways is two events',
      on(async (w) => {
        const one = await w.charged()
        const other = await w.charged({ request: { gateway: 'fib' } })
        expect((await w.webhook(one, { eventId: 'e-1' })).outcome).toBe('applied')
        expect((await w.webhook(other, { eventId: 'e-1' })).outcome).toBe('applied')
      }),
    )

    it(
      'that comes fifty times at once changes its payment once, with one event',
      on(async (w) => {
        const transaction = await w.charged()
        const deliveries = Array.from({ length: 50 }, () =>
          w.arrival(transaction, { eventId: 'e-1' }),
        )
        const all = await Promise.all(deliveries.map((each) => w.ledger.webhook(each)))
        const outcomes = all.map(({ outcome }) => outcome)
        expect(outcomes.filter((outcome) => outcome === 'applied')).toHaveLength(1)
        expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(49)
        expect(w.dispatcher.take()).toHaveLength(1)
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
        expect((await w.story(transaction)).webhookEvents).toHaveLength(1)
      }),
    )

    it(
      'is recorded for each of forty payments at once',
      on(async (w) => {
        const references = Array.from({ length: 40 }, (_, n) => `order-${n}`)
        const charged = await Promise.all(
          references.map((reference) => w.charged({ request: { reference } })),
        )
        const all = await Promise.all(charged.map((each) => w.webhook(each)))
        expect(new Set(all.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
        expect(new Set(all.map(({ transactionId }) => transactionId)).size).toBe(40)
        const paid = await w.queries.transactions({ status: 'Paid' }, { limit: 100 })
        expect(paid).toHaveLength(40)
      }),
    )
  })

  describe('the status graph', () => {
    for (const from of PAYMENT_STATUSES) {
      it(
        `allows changes from ${from} to its next statuses only`,
        on(async (w) => {
          for (const to of PAYMENT_STATUSES) {
            const transaction = await w.reached(from, { request: { reference: `to ${to}` } })
            const before = await w.eventsOf(transaction)
            const amount = to === 'PartiallyRefunded' ? 6_000 : transaction.amount
            const { outcome, pending } = await w.webhook(transaction, { status: to, amount })
            const verdict = judge(from, to)
            expect([to, outcome]).toEqual([to, verdict])
            const isChange = verdict === 'applied' && from !== to && to !== 'Pending'
            expect(await w.eventsOf(transaction)).toEqual(
              isChange ? [...before, eventOf(to)] : before,
            )
            expect(pending).toHaveLength(isChange ? 1 : 0)
            const { alert, ...after } = await w.read(transaction)
            expect(alert?.kind).toBe(verdict === 'late_payment' ? verdict : undefined)
            if (verdict === 'applied') expect(after.status).toBe(to)
            else expect(after).toEqual(transaction)
          }
        }),
      )
    }
  })

  it(
    'stores the event of a change as done if there are no subscribers',
    on(async (w) => {
      const transaction = await w.charged()
      expect((await w.webhook(transaction)).pending).toEqual([])
      const { events } = await w.story(transaction)
      expect(events).toHaveLength(2)
      for (const event of events) {
        expect(event.listenersDoneAt).toBeDefined()
        expect(event.deliveries).toEqual([])
      }
      expect(await w.outbox.claimPending({ now: T0 + 9e9, limit: 9 })).toEqual([])
    }, NOBODY),
  )
}
