// What begins a charge: a new payment, or the one that the same request made before.

import { describe, expect, it } from 'vitest'
import type { Changes } from '../../../../worker/payments/acts/act.ts'
import { beginCharge, type ChargeStart } from '../../../../worker/payments/acts/begin-charge.ts'
import { externalReference } from '../../../../worker/payments/domain/new-id.ts'
import type { TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import { decided, RULES } from '../../../support/acts.ts'
import { came, MINUTE, NOW, transactionRow } from '../../../support/payment-rows.ts'

const request = {
  gateway: 'bank',
  reference: 'order-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'Three books',
  customerPhone: '0770',
  metadata: { service_type: 'Food' },
}
const start = (own: Partial<ChargeStart> = {}): ChargeStart => ({
  id: '02TX',
  request,
  requestHash: 'hash-1',
  chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
  mayCall: true,
  now: NOW,
  until: NOW + MINUTE,
  ...own,
})
const attempts = (...rows: Partial<TransactionRow>[]) =>
  rows.map((row, at) => transactionRow({ id: `01TX-${at}`, attempt: at + 1, ...row }))

const begun = (transactions: TransactionRow[], own: ChargeStart) => {
  const { rows, ...begun } = decided(beginCharge(own, RULES), { transactions } satisfies Changes)
  return { ...begun, keys: rows.changesOf('chargeKeys').inserted }
}
const begin = (transactions: TransactionRow[], own: ChargeStart) => begun(transactions, own).answer

/** A call began before, and its result is unknown. */
const LOST = { gateway_transaction_id: null, called_by: null, called_until: null }

describe('a new charge', () => {
  it('is stored as Pending, with its event, and a check after the time limit of its call', () => {
    const asked = start({ idempotencyKey: 'key-1', correlationId: 'c-1' })
    const { answer, events, keys } = begun([], asked)
    if (answer.state !== 'begun') throw new Error(answer.state)
    expect(answer.transaction).toMatchObject({
      id: '02TX',
      status: 'Pending',
      attempt: 1,
      amount: 25_000,
      refunded_amount: 0,
      idempotency_key: 'key-1',
      called_by: '02TX',
      called_until: NOW + MINUTE,
      next_check_at: NOW + MINUTE,
      created_at: NOW,
      metadata: '{"service_type":"Food"}',
    })
    expect([answer.earlier, keys]).toEqual(['none', []])
    expect(answer.transaction.request).not.toContain('0770')
    expect(events).toMatchObject([
      { id: '02TX', type: 'PaymentInitiated', correlation_id: 'c-1', created_at: NOW },
    ])
  })

  it('conflicts with a different request that has the same key or the same order', () => {
    const { customerPhone: _, ...stored } = request
    const asked = JSON.stringify({ ...stored, returnUrl: 'https://shop.example' })
    const changed = { ...request, amount: 1, customerPhone: '0771' }
    const other = start({ request: changed, requestHash: 'hash-2', idempotencyKey: 'key-1' })
    const byKey = transactionRow({ idempotency_key: 'key-1', request: asked })
    const conflict = { state: 'conflict', fields: ['amount', 'returnUrl'] }
    expect(begin([byKey], other)).toMatchObject({ ...conflict, over: 'key' })
    const known = attempts({ ...LOST, request: asked })
    expect(begin(known, other)).toEqual({
      ...conflict,
      over: 'reference',
      transaction: known[0],
    })
    expect(begin(attempts({ request: null }), other)).toMatchObject({ fields: [] })
  })

  it('is not stored where the gateway may not be called', () => {
    const found = (known: TransactionRow[]) => begin(known, start({ mayCall: false })).state
    expect(found([])).toBe('not_admitted')
    expect(found(attempts({ ...LOST, called_by: '02TX' }))).toBe('unknown')
    expect(found(attempts(came('Paid')))).toBe('answered')
  })
})

it('has a name at its gateway for each installation, gateway, key or order, and attempt', () => {
  const of = (gateway: string, own: object, attempt = 1) =>
    externalReference({ installation: 'ours', gateway, reference: 'order-1', ...own }, attempt)
  const [key, order] = [{ idempotencyKey: 'order-1' }, { reference: 'order-2' }]
  const names = [of('bank', {}), of('bank', key), of('bank', order), of('shop', {})]
  names.push(of('shop', key), of('bank', {}, 2), of('bank', key, 2))
  names.push(of('bank', { idempotencyKey: 'key-2' }))
  names.push(of('bank', { installation: 'theirs' }), of('bank', { installation: 'theirs', ...key }))
  expect(new Set(names).size).toBe(10)
  expect(of('bank', {})).toBe(names[0])
  expect(of('bank', { ...key, ...order })).toBe(names[1])
})

describe('a repeated charge', () => {
  const again = (row: Partial<TransactionRow>, own: Partial<ChargeStart> = {}) =>
    begin(attempts(row), start(own)).state

  it('is in progress while another call for it is under way', () => {
    expect(again({ ...LOST, called_by: 'other', called_until: NOW + 1 })).toBe('in_progress')
    expect(again({ ...LOST, called_by: '02TX', called_until: NOW + 1 })).toBe('begun')
  })

  it('calls the gateway only if that cannot make a second payment', () => {
    const unsent = { ...LOST, called_until: 0 }
    expect(again(LOST)).toBe('begun')
    expect(again({ ...LOST, called_by: 'other', called_until: NOW })).toBe('begun')
    expect(again(LOST, { chargeRepeatableForMs: 0 })).toBe('unknown')
    const old = { ...LOST, created_at: NOW - 60_000 }
    expect(again(old, { chargeRepeatableForMs: 60_000 })).toBe('unknown')
    expect(again(old, { chargeRepeatableForMs: 60_001 })).toBe('begun')
    expect(again(unsent, { chargeRepeatableForMs: 0 })).toBe('begun')
    expect(again({ ...LOST, gateway_transaction_id: 'gateway-1' })).toBe('unknown')
  })

  it('gets the current payment, once it was answered or its status changed', () => {
    const answer = { ...LOST, charge_answer: '{}' }
    for (const row of [answer, { ...answer, called_by: '02TX' }, { ...LOST, ...came('Paid') }]) {
      const known = attempts(row)
      const transaction = known[0]
      expect(begin(known, start())).toEqual({ state: 'answered', transaction })
    }
  })

  it('tells the caller whether an earlier call was sent', () => {
    const earlier = (row: Partial<TransactionRow>) => {
      const begun = begin(attempts({ ...LOST, ...row }), start())
      return begun.state === 'begun' && begun.earlier
    }
    expect(earlier({})).toBe('unknown')
    expect(earlier({ called_until: 0 })).toBe('none')
    expect(earlier({ id: '02TX', called_by: '02TX', called_until: NOW + 1 })).toBe('none')
  })

  it('fires no second event, and its call has the whole time limit again', () => {
    const { answer, events } = begun(attempts(LOST), start())
    expect(events).toEqual([])
    expect(answer).toMatchObject({
      state: 'begun',
      transaction: { id: '01TX-0', called_by: '02TX', next_check_at: NOW + MINUTE },
    })
  })

  it('tells until when it is in progress', () => {
    const called = { ...LOST, called_by: 'other', called_until: NOW + 7 }
    const until = NOW + 7
    expect(begin(attempts(called), start())).toEqual({ state: 'in_progress', until })
  })
})

describe('another key of an order', () => {
  const KEY = { idempotencyKey: 'key-2' }
  const named = { id: '02TX', gateway: 'bank', idempotency_key: 'key-2', transaction_id: '01TX-0' }
  const OPEN = { ...came('Pending'), charge_answer: '{}', idempotency_key: 'key-1' }

  it('that is paid asks also after a later attempt has failed', () => {
    const known = attempts(came('Paid'), came('Failed'))
    expect(begin(known, start(KEY))).toEqual({
      state: 'already_paid',
      transactionId: '01TX-0',
    })
  })

  it('conflicts with another request of an open attempt, also with repeat', () => {
    for (const isRepeat of [false, true]) {
      const other = start({ ...KEY, isRepeat, requestHash: 'hash-2' })
      expect(begin(attempts(OPEN), other)).toMatchObject({
        state: 'conflict',
        over: 'reference',
      })
    }
  })

  it('belongs to an attempt that calls its gateway again, but not to one under way', () => {
    const { answer, keys } = begun(attempts(LOST), start(KEY))
    expect(answer).toMatchObject({ state: 'begun', transaction: { id: '01TX-0' } })
    expect(keys).toEqual([named])
    const called = { ...LOST, called_by: 'other', called_until: NOW + 1 }
    expect(begin(attempts(called), start(KEY))).not.toHaveProperty('key')
  })

  it('finds the payment that it belongs to in any status, with repeat too', () => {
    for (const status of PAYMENT_STATUSES) {
      const named = { idempotency_key: 'key-2' }
      const transaction = transactionRow({ ...OPEN, ...came(status), ...named })
      const known = [...attempts(came('Paid')), transaction]
      for (const isRepeat of [false, true]) {
        const found = begin(known, start({ ...KEY, isRepeat }))
        expect(found).toEqual({ state: 'answered', transaction })
      }
    }
  })
})
