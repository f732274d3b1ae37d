// How each row of a settlement compares with what we have.

import { describe, expect, it } from 'vitest'
import type { RefundRow, TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import {
  type KnownPayment,
  type SettledRow,
  settleRows,
} from '../../../../worker/payments/domain/settlement.ts'
import { came, transactionRow } from '../../../support/payment-rows.ts'

const refundRow = (own: Partial<RefundRow>) =>
  ({
    id: '01RE',
    status: 'succeeded',
    amount: 25_000,
    gateway_refund_id: null,
    ...own,
  }) as RefundRow

const paid = (own: Partial<TransactionRow> = {}, refunds: RefundRow[] = []): KnownPayment => ({
  transaction: transactionRow({ ...came('Paid'), ...own }),
  refunds,
})
const row = (own: Partial<SettledRow> = {}): SettledRow => ({
  type: 'payment',
  id: 'gateway-1',
  amount: 25_000,
  currency: 'IQD',
  ...own,
})
const as = (rows: SettledRow[], known: KnownPayment[]) =>
  settleRows(rows, known).map((each) => each.as)

describe('a payment of a settlement', () => {
  it.each([
    ['not ours', { id: 'other' }, {}, 'not_ours'],
    ['of another currency', { currency: 'USD', amount: 1 }, {}, 'other_currency'],
    ['of another amount', { amount: 24_000 }, {}, 'other_amount'],
    ['of another amount than was paid', {}, { paid_amount: 24_000 }, 'other_amount'],
    ['paid there and not here', {}, { status: 'Pending', paid_at: null }, 'paid_there'],
    [
      'of another amount before it is not paid here',
      { amount: 1 },
      { paid_at: null },
      'other_amount',
    ],
    ['late', {}, { status: 'Cancelled' }, 'late'],
    ['the same', {}, {}, 'same'],
    ['the same, though it was refunded since', {}, { status: 'Refunded' }, 'same'],
  ] as const)('is %s', (_what, own, payment, expected) => {
    expect(as([row(own)], [paid(payment)])).toEqual([expected])
  })

  it('is found by the gateway’s id, then by ours, then by the reference with the amount', () => {
    const known = paid()
    const { id, external_reference_id: external, reference } = known.transaction
    const by = (own: Partial<SettledRow>) => {
      const { id: _, ...unnamed } = row()
      return settleRows([{ ...unnamed, ...own }], [known])[0]?.as
    }
    expect(by({ id: 'gateway-1', ours: 'nobody' })).toBe('same')
    expect(by({ id: 'nobody', ours: id })).toBe('same')
    expect(by({ ours: external ?? '' })).toBe('same')
    expect(by({ reference })).toBe('same')
    expect(by({ reference, amount: 24_000 })).toBe('not_ours')
  })

  it('is that of the attempt that was paid, by the reference', () => {
    const first = paid({ id: '01A', attempt: 1, status: 'Expired', paid_at: null })
    const second = paid({ id: '01B', attempt: 2, gateway_transaction_id: 'gateway-2' })
    const third = paid({ id: '01C', attempt: 3, status: 'Pending', paid_at: null })
    const { id: _, ...unnamed } = row({ reference: 'order-1' })
    const [found] = settleRows([unnamed], [first, second, third])
    expect([found?.as, found?.transaction?.id]).toEqual(['same', '01B'])
  })
})

describe('a refund of a settlement', () => {
  const back = (own: Partial<SettledRow> = {}) => row({ type: 'refund', ...own })

  it.each([
    ['the same', {}, [{}], 'same'],
    ['refunded there and not here', {}, [], 'refunded_there'],
    ['refunded there, and only accepted here', {}, [{ status: 'accepted' }], 'refunded_there'],
    ['refunded there, and failed here', {}, [{ status: 'failed' }], 'refunded_there'],
    ['of another amount', { amount: 20_000 }, [{}], 'other_amount'],
    ['of another currency', { currency: 'USD' }, [{}], 'other_currency'],
  ] as const)('is %s', (_what, own, refunds, expected) => {
    const rows = refunds.map((refund) => refundRow(refund as Partial<RefundRow>))
    expect(as([back(own)], [paid({}, rows)])).toEqual([expected])
  })

  it('is late if the payment had ended without money', () => {
    expect(as([back()], [paid({ status: 'Expired' }, [refundRow({})])])).toEqual(['late'])
  })

  it('agrees with one refund, and another of its amount with none', () => {
    const parts = [refundRow({ id: 'a', amount: 5_000 }), refundRow({ id: 'b', amount: 7_000 })]
    const rows = [back({ amount: 7_000 }), back({ amount: 5_000 }), back({ amount: 5_000 })]
    expect(as(rows, [paid({}, parts)])).toEqual(['same', 'same', 'refunded_there'])
  })
})
