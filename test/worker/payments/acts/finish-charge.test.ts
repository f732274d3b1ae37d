// What the answer of its gateway makes of a charge.

import { describe, expect, it } from 'vitest'
import { finishCharge } from '../../../../worker/payments/acts/finish-charge.ts'
import type { TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { PAYMENT_STATUSES } from '../../../../worker/payments/domain/status.ts'
import type { OpenedPayment } from '../../../../worker/payments/domain/types.ts'
import { decided, RULES } from '../../../support/acts.ts'
import { came, MINUTE, NOW, transactionRow } from '../../../support/payment-rows.ts'

/** A call began before, and its result is unknown. */
const LOST = { gateway_transaction_id: null, called_by: null, called_until: null }

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
    lost: { kind: 'unknown', nextCheckAt: NOW + 5 },
  } as const
  const CALLED = { ...LOST, called_by: '02TX', called_until: NOW + MINUTE }
  const end = (
    row: Partial<TransactionRow>,
    kind: keyof typeof RESULTS,
    other?: TransactionRow,
  ) => {
    const loaded = {
      transactions: [transactionRow({ ...CALLED, ...row }), ...(other ? [other] : [])],
    }
    const of = { transactionId: '01TX', eventId: '03EVENT', now: NOW, result: RESULTS[kind] }
    const { answer, ...left } = decided(finishCharge(of, RULES), loaded)
    return { transaction: answer, ...left }
  }

  it('that was answered stores the answer and the gateway’s id', () => {
    const { transaction, events } = end({}, 'answered')
    expect(transaction).toMatchObject({
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
    const { transaction, events, alerts } = end({}, 'refused')
    const failed = { status: 'Failed', error: JSON.stringify(error), next_check_at: null }
    expect(transaction).toMatchObject(failed)
    expect(events).toMatchObject([{ id: '03EVENT', type: 'PaymentFailed' }])
    expect(alerts).toEqual([])
  })

  it('with an unknown result, or not sent, stays open and stores which of them it is', () => {
    const unknown = end({}, 'unknown').transaction
    expect(unknown).toMatchObject({ gateway_transaction_id: 'new', called_until: null })
    const unsent = end({}, 'unsent').transaction
    expect(unsent).toMatchObject({ gateway_transaction_id: null, called_until: 0 })
    for (const row of [unknown, unsent]) {
      expect(row).toMatchObject({ status: 'Pending', next_check_at: NOW + 5 })
    }
  })

  it.each([
    [
      'another payment has',
      null,
      transactionRow({ id: 'other', gateway_transaction_id: 'new' }),
      { otherTransactionId: 'other' },
    ],
    ['is not the one that a webhook has given it', 'own', undefined, {}],
  ])('does not take an id that %s, nor its page, and raises an alert', (_, own, other, more) => {
    for (const kind of ['answered', 'unknown'] as const) {
      const { transaction, alerts } = end({ gateway_transaction_id: own }, kind, other)
      expect(transaction).toMatchObject({
        status: 'Pending',
        gateway_transaction_id: own,
        charge_answer: null,
        redirect_url: null,
        next_check_at: NOW + 5,
        called_until: null,
      })
      const money = { amount: 25_000, currency: 'IQD' }
      const detail = { reference: 'order-1', ...money, gatewayTransactionId: 'new', ...more }
      expect(alerts).toMatchObject([{ kind: 'id_mismatch', transaction_id: '01TX', detail }])
    }
  })

  it('without an id does not contradict another payment that has none, either', () => {
    const other = transactionRow({ id: 'other', gateway_transaction_id: null })
    const { transaction, alerts } = end({}, 'lost', other)
    expect(transaction).toMatchObject({ status: 'Pending', gateway_transaction_id: null })
    expect(alerts).toEqual([])
  })

  it.each(PAYMENT_STATUSES)(
    'never resets the status or the check of a payment that is %s',
    (status) => {
      for (const kind of ['answered', 'refused', 'unknown', 'unsent'] as const) {
        const { transaction, events } = end({ ...came(status), next_check_at: 7 }, kind)
        const isMoved = status === 'Pending' && kind === 'refused'
        if (kind === 'answered') expect(transaction.redirect_url).toBe(answer.redirectUrl)
        expect(transaction.status).toBe(isMoved ? 'Failed' : status)
        expect(events.map(({ type }) => type)).toEqual(isMoved ? ['PaymentFailed'] : [])
        if (status !== 'Pending') expect(transaction.next_check_at).toBe(7)
      }
    },
  )

  it('that was answered before only ends its call', () => {
    for (const kind of ['answered', 'refused', 'unknown', 'unsent'] as const) {
      const before = transactionRow({ ...CALLED, charge_answer: '{}' })
      const { transaction, events } = end({ charge_answer: '{}' }, kind)
      expect({ ...transaction, called_by: 0, called_until: 0 }).toEqual({
        ...before,
        called_by: 0,
        called_until: 0,
      })
      expect(events).toEqual([])
    }
  })
})
