import { describe, expect, it } from 'vitest'
import {
  ALERTS,
  alertText,
  countedText,
  parkedLong,
  type RefusedGroup,
  refusedOf,
} from '../../../console/payments/attention.ts'
import type { AlertDetail, AlertKind, WebhookEvent } from '../../../libraries/api/types.ts'

const NOW = Date.parse('2026-03-02T10:00:00Z')
const KINDS = Object.keys(ALERTS) as AlertKind[]

const textOf = (kind: AlertKind, detail: AlertDetail) => {
  const alert = { id: 'a', kind, gateway: 'redirect', detail, createdAt: '2026-03-02T09:00:00Z' }
  const text = alertText(alert, NOW)
  return { ...text, sentence: text.sentence.replaceAll('\u00a0', ' ') }
}

it('many alerts are counted in a line, the most urgent first', () => {
  const of = (kind: AlertKind, detail: AlertDetail = {}) =>
    ({ id: 'a', kind, gateway: 'redirect', detail, createdAt: '2026-03-02T09:00:00Z' }) as const
  const late = of('late_payment')
  const broken = { id: 'b', code: 'unreadable', invalid: 'It is no time.' } as const
  const all = [of('dispute'), late, broken, of('dispute', { inquiry: true }), of('dispute'), late]
  expect(countedText(all)).toBe('2 late, 2 disputed, 1 asked about, 1 unreadable')
  expect(countedText([])).toBe('')
})

describe('an alert', () => {
  it('has a sentence with what happened and the amount', () => {
    const paid = { amount: 20_000, currency: 'IQD' }
    const asked = { expectedAmount: 25_000, expectedCurrency: 'IQD' }
    expect(textOf('amount_mismatch', { ...paid, ...asked }).sentence).toBe(
      'IQD 20,000 was paid instead of IQD 25,000.',
    )
    const back = {
      ...paid,
      expectedAmount: 25_000,
      expectedCurrency: 'IQD',
      gatewayStatus: 'Refunded',
    } as const
    expect(textOf('amount_mismatch', back)).toMatchObject({
      title: 'A different amount was refunded',
      sentence: 'The gateway reports a refund of IQD 20,000 instead of IQD 25,000.',
    })
    expect(
      textOf('refund_failed', { ...paid, error: { code: 'x', message: 'No.' } }),
    ).toMatchObject({
      sentence: 'The gateway could not refund IQD 20,000.',
      error: 'No.',
    })
    expect(textOf('dispute', paid)).toMatchObject({
      sentence: 'The payer’s bank asks for IQD 20,000 back.',
      todo: 'Answer the dispute at the gateway, before its deadline there.',
    })
    expect(textOf('dispute', { ...paid, inquiry: true }).sentence).toBe(
      'The payer’s bank asks about IQD 20,000. It has taken no money back yet.',
    )
    // It asks for no answer any more.
    expect(textOf('dispute', { ...paid, inquiry: true, outcome: 'warning_closed' })).toMatchObject({
      sentence: 'That about IQD 20,000 has ended: warning_closed.',
      todo: 'Nothing is left to answer.',
    })
    const whose = { ...paid, refundId: '01REFUND', askedBy: 'ada' }
    expect(textOf('refund_failed', whose).sentence).toBe(
      'The gateway could not refund IQD 20,000 (refund 01REFUND, asked for by ada).',
    )
    const open = { ...whose, since: '2026-02-27T10:00:00Z', gatewayStatus: 'Paid' } as const
    expect(textOf('refund_unsettled', open).sentence).toMatch(
      /^A refund of IQD 20,000 \(refund 01REFUND, asked for by ada\) has been open since Feb 27/,
    )
    // Made at the gateway's own desk: nobody asked for it here.
    expect(textOf('refund_failed', { ...paid, refundId: 're_1' }).sentence).toBe(
      'The gateway could not refund IQD 20,000 (refund re_1).',
    )
    const dead = { type: 'PaymentSucceeded', endpoint: 'https://shop', lastStatus: 500 } as const
    const sentence = 'https://shop has not accepted PaymentSucceeded for a day.'
    expect(textOf('delivery_dead', dead).sentence).toBe(`${sentence} It last answered 500.`)
    const error = 'The endpoint answered 500.'
    expect(textOf('delivery_dead', { ...dead, error })).toMatchObject({ sentence, error })
    expect(
      textOf('unsettled', { ...paid, since: '2026-02-27T10:00:00Z', gatewayStatus: 'Pending' })
        .sentence,
    ).toMatch(/^IQD 20,000 has been open since Feb 27, 2026.*last reported Pending\.$/)
  })

  it('has complete texts even without details', () => {
    for (const kind of KINDS) {
      const { title, sentence, todo } = textOf(kind, {})
      expect(`${title} ${sentence} ${todo}`).not.toMatch(/undefined|null|NaN/)
    }
  })
})

describe('events that wait for their payment', () => {
  const event = (id: string, gateway: string, minutes: number) =>
    ({
      id,
      gateway,
      receivedAt: new Date(NOW - minutes * 60_000).toISOString(),
    }) as WebhookEvent

  it('are listed after five minutes, by gateway', () => {
    const events = [
      event('3', 'fib', 4),
      event('2', 'redirect', 6),
      event('1', 'redirect', 60),
      event('0', 'fib', 5),
    ]
    const unreadable = { id: '9', code: 'unreadable', invalid: 'No time.' } as const
    expect(parkedLong([unreadable, ...events], NOW)).toEqual([
      { gateway: 'redirect', events: [events[1], events[2]], since: events[2]?.receivedAt },
      { gateway: 'fib', events: [events[3]], since: events[3]?.receivedAt },
    ])
  })
})

it('refused webhooks are counted by gateway and reason, with the minute of the last one', () => {
  const row = (at: string, gateway: string, reason: RefusedGroup['reason'], count: number) => ({
    at,
    gateway,
    reason,
    count,
  })
  const refused = [
    row('10:03', 'redirect', 'invalid', 3),
    row('10:01', 'fib', 'error', 1),
    row('10:01', 'redirect', 'invalid', 2),
    row('10:01', 'redirect', 'stale', 1),
  ]
  const rates = { from: '10:00', to: '11:00', minutes: [], refused, refusedSince: '09:00' }
  expect(refusedOf(rates)).toEqual([
    row('10:03', 'redirect', 'invalid', 5),
    row('10:01', 'fib', 'error', 1),
    row('10:01', 'redirect', 'stale', 1),
  ])
})
