// Stripe over HTTP, against the simulator: from the hosted page to partial refunds.

import { describe, expect, it, vi } from 'vitest'
import type { OpenedPayment } from '../../worker/payments/domain/schemas.ts'
import { PATIENT } from '../support/patience.ts'
import type { Payments } from './payments.ts'

const SHOP = 'https://shop.test/thanks'
const DOLLARS = { gateway: 'stripe', amount: 1_250, currency: 'USD', returnUrl: SHOP }

export function stripeContract({ host, system }: Payments): void {
  const press = async ({ redirectUrl = '' }: OpenedPayment, action: string) => {
    const body = new URLSearchParams({ action })
    const answer = await fetch(redirectUrl, { method: 'POST', body, redirect: 'manual' })
    return [answer.status, answer.headers.get('location')]
  }
  const refund = async (transactionId: string, amount: number) => {
    const order = { gateway: 'stripe', transactionId, amount, reason: 'Broken' }
    const answer = await system().post('/refunds', order)
    return [answer.status, await answer.json()]
  }
  const sent = (charge: OpenedPayment) => system().simulator.webhooks(charge.gatewayTransactionId)

  describe(`Stripe on ${host}`, () => {
    it('charges once, is paid on its page, refunded in two parts, and each event comes once', async () => {
      const charge = await system().charged(DOLLARS)
      const { transactionId, reference } = charge
      // Every event arrives five times at once.
      await system().simulator.faults(reference, { copies: 5 })
      const repeated = await system().post('/charges', {
        ...{ ...DOLLARS, reference, description: reference },
      })
      expect(await repeated.json()).toMatchObject({
        transactionId,
        redirectUrl: charge.redirectUrl,
      })
      expect(await system().simulator.payments(reference)).toHaveLength(1)

      expect(await press(charge, 'pay')).toEqual([303, SHOP])
      await system().untilStatus(transactionId, 'Paid')
      expect(await refund(transactionId, 400)).toMatchObject([200, { refundedAmount: 400 }])
      await system().untilStatus(transactionId, 'PartiallyRefunded')
      expect(await refund(transactionId, 850)).toMatchObject([200, { refundedAmount: 850 }])
      await system().untilStatus(transactionId, 'Refunded')
      await vi.waitUntil(async () => (await sent(charge)).length === 15, PATIENT)
      const answers = (await sent(charge)).map(({ status, answer }) => `${status} ${answer}`)
      expect(new Set(answers)).toEqual(new Set(['200 ok', '200 duplicate']))
      expect(answers.filter((answer) => answer === '200 ok')).toHaveLength(3)
      const story = await system().story(transactionId)
      const paid = { amount: 1_250, currency: 'USD' }
      expect(story).toMatchObject({ status: 'Refunded', paid, refundedAmount: 1_250, alerts: [] })
      expect(story.refunds).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }])
      const once = ['PaymentInitiated', 'PaymentSucceeded', 'PaymentRefunded', 'PaymentRefunded']
      await system().expectEvents(transactionId, once)
    })

    it('fails when a bank refuses a transfer, which was Pending until then', async () => {
      const charge = await system().charged(DOLLARS)
      // A declined card and a payer who goes back change nothing.
      expect(await press(charge, 'fail')).toEqual([200, null])
      expect(await press(charge, 'transfer')).toEqual([303, SHOP])
      await vi.waitUntil(async () => (await sent(charge)).length === 1, PATIENT)
      expect(await system().story(charge.transactionId)).toMatchObject({ status: 'Pending' })
      expect(await press(charge, 'fail')).toEqual([200, null])
      await system().untilStatus(charge.transactionId, 'Failed')
      await system().expectEvents(charge.transactionId, ['PaymentInitiated', 'PaymentFailed'])
    })

    it('raises an alert when a refund that it had made fails later', async () => {
      const charge = await system().charged(DOLLARS)
      await system().simulator.faults(charge.reference, { refundFails: true })
      await system().simulator.act(charge.gatewayTransactionId, 'pay')
      expect(await refund(charge.transactionId, 1_250)).toMatchObject([200, { success: true }])
      const alerts = async () => (await system().story(charge.transactionId)).alerts
      await vi.waitUntil(async () => (await alerts()).length > 0, PATIENT)
      expect(await alerts()).toMatchObject([{ kind: 'refund_failed' }])
      await vi.waitUntil(async () => (await sent(charge)).length === 3, PATIENT)
    })

    it('cancels an open session, and its webhook reports it as Expired', async () => {
      const charge = await system().charged(DOLLARS)
      await system().simulator.act(charge.gatewayTransactionId, 'expire')
      expect(await system().story(charge.transactionId)).toMatchObject({ status: 'Expired' })
      await system().expectEvents(charge.transactionId, ['PaymentInitiated', 'PaymentCancelled'])
    })
  })
}
