// What a charge leaves behind that replaces a stranded one.

import { describe, expect, it } from 'vitest'
import { beginCharge, type ChargeStart } from '../../../../worker/payments/acts/begin-charge.ts'
import type { Replacement } from '../../../../worker/payments/domain/open-charge.ts'
import type { ChargeKeyRow, TransactionRow } from '../../../../worker/payments/domain/rows.ts'
import { decided, RULES } from '../../../support/acts.ts'
import { came, MINUTE, NOW, transactionRow } from '../../../support/payment-rows.ts'

describe('a charge that replaces a stranded one', () => {
  const request = {
    gateway: 'bank',
    reference: 'order-1',
    amount: 25_000,
    currency: 'IQD',
    description: 'Three books',
  }
  const replaces: Replacement = { transactionId: '01TX', eventId: '03END', nextCheckAt: NOW + 9 }
  const start = (own: Partial<ChargeStart> = {}): ChargeStart => ({
    id: '02TX',
    request,
    requestHash: 'hash-1',
    chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
    replaces,
    mayCall: true,
    now: NOW,
    until: NOW + MINUTE,
    ...own,
  })
  const begin = (
    transactions: TransactionRow[],
    own: Partial<ChargeStart> = {},
    chargeKeys: ChargeKeyRow[] = [],
  ) => decided(beginCharge(start(own), RULES), { transactions, chargeKeys })
  const stateOf = (row: Partial<TransactionRow>, own: Partial<ChargeStart> = {}) =>
    begin([transactionRow(row)], own).answer.state
  const begun = (
    transactions: TransactionRow[],
    own: Partial<ChargeStart> = {},
    chargeKeys: ChargeKeyRow[] = [],
  ) => {
    const { answer, rows, events, alerts } = begin(transactions, own, chargeKeys)
    if (answer.state !== 'begun') throw new Error(answer.state)
    const { inserted, updated } = rows.changesOf('chargeKeys')
    const keys = [...updated.map(({ after }) => after), ...inserted]
    const replaced = rows.get('transactions', '01TX')
    return { transaction: answer.transaction, events, alerts, keys, replaced }
  }
  const instead = (row: Partial<TransactionRow> = {}, own: Partial<ChargeStart> = {}) =>
    begun([transactionRow(row)], own)

  it('cancels it, with its event, and begins the next attempt under another id', () => {
    const { transaction, events, replaced, alerts } = instead({}, { correlationId: 'c-2' })
    expect(transaction).toMatchObject({
      id: '02TX',
      attempt: 2,
      status: 'Pending',
      gateway_transaction_id: null,
      charge_answer: null,
      called_by: '02TX',
      called_until: NOW + MINUTE,
    })
    expect(transaction.external_reference_id).not.toBe('external-1')
    expect(replaced).toEqual({
      ...transactionRow(),
      status: 'Cancelled',
      next_check_at: NOW + 9,
      updated_at: NOW,
      error: JSON.stringify({
        code: 'replaced',
        message: 'Another attempt has replaced it: 02TX.',
      }),
    })
    expect(events).toMatchObject([
      { id: '03END', type: 'PaymentCancelled', correlation_id: 'c-2', created_at: NOW },
      { id: '02TX', type: 'PaymentInitiated' },
    ])
    expect(JSON.parse(events[0]?.payload ?? '').transaction).toMatchObject({ status: 'Cancelled' })
    expect(alerts).toEqual([])
  })

  it('raises an alert if the gateway could not be asked about the first one', () => {
    const { transactionId, eventId } = replaces
    const { replaced, events, alerts } = instead(
      { gateway_transaction_id: null },
      {
        chargeRepeatableForMs: 0,
        replaces: { transactionId, eventId },
      },
    )
    expect(replaced?.next_check_at).toBeNull()
    expect(events).toMatchObject([{ id: '03END', type: 'PaymentCancelled' }, { id: '02TX' }])
    expect(alerts).toMatchObject([
      {
        kind: 'unsettled',
        subject: '01TX',
        gateway: 'bank',
        transaction_id: '01TX',
        detail: {
          reference: 'order-1',
          amount: 25_000,
          currency: 'IQD',
          gatewayStatus: 'none',
          since: new Date(NOW - MINUTE).toISOString(),
        },
        created_at: NOW,
      },
    ])
  })

  it.each([
    ['takes over the same key', 'key-1', 'key-1', 'key-1', null],
    ['without a key takes over the key', 'key-1', undefined, 'key-1', null],
    ['with a key has it if the first had none', null, 'key-2', 'key-2', null],
    ['with another key takes over the first', 'key-1', 'key-2', 'key-1', null],
    ['has no key if neither had one', null, undefined, null, null],
  ])('%s', (_what, before, given, after, left) => {
    const asked = given === undefined ? {} : { idempotencyKey: given }
    const { transaction, replaced, keys } = instead({ idempotency_key: before }, asked)
    expect(transaction).toMatchObject({ idempotency_key: after, is_repeat: 0 })
    expect(keys.map((key) => key.idempotency_key)).toEqual(
      given === undefined || given === after ? [] : [given],
    )
    expect(replaced?.idempotency_key).toBe(left)
    const { transaction: unkeyed } = instead()
    const isSame = transaction.external_reference_id === unkeyed.external_reference_id
    expect(isSame).toBe(after === null)
  })

  it.each([
    ['was paid in the meantime', came('Paid'), 'answered'],
    ['has its page now', { charge_answer: '{}' }, 'answered'],
    ['is being called', { called_by: 'other', called_until: NOW + 1 }, 'in_progress'],
    ['has a page that can still be paid', { charge_answer: '{}', expires_at: NOW + 1 }, 'answered'],
  ] as const)('does not begin if the first one %s', (_what, row, state) => {
    expect(stateOf(row)).toBe(state)
  })

  describe('of another request', () => {
    const closes = { ...replaces, closedBy: 'replace 02' }
    const page = {
      charge_answer: '{}',
      request_hash: 'hash-2',
      idempotency_key: 'key-1',
      called_by: 'replace 02',
      called_until: NOW + 1,
    }

    it('begins once the gateway has closed the page, and leaves its keys to the old one', () => {
      const asked = { replaces: closes, idempotencyKey: 'key-2' }
      const { transaction, replaced, keys } = instead(page, asked)
      expect(transaction).toMatchObject({ attempt: 2, idempotency_key: 'key-2', is_repeat: 0 })
      expect(keys).toEqual([])
      expect(instead({ ...page, is_repeat: 1 }, asked).transaction.is_repeat).toBe(1)
      expect(replaced).toMatchObject({
        status: 'Cancelled',
        idempotency_key: 'key-1',
        next_check_at: NOW + 9,
      })
    })

    it.each([
      ['has an open page', {}, { replaces }, 'conflict'],
      ['has the key of the request', {}, { idempotencyKey: 'key-1' }, 'conflict'],
      ['was paid in the meantime', came('Paid'), {}, 'conflict'],
      ['was paid, and the key is new', came('Paid'), { idempotencyKey: 'key-2' }, 'already_paid'],
      ['is closed by another', { called_by: 'cancel 03' }, {}, 'conflict'],
    ] as const)('does not begin if the first one %s', (_what, row, own, state) => {
      expect(stateOf({ ...page, ...row }, { replaces: closes, ...own })).toBe(state)
    })

    it('waits for a call that is under way', () => {
      const row = { ...page, charge_answer: null as string | null, called_by: '01TX' }
      const found = (isReplacing: boolean, own = row) =>
        stateOf(own, { replaces: closes, isReplacing })
      expect(found(true)).toBe('in_progress')
      expect(found(false)).toBe('conflict')
      expect(found(true, { ...row, charge_answer: '{}' })).toBe('conflict')
    })
  })

  it('takes over all of its further keys, the one that it is asked with, and its repeat', () => {
    const keyRow = (id: string, transaction_id = '01TX') => ({
      id,
      gateway: 'bank',
      idempotency_key: `key of ${id}`,
      transaction_id,
    })
    const keys = [keyRow('01KEY'), keyRow('01OTHER', '01TY')]
    const row = { idempotency_key: 'key-1', is_repeat: 1 } as const
    expect(instead({}, { isRepeat: true }).transaction.is_repeat).toBe(1)
    const asked = { idempotencyKey: 'key of 02TX' }
    const { transaction, ...rest } = begun([transactionRow(row)], asked, keys)
    expect(transaction).toMatchObject({ idempotency_key: 'key-1', is_repeat: 1 })
    expect(rest.keys).toEqual([keyRow('01KEY', '02TX'), keyRow('02TX', '02TX')])
  })
})
