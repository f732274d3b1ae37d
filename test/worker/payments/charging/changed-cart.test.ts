// An order that changes while its page is open: the old page is closed, and another attempt begins.

import { describe, expect, it } from 'vitest'
import { end } from '../../../../libraries/testing/fake-clock.ts'
import { GatewayRefusedException } from '../../../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import { reported, setUpPayments, unavailable } from '../../../support/payments-setup.ts'
import { alertsOf, answerLost, attemptsOf, order, tryCharge } from './lost-charge.ts'

/** Two lamps in place of one. */
const more = { ...order, amount: 50_000, replace: true }

/** An order with an open page, whose gateway reports `after` once it was asked to cancel it. */
async function opened(after: PaymentStatus, context: object = {}, own: object = {}) {
  const cancelled: string[] = []
  const gateway = {
    async cancel({ gatewayTransactionId }: { gatewayTransactionId: string }) {
      cancelled.push(gatewayTransactionId)
    },
    ...own,
  }
  const setup = setUpPayments({ gateway })
  setup.script.status = () => reported(cancelled.length === 0 ? 'Pending' : after)
  const { transactionId: first } = (await tryCharge(setup, order, context)) as {
    transactionId: string
  }
  // Ids are ordered by time.
  await setup.clock.advance(1)
  await setup.quiet()
  setup.events.splice(0)
  const [charge] = setup.charged
  return { setup, first, cancelled, gatewayId: `gateway-${charge?.externalReferenceId}` }
}

