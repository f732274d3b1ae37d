// How each row of a settlement compares with what we have.

import { describe, expect, it } from 'vitest'
import type {
  MovementRow,
  RefundRow,
  TransactionRow,
} from '../../../../worker/payments/domain/rows.ts'
import { compareRows, type KnownPayment } from '../../../../worker/payments/domain/settlement.ts'
import type { MovementKind } from '../../../../worker/payments/domain/status.ts'
import type { SettledRow } from '../../../../worker/payments/domain/types.ts'
import { came, transactionRow } from '../../../support/payment-rows.ts'

const refundRow = (own: Partial<RefundRow>) =>
  ({
    id: '01RE',
    status: 'succeeded',
    amount: 25_000,
    gateway_refund_id: null,
    ...own,
  }) as RefundRow

let movements = 0
const moved = (kind: MovementKind, amount: number, own: Partial<MovementRow> = {}) =>
  ({
    id: `01M${movements++}`,
    kind,
    amount,
    currency: 'IQD',
    refund_id: null,
    ...own,
  }) as MovementRow

/** Paid once, and each refund that was made moved once; with `booked`, only that. */
function paid(
  own: Partial<TransactionRow> = {},
  refunds: RefundRow[] = [],
  booked?: MovementRow[],
): KnownPayment {
  const transaction = transactionRow({ ...came('Paid'), ...own })
  const { paid_at, paid_amount, paid_currency, amount, currency } = transaction
  const own_currency = { currency: paid_currency ?? currency }
  const made = refunds
    .filter(({ status }) => status === 'succeeded')
    .map((row) => moved('refunded', -row.amount, { refund_id: row.id, ...own_currency }))
  const money = paid_at === null ? [] : [moved('paid', paid_amount ?? amount, own_currency)]
  return { transaction, refunds, movements: booked ?? [...money, ...made] }
}
/** Cancelled, then paid, then all of it given back. */
const LATE_BACK = { status: 'Cancelled', refunded_amount: 25_000 } as const

