import { describe, expect, it } from 'vitest'
import type { TransactionStory } from '../../../../console/payments/feed/reads.ts'
import {
  legible,
  refundable,
  timeline,
  unreadable,
} from '../../../../console/payments/story/timeline.ts'

const at = (seconds: number) => new Date(1_772_445_600_000 + seconds * 1_000).toISOString()

function story(more: Partial<TransactionStory> = {}): TransactionStory {
  return {
    id: '01',
    gateway: 'redirect',
    reference: 'order-1',
    attempt: 1,
    externalReferenceId: 'ours',
    status: 'Paid',
    amount: 25_000,
    currency: 'IQD',
    refundedAmount: 0,
    createdAt: at(0),
    updatedAt: at(9),
    webhookEvents: [],
    refunds: [],
    events: [],
    alerts: [],
    ...more,
  }
}

const told = (type: 'PaymentInitiated' | 'PaymentSucceeded' | 'PaymentFailed', when: string) => ({
  id: type,
  type,
  payload: { transaction: story() },
  createdAt: when,
  deliveries: [],
})
const webhook = (id: string, when: string): TransactionStory['webhookEvents'][number] => ({
  ...{ id, gateway: 'redirect', eventId: `event-${id}`, toStatus: 'Paid', outcome: 'applied' },
  ...{ amount: 25_000, currency: 'IQD', isMismatch: false },
  ...{ occurredAt: when, receivedAt: when },
})
const refund = (status: 'claimed' | 'succeeded' | 'failed') => ({
  ...{ id: `refund-${status}`, amount: 5_000, reason: 'Broken', status },
  ...{ createdAt: at(20), updatedAt: at(21) },
})

describe('a payment’s story', () => {
  it('is told as far as it can be read, and says what cannot', () => {
    const row = (id: string) => ({ id, code: 'unreadable', invalid: 'It is no time.' }) as const
    const parts = { refunds: [row('r1')], events: [row('e1')], alerts: [row('a1')] }
    const webhookEvents = [row('w0'), webhook('w1', at(5))]
    const whole = story({ ...parts, webhookEvents })
    expect(timeline(whole).map(({ key }) => key)).toEqual(['initiated', 'w1'])
    expect(unreadable(whole).map(({ id }) => id)).toEqual(['w0', 'r1', 'e1', 'a1'])
    // Whether more can be given back is not known.
    expect(refundable(whole)).toBe(0)
    const own = { ...row('01'), ...parts, webhookEvents }
    expect(timeline(own).map(({ key }) => key)).toEqual(['w1'])
  })

  it('is told in the order of time, and of one moment the cause first', () => {
    const whole = story({
      events: [told('PaymentInitiated', at(0)), told('PaymentSucceeded', at(5))] as never,
      webhookEvents: [webhook('w1', at(5))],
      refunds: [refund('succeeded')],
      alerts: [
        { id: 'a1', kind: 'amount_mismatch', gateway: 'redirect', detail: {}, createdAt: at(5) },
      ],
    })
    expect(timeline(whole).map(({ key }) => key)).toEqual([
      'initiated',
      'PaymentInitiated',
      'w1',
      'PaymentSucceeded',
      'a1',
      'refund-succeeded',
    ])
  })

  it('tells of a refusal that no webhook brought, and does not tell one twice', () => {
    const error = { code: 'declined', message: 'Not today.' }
    const events = [told('PaymentFailed', at(2))] as never
    const refused = timeline(story({ status: 'Failed', error, events }))
    expect(refused.map(({ kind }) => kind)).toEqual(['initiated', 'refused', 'told'])
    const webhookEvents = [{ ...webhook('w1', at(2)), error }]
    const brought = timeline(story({ status: 'Failed', error, events, webhookEvents }))
    expect(brought.map(({ kind }) => kind)).toEqual(['initiated', 'webhook', 'told'])
  })

  it('knows what can still be given back: nothing while a refund is under way', () => {
    const paid = { amount: 25_000, currency: 'IQD' }
    const left = (more: Partial<TransactionStory>) => refundable(story({ paid, ...more }))
    expect(left({})).toBe(25_000)
    expect(left({ status: 'PartiallyRefunded', refundedAmount: 5_000 })).toBe(20_000)
    expect(left({ refunds: [refund('failed')] })).toBe(25_000)
    expect(left({ refunds: [refund('claimed')] })).toBe(0)
    expect(refundable(story({ status: 'Pending' }))).toBe(0)
    expect(left({ status: 'Refunded', refundedAmount: 25_000 })).toBe(0)
  })

  it('counts what was paid and not what was asked for, in its currency', () => {
    const other = story({
      ...{ status: 'PartiallyRefunded', refundedAmount: 5_000, refunds: [refund('succeeded')] },
      paid: { amount: 20_000, currency: 'USD' },
    })
    expect(refundable(other)).toBe(15_000)
    expect(timeline(other).at(-1)).toMatchObject({ kind: 'refund', currency: 'USD' })
  })

  it('shows what the gateway sent in lines, and a text of earlier versions as it is', () => {
    expect(legible({ a: 1 })).toBe('{\n  "a": 1\n}')
    expect(legible('a=1&b=2')).toBe('a=1&b=2')
  })
})
