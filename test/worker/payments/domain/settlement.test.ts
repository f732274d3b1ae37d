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
    ['paid in another currency', { currency: 'USD' }, { paid_currency: 'USD' }, 'same'],
    ['of the currency that was asked for', {}, { paid_currency: null }, 'same'],
    [
      'of what was asked for until it is paid',
      {},
      { paid_at: null, paid_currency: 'USD', paid_amount: 1 },
      'paid_there',
    ],
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
    const idOf = (...known: KnownPayment[]) => settleRows([unnamed], known)[0]?.transaction?.id
    expect(idOf(first, second, third)).toBe('01B')
    const between = paid({ id: '01E', attempt: 2, status: 'Failed', paid_at: null })
    expect(idOf(third, first, between)).toBe('01C')
    expect(idOf(second, paid({ id: '01D', attempt: 0 }))).toBe('01B')
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

  it('names the refund that it is: by the gateway’s id, else one of its amount, made before not', () => {
    const refunds = [
      refundRow({ id: 'failed', amount: 7_000, status: 'failed' }),
      refundRow({ id: 'a', amount: 5_000 }),
      refundRow({ id: 'b', amount: 7_000 }),
      refundRow({ id: 'c', amount: 9_000, gateway_refund_id: 'back-1' }),
    ]
    const found = (own: Partial<SettledRow>) => {
      const known = paid({ gateway_transaction_id: 'back-1' }, refunds)
      return settleRows([back({ id: 'other', ours: known.transaction.id, ...own })], [known])[0]
    }
    expect(found({ amount: 7_000 })?.refund?.id).toBe('b')
    expect(found({ id: 'back-1', amount: 7_000 })?.refund?.id).toBe('c')
    expect(found({ amount: 6_000 })?.refund?.id).toBe('a')
    expect(settleRows([back()], [paid()])[0]).not.toHaveProperty('refund')
  })

  it('is found by the reference with the amount of a refund, and a payment only with its own', () => {
    const known = [paid({}, [refundRow({ amount: 7_000 }), refundRow({ amount: 5_000 })])]
    const { id: _, ...unnamed } = back({ reference: 'order-1', amount: 5_000 })
    expect(as([unnamed, { ...unnamed, type: 'payment' }], known)).toEqual(['same', 'not_ours'])
    expect(as([{ ...unnamed, amount: 6_000 }], known)).toEqual(['not_ours'])
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
