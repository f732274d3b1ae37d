// Charges without a page that can be paid, and their replacement.

import { describe, expect, it } from 'vitest'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
} from '../../../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import type { StatusAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { reported, setUpPayments, unavailable } from '../../../support/payments-setup.ts'
import {
  again,
  alertsOf,
  answerLost,
  attemptsOf,
  keyed,
  noPage,
  order,
  pageLost,
  tryCharge,
} from './lost-charge.ts'

describe('a charge whose page was lost', () => {
  it('is replaced by a new attempt with a new id when it is certainly not paid', async () => {
    const { setup, first, charged, events, quiet } = await pageLost()
    const second = await tryCharge(setup, again, keyed)
    expect(second).toMatchObject({
      isNew: true,
      status: 'Pending',
      redirectUrl: 'https://bank.example/pay',
      transactionId: expect.not.stringMatching(first),
    })
    const [named, renamed] = charged.map(({ externalReferenceId }) => externalReferenceId)
    expect(renamed).not.toBe(named)
    expect(await attemptsOf(setup)).toMatchObject([
      { id: first, attempt: 1, status: 'Cancelled', error: 'replaced' },
      { attempt: 2, status: 'Pending' },
    ])
    await quiet()
    expect(events).toMatchObject([
      { name: 'PaymentCancelled', payload: { transaction: { id: first, status: 'Cancelled' } } },
      { name: 'PaymentInitiated', payload: { transaction: { attempt: 2 } } },
    ])
    expect(await alertsOf(setup)).toEqual([])
  })

  it.each([
    ['its key', keyed, keyed],
    ['its order', {}, {}],
    ['a key that only the first call had', {}, keyed],
  ])('leads to the new attempt by %s, and is never replaced twice', async (_what, given, later) => {
    const { setup, charged } = await pageLost()
    const second = await tryCharge(setup, again, given)
    const calls = charged.length
    for (const request of [again, order, again]) {
      expect(await tryCharge(setup, request, later)).toEqual({ ...second, isNew: false })
    }
    expect(charged).toHaveLength(calls)
    expect(await attemptsOf(setup)).toHaveLength(2)
  })

  it.each([
    ['does not answer', unavailable],
    ['does not know the payment', (): StatusAnswer => ({ known: false })],
    ['reports that somebody is paying', () => reported('Pending', { isBeingPaid: true })],
    ['throws an unexpected error', () => expect.fail('unexpected')],
  ])('stays as it is when its gateway %s', async (_what, status) => {
    const { setup, first, script, charged, events, quiet } = await pageLost()
    script.status = status as typeof script.status
    const refused = await tryCharge(setup, again, keyed)
    expect(refused).toMatchObject({ code: 'gateway_unavailable', transactionId: first })
    expect(refused).toHaveProperty('retryAfterMs', expect.any(Number))
    expect(await attemptsOf(setup)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
    expect(charged).toHaveLength(1)
    await quiet()
    expect(events.map(({ name }) => name)).not.toContain('PaymentCancelled')
  })

  it.each(['Expired', 'Paid', 'Pending'] as const)(
    'stays as it is when its gateway answers about another payment, which is %s',
    async (status) => {
      const cancelled: unknown[] = []
      const cancel = async (names: unknown) => void cancelled.push(names)
      const { setup, first, script, charged } = await pageLost({ cancel })
      let asked = 0
      script.status = () => {
        asked++
        return reported(status, { externalReferenceId: 'another' })
      }
      expect(await tryCharge(setup, again, keyed)).toMatchObject({ code: 'gateway_unavailable' })
      expect(await attemptsOf(setup)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
      expect(await alertsOf(setup)).toEqual([{ kind: 'id_mismatch', transactionId: first }])
      // It has just answered: it is asked again when its check is due.
      await setup.payments.sweeper.sweep()
      expect([asked, charged.length, cancelled]).toEqual([1, 1, []])
    },
  )

  it('is Paid if it was paid, and nothing is charged', async () => {
    const { setup, first, script, charged, events, quiet } = await pageLost()
    script.status = () => reported('Paid')
    expect(await tryCharge(setup, again, keyed)).toMatchObject({
      isNew: false,
      status: 'Paid',
      transactionId: first,
      paid: { amount: 25_000, currency: 'IQD' },
    })
    expect(charged).toHaveLength(1)
    expect(await attemptsOf(setup)).toEqual([{ id: first, attempt: 1, status: 'Paid' }])
    await quiet()
    expect(events).toMatchObject([{ name: 'PaymentSucceeded' }])
  })

  it('is replaced in the same call in which its gateway returns no page', async () => {
    const setup = setUpPayments()
    const { script, charged } = setup
    const { charge } = script
    script.charge = (asked) => (charged.length === 1 ? noPage() : charge(asked))
    script.status = () => reported('Pending')
    expect(await tryCharge(setup, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Cancelled' }, { status: 'Pending' }])
  })

  it('is not replaced if a repeated charge returns its page', async () => {
    const setup = setUpPayments()
    const { script } = setup
    const { charge } = script
    script.charge = unavailable
    const { transactionId } = (await tryCharge(setup, order)) as { transactionId: string }
    expect(await tryCharge(setup, again)).toMatchObject({ code: 'gateway_unavailable' })
    script.charge = charge
    expect(await tryCharge(setup, again)).toMatchObject({ status: 'Pending', transactionId })
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Pending' }])
  })

  it('is not replaced by a request with another amount', async () => {
    const { setup } = await pageLost()
    const other = { ...again, amount: 30_000 }
    expect(await tryCharge(setup, other, keyed)).toMatchObject({ code: 'idempotency_conflict' })
    expect(await tryCharge(setup, other)).toMatchObject({ code: 'reference_conflict' })
    expect(await attemptsOf(setup)).toHaveLength(1)
  })
})

describe('a charge whose page has expired, while its gateway still reports it as open', () => {
  const MINUTE = 60_000

  async function expired(gateway: object = {}) {
    const setup = setUpPayments({ gateway })
    const { script, clock, charged } = setup
    const opened = script.charge
    script.charge = (asked) => ({ ...opened(asked), expiresAt: clock.now() + MINUTE }) as never
    script.status = () => reported('Pending')
    const { transactionId } = (await tryCharge(setup, order, keyed)) as { transactionId: string }
    // Until then its page is the answer, also with `replace`.
    expect(await tryCharge(setup, again, keyed)).toMatchObject({ isNew: false, transactionId })
    await clock.advance(MINUTE)
    return { setup, script, charged, first: transactionId }
  }

  it('is replaced when it is certainly not paid, and cancelled where that is possible', async () => {
    const cancelled: string[] = []
    const cancel = async ({ gatewayTransactionId }: { gatewayTransactionId: string }) =>
      void cancelled.push(gatewayTransactionId)
    const { setup, charged, first } = await expired({ cancel })
    expect(await tryCharge(setup, order, keyed)).toMatchObject({
      isNew: false,
      transactionId: first,
      status: 'Pending',
      isStranded: true,
    })
    const second = await tryCharge(setup, again, keyed)
    expect(second).toMatchObject({ isNew: true, redirectUrl: 'https://bank.example/pay' })
    expect(charged).toHaveLength(2)
    expect(cancelled).toEqual([`gateway-${charged[0]?.externalReferenceId}`])
    expect(await attemptsOf(setup)).toMatchObject([
      { id: first, status: 'Cancelled', error: 'replaced' },
      { attempt: 2, status: 'Pending' },
    ])
    expect(await tryCharge(setup, order, keyed)).toEqual({ ...second, isNew: false })
  })

  it.each([
    ['does not answer', unavailable],
    ['reports that somebody is paying', () => reported('Pending', { isBeingPaid: true })],
  ])('stays as it is when its gateway %s, and says so', async (_what, status) => {
    const { setup, script, charged, first } = await expired()
    script.status = status
    expect(await tryCharge(setup, again, keyed)).toMatchObject({
      isNew: false,
      transactionId: first,
      status: 'Pending',
      isStranded: true,
    })
    expect(charged).toHaveLength(1)
    expect(await attemptsOf(setup)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
  })

  it('is Paid if it was paid, and nothing is charged', async () => {
    const { setup, script, charged, first } = await expired()
    script.status = () => reported('Paid')
    const paid = { isNew: false, transactionId: first, status: 'Paid' }
    expect(await tryCharge(setup, again, keyed)).toMatchObject(paid)
    expect(charged).toHaveLength(1)
  })
})

describe('a charge whose answer was lost', () => {
  it('is replaced at once, with an alert', async () => {
    const { setup, first, charged } = await answerLost()
    expect(await tryCharge(setup, order)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await tryCharge(setup, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(charged).toHaveLength(2)
    expect(await attemptsOf(setup)).toMatchObject([
      { id: first, status: 'Cancelled', error: 'replaced' },
      { attempt: 2, status: 'Pending' },
    ])
    expect(await alertsOf(setup)).toEqual([{ kind: 'unsettled', transactionId: first }])
  })

  it('is a late payment if it is paid after all, found by our id in the callback', async () => {
    const { setup, first, charged } = await answerLost()
    await tryCharge(setup, again)
    const [{ externalReferenceId = '' } = {}] = charged
    await setup.webhook({ gatewayTransactionId: 'bank-1', externalReferenceId })
    expect(await alertsOf(setup)).toContainEqual({ kind: 'late_payment', transactionId: first })
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Cancelled' }, { status: 'Pending' }])
  })

  it('is not replaced in the call whose answer was lost', async () => {
    const setup = setUpPayments({ gateway: { chargeRepeatableForMs: 0 } })
    setup.script.charge = unavailable
    expect(await tryCharge(setup, again)).toMatchObject({ code: 'gateway_unavailable' })
    expect(setup.charged).toHaveLength(1)
    expect(await attemptsOf(setup)).toMatchObject([{ attempt: 1, status: 'Pending' }])
  })
})

describe('a request to replace', () => {
  it('is a plain charge for an order without a charge, and for one whose charge failed', async () => {
    const setup = setUpPayments()
    const first = await tryCharge(setup, again)
    expect(first).toMatchObject({ isNew: true, status: 'Pending' })
    const { gatewayTransactionId } = first as { gatewayTransactionId: string }
    await setup.webhook({ gatewayTransactionId, status: 'Failed' })
    await setup.clock.advance(1)
    expect(await tryCharge(setup, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await alertsOf(setup)).toEqual([])
  })

  it('returns the page if it is known, and Paid if the charge is paid', async () => {
    const setup = setUpPayments()
    const first = await tryCharge(setup, order)
    expect(await tryCharge(setup, again)).toEqual({ ...first, isNew: false })
    const { gatewayTransactionId } = first as { gatewayTransactionId: string }
    await setup.webhook({ gatewayTransactionId })
    expect(await tryCharge(setup, again)).toMatchObject({ isNew: false, status: 'Paid' })
    expect(setup.charged).toHaveLength(1)
  })

  it('can be made with the builder', async () => {
    const { payments, setup } = await pageLost({}, {})
    const bought = payments.for('order-1').driver('bank').amount(25_000, 'IQD')
    const builder = bought.description(order.description)
    await expect(builder.charge()).rejects.toMatchObject({ code: 'gateway_unavailable' })
    expect(await builder.replace().charge()).toMatchObject({ status: 'Pending' })
    expect(await attemptsOf(setup)).toHaveLength(2)
  })

  it('is invalid if it is neither true nor false', async () => {
    const answer = await tryCharge(setUpPayments(), { ...order, replace: 'yes' })
    expect(answer).toMatchObject({ code: 'invalid_argument' })
  })
})

describe('a gateway that can cancel', () => {
  const cancelling = (cancel: () => Promise<void>, statuses: PaymentStatus[]) => {
    const cancelled: unknown[] = []
    const gateway = {
      cancel: async (names: unknown) => {
        cancelled.push(names)
        await cancel()
      },
      checkStatus: async () => reported(statuses.shift() ?? 'Failed'),
    }
    return { gateway, cancelled }
  }

  it.each(['Cancelled', 'Pending', 'Expired'] as const)(
    'cancels the charge, which is then %s and is replaced',
    async (after) => {
      const { gateway, cancelled } = cancelling(() => Promise.resolve(), ['Pending', after])
      const { setup } = await pageLost(gateway)
      expect(await tryCharge(setup, again, keyed)).toMatchObject({ isNew: true })
      expect(cancelled).toMatchObject([{ gatewayTransactionId: 'gateway-1', amount: 25_000 }])
    },
  )

  it('cannot cancel a charge that was paid in the meantime, which is then Paid', async () => {
    const no = () => Promise.reject(new GatewayRefusedException({ code: 'no', message: 'No.' }))
    const { gateway } = cancelling(no, ['Pending', 'Paid'])
    const { setup, first } = await pageLost(gateway)
    const answer = await tryCharge(setup, again, keyed)
    expect(answer).toMatchObject({ isNew: false, status: 'Paid', transactionId: first })
  })

  it.each([
    ['refuses to cancel', new GatewayRefusedException({ code: 'no', message: 'No.' })],
    ['does not answer', new GatewayUnavailableException('Nobody answers.')],
  ])('that %s leaves the charge unchanged', async (_what, error) => {
    const { gateway } = cancelling(() => Promise.reject(error), ['Pending', 'Pending'])
    const { setup, first } = await pageLost(gateway)
    expect(await tryCharge(setup, again, keyed)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await attemptsOf(setup)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
  })

  it('is not asked to cancel a charge that is paid, or is being paid', async () => {
    for (const status of [reported('Paid'), reported('Pending', { isBeingPaid: true })]) {
      const { gateway, cancelled } = cancelling(() => Promise.resolve(), [])
      const { setup } = await pageLost({ ...gateway, checkStatus: async () => status })
      await tryCharge(setup, again, keyed)
      expect(cancelled).toEqual([])
    }
  })
})
