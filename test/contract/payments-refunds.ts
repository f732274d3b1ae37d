// Refunds over HTTP: claimed once, full only where the gateway requires it, with one event.

import { describe, expect, it, vi } from 'vitest'
import type { AlertRecord } from '../../worker/payments/queries/queries.ts'
import { fibCallback } from '../support/callbacks.ts'
import { PATIENT } from '../support/patience.ts'
import type { Payments } from './payments.ts'

export function refundsContract({ host, system }: Payments): void {
  const refund = async (
    gateway: string,
    transactionId: string,
    { amount = 25_000, key }: { amount?: number; key?: string } = {},
  ) => {
    const answer = await system().post(
      '/refunds',
      { gateway, transactionId, amount, reason: 'Broken' },
      key === undefined ? {} : { 'Idempotency-Key': key },
    )
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  }
  /** The bank has made it, whether it has reported that or not. */
  const untilMade = (gatewayTransactionId: string) =>
    vi.waitUntil(
      async () => (await system().simulator.payment(gatewayTransactionId)).state === 'refunded',
      PATIENT,
    )
  const REFUNDED = ['PaymentInitiated', 'PaymentSucceeded', 'PaymentRefunded']

  describe(`refunds on ${host}`, () => {
    it('refund all once, although answer and webhook both report it', async () => {
      const { transactionId, gatewayTransactionId } = await system().paid()
      const key = crypto.randomUUID()
      // By the gateway's id.
      const { status, body } = await refund('redirect', gatewayTransactionId, { key })
      const { refundId } = await system().simulator.payment(gatewayTransactionId)
      expect({ status, body }).toEqual({
        status: 200,
        body: { success: true, refundId, refundedAmount: 25_000 },
      })
      const story = await system().story(transactionId)
      expect(story).toMatchObject({ status: 'Refunded', refundedAmount: 25_000 })
      expect(story.refunds).toMatchObject([
        { status: 'succeeded', amount: 25_000, reason: 'Broken', gatewayRefundId: refundId },
      ])
      await vi.waitUntil(
        async () => (await system().simulator.webhooks(gatewayTransactionId)).length === 2,
        PATIENT,
      )
      await system().expectEvents(transactionId, REFUNDED)

      expect((await refund('redirect', gatewayTransactionId, { key })).body).toEqual(body)
      const second = await refund('redirect', transactionId)
      expect(second).toMatchObject({ status: 422, body: { code: 'invalid_argument' } })
      const other = await refund('redirect', gatewayTransactionId, { key, amount: 1 })
      expect(other).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } })
    })

    it('sent five times at once are one refund', async () => {
      const { transactionId } = await system().paid()
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => refund('redirect', transactionId)),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      for (const { status } of answers.filter((each) => each.status !== 200)) {
        // While it is pending, and after it succeeded.
        expect([409, 422]).toContain(status)
      }
      expect(await system().story(transactionId)).toMatchObject({
        status: 'Refunded',
        refundedAmount: 25_000,
        refunds: [{ status: 'succeeded' }],
      })
      await system().expectEvents(transactionId, REFUNDED)
    })

    it('of another amount are 422 before the gateway is called, and leave no claim', async () => {
      const { transactionId, gatewayTransactionId } = await system().paid()
      for (const amount of [24_999, 25_001, 0, -25_000, 0.5]) {
        const refused = await refund('redirect', transactionId, { amount })
        expect(refused, String(amount)).toMatchObject({
          status: 422,
          body: { code: 'invalid_argument' },
        })
      }
      expect((await system().story(transactionId)).refunds).toEqual([])
      expect(await system().simulator.payment(gatewayTransactionId)).toMatchObject({
        state: 'paid',
      })
    })

    it('of an unpaid or unknown payment, or of another gateway’s, are 422', async () => {
      const pending = await system().charged()
      const paid = await system().paid()
      for (const [gateway, id] of [
        ['redirect', pending.transactionId],
        ['redirect', 'nobodys'],
        ['fib', paid.transactionId],
        ['fib', paid.gatewayTransactionId],
        ['nobody', paid.transactionId],
      ] as const) {
        const refused = await refund(gateway, id)
        expect(refused, `${gateway} ${id}`).toMatchObject({
          status: 422,
          body: { code: 'invalid_argument' },
        })
      }
    })

    it('by hand are accepted, pending for others, and reported when the bank made them', async () => {
      const charge = await system().paid({ gateway: 'fib' })
      const { transactionId, gatewayTransactionId, reference } = charge
      // The bank makes it soon, and must not report it before the second one is refused.
      await system().simulator.faults(reference, { lost: true })
      const { status, body } = await refund('fib', transactionId)
      expect({ status, body }).toEqual({
        status: 200,
        body: { success: true, refundId: expect.any(String), refundedAmount: 25_000 },
      })
      const underWay = await system().story(transactionId)
      expect(underWay).toMatchObject({ status: 'Paid', refunds: [{ status: 'accepted' }] })
      const second = await refund('fib', transactionId)
      expect(second).toMatchObject({ status: 409, body: { code: 'in_progress' } })
      await untilMade(gatewayTransactionId)
      const { path, ...callback } = fibCallback(gatewayTransactionId)
      const told = await system().edge.fetch(path, { method: 'POST', ...callback })
      expect([told.status, await told.text()]).toEqual([200, 'ok'])
      await system().untilStatus(transactionId, 'Refunded')
      await system().expectEvents(transactionId, REFUNDED)
      expect((await system().story(transactionId)).refunds).toMatchObject([{ status: 'succeeded' }])
      expect(await refund('fib', transactionId)).toMatchObject({ status: 422 })
    })

    it.each(['redirect', 'fib'])(
      'through %s return the paid amount when it differs from the charged one',
      async (gateway) => {
        const charge = await system().charged({ gateway })
        const { transactionId, reference } = charge
        await system().simulator.faults(reference, { amount: 20_000 })
        await system().simulator.act(charge.gatewayTransactionId, 'pay')
        const paid = { amount: 20_000, currency: 'IQD' }
        expect(await system().story(transactionId)).toMatchObject({ status: 'Paid', paid })
        // The shop's listener gets the paid amount, not the charged one.
        const isPrinted = async () =>
          (await system().log()).includes(`PaymentSucceeded ${reference}: 20000 IQD\n`)
        await vi.waitUntil(isPrinted, PATIENT)
        const { status, body } = await refund(gateway, transactionId)
        expect([status, body]).toMatchObject([200, { refundedAmount: 20_000 }])
        await system().untilStatus(transactionId, 'Refunded')
        await system().expectEvents(transactionId, REFUNDED)
        const isTold = async () => {
          const { webhookEvents } = await system().story(transactionId)
          return webhookEvents.some(({ toStatus }) => toStatus === 'Refunded')
        }
        await vi.waitUntil(isTold, PATIENT)
        const story = await system().story(transactionId)
        expect(story).toMatchObject({ amount: 25_000, paid, refundedAmount: 20_000 })
        expect(story.refunds).toMatchObject([{ status: 'succeeded', amount: 20_000 }])
        // Only the mismatch of the payment: the gateway reports the refund with the paid amount.
        expect(story.alerts).toMatchObject([{ kind: 'amount_mismatch', detail: paid }])
        const told = system().receiver.of(transactionId)
        const payload = told.find(({ type }) => type === 'PaymentRefunded')
        expect(payload).toMatchObject({ data: { transaction: { paid, refundedAmount: 20_000 } } })
      },
    )

    it('whose webhook is lost are found by the sweeper', async () => {
      const charge = await system().paid({ gateway: 'fib' })
      const { transactionId, gatewayTransactionId } = charge
      const { simulator } = system()
      await simulator.faults(charge.reference, { lost: true })
      await refund('fib', transactionId)
      await untilMade(gatewayTransactionId)
      expect(await system().story(transactionId)).toMatchObject({ status: 'Paid' })
      await system().passTime(transactionId)
      // The edge of a process sweeps every minute by itself, maybe just now.
      expect(await system().sweep()).toMatchObject({ failed: 0 })
      await system().untilStatus(transactionId, 'Refunded')
      expect(await system().story(transactionId)).toMatchObject({
        status: 'Refunded',
        refundedAmount: 25_000,
        refunds: [{ status: 'succeeded' }],
      })
      await system().expectEvents(transactionId, REFUNDED)
    })

    it('that the gateway does not make fail with an alert, and can be made again', async () => {
      const charge = await system().paid()
      const { transactionId, gatewayTransactionId } = charge
      await system().simulator.faults(charge.reference, { refundFails: true })
      const refused = await refund('redirect', transactionId)
      expect(refused).toMatchObject({ status: 503, body: { code: 'gateway_unavailable' } })
      expect(refused.headers.get('Retry-After')).toMatch(/^\d+$/)
      await vi.waitUntil(
        async () => (await system().story(transactionId)).alerts.length > 0,
        PATIENT,
      )
      const story = await system().story(transactionId)
      expect(story).toMatchObject({
        status: 'Paid',
        refundedAmount: 0,
        refunds: [{ status: 'failed', error: { code: 'refund_failed' } }],
        alerts: [{ kind: 'refund_failed' }],
      })
      const { alerts } = await system().get<{ alerts: AlertRecord[] }>('/alerts')
      expect(alerts.filter((alert) => alert.transactionId === transactionId)).toHaveLength(1)

      await system().simulator.faults(charge.reference, {})
      expect(await refund('redirect', transactionId)).toMatchObject({ status: 200 })
      await system().expectEvents(transactionId, REFUNDED)
      const sent = () => system().simulator.webhooks(gatewayTransactionId)
      await vi.waitUntil(async () => (await sent()).length === 3, PATIENT)
    })
  })
}