const row = (own: Partial<SettledRow> = {}): SettledRow => ({
  type: 'payment',
  id: 'gateway-1',
  amount: 25_000,
  currency: 'IQD',
  ...own,
})
const as = (rows: SettledRow[], known: KnownPayment[]) =>
  compareRows(rows, known).map((each) => each.as)

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
    ['the same if its late money was given back whole', {}, LATE_BACK, 'same'],
    [
      'late while a part of its late money is here',
      {},
      { ...LATE_BACK, refunded_amount: 5_000 },
      'late',
    ],
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

  it('agrees with no row of an unknown word, though its payment is named', () => {
    const unknown = row({ type: 'unknown_word' })
    const [ours, payment, other] = compareRows(
      [unknown, row(), row({ ...unknown, id: 'x' })],
      [paid()],
    )
    expect([ours?.as, payment?.as, other]).toEqual(['unknown_word', 'same', { as: 'unknown_word' }])
    expect(ours).toMatchObject({ transaction: { id: '01TX' } })
  })

  it('agrees with a row for each of its movements, or with one for those that no other row has', () => {
    const captured = [moved('paid', 6_000), moved('paid', 4_000), moved('paid', 1_000)]
    const known = [paid({ paid_amount: 11_000 }, [], captured)]
    const parts = (...amounts: number[]) =>
      as(
        amounts.map((amount) => row({ amount })),
        known,
      )
    expect(parts(4_000, 6_000, 1_000)).toEqual(['same', 'same', 'same'])
    expect(parts(11_000)).toEqual(['same'])
    expect(parts(5_000, 6_000)).toEqual(['same', 'same'])
    expect(parts(7_000, 6_000)).toEqual(['other_amount', 'same'])
    expect(parts(6_000, 6_000, 5_000)).toEqual(['same', 'twice', 'same'])
    const [sum] = compareRows([row({ amount: 11_000 })], known)
    expect(sum?.movements).toEqual(captured)
    expect(sum?.amount).toBe(11_000)
  })

  it('was refused for its amount, which is a difference until it was taken after all', () => {
    const refused = moved('refused_paid', 6_000)
    const open = { status: 'Pending', paid_at: null } as const
    expect(as([row({ amount: 6_000 })], [paid(open, [], [refused])])).toEqual(['refused_paid'])
    const taken = [refused, moved('refused_paid', -6_000), moved('paid', 10_000)]
    const known = [paid({ paid_amount: 10_000 }, [], taken)]
    expect(as([row({ amount: 10_000 })], known)).toEqual(['same'])
    expect(as([row({ amount: 6_000 }), row({ amount: 4_000 })], known)).toEqual(['same', 'same'])
  })

  it('is found by the gateway’s id, then by ours, then by the reference with the amount', () => {
    const known = paid()
    const { id, external_reference_id: external, reference } = known.transaction
    const by = (own: Partial<SettledRow>) => {
      const { id: _, ...unnamed } = row()
      return compareRows([{ ...unnamed, ...own }], [known])[0]?.as
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
    const idOf = (...known: KnownPayment[]) => compareRows([unnamed], known)[0]?.transaction?.id
    expect(idOf(first, second, third)).toBe('01B')
    const between = paid({ id: '01E', attempt: 2, status: 'Failed', paid_at: null })
    expect(idOf(third, first, between)).toBe('01C')
    expect(idOf(second, paid({ id: '01D', attempt: 0 }))).toBe('01B')
  })

  it('is each attempt that was paid of an order that was paid twice, by the reference', () => {
    const { id: _, ...unnamed } = row({ reference: 'order-1' })
    const second = paid({ id: '01B', attempt: 2, gateway_transaction_id: 'gateway-2' })
    const named = { ...unnamed, id: 'gateway-2' }
    expect(as([unnamed, unnamed], [paid(), second])).toEqual(['same', 'same'])
    expect(as([unnamed, named], [paid(), second])).toEqual(['same', 'same'])
    expect(as([unnamed, named, unnamed], [paid(), second])).toEqual(['same', 'same', 'twice'])
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
      return compareRows([back({ id: 'other', ours: known.transaction.id, ...own })], [known])[0]
    }
    expect(found({ amount: 7_000 })?.refund?.id).toBe('b')
    expect(found({ id: 'back-1', amount: 7_000 })?.refund?.id).toBe('c')
    expect(found({ amount: 6_000 })?.refund?.id).toBe('a')
    expect(compareRows([back()], [paid()])[0]).not.toHaveProperty('refund')
  })

  it('is found by its own id alone, in either column, and is not another one of its amount', () => {
    const own = { amount: 5_000, currency: 'IQD' }
    const known = [
      paid({}, [
        refundRow({ id: 'a', amount: 5_000, gateway_refund_id: 're_1' }),
        refundRow({ id: 'b', amount: 5_000, gateway_refund_id: 're_2' }),
      ]),
    ]
    const found = (rows: Partial<SettledRow>[]) =>
      compareRows(
        rows.map((each) => ({ type: 'refund', ...own, ...each })),
        known,
      ).map((each) => each.refund?.id ?? each.as)
    expect(found([{ id: 're_2' }, { refund: 're_1' }])).toEqual(['b', 'a'])
    expect(as([back({ refund: 're_9', amount: 5_000 })], known)).toEqual(['refunded_there'])
    expect(as([back({ refund: 're_1', amount: 4_000 })], known)).toEqual(['other_amount'])
    const again = [back({ refund: 're_1', amount: 5_000 }), back({ refund: 're_1', amount: 5_000 })]
    expect(as(again, known)).toEqual(['same', 'twice'])
    // No payment is found by the id of a refund.
    expect(as([row({ id: 're_1' })], known)).toEqual(['not_ours'])
  })

  it('is found by the reference with the amount of a refund, and a payment only with its own', () => {
    const known = [paid({}, [refundRow({ amount: 7_000 }), refundRow({ id: '02', amount: 5_000 })])]
    const { id: _, ...unnamed } = back({ reference: 'order-1', amount: 5_000 })
    expect(as([unnamed, { ...unnamed, type: 'payment' }], known)).toEqual(['same', 'not_ours'])
    expect(as([{ ...unnamed, amount: 6_000 }], known)).toEqual(['not_ours'])
  })

  it('agrees twice with two of one amount, and with one row for all of them', () => {
    const two = [refundRow({ id: 'a', amount: 5_000 }), refundRow({ id: 'b', amount: 5_000 })]
    const rows = [back({ amount: 5_000 }), back({ amount: 5_000 })]
    expect(as(rows, [paid({}, two)])).toEqual(['same', 'same'])
    expect(as([back({ amount: 10_000 })], [paid({}, two)])).toEqual(['same'])
  })

  it('that is known as a growing sum agrees with what it grew by, or with the sum', () => {
    const grown = [
      moved('paid', 25_000),
      moved('refunded', -5_000, { refund_id: 'sum' }),
      moved('refunded', -7_000, { refund_id: 'sum' }),
      moved('refunded', -1_000, { refund_id: 'own' }),
    ]
    const refunds = [
      refundRow({ id: 'sum', amount: 12_000 }),
      refundRow({ id: 'own', amount: 1_000 }),
    ]
    const known = [paid({}, refunds, grown)]
    const parts = (...amounts: number[]) =>
      as(
        amounts.map((amount) => back({ amount })),
        known,
      )
    expect(parts(7_000, 5_000, 1_000)).toEqual(['same', 'same', 'same'])
    expect(parts(12_000, 1_000)).toEqual(['same', 'same'])
  })

  it('of more than was paid agrees by its own amount, though less was booked', () => {
    const refunds = [
      refundRow({ id: 'a', amount: 20_000 }),
      refundRow({ id: 'b', amount: 8_000 }),
      refundRow({ id: 'c', amount: 3_000 }),
    ]
    const booked = [
      moved('paid', 25_000),
      moved('refunded', -20_000, { refund_id: 'a' }),
      moved('refunded', -5_000, { refund_id: 'b' }),
    ]
    const rows = [20_000, 8_000, 3_000].map((amount) => back({ amount }))
    expect(as(rows, [paid({}, refunds, booked)])).toEqual(['same', 'same', 'same'])
  })

  it('agrees with what was booked when it failed since, and so does its failure', () => {
    const failed = refundRow({ id: 'a', amount: 5_000, status: 'failed' })
    const booked = [
      moved('paid', 25_000),
      moved('refunded', -5_000, { refund_id: 'a' }),
      moved('refund_failed', 5_000, { refund_id: 'a' }),
      moved('refunded', -6_000, { refund_id: 'b' }),
    ]
    const known = [paid({}, [failed, refundRow({ id: 'b', amount: 6_000 })], booked)]
    const failure = back({ type: 'refund_failed', amount: 5_000 })
    const rows = [row(), back({ amount: 5_000 }), failure, back({ amount: 6_000 })]
    const settled = compareRows(rows, known)
    expect(settled.map((each) => each.as)).toEqual(['same', 'same', 'same', 'same'])
    expect(settled.map((each) => each.movements?.[0])).toEqual(booked)
    expect(as([failure, failure], known)).toEqual(['same', 'twice'])
    expect(as([failure], [paid({}, [refundRow({ amount: 5_000 })])])).toEqual(['refund_failed'])
  })
})
