// Events that came before their payment: which of them the end of its charge applies, and in which
// order.

import { describe, expect, it } from 'vitest'
import { finishCharge } from '../../../../worker/payments/acts/finish-charge.ts'
import type { TransactionRow, WebhookEventRow } from '../../../../worker/payments/domain/rows.ts'
import { decided, RULES } from '../../../support/acts.ts'
import { NOW, transactionRow, webhookEventRow } from '../../../support/payment-rows.ts'

/** The charge ends without an answer, so its ids are those that it has. */
const ended = (webhookEvents: WebhookEventRow[], own: Partial<TransactionRow> = {}) => {
  const result = { kind: 'unknown', nextCheckAt: NOW + 5 } as const
  const end = { transactionId: '01TX', eventId: '03EVENT', now: NOW, result }
  return decided(finishCharge(end, RULES), { transactions: [transactionRow(own)], webhookEvents })
}
const NONE = { gateway_transaction_id: null, external_reference_id: null, reference: null }
const parked = (own: Partial<WebhookEventRow>) => webhookEventRow({ ...NONE, ...own })

describe('a parked event', () => {
  it.each([
    ['the gateway’s id', { gateway_transaction_id: 'gateway-1' }, {}],
    ['our id', { external_reference_id: 'external-1' }, {}],
    ['its order', { reference: 'order-1' }, { gateway_transaction_id: null }],
  ])('is applied when a charge ends that has %s', (_, ids, row) => {
    const { answer, rows } = ended([parked(ids)], row)
    expect(answer.status).toBe('Paid')
    expect(rows.get('webhookEvents', '01EVENT')?.outcome).toBe('applied')
  })

  it('is not applied if it is another gateway’s, or has no id of the payment', () => {
    const ids = { gateway_transaction_id: 'gateway-1', reference: 'order-1' }
    for (const event of [parked({ ...ids, gateway: 'other' }), parked({})]) {
      const { answer, rows } = ended([event], { external_reference_id: null })
      expect(answer.status).toBe('Pending')
      expect(rows.get('webhookEvents', '01EVENT')).toBe(event)
    }
  })

  it('is not applied again once it was', () => {
    const event = parked({ gateway_transaction_id: 'gateway-1', outcome: 'unchanged' })
    expect(ended([event]).answer.status).toBe('Pending')
  })

  it('comes after those that occurred before it', () => {
    const ids = { gateway_transaction_id: 'gateway-1' }
    const expired = { id: '02EVENT', event_id: 'event-2', to_status: 'Expired' } as const
    const { answer, alerts } = ended([
      parked({ ...ids, occurred_at: NOW - 1 }),
      parked({ ...ids, ...expired, occurred_at: NOW - 2 }),
    ])
    expect(answer.status).toBe('Expired')
    expect(alerts).toMatchObject([{ kind: 'late_payment' }])
  })
})
