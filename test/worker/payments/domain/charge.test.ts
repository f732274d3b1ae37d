// What begins a charge and what its gateway's answer makes of it.

import { describe, expect, it } from 'vitest'
import {
  beginCharge,
  type ChargeStart,
  externalReference,
  type FoundCharge,
  type KnownCharges,
} from '../../../../worker/payments/domain/begin-charge.ts'
import { finishCharge } from '../../../../worker/payments/domain/finish-charge.ts'
import type { TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import type { OpenedPayment } from '../../../../worker/payments/domain/types.ts'
import {
  came,
  MINUTE,
  NOW,
  paymentOf,
  transactionRow,
  typesOf,
} from '../../../support/payment-rows.ts'

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
const NOTHING: KnownCharges = {
  installation: 'ours',
  own: undefined,
  byKey: undefined,
  attempts: [],
  keys: [],
}
const attempts = (...rows: Partial<TransactionRow>[]): KnownCharges => ({
  ...NOTHING,
  attempts: rows.map((row, at) => transactionRow({ id: `01TX-${at}`, attempt: at + 1, ...row })),
})

/** A call began before, and its result is unknown. */
const LOST = { gateway_transaction_id: null, called_by: null, called_until: null }

describe('a new charge', () => {
  it('is stored as Pending, with its event, and a check after the time limit of its call', () => {
    const begun = beginCharge(NOTHING, start({ idempotencyKey: 'key-1', correlationId: 'c-1' }))
    if (begun.state !== 'begun') throw new Error(begun.state)
    expect(begun.transaction).toMatchObject({
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
    expect(begun).toMatchObject({ earlier: 'none', keys: [] })
    expect(begun.transaction.request).not.toContain('0770')
    expect(begun.events).toMatchObject([
      { id: '02TX', type: 'PaymentInitiated', correlationId: 'c-1', createdAt: NOW },
    ])
  })

  it.each(PAYMENT_STATUSES)(
    'after an attempt that is %s finds it or begins the next one',
    (status) => {
      const isOver = ['Failed', 'Cancelled', 'Expired'].includes(status)
      const known = attempts({ ...came('Failed') }, { ...came(status), called_until: NOW + 1 })
      const begun = beginCharge(known, start())
      if (isOver) {
        expect(begun).toMatchObject({ state: 'begun', transaction: { attempt: 3 } })
        const names = new Set(['external-1'])
        if (begun.state === 'begun') names.add(String(begun.transaction.external_reference_id))
        expect(names.size).toBe(2)
      } else {
        expect(begun.state).toBe(status === 'Pending' ? 'in_progress' : 'answered')
      }
    },
  )

  it('conflicts with a different request that has the same key or the same order', () => {
    const { customerPhone: _, ...stored } = request
    const asked = JSON.stringify({ ...stored, returnUrl: 'https://shop.example' })
    const changed = { ...request, amount: 1, customerPhone: '0771' }
    const other = start({ request: changed, requestHash: 'hash-2', idempotencyKey: 'key-1' })
    const byKey = transactionRow({ idempotency_key: 'key-1', request: asked })
    const conflict = { state: 'conflict', fields: ['amount', 'returnUrl'] }
    expect(beginCharge({ ...NOTHING, byKey }, other)).toMatchObject({ ...conflict, over: 'key' })
    const known = attempts({ ...LOST, request: asked })
    expect(beginCharge(known, other)).toEqual({
      ...conflict,
      over: 'reference',
      transaction: known.attempts[0],
    })
    expect(beginCharge(attempts({ request: null }), other)).toMatchObject({ fields: [] })
  })

  it('is not stored where the gateway may not be called', () => {
    const found = (known: KnownCharges) => beginCharge(known, start({ mayCall: false })).state
    expect(found(NOTHING)).toBe('not_admitted')
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
    beginCharge(attempts(row), start(own)).state

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
      const transaction = known.attempts[0]
      expect(beginCharge(known, start())).toEqual({ state: 'answered', transaction })
    }
  })

  it('tells the caller whether an earlier call was sent', () => {
    const earlier = (row: Partial<TransactionRow>) => {
      const begun = beginCharge(attempts({ ...LOST, ...row }), start())
      return begun.state === 'begun' && begun.earlier
    }
    expect(earlier({})).toBe('unknown')
    expect(earlier({ called_until: 0 })).toBe('none')
    expect(earlier({ id: '02TX', called_by: '02TX', called_until: NOW + 1 })).toBe('none')
  })

  it('fires no second event, and its call has the whole time limit again', () => {
    const begun = beginCharge(attempts(LOST), start())
    expect(begun).toMatchObject({
      state: 'begun',
      events: [],
      transaction: { id: '01TX-0', called_by: '02TX', next_check_at: NOW + MINUTE },
    })
  })

  it('tells until when it is in progress', () => {
    const called = { ...LOST, called_by: 'other', called_until: NOW + 7 }
    const until = NOW + 7
    expect(beginCharge(attempts(called), start())).toEqual({ state: 'in_progress', until })
  })

  it('finds its own row first, in any status', () => {
    const own = transactionRow({ id: '02TX', ...came('Failed') })
    const found: FoundCharge = { state: 'answered', transaction: own }
    expect(beginCharge({ ...attempts(came('Paid')), own }, start())).toEqual(found)
  })
})

describe('another key of an order', () => {
  const KEY = { idempotencyKey: 'key-2' }
  const named = { id: '02TX', gateway: 'bank', idempotency_key: 'key-2', transaction_id: '01TX-0' }
  const OPEN = { ...came('Pending'), charge_answer: '{}', idempotency_key: 'key-1' }

  it.each(PAYMENT_STATUSES)('that is %s finds it, begins anew, or asks what is meant', (status) => {
    const known = attempts({ ...OPEN, ...came(status) })
    const { transactionId } = { transactionId: '01TX-0' }
    const byKey = beginCharge(known, start(KEY))
    const repeated = beginCharge(known, start({ ...KEY, isRepeat: true }))
    if (status === 'Pending') {
      expect(byKey).toEqual({ state: 'answered', transaction: known.attempts[0], key: named })
      expect(repeated).toEqual(byKey)
    } else if (['Failed', 'Cancelled', 'Expired'].includes(status)) {
      expect(byKey).toMatchObject({ state: 'begun', transaction: { attempt: 2, is_repeat: 0 } })
    } else {
      expect(byKey).toEqual({ state: 'already_paid', transactionId })
      expect(beginCharge(known, start({ ...KEY, requestHash: 'hash-2' }))).toEqual(byKey)
      expect(repeated).toMatchObject({
        state: 'begun',
        keys: [],
        transaction: { id: '02TX', attempt: 2, idempotency_key: 'key-2', is_repeat: 1 },
      })
    }
  })

  it('that is paid asks also after a later attempt has failed', () => {
    const known = attempts(came('Paid'), came('Failed'))
    expect(beginCharge(known, start(KEY))).toEqual({
      state: 'already_paid',
      transactionId: '01TX-0',
    })
  })

  it('conflicts with another request of an open attempt, also with repeat', () => {
    for (const isRepeat of [false, true]) {
      const other = start({ ...KEY, isRepeat, requestHash: 'hash-2' })
      expect(beginCharge(attempts(OPEN), other)).toMatchObject({
        state: 'conflict',
        over: 'reference',
      })
    }
  })

  it('belongs to an attempt that calls its gateway again, but not to one under way', () => {
    expect(beginCharge(attempts(LOST), start(KEY))).toMatchObject({
      state: 'begun',
      transaction: { id: '01TX-0' },
      keys: [named],
    })
    const called = { ...LOST, called_by: 'other', called_until: NOW + 1 }
    expect(beginCharge(attempts(called), start(KEY))).not.toHaveProperty('key')
  })

  it('finds the payment that it belongs to in any status, with repeat too', () => {
    for (const status of PAYMENT_STATUSES) {
      const transaction = transactionRow({ ...OPEN, ...came(status) })
      const known = { ...attempts(came('Paid')), byKey: transaction }
      for (const isRepeat of [false, true]) {
        const found = beginCharge(known, start({ ...KEY, isRepeat }))
        expect(found).toEqual({ state: 'answered', transaction })
      }
    }
  })
})

describe('a finished charge', () => {
  const error = { code: 'declined', message: 'No.' }
  const answer = {
    status: 'Pending',
    gateway: 'bank',
    reference: 'order-1',
    transactionId: '01TX',
    gatewayTransactionId: 'new',
    redirectUrl: 'https://pay.example/1',
    expiresAt: new Date(NOW + 9).toISOString(),
  } as OpenedPayment
  const RESULTS = {
    answered: { kind: 'answered', answer, expiresAt: NOW + 9, nextCheckAt: NOW + 5 },
    refused: { kind: 'refused', error },
    unknown: { kind: 'unknown', gatewayTransactionId: 'new', nextCheckAt: NOW + 5 },
    unsent: { kind: 'unsent', nextCheckAt: NOW + 5 },
  } as const
  const CALLED = { ...LOST, called_by: '02TX', called_until: NOW + MINUTE }
  const end = (row: Partial<TransactionRow>, kind: keyof typeof RESULTS, other?: TransactionRow) =>
    finishCharge(
      paymentOf({ ...CALLED, ...row }),
      { eventId: '03EVENT', now: NOW, result: RESULTS[kind] },
      other,
    )

  it('that was answered stores the answer and the gateway’s id', () => {
    const { payment, events } = end({}, 'answered')
    expect(payment.transaction).toMatchObject({
      status: 'Pending',
      gateway_transaction_id: 'new',
      redirect_url: answer.redirectUrl,
      charge_answer: JSON.stringify(answer),
      expires_at: NOW + 9,
      next_check_at: NOW + 5,
      called_by: null,
      called_until: null,
    })
    expect(events).toEqual([])
  })

  it('that was refused has failed, and fires its event', () => {
    const { payment, events, alerts } = end({}, 'refused')
    const failed = { status: 'Failed', error: JSON.stringify(error), next_check_at: null }
    expect(payment.transaction).toMatchObject(failed)
    expect(events).toMatchObject([{ id: '03EVENT', type: 'PaymentFailed' }])
    expect(alerts).toEqual([])
  })

  it('with an unknown result, or not sent, stays open and stores which of them it is', () => {
    const unknown = end({}, 'unknown').payment.transaction
    expect(unknown).toMatchObject({ gateway_transaction_id: 'new', called_until: null })
    const unsent = end({}, 'unsent').payment.transaction
    expect(unsent).toMatchObject({ gateway_transaction_id: null, called_until: 0 })
    for (const row of [unknown, unsent]) {
      expect(row).toMatchObject({ status: 'Pending', next_check_at: NOW + 5 })
    }
  })

  it.each([
    ['another payment has', null, transactionRow({ id: 'other' }), { otherTransactionId: 'other' }],
    ['is not the one that a webhook has given it', 'own', undefined, {}],
  ])('does not take an id that %s, nor its page, and raises an alert', (_, own, other, more) => {
    for (const kind of ['answered', 'unknown'] as const) {
      const { payment, alerts } = end({ gateway_transaction_id: own }, kind, other)
      expect(payment.transaction).toMatchObject({
        status: 'Pending',
        gateway_transaction_id: own,
        charge_answer: null,
        redirect_url: null,
        next_check_at: NOW + 5,
        called_until: null,
      })
      const money = { amount: 25_000, currency: 'IQD' }
      const detail = { reference: 'order-1', ...money, gatewayTransactionId: 'new', ...more }
      expect(alerts).toMatchObject([{ kind: 'id_mismatch', transactionId: '01TX', detail }])
    }
  })

  it.each(PAYMENT_STATUSES)(
    'never resets the status or the check of a payment that is %s',
    (status) => {
      for (const kind of ['answered', 'refused', 'unknown', 'unsent'] as const) {
        const { payment, events } = end({ ...came(status), next_check_at: 7 }, kind)
        const isMoved = status === 'Pending' && kind === 'refused'
        if (kind === 'answered') expect(payment.transaction.redirect_url).toBe(answer.redirectUrl)
        expect(payment.transaction.status).toBe(isMoved ? 'Failed' : status)
        expect(typesOf(events)).toEqual(isMoved ? ['PaymentFailed'] : [])
        if (status !== 'Pending') expect(payment.transaction.next_check_at).toBe(7)
      }
    },
  )

  it('that was answered before only ends its call', () => {
    for (const kind of ['answered', 'refused', 'unknown', 'unsent'] as const) {
      const before = paymentOf({ ...CALLED, charge_answer: '{}' }).transaction
      const { payment, events } = end({ charge_answer: '{}' }, kind)
      expect({ ...payment.transaction, called_by: 0, called_until: 0 }).toEqual({
        ...before,
        called_by: 0,
        called_until: 0,
      })
      expect(events).toEqual([])
    }
  })
})
