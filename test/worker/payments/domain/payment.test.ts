// What is held of a payment, and the conditions that several rules share.

import { describe, expect, it } from 'vitest'
import {
  hasLateMoney,
  heldAmount,
  isForeign,
  isOpen,
  keepsLateMoney,
  refundUnderWay,
} from '../../../../worker/payments/domain/payment.ts'
import type { AlertRow, RefundRow } from '../../../../worker/payments/domain/rows.ts'
import { alertRow, came, NOW, paymentOf, refundRow } from '../../../support/payment-rows.ts'

const LATE = { ...came('Paid'), status: 'Expired' } as const
const SEEN = { acknowledged_at: NOW - 9, acknowledged_by: 'ada' }
const SENT = { ...SEEN, gateway_reference: 'back-1' }
const late = (own: Partial<AlertRow> = {}) => alertRow({ kind: 'late_payment', ...own })
const mismatch = alertRow({ id: '02ALERT', kind: 'amount_mismatch' })

describe('what is held of a payment', () => {
  it.each([
    ['nothing before it is paid', {}, 0],
    ['nothing of an end without money', came('Cancelled'), 0],
    ['what came late', LATE, 25_000],
    ['what was paid without what was refunded', came('PartiallyRefunded'), 20_000],
    ['what was asked for, if what was paid is not known', { ...LATE, paid_amount: null }, 25_000],
  ] as const)('is %s', (_, row, amount) => {
    expect(heldAmount(paymentOf(row))).toBe(amount)
  })

  it.each<[string, Parameters<typeof paymentOf>[0], AlertRow[], boolean, boolean]>([
    ['with an open alert', LATE, [mismatch, late()], true, true],
    ['with an alert that was only seen', LATE, [late(SEEN)], false, true],
    ['that a person has sent back', LATE, [mismatch, late(SENT)], false, false],
    ['with another alert that was settled', LATE, [late(), { ...mismatch, ...SENT }], true, true],
    ['that is refunded', { ...LATE, refunded_amount: 25_000 }, [late()], true, false],
    ['of a payment that has not ended', came('Paid'), [late()], false, false],
    ['without an alert', LATE, [], false, true],
  ])(
    'late money %s may be refunded and is kept as the alert says',
    (_, row, alerts, has, keeps) => {
      const payment = paymentOf(row, { alerts, refunds: [] })
      expect([hasLateMoney(payment), keepsLateMoney(payment)]).toEqual([has, keeps])
    },
  )
})

describe('a payment', () => {
  const [claimed, accepted] = [refundRow({ id: 'c' }), refundRow({ id: 'a', status: 'accepted' })]

  it('waits for the refund whose outcome is not known, else for the oldest accepted one', () => {
    const waits = (...refunds: RefundRow[]) => refundUnderWay(paymentOf({}, { refunds }))?.id
    expect(waits(accepted, claimed)).toBe('c')
    expect(waits(refundRow({ status: 'failed' }), accepted, { ...accepted, id: 'b' })).toBe('a')
    expect(waits(refundRow({ status: 'succeeded' }))).toBeUndefined()
  })

  it('may have news while it is open, a refund is under way, or one came before it', () => {
    const early = { ...came('Paid'), refunds_read_at: 0 }
    expect(isOpen(paymentOf())).toBe(true)
    expect(isOpen(paymentOf(came('Paid')))).toBe(false)
    expect(isOpen(paymentOf(came('Paid'), { refunds: [accepted] }))).toBe(true)
    expect(isOpen(paymentOf(early))).toBe(true)
    expect(isOpen(paymentOf(early, { refunds: [refundRow({ status: 'failed' })] }))).toBe(false)
    expect(isOpen(paymentOf({ ...came('Failed'), refunds_read_at: 0 }))).toBe(false)
  })

  it('is of another installation only where it names one', () => {
    const of = [null, 'ours', 'theirs'].map((installation) => isForeign({ installation }, 'ours'))
    expect(of).toEqual([false, false, true])
  })
})
