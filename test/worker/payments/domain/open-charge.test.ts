// Whether an open charge can still be paid.

import { describe, expect, it } from 'vitest'
import {
  isStranded,
  NEVER_CALLED,
  standingOf,
  standingUnnamed,
} from '../../../../worker/payments/domain/open-charge.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import { came, NOW, transactionRow } from '../../../support/payment-rows.ts'

const FLAGS = [false, true]
const REFUSALS = [undefined, { code: 'x', message: 'No.' }] as const

describe('how a stranded charge stands', () => {
  it('may be paid if the gateway reports nothing about the payment', () => {
    expect(standingOf({}, false)).toBe('open')
  })

  it.each(PAYMENT_STATUSES)('follows from %s and whether the gateway may yet be paid', (status) => {
    for (const isBeingPaid of FLAGS) {
      for (const refusal of REFUSALS) {
        for (const isPageOpen of FLAGS) {
          const isUnpaidEnd = ['Failed', 'Cancelled', 'Expired'].includes(status)
          const isUnsure = isBeingPaid || isPageOpen || refusal !== undefined
          const pending = isUnsure ? 'open' : 'unpaid'
          const standing = isUnpaidEnd ? 'unpaid' : status === 'Pending' ? pending : 'paid'
          const answered = { answer: { status, isBeingPaid }, ...(refusal && { refusal }) }
          expect(standingOf(answered, isPageOpen), JSON.stringify({ answered, isPageOpen })).toBe(
            standing,
          )
        }
      }
    }
    const unsaid = standingOf({ answer: { status } }, false)
    expect(unsaid).toBe(standingOf({ answer: { status, isBeingPaid: false } }, false))
  })

  it('is unpaid without a gateway’s id, unless a repeated charge is the same payment', () => {
    const sent = transactionRow({ gateway_transaction_id: null })
    expect(standingUnnamed(sent, { chargeRepeatableForMs: 0 })).toBe('unpaid')
    expect(standingUnnamed(sent, { chargeRepeatableForMs: 1 })).toBe('open')
    const unseen = { chargeRepeatableForMs: 1, unseenIsUnpayable: true }
    expect(standingUnnamed(sent, unseen)).toBe('unpaid')
    const unsent = { ...sent, called_until: NEVER_CALLED }
    expect(standingUnnamed(unsent, { chargeRepeatableForMs: 1 })).toBe('unpaid')
  })
})

describe('a stranded charge', () => {
  it.each(PAYMENT_STATUSES)('is always Pending (%s)', (status) => {
    expect(isStranded(transactionRow(came(status)), NOW)).toBe(status === 'Pending')
  })

  it('has no page any more: it has expired, and its gateway reports no end', () => {
    const page = (expires_at: number | null) =>
      isStranded(transactionRow({ charge_answer: '{}', expires_at }), NOW)
    expect([page(null), page(NOW + 1), page(NOW)]).toEqual([false, false, true])
    expect(isStranded(transactionRow({ ...came('Paid'), expires_at: NOW }), NOW)).toBe(false)
  })
})
