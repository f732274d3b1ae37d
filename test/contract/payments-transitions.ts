// The effect of verified webhooks on a payment: each outcome of the contract, and its events.

import { describe, expect, it, vi } from 'vitest'
import type { Sent } from '../../local/simulator/webhooks.ts'
import type { OpenedPayment } from '../../worker/payments/domain/schemas.ts'
import type { AlertRecord, EventRecord } from '../../worker/payments/queries/queries.ts'
import { type Claimed, claimsOf, redirectCallback } from '../support/callbacks.ts'
import { jsonOf } from '../support/json-of.ts'
import { PATIENT } from '../support/patience.ts'
import { byText, order, type TransactionStory } from '../support/payment-system.ts'
import type { Payments } from './payments.ts'

export function transitionsContract({ host, system }: Payments): void {
  const tell = async (charge: Partial<OpenedPayment>, claimed: Claimed = {}) => {
    const { path, headers, body } = await redirectCallback(claimsOf(charge, claimed))
    const answer = await system().edge.fetch(path, { method: 'POST', headers, body })
    return [answer.status, await answer.text()]
  }
  const outcomes = async (transactionId: string) =>
    (await system().story(transactionId)).webhookEvents.map(({ outcome }) => outcome)
  const alertsOf = async (transactionId: string, query = '') => {
    const { alerts } = await system().get<{ alerts: AlertRecord[] }>(`/alerts${query}`)
    return alerts.filter((alert) => alert.transactionId === transactionId)
  }
  const told = (transactionId: string, types: string[]) =>
    system().expectEvents(transactionId, types)

  describe(`payments on ${host}, after webhooks`, () => {
    it('change once, although the same event arrives fifty times at once', async () => {
      const charge = await system().charged()
      const { simulator, receiver } = system()
      await simulator.faults(charge.reference, { copies: 50 })
      await simulator.act(charge.gatewayTransactionId, 'pay')
      const sent = await simulator.webhooks(charge.gatewayTransactionId)
      const answers = sent.map(({ status, answer }) => `${status} ${answer}`).sort(byText)
      expect(answers).toEqual([...Array.from({ length: 49 }, () => '200 duplicate'), '200 ok'])
      expect(await outcomes(charge.transactionId)).toEqual(['applied'])
      await told(charge.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
      // WebhookReceived fired for each of the fifty.
      const received = () =>
        receiver.events.filter(
          ({ type, data }) =>
            type === 'WebhookReceived' &&
            data.payload?.gatewayTransactionId === charge.gatewayTransactionId,
        )
      await vi.waitUntil(() => received().length >= 50, PATIENT)
      expect(received()).toHaveLength(50)
      expect(new Set(received().map(({ data }) => data.payload?.eventId)).size).toBe(1)
      expect(JSON.stringify(received())).not.toMatch(/eyJ|9647800000000/)
    })

    it.each([
      ['fail', 'redirect', 'Failed', 'PaymentFailed'],
      ['expire', 'redirect', 'Expired', 'PaymentCancelled'],
      ['cancel', 'fib', 'Cancelled', 'PaymentCancelled'],
      ['expire', 'fib', 'Expired', 'PaymentCancelled'],
    ] as const)('%s at %s makes one %s, and fires %s', async (action, gateway, status, event) => {
      const { simulator, receiver } = system()
      const charge = await system().charged({ gateway })
      await simulator.act(charge.gatewayTransactionId, action)
      const story = await system().story(charge.transactionId)
      expect(story.status).toBe(status)
      if (status === 'Failed') {
        expect(story.error).toMatchObject({ code: 'payment_failed', rawCode: 'FAILED' })
      }
      await told(charge.transactionId, ['PaymentInitiated', event])
      const ended = receiver.of(charge.transactionId).find(({ type }) => type === event)
      expect(ended?.data.transaction).toMatchObject({ status, reference: charge.reference })
    })

    it('do not change when the status is the same, with outcome unchanged', async () => {
      const charge = await system().paid()
      expect(await tell(charge)).toEqual([200, 'ok'])
      expect(await outcomes(charge.transactionId)).toEqual(['applied', 'unchanged'])
      await told(charge.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
    })

    it('whose webhook was lost move at once when they are checked', async () => {
      for (const gateway of ['redirect', 'fib']) {
        const charge = await system().charged({ gateway })
        const check = async () =>
          jsonOf<TransactionStory>(
            await system().post(`/transactions/${charge.transactionId}/check`),
          )
        expect(await check()).toMatchObject({ id: charge.transactionId, status: 'Pending' })
        await system().simulator.faults(charge.reference, { lost: true })
        await system().simulator.act(charge.gatewayTransactionId, 'pay')
        const paid = { amount: 25_000, currency: 'IQD' }
        expect(await check()).toMatchObject({ status: 'Paid', paid })
        await told(charge.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
      }
    })

    it('make no illegal change: an earlier status, or a failure after a success', async () => {
      const charge = await system().charged()
      await system().simulator.faults(charge.reference, { outOfOrder: true })
      await system().simulator.act(charge.gatewayTransactionId, 'pay')
      expect(await tell(charge, { status: 'FAILED' })).toEqual([200, 'ok'])
      expect(await outcomes(charge.transactionId)).toEqual(['applied', 'illegal', 'illegal'])
      expect(await system().story(charge.transactionId)).toMatchObject({ status: 'Paid' })
      await expect.poll(() => system().log(), PATIENT).toContain('payments.webhook.illegal')
      await told(charge.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
    })

    it('that are paid late, after a failure, do not change and raise an alert until it is acknowledged', async () => {
      const charge = await system().charged()
      await system().simulator.act(charge.gatewayTransactionId, 'fail')
      expect(await tell(charge)).toEqual([200, 'ok'])
      expect(await outcomes(charge.transactionId)).toEqual(['applied', 'late_payment'])
      expect(await system().story(charge.transactionId)).toMatchObject({ status: 'Failed' })
      await told(charge.transactionId, ['PaymentInitiated', 'PaymentFailed'])

      const [alert, ...others] = await alertsOf(charge.transactionId)
      expect(others).toEqual([])
      expect(alert).toMatchObject({ kind: 'late_payment', gateway: 'redirect' })
      const { receiver } = system()
      const raised = () => receiver.alertsOf(charge.transactionId)
      await vi.waitUntil(() => raised().length > 0, PATIENT)
      expect(raised()).toEqual(['late_payment'])
      const seen = await system().post(`/alerts/${alert?.id}/acknowledge`)
      expect([seen.status, await seen.json()]).toEqual([200, { acknowledged: true }])
      expect(await alertsOf(charge.transactionId)).toEqual([])
      expect(await alertsOf(charge.transactionId, '?all=true')).toMatchObject([
        { id: alert?.id, acknowledgedAt: expect.any(String), acknowledgedBy: 'unknown' },
      ])
      const again = await system().post('/alerts/01JZZZZZZZZZZZZZZZZZZZZZZZ/acknowledge')
      expect(again.status).toBe(404)
    })

    it('with a failed refund raise an alert, with the gateway’s text masked', async () => {
      const charge = await system().paid()
      const claims = claimsOf(charge, { eventType: 'REFUND_FAILED', status: 'FAILED' })
      const errorMessage = 'The card 4111 1111 1111 1111 takes nothing back'
      const data = { ...claims.data, errorMessage }
      const { path, headers, body } = await redirectCallback({ ...claims, data })
      const answer = await system().edge.fetch(path, { method: 'POST', headers, body })
      expect([answer.status, await answer.text()]).toEqual([200, 'ok'])
      const [alert] = await alertsOf(charge.transactionId)
      const event = () =>
        system().receiver.events.find(({ data: told }) => told.alert && told.alert.id === alert?.id)
      await vi.waitUntil(event, PATIENT)
      expect(event()?.data).toMatchObject({
        alert: {
          kind: 'refund_failed',
          detail: { error: { message: 'The card [redacted] takes nothing back' } },
        },
        transaction: { id: charge.transactionId, status: 'Paid', reference: charge.reference },
      })
    })

    it('paid with another amount are Paid, logged, and raise an alert', async () => {
      const charge = await system().charged()
      await system().simulator.faults(charge.reference, { amount: 24_000 })
      await system().simulator.act(charge.gatewayTransactionId, 'pay')
      const story = await system().story(charge.transactionId)
      expect(story).toMatchObject({ status: 'Paid', amount: 25_000 })
      expect(story.webhookEvents).toMatchObject([
        { outcome: 'applied', isMismatch: true, amount: 24_000 },
      ])
      expect(await alertsOf(charge.transactionId)).toMatchObject([{ kind: 'amount_mismatch' }])
      await expect.poll(() => system().log(), PATIENT).toContain('payments.webhook.amount_mismatch')
      await told(charge.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
    })

    it.each([
      ['nothing', { amount: 0 }],
      ['another currency', { currency: 'USD' }],
    ])('paid with %s is a mismatch too', async (_what, claimed) => {
      const charge = await system().charged()
      expect(await tell(charge, claimed)).toEqual([200, 'ok'])
      expect((await system().story(charge.transactionId)).webhookEvents).toMatchObject([
        { outcome: 'applied', isMismatch: true },
      ])
      expect(await alertsOf(charge.transactionId)).toMatchObject([{ kind: 'amount_mismatch' }])
    })

    it('paid with another amount stay Pending if the policy is reject', async () => {
      const strict = await system().anotherEdge({ PAYMENT_ON_AMOUNT_MISMATCH: 'reject' })
      // The bank calls the callback URL of the charge: this other edge.
      const request = order({ gateway: 'fib' })
      const answer = await system().post('/charges', request, {}, strict)
      const charge = (await answer.json()) as OpenedPayment
      await system().simulator.faults(charge.reference, { amount: 1_000 })
      await system().simulator.act(charge.gatewayTransactionId, 'pay')
      const story = await system().story(charge.transactionId)
      expect(story.status).toBe('Pending')
      expect(story.webhookEvents).toMatchObject([{ outcome: 'rejected', isMismatch: true }])
      expect(await alertsOf(charge.transactionId)).toMatchObject([{ kind: 'amount_mismatch' }])
      const log = () => system().log(strict)
      await expect.poll(log, PATIENT).toContain('payments.webhook.amount_mismatch')
      // It was processed: a repeated webhook is a duplicate, and nothing happens.
      const [sent] = await system().simulator.webhooks(charge.gatewayTransactionId)
      const { url, body } = sent as Sent
      const headers = { 'Content-Type': 'application/json' }
      const second = await fetch(url, { method: 'POST', headers, body })
      expect([second.status, await second.text()]).toEqual([200, 'duplicate'])
      await told(charge.transactionId, ['PaymentInitiated'])
    })

    it.each([
      ['redirect', 'their external reference'],
      ['fib', 'our name in the address that the bank calls'],
    ])('of %s are found before the charge is answered too, by %s', async (gateway) => {
      const { simulator } = system()
      const request = order({ gateway })
      await simulator.faults(String(request.reference), { beforeAnswer: true })
      const charge = await system().charged(request)
      const sent = await simulator.webhooks(charge.gatewayTransactionId)
      expect(sent).toMatchObject([{ status: 200, answer: 'ok' }])
      const story = await system().story(charge.transactionId)
      expect(story).toMatchObject({ status: 'Paid' })
      expect(story.webhookEvents).toMatchObject([{ outcome: 'applied', fromStatus: 'Pending' }])
      await told(charge.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
    })

    it('that do not exist yet get parked webhooks, which never match another gateway’s payment', async () => {
      const charge = await system().charged({ gateway: 'fib' })
      const { gatewayTransactionId: transactionId, reference: orderId } = charge
      const eventId = crypto.randomUUID()
      expect(await tell({}, { eventId, transactionId, orderId })).toEqual([200, 'ok'])
      const { webhookEvents } = await system().get<{ webhookEvents: EventRecord[] }>(
        '/webhook-events?outcome=parked',
      )
      const mine = webhookEvents.find((event) => event.eventId === eventId)
      expect(mine).toMatchObject({ outcome: 'parked', gateway: 'redirect', toStatus: 'Paid' })
      expect(mine).not.toHaveProperty('transactionId')
      expect(await system().story(charge.transactionId)).toMatchObject({
        status: 'Pending',
        webhookEvents: [],
      })
    })
  })
}