describe('a changed order', () => {
  it.each(['Cancelled', 'Expired'] as const)(
    'is charged anew once the old page is %s at the gateway',
    async (end) => {
      const { setup, first, cancelled, gatewayId } = await opened(end)
      const second = await tryCharge(setup, more)
      expect(second).toMatchObject({ isNew: true, redirectUrl: 'https://bank.example/pay' })
      expect(cancelled).toEqual([gatewayId])
      expect(await attemptsOf(setup)).toMatchObject([
        { id: first, status: 'Cancelled', error: 'replaced' },
        { attempt: 2, status: 'Pending' },
      ])
      await setup.quiet()
      expect(setup.eventNames()).toEqual(['PaymentCancelled', 'PaymentInitiated'])
      // Sent again it is the same payment.
      expect(await tryCharge(setup, more)).toEqual({ ...second, isNew: false })
      expect(setup.charged.map(({ amount }) => amount)).toEqual([25_000, 50_000])
    },
  )

  it('tells why the old attempt ended, also if a webhook reports that first', async () => {
    const { setup, first, gatewayId, cancelled } = await opened('Expired')
    setup.script.status = (() => {
      if (cancelled.length === 0) return reported('Pending')
      const ended = setup.webhook({ gatewayTransactionId: gatewayId, status: 'Expired' })
      return ended.then(() => reported('Expired'))
    }) as never
    expect(await tryCharge(setup, more)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await attemptsOf(setup)).toMatchObject([
      { id: first, status: 'Expired', error: 'replaced' },
      { attempt: 2, status: 'Pending' },
    ])
    await setup.quiet()
    const replaced = { status: 'Expired', error: { code: 'replaced' } }
    const told = setup.events.find(({ name }) => name === 'PaymentCancelled')
    expect(told).toMatchObject({ payload: { transaction: replaced } })
  })

  it('leaves the keys to the old request: a key is never another order', async () => {
    const { setup, first } = await opened('Cancelled', { idempotencyKey: 'one' })
    const conflict = { code: 'idempotency_conflict' }
    expect(await tryCharge(setup, more, { idempotencyKey: 'one' })).toMatchObject(conflict)
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Pending' }])
    const second = await tryCharge(setup, more, { idempotencyKey: 'two' })
    expect(second).toMatchObject({ isNew: true })
    expect(await tryCharge(setup, order, { idempotencyKey: 'one' })).toMatchObject({
      status: 'Cancelled',
      transactionId: first,
    })
    expect(await tryCharge(setup, more, { idempotencyKey: 'one' })).toMatchObject(conflict)
    expect(await tryCharge(setup, more, { idempotencyKey: 'two' })).toEqual({
      ...second,
      isNew: false,
    })
  })

  it('stays as it was while the gateway refuses to close the old page', async () => {
    const no = () => Promise.reject(new GatewayRefusedException({ code: 'no', message: 'No.' }))
    const { setup, first } = await opened('Pending', {}, { cancel: no })
    for (const _ of [1, 2]) {
      expect(await tryCharge(setup, more)).toMatchObject({ code: 'reference_conflict' })
    }
    expect(await attemptsOf(setup)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
  })

  it('is paid already if the old page was paid at that moment, and nothing is charged', async () => {
    const no = () => Promise.reject(new GatewayRefusedException({ code: 'no', message: 'No.' }))
    const { setup, first } = await opened('Paid', {}, { cancel: no })
    let asked = 0
    setup.script.status = () => reported(asked++ === 0 ? 'Pending' : 'Paid')
    expect(await tryCharge(setup, more, { idempotencyKey: 'two' })).toMatchObject({
      code: 'already_paid',
      transactionId: first,
    })
    expect(await tryCharge(setup, more)).toMatchObject({ code: 'reference_conflict' })
    expect(setup.charged).toHaveLength(1)
    await setup.quiet()
    expect(setup.eventNames()).toEqual(['PaymentSucceeded'])
  })

  it('paid on the old page after all is a late payment', async () => {
    const { setup, first, gatewayId } = await opened('Expired')
    await tryCharge(setup, more)
    await setup.webhook({ gatewayTransactionId: gatewayId })
    expect(await alertsOf(setup)).toEqual([{ kind: 'late_payment', transactionId: first }])
  })

  it.each([
    ['accepted to cancel, and still reports it as open', () => reported('Pending')],
    ['does not answer', unavailable],
    ['reports that somebody is paying', () => reported('Pending', { isBeingPaid: true })],
  ])('changes nothing if the gateway %s', async (_what, status) => {
    const { setup, first } = await opened('Pending')
    setup.script.status = status
    expect(await tryCharge(setup, more)).toMatchObject({
      code: 'gateway_unavailable',
      transactionId: first,
    })
    expect(await attemptsOf(setup)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
    expect(setup.charged).toHaveLength(1)
  })

  it('is a conflict at a gateway that cannot cancel, and without `replace`', async () => {
    const conflict = { code: 'reference_conflict' }
    const { setup, cancelled } = await opened('Cancelled')
    expect(await tryCharge(setup, { ...more, replace: false })).toMatchObject(conflict)
    expect(cancelled).toEqual([])
    const { setup: unable } = await opened('Expired', {}, { cancel: undefined })
    expect(await tryCharge(unable, more)).toMatchObject(conflict)
    expect(await attemptsOf(unable)).toMatchObject([{ status: 'Pending' }])
  })

  it('whose first page nobody ever got is charged anew, with an alert', async () => {
    const { setup, first } = await answerLost()
    expect(await tryCharge(setup, more)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await alertsOf(setup)).toEqual([{ kind: 'unsettled', transactionId: first }])
  })

  it('is one new attempt, however often it is sent at once', async () => {
    const { setup } = await opened('Cancelled')
    const answers = await end(
      setup.clock,
      Promise.all(Array.from({ length: 5 }, () => tryCharge(setup, more))),
    )
    const done = answers.filter((answer) => 'status' in answer)
    expect(new Set(done.map(({ transactionId }) => transactionId)).size).toBe(1)
    expect((await attemptsOf(setup)).map(({ status }) => status)).toEqual(['Cancelled', 'Pending'])
  })

  it('waits while the first charge is under way', async () => {
    const setup = setUpPayments({ gateway: { cancel: async () => undefined } })
    const { promise, resolve } = Promise.withResolvers<never>()
    setup.script.charge = () => promise
    const first = tryCharge(setup, order)
    await expect.poll(() => setup.charged.length).toBe(1)
    const second = end(setup.clock, tryCharge(setup, more))
    expect(await second).toMatchObject({ code: 'in_progress' })
    resolve({ ok: true, gatewayTransactionId: 'bank-1' } as never)
    await first
  })

  it('cannot be a repeat, which is another payment', async () => {
    const both = { ...more, repeat: true }
    expect(await tryCharge(setUpPayments(), both, { idempotencyKey: 'two' })).toMatchObject({
      code: 'invalid_argument',
    })
  })
})
