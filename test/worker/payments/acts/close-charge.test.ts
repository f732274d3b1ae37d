// A page that is being closed: who may close it, and why it has ended.

import { describe, expect, it } from 'vitest'
import {
  beginClosing,
  type ClosingStart,
  endClosing,
} from '../../../../worker/payments/acts/close-charge.ts'
import { closingError } from '../../../../worker/payments/domain/open-charge.ts'
import type { TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { decided, RULES } from '../../../support/acts.ts'
import { came, MINUTE, NOW, transactionRow } from '../../../support/payment-rows.ts'

const start = (own: Partial<ClosingStart> = {}): ClosingStart => ({
  id: '02',
  transactionId: '01TX',
  purpose: 'cancel',
  isClosable: true,
  unseenIsUnpayable: false,
  now: NOW,
  until: NOW + MINUTE,
  ...own,
})
const page = { charge_answer: '{}', gateway_transaction_id: 'gateway-1' }
const begun = (row: Partial<TransactionRow>, own: Partial<ClosingStart> = {}) =>
  decided(beginClosing(start(own), RULES), { transactions: [transactionRow({ ...page, ...row })] })
const begin = (row: Partial<TransactionRow>, own: Partial<ClosingStart> = {}) =>
  begun(row, own).answer

describe('closing a page', () => {
  it.each([
    ['an open one', {}, {}, 'begun'],
    ['one of the same call, whose answer was lost', { called_by: 'cancel 02' }, {}, 'begun'],
    ['one that another call closes', { called_by: 'replace 03' }, {}, 'in_progress'],
    ['one that is paid', came('Paid'), {}, 'paid'],
    ['one that has ended', came('Expired'), {}, 'ended'],
    ['one whose gateway cannot', {}, { isClosable: false }, 'unsupported'],
  ] as const)('of %s is %s', (_what, row, own, state) => {
    const called = 'called_by' in row ? { called_until: NOW + 1 } : {}
    expect(begin({ ...row, ...called }, own).state).toBe(state)
  })

  it.each([
    ['was never sent', { called_until: 0 }, {}, 'ended'],
    ['nobody can have seen', {}, { unseenIsUnpayable: true }, 'ended'],
    ['may exist', {}, {}, 'unknown'],
    ['was answered', { called_until: 0, charge_answer: '{}' }, {}, 'unknown'],
  ] as const)('that the gateway has not named, and that %s, is %s', (_what, row, own, state) => {
    const unnamed = { charge_answer: null, gateway_transaction_id: null, ...row }
    expect(begin(unnamed, own).state).toBe(state)
  })

  it('that nobody can have seen ends it here, with its event', () => {
    const unnamed = { ...page, gateway_transaction_id: null, called_by: '01', called_until: NOW }
    const own = { unseenIsUnpayable: true, correlationId: 'c-2' }
    const { answer, events, alerts } = begun(unnamed, own)
    if (answer.state !== 'ended') throw new Error(answer.state)
    expect(answer.transaction).toEqual({
      ...transactionRow(unnamed),
      status: 'Cancelled',
      error: JSON.stringify({ code: 'cancelled', message: 'It was cancelled here.' }),
      next_check_at: null,
      updated_at: NOW,
      called_by: null,
      called_until: null,
    })
    const event = { id: '02', type: 'PaymentCancelled', correlation_id: 'c-2', created_at: NOW }
    expect(events).toMatchObject([event])
    expect(alerts).toEqual([])
    // Its gateway has named it, so it may be there.
    expect(begin({}, { unseenIsUnpayable: true }).state).toBe('begun')
  })

  it('is why it ends, until its time is over or its gateway has not ended it', () => {
    for (const [purpose, code] of [
      ['cancel', 'cancelled'],
      ['replace', 'replaced'],
    ] as const) {
      const { answer, rows } = begun({}, { purpose })
      if (answer.state !== 'begun') throw new Error(answer.state)
      const { transaction } = answer
      expect(closingError(transaction, NOW)?.code).toBe(code)
      expect(closingError(transaction, NOW + MINUTE)).toBeUndefined()
      const other = endClosing({ transactionId: '01TX', purpose, id: 'another' })
      expect(other.decide(rows)).toBe(transaction)
      expect(rows.get('transactions', '01TX')).toBe(transaction)
      const ended = endClosing({ transactionId: '01TX', purpose, id: '02' }).decide(rows)
      expect(rows.get('transactions', '01TX')).toBe(ended)
      expect(closingError(ended, NOW)).toBeUndefined()
      expect(ended.next_check_at).toBe(NOW + MINUTE)
    }
    expect(closingError(transactionRow({ called_by: '01', called_until: NOW + 1 }), NOW)).toBe(
      undefined,
    )
  })
})
