// An order that was paid twice is never silent.

import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../../worker/payments/domain/types.ts'
import { type LedgerSetup, T0 } from '../../../support/ledger-setup.ts'
import { rivalledSetup } from './memory-ledger.ts'

const AT_BANK = { request: { gateway: 'fib' } }

/** The open alerts for orders that were paid twice, newest first. */
const doubles = async (w: LedgerSetup) =>
  (await w.queries.alerts({}, { limit: 9 }))
    .filter(({ kind }) => kind === 'double_payment')
    .map(({ gateway, transactionId, detail }) => ({ gateway, transactionId, detail }))

const named = (paid: Transaction, other: Transaction) => ({
  gateway: paid.gateway,
  transactionId: paid.id,
  detail: {
    reference: 'order-1',
    amount: 25_000,
    currency: 'IQD',
    otherTransactionId: other.id,
    otherGateway: other.gateway,
  },
})

const refundAll = async (w: LedgerSetup, paid: Transaction) =>
  await w.endRefund(await w.claimed(paid), { kind: 'done', gatewayRefundId: 'r-1' })

describe('an order that is paid twice', () => {
  it('at two gateways at the same moment raises one alert', async () => {
    const w = rivalledSetup()
    const payments = [await w.charged(), await w.charged(AT_BANK)]
    await Promise.all(payments.map((each) => w.webhook(each)))
    expect(await doubles(w)).toHaveLength(1)
  })

  it('by two attempts raises it beside that of the late payment, whichever was paid first', async () => {
    const w = rivalledSetup()
    const first = await w.reached('Expired')
    const second = await w.reached('Paid')
    await w.webhook(first)
    expect(await w.alerts()).toEqual(expect.arrayContaining(['late_payment', 'double_payment']))
    expect(await doubles(w)).toEqual([named(first, second)])

    const request = { reference: 'order-2' }
    const third = await w.reached('Expired', { request })
    await w.webhook(third)
    const fourth = await w.reached('Paid', { request })
    const detail = { otherTransactionId: third.id }
    expect((await doubles(w))[0]).toMatchObject({ transactionId: fourth.id, detail })
  })

  it('is settled once late money was refunded by hand, and its alert tells the reference', async () => {
    const w = rivalledSetup()
    const late = await w.reached('Expired')
    await w.webhook(late)
    const { alert } = await w.read(late)
    await w.reached('Paid')
    expect(await doubles(w)).toHaveLength(1)
    await w.ledger.acknowledge({
      id: alert?.id ?? '',
      by: 'ada',
      now: T0,
      gatewayReference: 'bank-7',
    })
    expect(await w.alerts()).toEqual([])
  })

  it('and a third time stays open until one payment is left', async () => {
    const w = rivalledSetup()
    const payments = [await w.reached('Paid'), await w.reached('Paid', AT_BANK)]
    payments.push(await w.reached('Paid', { request: { gateway: 'stripe' } }))
    expect(await doubles(w)).toHaveLength(2)
    const [first, second] = payments as [Transaction, Transaction]
    await refundAll(w, second)
    expect(await doubles(w)).toHaveLength(2)
    await refundAll(w, first)
    expect(await doubles(w)).toEqual([])
  })
})
