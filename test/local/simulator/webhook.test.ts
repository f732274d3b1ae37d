import { describe, expect, it } from 'vitest'
import type { Payment, Transition } from '../../../local/simulator/payment.ts'
import { batchesOf } from '../../../local/simulator/webhook.ts'

const BEFORE: Payment = {
  id: 'p1',
  gateway: 'redirect',
  reference: 'order-1',
  externalReference: 'ext-1',
  amount: 25_000,
  currency: 'IQD',
  description: '',
  callbackUrl: 'http://shop/callback',
  state: 'open',
  createdAt: 0,
  updatedAt: 0,
  expiresAt: 60_000,
}
const AFTER: Payment = { ...BEFORE, state: 'paid', updatedAt: 10_000, paidAt: 10_000 }
const PAID: Transition = { before: BEFORE, after: AFTER, refundFailed: false, now: 10_000 }
const FIB: Transition = {
  ...PAID,
  before: { ...BEFORE, gateway: 'fib' },
  after: { ...AFTER, gateway: 'fib' },
}

const plan = (faults = {}, transition = PAID) =>
  batchesOf(transition, 'event-1', faults, () => 'event-2')

describe('the webhooks of a transition', () => {
  it('are a single one, without delay, with every claim of the gateway', () => {
    expect(plan()).toEqual([
      {
        afterMs: 0,
        webhooks: [
          {
            eventId: 'event-1',
            paymentId: 'p1',
            gateway: 'redirect',
            url: 'http://shop/callback',
            content: {
              eventType: 'STATUS_CHANGED',
              eventId: 'event-1',
              timestamp: '1970-01-01T00:00:10.000Z',
              data: {
                transactionId: 'p1',
                merchantReferenceId: 'ext-1',
                orderId: 'order-1',
                customerMsisdn: null,
                errorMessage: null,
                previousStatus: 'PENDING',
                currentStatus: 'SUCCESS',
                amount: { currency: 'IQD', value: 25_000 },
              },
            },
          },
        ],
      },
    ])
  })

  it('of FIB have only id and status', () => {
    expect(plan({}, FIB)[0]?.webhooks[0]?.content).toEqual({ id: 'p1', status: 'PAID' })
  })

  it('are none with the fault `lost`, or without a callback URL', () => {
    expect(plan({ lost: true })).toEqual([])
    const { callbackUrl: _, ...deaf } = AFTER
    expect(plan({}, { ...PAID, after: deaf })).toEqual([])
  })

  it('are fifty at once, with the same event id', () => {
    const [wave] = plan({ copies: 50 })
    expect(wave?.webhooks).toHaveLength(50)
    expect(new Set(wave?.webhooks.map(({ eventId }) => eventId))).toEqual(new Set(['event-1']))
  })

  it('are late with the true time, or have an earlier time', () => {
    const [late] = plan({ lateMs: 400 })
    expect(late).toMatchObject({
      afterMs: 400,
      webhooks: [{ content: { timestamp: '1970-01-01T00:00:10.000Z' } }],
    })
    expect(plan({ ageMs: 9_000 })[0]?.webhooks[0]?.content.timestamp).toBe(
      '1970-01-01T00:00:01.000Z',
    )
  })

  it('are out of order: the previous state follows, as a separate event', () => {
    const [first, second] = plan({ outOfOrder: true })
    expect(first?.webhooks[0]?.content).toMatchObject({ data: { currentStatus: 'SUCCESS' } })
    expect(second?.webhooks).toMatchObject([
      {
        eventId: 'event-2',
        content: { timestamp: '1970-01-01T00:00:00.000Z', data: { currentStatus: 'PENDING' } },
      },
    ])
  })

  it('of a refund have their own event types', () => {
    const paid = { before: AFTER, now: 0 }
    const refunded: Payment = { ...AFTER, state: 'refunded' }
    const types = [
      plan({}, { ...paid, after: refunded, refundFailed: false }),
      plan({}, { ...paid, after: AFTER, refundFailed: true }),
    ].map(([wave]) => wave?.webhooks[0]?.content.eventType)
    expect(types).toEqual(['REFUND_COMPLETED', 'REFUND_FAILED'])
  })

  it('that are tampered with have an unknown id, for a gateway that does not sign', () => {
    expect(plan({ tampered: true }, FIB)[0]?.webhooks[0]?.content.id).toBe('event-1')
    expect(plan({ tampered: true })[0]?.webhooks[0]?.forgery).toBe('tampered')
    expect(plan({ algNone: true })[0]?.webhooks[0]?.forgery).toBe('alg_none')
  })
})
