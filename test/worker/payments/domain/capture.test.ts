// What is captured of a payment in parts, as its gateway is read again and again.

import { describe, expect, it } from 'vitest'
import { raiseAlert, withAlerts } from '../../../../worker/payments/domain/alerts.ts'
import { applyEvent } from '../../../../worker/payments/domain/apply-event.ts'
import { movementsOf } from '../../../../worker/payments/domain/books.ts'
import type { Payment } from '../../../../worker/payments/domain/payment.ts'
import type { TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { NOW, paymentOf, webhookEventRow } from '../../../support/payment-rows.ts'

/** Of 100: what was captured by then, and what was refunded at the gateway. */
type Read = readonly [captured: number, refunded?: number]

const stateOf = ([captured, refunded = 0]: Read) => {
  if (refunded === 0) return { to_status: 'Paid', amount: captured } as const
  return refunded >= captured
    ? ({ to_status: 'Refunded', amount: captured } as const)
    : ({ to_status: 'PartiallyRefunded', amount: refunded } as const)
}

const eventOf = (read: Read, n: number, on_mismatch: 'log' | 'reject') => {
  const [captured, refunded = 0] = read
  const refund = { id: 'g', amount: refunded, status: 'succeeded' }
  const refunds = refunded > 0 ? [refund] : []
  return webhookEventRow({
    id: `0${n}`,
    event_id: `event-${n}`,
    ...stateOf(read),
    on_mismatch,
    refunds: JSON.stringify({ readAt: NOW + n, captured, refunds }),
  })
}

/** Reads a payment of 100 one time after the other. */
function played(
  reads: readonly Read[],
  { status = 'Pending', on = 'log' }: { status?: TransactionRow['status']; on?: 'log' | 'reject' },
) {
  let payment: Payment = paymentOf({ status, amount: 100 })
  const booked: string[] = []
  const told: string[] = []
  for (const [at, read] of reads.entries()) {
    const now = NOW + at
    const decision = applyEvent(payment, eventOf(read, at, on), { now })
    const { event } = decision
    const raised = decision.alerts.flatMap((alert) => {
      const known = payment.alerts.find(({ subject }) => subject === alert.subject)
      return raiseAlert(alert, known, () => alert.kind) ?? []
    })
    const after = withAlerts(decision.payment, raised)
    for (const row of after.alerts.filter((each) => !payment.alerts.includes(each))) {
      const { amount } = JSON.parse(row.detail ?? '{}') as { amount?: number }
      const is = row.acknowledged_at === null ? 'raised' : `settled by ${row.acknowledged_by}`
      told.push(`${row.id} ${amount} ${is}`)
    }
    const moved = movementsOf(payment, decision, { now, event })
    booked.push(...moved.map(({ kind, amount }) => `${kind} ${amount}`))
    payment = after
  }
  const { status: is, paid_amount: paid, refunded_amount: refunded } = payment.transaction
  return { is: [is, paid, refunded], booked, told }
}

const PART = 'amount_mismatch 60 raised'
const WHOLE = (amount: number) => `amount_mismatch ${amount} settled by capture`

describe('what was captured of a payment', () => {
  it.each<[string, Read[], ReturnType<typeof played>]>([
    [
      'is what was paid, with the first part',
      [[60]],
      { is: ['Paid', 60, 0], booked: ['paid 60'], told: [PART] },
    ],
    [
      'rises by a movement for each part, with one alert, which the whole ends',
      [[60], [80], [100]],
      {
        is: ['Paid', 100, 0],
        booked: ['paid 60', 'paid 20', 'paid 20'],
        told: [PART, 'amount_mismatch 80 raised', WHOLE(80)],
      },
    ],
    [
      'never falls, and what is read again says nothing new',
      [[60], [60], [80], [60], [80]],
      {
        is: ['Paid', 80, 0],
        booked: ['paid 60', 'paid 20'],
        told: [PART, 'amount_mismatch 80 raised'],
      },
    ],
    [
      'is the whole at once, without an alert',
      [[100]],
      { is: ['Paid', 100, 0], booked: ['paid 100'], told: [] },
    ],
    [
      'bounds the refunds: all of it given back is Refunded',
      [[60], [60, 60]],
      { is: ['Refunded', 60, 60], booked: ['paid 60', 'refunded -60'], told: [PART] },
    ],
    [
      'is held where more comes after that, and the status stays',
      [[60], [60, 60], [100, 60]],
      {
        is: ['Refunded', 100, 60],
        booked: ['paid 60', 'refunded -60', 'paid 40'],
        told: [PART, WHOLE(60)],
      },
    ],
    [
      'makes a gift a refund, once there is so much',
      [[60], [60, 70], [100, 70]],
      {
        is: ['Refunded', 100, 70],
        booked: ['paid 60', 'refunded -60', 'paid 40', 'refunded -10'],
        told: [PART, WHOLE(60)],
      },
    ],
    [
      'may be more than was asked for',
      [[60], [120]],
      {
        is: ['Paid', 120, 0],
        booked: ['paid 60', 'paid 60'],
        told: [PART, 'amount_mismatch 120 raised'],
      },
    ],
  ])('%s', (_name, reads, expected) => {
    expect(played(reads, {})).toEqual(expected)
  })

  it('of a payment that had ended is late money, in parts, too', () => {
    expect(played([[60], [100]], { status: 'Expired' })).toEqual({
      is: ['Expired', 100, 0],
      booked: ['late_paid 60', 'late_paid 40'],
      told: ['late_payment 60 raised', PART, WHOLE(60)],
    })
  })

  it.each<[string, Read[], ReturnType<typeof played>]>([
    [
      'a part, as any other amount',
      [[60], [60], [80]],
      {
        is: ['Pending', null, 0],
        booked: ['refused_paid 60', 'refused_paid 20'],
        told: [PART, 'amount_mismatch 80 raised'],
      },
    ],
    [
      'no whole, which takes the place of what was refused',
      [[60], [100], [100]],
      {
        is: ['Paid', 100, 0],
        booked: ['refused_paid 60', 'paid 100', 'refused_paid -60'],
        told: [PART, WHOLE(60)],
      },
    ],
  ])('is refused by `reject`: %s', (_name, reads, expected) => {
    expect(played(reads, { on: 'reject' })).toEqual(expected)
  })
})
