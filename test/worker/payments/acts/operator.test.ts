// What a person has seen, and takes back.

import { describe, expect, it } from 'vitest'
import { acknowledge, reopen } from '../../../../worker/payments/acts/operator.ts'
import type { AlertKind } from '../../../../worker/payments/domain/status.ts'
import type { AlertDetail } from '../../../../worker/payments/domain/types.ts'
import { decided, RULES } from '../../../support/acts.ts'
import { alertRow, came, NOW, transactionRow } from '../../../support/payment-rows.ts'

const LATE = { paid_at: NOW, paid_amount: 25_000, paid_currency: 'IQD' }
const other = transactionRow({ id: '02TX', gateway: 'fib', ...came('Paid') })

/** A second after the only alert, about these payments, was acknowledged. */
function reopened(
  kind: AlertKind,
  transactions: ReturnType<typeof transactionRow>[],
  detail: AlertDetail,
) {
  const row = {
    kind,
    acknowledged_at: NOW,
    acknowledged_by: 'ada',
    detail: JSON.stringify(detail),
  }
  const asked = { id: alertRow().id, by: 'ada', now: NOW + 1_000 }
  return decided(reopen(asked, RULES), { transactions, alerts: [alertRow(row)] })
}

describe('an acknowledgement that is taken back', () => {
  it.each<[AlertKind, string, ReturnType<typeof transactionRow>[], AlertDetail?]>([
    [
      'late_payment',
      'the late money was refunded',
      [transactionRow({ status: 'Expired', ...LATE, refunded_amount: 25_000 })],
    ],
    ['double_payment', 'one of two was refunded', [transactionRow(came('Refunded')), other]],
    [
      'amount_mismatch',
      'the rest was captured',
      [transactionRow({ ...came('Paid'), updated_at: NOW })],
      { amount: 9 },
    ],
    ['unsettled', 'money came', [transactionRow(came('Paid'))]],
    ['unsettled', 'the gateway reported its end', [transactionRow({ status: 'Failed' })]],
  ])('leaves one of %s settled once %s', (kind, _, transactions, detail = {}) => {
    const { answer, rows } = reopened(kind, transactions, detail)
    expect([answer, rows.isChanged]).toEqual(['too_late', false])
  })

  it.each<[AlertKind, ReturnType<typeof transactionRow>[], AlertDetail?]>([
    ['late_payment', [transactionRow({ status: 'Expired', ...LATE })]],
    ['double_payment', [transactionRow(came('Paid')), other]],
    ['amount_mismatch', [transactionRow({ ...came('Paid'), paid_amount: 9 })], { amount: 9 }],
    ['amount_mismatch', [transactionRow({ ...came('Paid'), paid_currency: 'USD' })]],
    ['unsettled', [transactionRow()]],
    ['unsettled', [transactionRow({ status: 'Expired', gateway_transaction_id: null })]],
    ['refund_failed', [transactionRow(came('Paid'))]],
    ['unreadable', []],
  ])('opens one of %s again as long as its matter goes on', (kind, transactions, detail = {}) => {
    const { answer, rows } = reopened(kind, transactions, detail)
    expect([answer, rows.get('alerts', alertRow().id)?.acknowledged_at]).toEqual(['open', null])
  })
})

it.each(['refund', 'gateway', 'capture', 'delivery'])(
  'what %s has settled is no acknowledgement, and is not taken back',
  (acknowledged_by) => {
    const settled = alertRow({ kind: 'refund_failed', acknowledged_at: NOW, acknowledged_by })
    const loaded = { transactions: [transactionRow(came('Paid'))], alerts: [settled] }
    const asked = { id: settled.id, by: 'ada', now: NOW }
    expect(decided(reopen(asked, RULES), loaded).answer).toBe('too_late')
  },
)

it('nobody acknowledges under a name by which an alert settles itself, and the audit has the token', () => {
  const open = alertRow({ kind: 'refund_failed' })
  const loaded = { transactions: [transactionRow(came('Paid'))], alerts: [open] }
  const by = (subject: string) => {
    const asked = { id: open.id, by: subject, now: NOW }
    const { rows } = decided(acknowledge(asked, RULES), loaded)
    expect(rows.changesOf('audit').inserted).toMatchObject([{ action: 'acknowledge', subject }])
    return rows.get('alerts', open.id)?.acknowledged_by
  }
  expect(['ada', 'refund', 'gateway', 'capture', 'delivery'].map(by)).toEqual([
    'ada',
    'token refund',
    'token gateway',
    'token capture',
    'token delivery',
  ])
})
