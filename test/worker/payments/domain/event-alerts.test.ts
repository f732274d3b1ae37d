// What a person is told of a gateway's event.

import { describe, expect, it } from 'vitest'
import { applyEvent } from '../../../../worker/payments/domain/apply-event.ts'
import type {
  AlertRow,
  TransactionRow,
  WebhookEventRow,
} from '../../../../worker/payments/domain/rows.ts'
import { alertRow, came, NOW, paymentOf, webhookEventRow } from '../../../support/payment-rows.ts'

const raised = (
  from: Parameters<typeof paymentOf>[0],
  own: Partial<WebhookEventRow>,
  refundId?: string,
  ...alerts: AlertRow[]
) => applyEvent(paymentOf(from, { alerts }), webhookEventRow(own), { now: NOW, refundId }).alerts
const kinds = (...of: Parameters<typeof raised>) => raised(...of).map(({ kind }) => kind)

const about = { gateway: 'bank', transactionId: '01TX', createdAt: NOW }
const detail = { reference: 'order-1', eventId: 'event-1', currency: 'IQD' }
const expected = { expectedAmount: 25_000, expectedCurrency: 'IQD' }
const error = { code: 'x', message: 'y' }

describe('the alert about a payment without a final status', () => {
  const UNKNOWN = { gateway_transaction_id: null }
  const REPLACED = { status: 'Cancelled' } as const

  it.each<[string, Partial<TransactionRow>, Partial<WebhookEventRow>, 'gateway' | null]>([
    ['money', {}, {}, 'gateway'],
    ['money of a payment that was replaced', REPLACED, {}, 'gateway'],
    ['an end', {}, { to_status: 'Failed' }, 'gateway'],
    ['an end of one that was replaced', REPLACED, { to_status: 'Expired' }, 'gateway'],
    ['an end that is our own', UNKNOWN, { ...UNKNOWN, to_status: 'Expired' }, null],
    ['nothing new', {}, { to_status: 'Pending' }, null],
    ['money that is refused', {}, { amount: 1, on_mismatch: 'reject' }, null],
  ])('after %s', (_what, row, event, settledBy) => {
    const alerts = [alertRow({ kind: 'unsettled', subject: '01TX' })]
    const { payment } = applyEvent(paymentOf(row, { alerts }), webhookEventRow(event), { now: NOW })
    expect(payment.alerts).toMatchObject([{ acknowledged_by: settledBy }])
  })
})

describe('the alert of an event', () => {
  it('cannot be made of one whose error cannot be read: that is not applied, alert or not', () => {
    expect(() => raised({}, { error: 'ada: 0770' })).toThrow(SyntaxError)
  })

  it('has what was expected, and the status unless that is Paid', () => {
    const part = { to_status: 'PartiallyRefunded', amount: 30_000 } as const
    expect(raised(came('Paid'), { ...part, error: JSON.stringify(error) }, 'back-1')).toStrictEqual(
      [
        {
          ...about,
          kind: 'amount_mismatch',
          subject: '01TX PartiallyRefunded 30000 IQD',
          detail: {
            ...detail,
            amount: 30_000,
            ...expected,
            gatewayStatus: 'PartiallyRefunded',
            refundId: 'back-1',
            error,
          },
        },
      ],
    )
    expect(raised({ status: 'Failed' }, {})).toStrictEqual([
      {
        ...about,
        kind: 'late_payment',
        subject: '01EVENT',
        detail: { ...detail, amount: 25_000, ...expected },
      },
    ])
  })

  it('of a refund that failed has no amount: it is not known which one it was', () => {
    expect(raised(came('Paid'), { alert: 'refund_failed' }, 'back-1')).toStrictEqual([
      {
        ...about,
        kind: 'refund_failed',
        subject: '01EVENT',
        detail: { ...detail, refundId: 'back-1' },
      },
    ])
    const known = (kind: AlertRow['kind']) => alertRow({ kind, detail: JSON.stringify(detail) })
    const again = (kind: AlertRow['kind']) =>
      kinds(came('Paid'), { alert: 'refund_failed' }, 'back-1', known(kind))
    expect([again('refund_failed'), again('dispute')]).toEqual([[], ['refund_failed']])
  })

  it('of late money compares it with what was asked for, and is one beside other alerts', () => {
    const late = { ...came('Paid'), status: 'Expired', paid_amount: 20_000 } as const
    const own = { amount: 20_000 }
    const other = alertRow({ kind: 'id_mismatch' })
    const both = ['late_payment', 'amount_mismatch']
    expect(kinds(late, own, undefined, other)).toEqual(both)
    expect(kinds(late, own, undefined, other, alertRow())).toEqual(['amount_mismatch'])
  })
})
