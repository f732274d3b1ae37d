// Which payment a gateway's event belongs to, and what is done where that is not one, or where the
// event tells of money together with what became of it.

import { describe, expect, it } from 'vitest'
import {
  matchTransaction,
  missedPayment,
  rejectEvent,
} from '../../../../worker/payments/acts/webhook.ts'
import type { WebhookEventRow } from '../../../../worker/payments/domain/rows.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import {
  came,
  NOW,
  paymentOf,
  transactionRow,
  webhookEventRow,
} from '../../../support/payment-rows.ts'

describe('the payment of an event', () => {
  const rows = [
    transactionRow({ id: '1', gateway_transaction_id: 'g-1', external_reference_id: 'x-1' }),
    transactionRow({ id: '2', gateway_transaction_id: null, external_reference_id: 'x-2' }),
    transactionRow({
      id: '3',
      attempt: 3,
      gateway_transaction_id: null,
      external_reference_id: 'x-3',
    }),
    transactionRow({ id: '4', gateway: 'other', attempt: 8, gateway_transaction_id: null }),
    transactionRow({ id: '5', attempt: 9, gateway_transaction_id: 'g-5' }),
  ]
  const match = (
    gtid: string | null,
    extref: string | null,
    reference: string | null,
    money: { transaction_id?: string; amount: number; currency: string } = {
      amount: 25_000,
      currency: 'IQD',
    },
  ) => {
    const found = matchTransaction(rows, {
      gateway: 'bank',
      gateway_transaction_id: gtid,
      external_reference_id: extref,
      reference,
      ...money,
    })
    return found && [found.row.id, found.isContradiction]
  }

  it('is found by the gateway’s id, then by ours', () => {
    expect(match('g-1', 'x-1', 'order-1')).toEqual(['1', false])
    expect(match('g-1', null, null)).toEqual(['1', false])
    expect(match('g-9', 'x-2', 'order-1')).toEqual(['2', false])
  })

  it('is found by our own id first, where its gateway was asked about it', () => {
    const own = { transaction_id: '2', amount: 25_000, currency: 'IQD' }
    expect(match(null, null, null, own)).toEqual(['2', false])
    expect(match('g-1', null, null, own)).toEqual(['2', true])
    expect(match(null, null, null, { ...own, transaction_id: '4' })).toBeUndefined()
  })

  it('is found by the order alone without an id of ours, if the money agrees', () => {
    expect(match(null, null, 'order-1')).toEqual(['3', false])
    expect(match('g-9', null, 'order-1')).toEqual(['3', false])
    expect(match('g-9', 'x-9', 'order-1')).toBeUndefined()
    expect(match(null, null, 'order-1', { amount: 24_000, currency: 'IQD' })).toBeUndefined()
    expect(match(null, null, 'order-1', { amount: 25_000, currency: 'USD' })).toBeUndefined()
  })
})

const about = { gateway: 'bank', transactionId: '01TX', createdAt: NOW }
const detail = { reference: 'order-1', eventId: 'event-1', currency: 'IQD' }

describe('an event whose ids are not those of one payment', () => {
  const ids = { gateway_transaction_id: 'g-9', external_reference_id: 'x-9' }

  it('changes nothing, and its alert names all of them and both payments', () => {
    const payment = paymentOf(came('Paid'))
    const event = webhookEventRow({ ...ids, to_status: 'Failed' })
    const other = transactionRow({ id: '01OTHER' })
    const rejected = rejectEvent(payment, event, other, NOW)
    expect(rejected.payment).toBe(payment)
    expect(rejected).toStrictEqual({
      payment,
      event: { ...event, transaction_id: '01TX', from_status: 'Paid', outcome: 'rejected' },
      events: [],
      alerts: [
        {
          ...about,
          kind: 'id_mismatch',
          subject: '01TX g-9 x-9',
          detail: {
            ...detail,
            gatewayStatus: 'Failed',
            amount: 25_000,
            gatewayTransactionId: 'g-9',
            externalReferenceId: 'x-9',
            otherTransactionId: '01OTHER',
          },
        },
      ],
    })
  })

  it('names only those that it has', () => {
    const none = { gateway_transaction_id: null, external_reference_id: null }
    const [alert] = rejectEvent(paymentOf(), webhookEventRow(none), undefined, NOW).alerts
    expect(alert?.detail).toStrictEqual({ ...detail, gatewayStatus: 'Paid', amount: 25_000 })
  })
})

describe('money that is told only together with what became of it', () => {
  const back = { to_status: 'PartiallyRefunded', amount: 5_000, paid_amount: 20_000 } as const
  const missed = (from: PaymentStatus, own: Partial<WebhookEventRow> = back) =>
    missedPayment(paymentOf(came(from)), webhookEventRow(own))

  it('is paid first, from Pending and from each end, as an event of its own', () => {
    const own = { refunds: '{}', disputes: '{}', error: '{}', alert: 'dispute' } as const
    const event = webhookEventRow({ ...back, ...own })
    for (const from of ['Pending', 'Failed', 'Cancelled', 'Expired'] as const) {
      const { id: _, ...paid } = webhookEventRow({
        event_id: 'event-1:paid',
        to_status: 'Paid',
        amount: 20_000,
      })
      expect(missedPayment(paymentOf(came(from)), event)).toMatchObject(paid)
    }
  })

  it('is known once it was paid, in time or late', () => {
    for (const from of ['Paid', 'Refunded', 'PartiallyRefunded'] as const) {
      expect(missed(from)).toBeUndefined()
    }
    const late = paymentOf({ ...came('Paid'), status: 'Expired' })
    expect(missedPayment(late, webhookEventRow(back))).toBeUndefined()
  })

  it('is not known if its amount is not told, and comes only before a refund', () => {
    expect(missed('Failed', { ...back, to_status: 'Refunded' })).toMatchObject({ amount: 20_000 })
    expect(missed('Failed', { ...back, paid_amount: null })).toBeUndefined()
    expect(missed('Failed', { ...back, to_status: 'Paid' })).toBeUndefined()
  })
})
