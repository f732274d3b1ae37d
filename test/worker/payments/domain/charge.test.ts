// What begins a charge and what its gateway's answer makes of it.

import { describe, expect, it } from 'vitest'
import {
  beginCharge,
  type ChargeStart,
  type FoundCharge,
  type KnownCharges,
} from '../../../../worker/payments/domain/begin-charge.ts'
import { finishCharge } from '../../../../worker/payments/domain/finish-charge.ts'
import type { TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import type { OpenedPayment } from '../../../../worker/payments/domain/transaction.ts'
import {
  came,
  MINUTE,
  NOW,
  paymentOf,
  transactionRow,
  typesOf,
} from '../../../support/payment-rows.ts'

const request = {
  ...{ gateway: 'bank', reference: 'order-1', amount: 25_000, currency: 'IQD' },
  ...{ description: 'Three books', customerPhone: '0770', metadata: { service_type: 'Food' } },
}
const start = (own: Partial<ChargeStart> = {}): ChargeStart => ({
  ...{ id: '02TX', request, requestHash: 'hash-1', chargeIsIdempotent: true },
  ...{ now: NOW, until: NOW + MINUTE },
  ...own,
})
const NOTHING: KnownCharges = { own: undefined, byKey: undefined, attempts: [] }
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
      ...{ id: '02TX', status: 'Pending', attempt: 1, amount: 25_000, refunded_amount: 0 },
      ...{ idempotency_key: 'key-1', called_by: '02TX', called_until: NOW + MINUTE },
      ...{ next_check_at: NOW + MINUTE, created_at: NOW, metadata: '{"service_type":"Food"}' },
    })
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
    const other = start({ requestHash: 'hash-2', idempotencyKey: 'key-1' })
    const byKey = transactionRow({ idempotency_key: 'key-1' })
    expect(beginCharge({ ...NOTHING, byKey }, other)).toEqual({ state: 'conflict', over: 'key' })
    expect(beginCharge(attempts({}), other)).toEqual({ state: 'conflict', over: 'reference' })
  })
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
    expect(again(LOST, { chargeIsIdempotent: false })).toBe('unknown')
    expect(again(unsent, { chargeIsIdempotent: false })).toBe('begun')
    expect(again({ ...LOST, gateway_transaction_id: 'gateway-1' })).toBe('unknown')
  })

  it('gets the current payment, once it was answered or its status changed', () => {
    expect(again({ charge_answer: '{}' })).toBe('answered')
    expect(again({ ...LOST, ...came('Paid') })).toBe('answered')
  })

  it('fires no second event, and its call has the whole time limit again', () => {
    const begun = beginCharge(attempts(LOST), start())
    expect(begun).toMatchObject({
      state: 'begun',
      events: [],
      transaction: { id: '01TX-0', called_by: '02TX', next_check_at: NOW + MINUTE },
    })
  })

  it('finds its own row first, in any status', () => {
    const own = transactionRow({ id: '02TX', ...came('Failed') })
    const found: FoundCharge = { state: 'answered', transaction: own }
    expect(beginCharge({ ...attempts(came('Paid')), own }, start())).toEqual(found)
  })
})

describe('a finished charge', () => {
  const error = { code: 'declined', message: 'No.' }
  const answer = {
    ...{ status: 'Pending', gateway: 'bank', reference: 'order-1', transactionId: '01TX' },
    ...{ gatewayTransactionId: 'new', redirectUrl: 'https://pay.example/1' },
    expiresAt: new Date(NOW + 9).toISOString(),
  } as OpenedPayment
  const RESULTS = {
    answered: { kind: 'answered', answer, nextCheckAt: NOW + 5 },
    refused: { kind: 'refused', error },
    unknown: { kind: 'unknown', gatewayTransactionId: 'new', nextCheckAt: NOW + 5 },
    unsent: { kind: 'unsent', nextCheckAt: NOW + 5 },
  } as const
  const CALLED = { ...LOST, called_by: '02TX', called_until: NOW + MINUTE }
  const end = (row: Partial<TransactionRow>, kind: keyof typeof RESULTS, isTaken = false) =>
    finishCharge(
      paymentOf({ ...CALLED, ...row }),
      { eventId: '03EVENT', now: NOW, result: RESULTS[kind] },
      () => isTaken,
    )

  it('that was answered stores the answer and the gateway’s id', () => {
    const { payment, events } = end({}, 'answered')
    expect(payment.transaction).toMatchObject({
      ...{ status: 'Pending', gateway_transaction_id: 'new', redirect_url: answer.redirectUrl },
      ...{ charge_answer: JSON.stringify(answer), expires_at: NOW + 9, next_check_at: NOW + 5 },
      ...{ called_by: null, called_until: null },
    })
    expect(events).toEqual([])
  })

  it('that was refused has failed, and fires its event', () => {
    const { payment, events } = end({}, 'refused')
    const failed = { status: 'Failed', error: JSON.stringify(error), next_check_at: null }
    expect(payment.transaction).toMatchObject(failed)
    expect(events).toMatchObject([{ id: '03EVENT', type: 'PaymentFailed' }])
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

  it('does not take an id that another payment has', () => {
    for (const kind of ['answered', 'unknown'] as const) {
      expect(end({}, kind, true).payment.transaction.gateway_transaction_id).toBeNull()
    }
  })

  it.each(PAYMENT_STATUSES)(
    'never resets the status or the check of a payment that is %s',
    (status) => {
      for (const kind of ['answered', 'refused', 'unknown', 'unsent'] as const) {
        const { payment, events } = end({ ...came(status), next_check_at: 7 }, kind)
        const isMoved = status === 'Pending' && kind === 'refused'
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
        ...{ called_by: 0, called_until: 0 },
      })
      expect(events).toEqual([])
    }
  })
})
