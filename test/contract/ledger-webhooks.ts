// What the ledger does with verified events: once, to the right payment, along the graph.

import { describe, expect, it } from 'vitest'
import { eventOf, judge, PAYMENT_STATUSES } from '../../worker/payments/domain/status.ts'
import type { On } from './ledger.ts'
import { HOUR, iso, MINUTE, NOBODY, T0 } from './ledger-world.ts'

export function webhookContract(on: On): void {
  describe('a webhook', () => {
    it(
      'moves its payment and stores one event, which is dispatched',
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
      'that is called twice at the same time, because an answer was late, is recorded once',
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
      'tells the event with the payment as it was at the move, though the payment moves on',
      on(async (w) => {
        const transaction = await w.came('Refunded')
        const [, succeeded, refunded] = (await w.story(transaction)).events
        expect(succeeded?.payload).toMatchObject({ transaction: { status: 'Paid' } })
        expect(refunded?.payload).toMatchObject({
          transaction: { status: 'Refunded', refundedAmount: 25_000 },
        })
      }),
    )

    it(
      'is a duplicate under another id, and nothing happens',
      on(async (w) => {
        const transaction = await w.charged()
        await w.tell(transaction, { eventId: 'e-1' })
        const before = await w.story(transaction)
        const again = await w.tell(transaction, { eventId: 'e-1', status: 'Refunded' })
        expect(again).toMatchObject({ outcome: 'duplicate', pending: [] })
        expect(await w.story(transaction)).toEqual(before)
      }),
    )

    it(
      'answers as the first time when the same call is repeated, and moves nothing twice',
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
      'told under the same event id by two gateways is two events',
      on(async (w) => {
        const one = await w.charged()
        const other = await w.charged({ request: { gateway: 'fib' } })
        expect((await w.tell(one, { eventId: 'e-1' })).outcome).toBe('applied')
        expect((await w.tell(other, { eventId: 'e-1' })).outcome).toBe('applied')
      }),
    )

    it(
      'that comes fifty times at once moves once and tells once',
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
      'of one event each, for many payments at once, all land',
      on(async (w) => {
        const references = Array.from({ length: 40 }, (_, n) => `order-${n}`)
        const charged = await Promise.all(
          references.map((reference) => w.charged({ request: { reference } })),
        )
        const all = await Promise.all(charged.map((each) => w.tell(each)))
        expect(new Set(all.map(({ outcome }) => outcome))).toEqual(new Set(['applied']))
        expect(new Set(all.map(({ transactionId }) => transactionId)).size).toBe(40)
        const paid = await w.queries.transactions({ status: 'Paid' }, { limit: 100 })
        expect(paid).toHaveLength(40)
      }),
    )
  })

  describe('the graph, as the ledger keeps it', () => {
    for (const from of PAYMENT_STATUSES) {
      it(
        `lets ${from} go where the graph lets it, and nowhere else`,
        on(async (w) => {
          for (const to of PAYMENT_STATUSES) {
            const transaction = await w.came(from, { request: { reference: `to ${to}` } })
            const told = await w.eventsOf(transaction)
            const amount = to === 'PartiallyRefunded' ? 6_000 : transaction.amount
            const { outcome, pending } = await w.tell(transaction, { status: to, amount })
            const verdict = judge(from, to)
            expect([to, outcome]).toEqual([to, verdict])
            const isMove = verdict === 'applied' && from !== to && to !== 'Pending'
            expect(await w.eventsOf(transaction)).toEqual(isMove ? [...told, eventOf(to)] : told)
            expect(pending).toHaveLength(isMove ? 1 : 0)
            const after = await w.read(transaction)
            if (verdict === 'applied') expect(after.status).toBe(to)
            else expect(after).toEqual(transaction)
          }
        }),
      )
    }
  })

  describe('a webhook’s payment', () => {
    it(
      'is found by the gateway’s id before any other name',
      on(async (w) => {
        const one = await w.charged({ request: { reference: 'order-1' } })
        const other = await w.charged({ request: { reference: 'order-2' } })
        const recorded = await w.tell(other, {
          reference: 'order-1',
          externalReferenceId: one.externalReferenceId,
        })
        expect(recorded.transactionId).toBe(other.id)
      }),
    )

    it(
      'is found by the external reference before the order, and takes the gateway’s id',
      on(async (w) => {
        const one = await w.pending({ request: { reference: 'order-1' } })
        const other = await w.pending({ request: { reference: 'order-2' } })
        const recorded = await w.tell(other, {
          gatewayTransactionId: 'gateway-9',
          reference: 'order-1',
          externalReferenceId: other.externalReferenceId,
        })
        expect(recorded.transactionId).toBe(other.id)
        expect((await w.read(other)).gatewayTransactionId).toBe('gateway-9')
        expect((await w.read(one)).status).toBe('Pending')
      }),
    )

    it(
      'is found by its order as the newest that has no gateway’s id yet',
      on(async (w) => {
        const first = await w.pending()
        await w.finish(first, { kind: 'refused', error: { code: 'declined', message: 'No.' } })
        const second = await w.pending()
        const recorded = await w.tell(second, { gatewayTransactionId: 'gateway-9' })
        expect(recorded).toMatchObject({ outcome: 'applied', transactionId: second.id })
      }),
    )

    it(
      'is not found by its order once it has another gateway’s id',
      on(async (w) => {
        const transaction = await w.charged()
        const recorded = await w.tell(transaction, { gatewayTransactionId: 'gateway-9' })
        expect(recorded).toMatchObject({ outcome: 'parked', pending: [] })
        expect(recorded.transactionId).toBeUndefined()
      }),
    )

    it(
      'is never found across gateways',
      on(async (w) => {
        const transaction = await w.charged()
        const { externalReferenceId } = transaction
        const recorded = await w.tell(transaction, { gateway: 'fib', externalReferenceId })
        expect(recorded.outcome).toBe('parked')
        expect((await w.read(transaction)).status).toBe('Pending')
      }),
    )

    it(
      'is not one without a name because the event has none',
      on(async (w) => {
        const transaction = await w.pending()
        const nameless = { gatewayTransactionId: 'gateway-9', reference: '' }
        expect((await w.tell(transaction, nameless)).outcome).toBe('parked')
        expect((await w.read(transaction)).status).toBe('Pending')
      }),
    )
  })

  describe('an event’s amount', () => {
    for (const wish of [{ amount: 24_999 }, { amount: 0 }, { currency: 'USD' }] as const) {
      const name = JSON.stringify(wish)
      it(
        `that is another (${name}) is applied where it is only logged, and raises an alert`,
        on(async (w) => {
          const transaction = await w.charged()
          const recorded = await w.tell(transaction, wish)
          expect(recorded).toMatchObject({ outcome: 'applied', isMismatch: true })
          expect(recorded.pending).toHaveLength(1)
          expect(await w.read(transaction)).toMatchObject({ status: 'Paid', amount: 25_000 })
          expect(await w.alerts()).toEqual(['amount_mismatch'])
          const [alert] = await w.queries.alerts({}, { limit: 9 })
          expect(alert?.detail).toEqual({
            reference: 'order-1',
            eventId: expect.any(String),
            ...{ amount: 25_000, currency: 'IQD', ...wish },
            ...{ expectedAmount: 25_000, expectedCurrency: 'IQD' },
          })
        }),
      )

      it(
        `that is another (${name}) moves nothing where it is rejected, and raises an alert`,
        on(async (w) => {
          const transaction = await w.charged()
          const arrival = w.arrival(transaction, { ...wish, onMismatch: 'reject' })
          const recorded = await w.caused(w.ledger.webhook(arrival))
          expect(recorded).toMatchObject({ outcome: 'rejected', isMismatch: true, pending: [] })
          expect(await w.read(transaction)).toEqual(transaction)
          expect(await w.alerts()).toEqual(['amount_mismatch'])
          const again = { ...arrival, id: w.id() }
          expect((await w.ledger.webhook(again)).outcome).toBe('duplicate')
        }),
      )
    }

    it(
      'is compared for Paid alone',
      on(async (w) => {
        const transaction = await w.charged()
        const wish = { status: 'Failed', amount: 0, onMismatch: 'reject' } as const
        expect(await w.tell(transaction, wish)).toMatchObject({
          outcome: 'applied',
          isMismatch: false,
        })
        expect(await w.alerts()).toEqual([])
      }),
    )

    it(
      'that is the right one is applied where others are rejected',
      on(async (w) => {
        const transaction = await w.charged()
        const recorded = await w.tell(transaction, { onMismatch: 'reject' })
        expect(recorded).toMatchObject({ outcome: 'applied', isMismatch: false })
        expect(await w.alerts()).toEqual([])
      }),
    )
  })

  describe('a refund told by the gateway', () => {
    it(
      'rises by parts, without an event after the first, and never beyond the amount',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const tell = (amount: number) =>
          w.tell(transaction, { status: 'PartiallyRefunded', amount })
        const refunded = async () => (await w.read(transaction)).refundedAmount
        expect((await tell(1_000)).pending).toHaveLength(1)
        expect(await refunded()).toBe(1_000)
        expect(await tell(3_000)).toMatchObject({ outcome: 'applied', pending: [] })
        expect(await refunded()).toBe(3_000)
        await tell(2_000)
        expect(await refunded()).toBe(3_000)
        await tell(99_000)
        expect(await refunded()).toBe(25_000)
        await tell(-5)
        expect(await refunded()).toBe(25_000)
        expect((await w.eventsOf(transaction)).slice(2)).toEqual(['PaymentRefunded'])
      }),
    )

    it(
      'as Refunded is all of it, whatever amount it names',
      on(async (w) => {
        const transaction = await w.came('PartiallyRefunded')
        expect(transaction.refundedAmount).toBe(5_000)
        await w.tell(transaction, { status: 'Refunded', amount: 0 })
        expect(await w.read(transaction)).toMatchObject({
          status: 'Refunded',
          refundedAmount: 25_000,
        })
      }),
    )

    it(
      'as failed moves nothing, raises an alert and gives up the refund under way',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const refundId = await w.claimed(transaction, { amount: 4_000 })
        await w.endRefund(refundId, { kind: 'accepted', nextCheckAt: T0 + MINUTE })
        const before = await w.read(transaction)
        const error = { code: 'refund_failed', rawCode: '51', message: 'The bank said no.' }
        const wish = { status: 'Paid', alert: 'refund_failed', refundId, error } as const
        expect(await w.tell(transaction, wish)).toMatchObject({
          outcome: 'unchanged',
          transactionId: transaction.id,
          pending: [],
        })
        expect(await w.alerts()).toEqual(['refund_failed'])
        const { refunds, alerts, transaction: after } = await w.story(transaction)
        expect(refunds).toMatchObject([{ id: refundId, status: 'failed' }])
        const detail = { reference: 'order-1', refundId, error }
        expect(alerts).toMatchObject([
          { kind: 'refund_failed', transactionId: transaction.id, detail },
        ])
        expect([after.status, after.refundedAmount]).toEqual([before.status, before.refundedAmount])
        expect((await w.refund(transaction, { amount: 4_000 })).state).toBe('begun')
      }),
    )
  })

  describe('a refund that failed', () => {
    const failed = { status: 'Paid', alert: 'refund_failed' } as const

    it(
      'by its name is that one alone: another that is under way goes on',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const earlier = await w.claimed(transaction, { amount: 4_000 })
        await w.endRefund(earlier, { kind: 'done', gatewayRefundId: 're-1' })
        const later = await w.claimed(transaction, { amount: 5_000, now: T0 + 30_000 })
        await w.endRefund(later, { kind: 'accepted', nextCheckAt: T0 + HOUR })
        await w.tell(transaction, { ...failed, refundId: 're-1' })
        await w.tell(transaction, { ...failed, refundId: 'made-by-hand' })
        const { refunds } = await w.story(transaction)
        expect(refunds.map(({ status }) => status)).toEqual(['succeeded', 'accepted'])
        expect(await w.alerts()).toEqual(['refund_failed', 'refund_failed'])
        const claim = { now: T0 + HOUR, until: T0 + 2 * HOUR, limit: 9 }
        expect(await w.ledger.claimChecks(claim)).toMatchObject([{ refund: { id: later } }])
      }),
    )

    it(
      'leaves the question open what became of one that came before its payment',
      on(async (w) => {
        const transaction = await w.charged()
        await w.tell(transaction, { status: 'Refunded' })
        await w.tell(transaction, { status: 'Paid' })
        await w.tell(transaction, failed)
        const claim = { now: T0 + HOUR, until: T0 + 2 * HOUR, limit: 9 }
        expect(await w.ledger.claimChecks(claim)).toMatchObject([
          { transaction: { id: transaction.id } },
        ])
      }),
    )

    it(
      'is found by our name and by the gateway’s',
      on(async (w) => {
        const transaction = await w.came('Paid')
        const first = await w.claimed(transaction, { amount: 4_000 })
        await w.tell(transaction, { ...failed, refundId: first })
        const second = await w.claimed(transaction, { amount: 4_000 })
        const accepted = { kind: 'accepted', gatewayRefundId: 're-2', nextCheckAt: T0 } as const
        await w.endRefund(second, accepted)
        await w.tell(transaction, { ...failed, refundId: 're-2' })
        const { refunds } = await w.story(transaction)
        expect(refunds.map(({ status }) => status)).toEqual(['failed', 'failed'])
      }),
    )
  })

  describe('a failure', () => {
    it(
      'keeps why, on the payment and on its event',
      on(async (w) => {
        const transaction = await w.charged()
        const error = { code: 'declined', rawCode: 'E51', message: 'Not enough money.' }
        await w.tell(transaction, { status: 'Failed', error })
        const story = await w.story(transaction)
        expect(story.transaction).toMatchObject({ status: 'Failed', error })
        expect(story.webhookEvents).toMatchObject([{ error }])
        expect(story.events[1]).toMatchObject({
          type: 'PaymentFailed',
          payload: { transaction: { error } },
        })
        expect(story.transaction.paidAt).toBeUndefined()
      }),
    )

    for (const end of ['Failed', 'Cancelled', 'Expired'] as const) {
      it(
        `that was told (${end}) before the money came leaves an alert, and moves nothing`,
        on(async (w) => {
          const transaction = await w.came(end)
          const recorded = await w.tell(transaction, { status: 'Paid' })
          expect(recorded).toMatchObject({
            outcome: 'late_payment',
            transactionId: transaction.id,
            pending: [],
          })
          expect(await w.read(transaction)).toEqual(transaction)
          expect(await w.alerts()).toEqual(['late_payment'])
          const late = await w.queries.webhookEvents({ outcome: 'late_payment' }, { limit: 9 })
          expect(late).toMatchObject([{ transactionId: transaction.id, fromStatus: end }])
        }),
      )
    }
  })

  describe('an event without a payment', () => {
    it(
      'is parked, and applied when the charge is answered',
      on(async (w) => {
        const transaction = await w.pending()
        const arrival = w.arrival(transaction, { reference: '', receivedAt: T0 + 500 })
        const parking = await w.ledger.webhook(arrival)
        expect(parking).toEqual({ outcome: 'parked', isMismatch: false })
        expect(w.dispatcher.take()).toEqual([])
        const parked = await w.queries.webhookEvents({ outcome: 'parked' }, { limit: 9 })
        expect(parked.map(({ id }) => id)).toEqual([arrival.id])
        expect(parked[0]?.transactionId).toBeUndefined()
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction.status).toBe('Paid')
        expect(finished.pending).toMatchObject([{ outboxId: arrival.id, type: 'PaymentSucceeded' }])
        const story = await w.story(transaction)
        expect(story.webhookEvents).toMatchObject([
          { id: arrival.id, outcome: 'applied', fromStatus: 'Pending' },
        ])
        expect(await w.eventsOf(transaction)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
      }),
    )

    it(
      'is applied with others in the order in which they occurred',
      on(async (w) => {
        const transaction = await w.pending()
        const at = (ms: number) => ({ reference: '', occurredAt: iso(ms) })
        await w.tell(transaction, { ...at(T0 + 900), status: 'Refunded' })
        await w.tell(transaction, { ...at(T0 + 300), status: 'Paid' })
        const { transaction: after } = await w.answer(transaction, T0 + MINUTE)
        expect(after).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
        const told = new Set(await w.eventsOf(transaction))
        expect(told).toEqual(new Set(['PaymentInitiated', 'PaymentSucceeded', 'PaymentRefunded']))
      }),
    )

    it(
      'keeps to the rule for amounts that it came under',
      on(async (w) => {
        const transaction = await w.pending()
        await w.tell(transaction, { reference: '', amount: 1, onMismatch: 'reject' })
        const finished = await w.answer(transaction, T0 + MINUTE)
        expect(finished.transaction.status).toBe('Pending')
        expect(finished.pending).toEqual([])
        expect((await w.story(transaction)).webhookEvents).toMatchObject([
          { outcome: 'rejected', isMismatch: true },
        ])
        expect(await w.alerts()).toEqual(['amount_mismatch'])
      }),
    )

    it(
      'is applied by its order too when the charge’s own outcome stays unknown',
      on(async (w) => {
        const before = await w.pending({ request: { reference: 'order-0' } })
        const names = { reference: 'order-7', gatewayTransactionId: 'gateway-7' }
        await w.tell(before, names)
        const transaction = await w.pending({ request: { reference: 'order-7' } })
        const finished = await w.finish(transaction, { kind: 'unknown', nextCheckAt: T0 + MINUTE })
        expect(finished.transaction).toMatchObject({
          status: 'Paid',
          gatewayTransactionId: 'gateway-7',
        })
        expect(finished.pending).toHaveLength(1)
      }),
    )

    it(
      'is applied by the sweeper when its payment appeared and nobody answered the charge',
      on(async (w) => {
        const transaction = await w.pending({ request: { reference: 'order-0' } })
        const arrival = w.arrival(transaction, {
          reference: 'order-7',
          gatewayTransactionId: 'gateway-7',
        })
        await w.ledger.webhook(arrival)
        const apply = async () => {
          await w.ledger.applyParked({ now: T0 + MINUTE, limit: 10 })
          return w.dispatcher.take()
        }
        expect(await apply()).toEqual([])
        const late = await w.pending({ request: { reference: 'order-7' } })
        expect(await apply()).toMatchObject([{ outboxId: arrival.id, type: 'PaymentSucceeded' }])
        expect(await w.read(late)).toMatchObject({
          status: 'Paid',
          gatewayTransactionId: 'gateway-7',
        })
        expect(await apply()).toEqual([])
      }),
    )

    it(
      'is refused and leaves nothing when its time or its amount can be stored by nobody',
      on(async (w) => {
        const transaction = await w.charged()
        const none = ['', 'yesterday', '1969-12-31T23:59:59Z', '+010000-01-01T00:00:00Z']
        for (const occurredAt of none) {
          await expect(w.tell(transaction, { occurredAt })).rejects.toThrow(/not a time/)
        }
        for (const amount of [Number.NaN, 2 ** 60, 0.5]) {
          await expect(w.tell(transaction, { amount })).rejects.toThrow(/not an amount/)
        }
        expect((await w.story(transaction)).webhookEvents).toEqual([])
      }),
    )

    it(
      'stays parked while it matches nothing, and is a duplicate when it comes again',
      on(async (w) => {
        const transaction = await w.charged()
        const nameless = { gatewayTransactionId: 'nobody', reference: 'nothing', eventId: 'e-1' }
        await w.tell(transaction, nameless)
        expect((await w.tell(transaction, nameless)).outcome).toBe('duplicate')
        const parked = await w.queries.webhookEvents({ outcome: 'parked' }, { limit: 9 })
        expect(parked).toHaveLength(1)
      }),
    )
  })

  it(
    'stores a move’s event as done where nobody subscribes',
    on(async (w) => {
      const transaction = await w.charged()
      expect((await w.tell(transaction)).pending).toEqual([])
      const { events } = await w.story(transaction)
      expect(events).toHaveLength(2)
      for (const event of events) {
        expect(event.toldAt).toBeDefined()
        expect(event.deliveries).toEqual([])
      }
      expect(await w.outbox.claimPending({ now: T0 + 9e9, limit: 9 })).toEqual([])
    }, NOBODY),
  )
}
