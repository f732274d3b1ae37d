// Webhooks over HTTP: verified, checked for age and duplicates, and recorded, in this order.

import { describe, expect, it, vi } from 'vitest'
import {
  type Callback,
  claimsOf,
  fibCallback,
  redirectCallback,
  stripeCallback,
  tokenCallback,
  tokenOf,
} from '../support/callbacks.ts'
import { LAST } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import type { Payments } from './payments.ts'

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
const HOUR_MS = 3_600_000

export function webhooksContract({ host, system }: Payments): void {
  const send = ({ path, headers, body }: Callback, more: Record<string, string> = {}) =>
    system().edge.fetch(path, { method: 'POST', headers: { ...headers, ...more }, body })
  const word = async (callback: Callback) => {
    const answer = await send(callback)
    return [answer.status, await answer.text()]
  }

  describe(`webhooks on ${host}`, () => {
    it('get a one-word text answer, on both routes, and the second is a duplicate', async () => {
      const charge = await system().charged()
      const callback = await redirectCallback(claimsOf(charge))
      const answer = await send({ ...callback, path: `${callback.path}/callback` })
      expect([answer.status, await answer.text()]).toEqual([200, 'ok'])
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
      // Set by the middleware of signalbox.config.ts.
      expect(answer.headers.get('Cache-Control')).toBe('no-store')
      expect(await word(callback)).toEqual([200, 'duplicate'])
      const story = await system().story(charge.transactionId)
      expect(story).toMatchObject({ status: 'Paid', paidAt: expect.any(String) })
      expect(story.webhookEvents).toHaveLength(1)
    })

    it('may have their token in the body under either name, as a form, or in the query', async () => {
      const claims = () => claimsOf(charge, { eventId: crypto.randomUUID() })
      const charge = await system().paid()
      const token = async () => tokenOf(await redirectCallback(claims()))
      const { path } = tokenCallback('')
      for (const callback of [
        { path, headers: {}, body: JSON.stringify({ token: await token() }) },
        { path, headers: {}, body: `webhook_token=${await token()}` },
        { path: `${path}?token=${await token()}`, headers: {}, body: '' },
      ]) {
        expect(await word(callback)).toEqual([200, 'ok'])
        expect(await word(callback)).toEqual([200, 'duplicate'])
      }
    })

    it('are stored and sent with their claims, without personal data of the payer', async () => {
      const given = {
        reference: `cart?ticket=42&seat=7#${crypto.randomUUID()}`,
        metadata: { ticket: 'A-7', keyboard: 'qwerty' },
      }
      const charge = await system().charged(given)
      const { externalReferenceId } = await system().story(charge.transactionId)
      const claims = claimsOf(charge, { externalReferenceId })
      const own = {
        customerMsisdn: '9647801234567',
        walletNumber: '42',
        note: 'IBAN GB82 WEST 1234 5698 7654 32',
      }
      const data = { ...claims.data, ...own }
      const raw = {
        ...claims,
        data: {
          ...data,
          customerMsisdn: '[redacted]',
          walletNumber: '[redacted]',
          note: 'IBAN [redacted]',
        },
      }
      expect(await word(await redirectCallback({ ...claims, data }))).toEqual([200, 'ok'])

      const story = await system().story(charge.transactionId)
      expect(story).toMatchObject({ ...given, status: 'Paid' })
      const [{ occurredAt = '' } = {}] = story.webhookEvents
      expect(story.webhookEvents).toMatchObject([{ reference: given.reference, raw }])
      const ofIt = (type: string) => () => {
        return system().receiver.events.find(
          (event) => event.type === type && JSON.stringify(event.data).includes(given.reference),
        )
      }
      for (const type of ['WebhookReceived', 'PaymentSucceeded']) {
        await vi.waitUntil(ofIt(type), PATIENT)
      }
      const payload = { reference: given.reference, raw, occurredAt }
      expect(ofIt('WebhookReceived')()?.data).toMatchObject({ payload })
      expect(ofIt('PaymentSucceeded')()?.data).toMatchObject({ transaction: given })
    })

    it('with an impossible time are stale, and break no list', async () => {
      const charge = await system().charged()
      for (const timestamp of [8_900_000_000_000_000, Date.now() + 48 * HOUR_MS]) {
        const callback = await redirectCallback({ ...claimsOf(charge), timestamp })
        expect(await word(callback)).toEqual([400, 'stale'])
      }
      expect((await system().story(charge.transactionId)).webhookEvents).toEqual([])
    })

    it('of an unknown gateway are 404 before anything is read', async () => {
      const { body } = await redirectCallback(claimsOf({}))
      const before = await system().rows()
      const large = 'x'.repeat(300 << 10)
      for (const path of ['/payments/webhooks/nobody', '/payments/webhooks/nobody/callback']) {
        for (const sent of [body, '', large]) {
          expect(await word({ path, headers: LAST, body: sent }), path).toEqual([404, 'unknown'])
        }
      }
      expect(await system().rows()).toEqual(before)
    })

    it('are 500 when they are genuine but cannot be read, so that the gateway repeats them', async () => {
      const before = await system().rows()
      const { data, ...claims } = claimsOf({})
      const unreadable = await redirectCallback({ ...claims, data: { ...data, amount: 'much' } })
      expect(await word(unreadable)).toEqual([500, 'error'])
      expect(await system().rows()).toEqual(before)
    })

    it('of the bank are 500 while the payment cannot be read, and accepted later', async () => {
      const charge = await system().charged({ gateway: 'fib' })
      const { simulator } = system()
      await simulator.faults(charge.reference, { outage: 502, endpoints: ['status'] })
      // It gives up after three tries, each of them answered with 500.
      await simulator.act(charge.gatewayTransactionId, 'pay')
      const sent = await simulator.webhooks(charge.gatewayTransactionId)
      expect(sent.map(({ status, answer }) => [status, answer])).toEqual(
        Array.from({ length: 3 }, () => [500, 'error']),
      )
      expect((await system().story(charge.transactionId)).webhookEvents).toEqual([])
      await simulator.faults(charge.reference, {})
      expect(await word(fibCallback(charge.gatewayTransactionId))).toEqual([200, 'ok'])
      expect(await word(fibCallback(charge.gatewayTransactionId))).toEqual([200, 'duplicate'])
      expect(await system().story(charge.transactionId)).toMatchObject({ status: 'Paid' })
    })

    it('that are too old are 400 and not recorded, and the sweeper checks the payment', async () => {
      const charge = await system().charged()
      const { simulator } = system()
      await simulator.faults(charge.reference, { ageMs: HOUR_MS })
      await simulator.act(charge.gatewayTransactionId, 'pay')
      const sent = await simulator.webhooks(charge.gatewayTransactionId)
      expect(sent.map(({ status, answer }) => [status, answer])).toEqual(
        Array.from({ length: 3 }, () => [400, 'stale']),
      )
      const pending = await system().story(charge.transactionId)
      expect(pending).toMatchObject({ status: 'Pending', webhookEvents: [] })
      const { receiver } = system()
      const received = receiver.events.filter(
        ({ data }) => data.payload?.gatewayTransactionId === charge.gatewayTransactionId,
      )
      expect(received).toEqual([])

      await vi.waitUntil(async () => {
        await system().sweep()
        return (await system().story(charge.transactionId)).status === 'Paid'
      }, PATIENT)
      await system().expectEvents(charge.transactionId, ['PaymentInitiated', 'PaymentSucceeded'])
    })

    it('of Stripe, signed by its own package, are applied to our payments, and others are ignored', async () => {
      // Its outcome is unknown: this gateway does not answer.
      const reference = `stripe-${crypto.randomUUID()}`
      await system().simulator.faults(reference, { outage: 503 })
      const charge = { gateway: 'stripe', reference, amount: 1_250, currency: 'USD' }
      const more = { description: 'A lamp', returnUrl: 'https://shop.test/thanks' }
      expect((await system().post('/charges', { ...charge, ...more })).status).toBe(503)
      const { transactions } = await system().get<{
        transactions: { id: string; externalReferenceId: string }[]
      }>(`/transactions?reference=${reference}`)
      const [{ id = '', externalReferenceId = '' } = {}] = transactions
      const session = {
        id: `cs_${crypto.randomUUID()}`,
        object: 'checkout.session',
        status: 'complete',
        payment_status: 'paid',
        amount_total: 1_250,
        currency: 'usd',
        metadata: { external_reference_id: externalReferenceId, reference },
        payment_intent: 'pi_1',
      }
      const completed = 'checkout.session.completed'
      const old = stripeCallback(completed, session, { at: Date.now() - HOUR_MS })
      expect(await word(old)).toEqual([400, 'stale'])
      const paid = stripeCallback(completed, session)
      expect(await word(paid)).toEqual([200, 'ok'])
      expect(await word(paid)).toEqual([200, 'duplicate'])
      expect(await system().story(id)).toMatchObject({
        status: 'Paid',
        gatewayTransactionId: session.id,
      })
      expect(await word(stripeCallback('customer.created', {}))).toEqual([200, 'ignored'])
    })

    it('over 256 KiB are 413', async () => {
      const { path, headers } = tokenCallback('')
      const answer = await send({ path, headers, body: 'x'.repeat((256 << 10) + 1) }, LAST)
      expect([answer.status, await answer.text()]).toEqual([413, 'too_large'])
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
      expect(answer.headers.get('X-Correlation-Id')).toMatch(ULID)
      expect(await word({ path, headers, body: 'x'.repeat(256 << 10) })).toEqual([401, 'invalid'])
    })

    it('keep and return a valid correlation id, and get a new one otherwise', async () => {
      const charge = await system().charged()
      const callback = await redirectCallback(claimsOf(charge))
      const answer = await send(callback, { 'X-Correlation-Id': 'the-gateways-own_1' })
      expect(answer.headers.get('X-Correlation-Id')).toBe('the-gateways-own_1')
      const [event] = (await system().story(charge.transactionId)).webhookEvents
      expect(event).toMatchObject({ correlationId: 'the-gateways-own_1' })
      for (const bad of ['short', 'x'.repeat(65), 'with a space', 'a=b;c=d;e']) {
        const other = await send(callback, { 'X-Correlation-Id': bad })
        expect(other.headers.get('X-Correlation-Id'), bad).toMatch(ULID)
      }
      await expect.poll(() => system().log(), PATIENT).toContain('the-gateways-own_1')
    })
  })
}
