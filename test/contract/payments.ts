// Payments over HTTP with real processes on every side: what one process cannot show, once for each
// host. The rules are tested in worker/payments, and with faults by `npm run prove`.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Host } from '../../tools/harness/hosts.ts'
import type {
  AlertRecord,
  Movement,
  OpenedPayment,
  Transaction,
} from '../../worker/payments/domain/types.ts'
import {
  type Callback,
  claimsOf,
  fibCallback,
  redirectCallback,
  stripeCallback,
  tokenCallback,
  tokenOf,
} from '../support/callbacks.ts'
import { LAST, token } from '../support/edge.ts'
import { PATIENT } from '../support/patience.ts'
import { freshReference, order, PaymentSystem } from '../support/payment-system.ts'
import { eventsContract } from './payments-events.ts'

const SHOP = 'https://shop.test/thanks'
const DOLLARS = { gateway: 'stripe', amount: 1_250, currency: 'USD', returnUrl: SHOP }
const PAID = ['PaymentInitiated', 'PaymentSucceeded']
const REFUNDED = [...PAID, 'PaymentRefunded']
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/

/** As fetch would send it, but as text. */
const multipart = (fields: Record<string, string>) => {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  return {
    headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    body: `${parts.join('')}--b--\r\n`,
  }
}

export function paymentsContract(host: Host): void {
  let system: PaymentSystem
  beforeAll(async () => {
    system = await PaymentSystem.start({ host })
  })
  afterAll(() => system?.[Symbol.asyncDispose]())

  const charge = async (request: unknown, headers: Record<string, string> = {}) => {
    const answer = await system.post('/charges', request, headers)
    const text = await answer.text()
    return { ...JSON.parse(text), status: answer.status, headers: answer.headers, text }
  }
  const rowsOf = async (reference: unknown) =>
    (await system.get<{ transactions: Transaction[] }>(`/transactions?reference=${reference}`))
      .transactions
  const send = ({ path, headers, body }: Callback, more: Record<string, string> = {}) =>
    system.edge.fetch(path, { method: 'POST', headers: { ...headers, ...more }, body })
  const word = async (callback: Callback) => {
    const answer = await send(callback)
    return [answer.status, await answer.text()]
  }
  const refund = async (gateway: string, transactionId: string, amount = 25_000) => {
    const body = { gateway, transactionId, amount, reason: 'Broken' }
    const answer = await system.post('/refunds', body, { 'X-Correlation-Id': 'refund-0001' })
    return [answer.status, await answer.json()]
  }

  describe(`charges on ${host}`, () => {
    it('are 201 with the payment page, and are stored with their request', async () => {
      const request = order({
        returnUrl: SHOP,
        customerPhone: '9647801234567',
        metadata: { service_type: 'Books' },
      })
      const { status, text, headers } = await charge(request, { 'X-Correlation-Id': 'shop-0001' })
      expect([status, headers.get('X-Correlation-Id')]).toEqual([201, 'shop-0001'])
      const answer = JSON.parse(text) as OpenedPayment
      expect(answer).toEqual({
        status: 'Pending',
        gateway: 'redirect',
        reference: request.reference,
        transactionId: expect.any(String),
        gatewayTransactionId: expect.any(String),
        redirectUrl: `${system.simulator.url}/pay/${answer.gatewayTransactionId}`,
        expiresAt: expect.any(String),
      })
      const story = await system.story(answer.transactionId)
      expect(story).toMatchObject({ status: 'Pending', metadata: { service_type: 'Books' } })
      expect(await system.simulator.payment(answer.gatewayTransactionId)).toMatchObject({
        externalReference: story.externalReferenceId,
        amount: 25_000,
        serviceType: 'Books',
        phone: '9647801234567',
        successUrl: SHOP,
      })
      await system.expectEvents(answer.transactionId, ['PaymentInitiated'])
      // Personal data of the payer is neither stored nor sent.
      const shown = JSON.stringify([story, system.receiver.of(answer.transactionId)])
      expect(shown).not.toContain('9647801234567')
    })

    it('sent ten times at once are one charge, and later the payment as it is', async () => {
      const request = order()
      const answers = await Promise.all(Array.from({ length: 10 }, () => charge(request)))
      const charged = answers.filter(({ status }) => status < 300)
      expect(charged.filter(({ status }) => status === 201)).toHaveLength(1)
      expect(new Set(charged.map(({ text }) => text)).size).toBe(1)
      for (const { status, code } of answers.filter((each) => each.status >= 300)) {
        expect({ status, code }).toEqual({ status: 409, code: 'in_progress' })
      }
      expect(await rowsOf(request.reference)).toHaveLength(1)
      const [made, ...others] = await system.simulator.payments(String(request.reference))
      expect(others).toEqual([])
      await system.simulator.act(made?.id ?? '', 'pay')
      expect(await charge(request)).toMatchObject({ status: 200, paid: { amount: 25_000 } })
    })

    it('that are wrong are 422, or 413 above 64 KiB, and nothing is stored', async () => {
      const before = await system.rows()
      for (const body of ['', '{', '[]', JSON.stringify({ ...order(), gateway: 'constructor' })]) {
        const answer = await system.api('/charges', { method: 'POST', body })
        expect(answer.headers.get('X-Correlation-Id')).toMatch(ULID)
        expect([answer.status, await answer.json()], body).toMatchObject([
          422,
          { code: 'invalid_argument' },
        ])
      }
      const large = await charge({ ...order(), description: 'x'.repeat(65 << 10) }, LAST)
      expect(large).toMatchObject({ status: 413, code: 'payload_too_large' })
      expect(await system.rows()).toEqual(before)
    })

    it('during an outage are 503, stay Pending, and are charged once after it', async () => {
      const request = order()
      const reference = String(request.reference)
      const { simulator } = system
      await simulator.faults(reference, { outage: 200, endpoints: ['init'] })
      const out = await charge(request)
      expect(out).toMatchObject({ status: 503, code: 'gateway_unavailable' })
      expect(Number(out.headers.get('Retry-After'))).toBeGreaterThan(0)
      expect(await rowsOf(reference)).toMatchObject([{ id: out.transactionId, status: 'Pending' }])
      await simulator.faults(reference, {})
      expect(await charge(request)).toMatchObject({ status: 201 })
      expect(await simulator.payments(reference)).toHaveLength(1)
    })

    it('at the bank have a code, and its webhook may come before they are answered', async () => {
      const { simulator } = system
      const open = await system.charged(order({ gateway: 'fib' }))
      expect(open).toMatchObject({
        readableCode: expect.any(String),
        qrCode: expect.stringMatching(/^data:image\//),
        deepLink: expect.stringMatching(/^https?:/),
      })
      expect(open).not.toHaveProperty('redirectUrl')
      const request = order({ gateway: 'fib' })
      await simulator.faults(String(request.reference), { beforeAnswer: true })
      const answer = await system.charged(request)
      // Nobody is offered what is paid already.
      expect(answer).toMatchObject({ status: 'Paid' })
      expect(answer).not.toHaveProperty('readableCode')
      // It is found by our name in the address that the bank calls.
      const sent = await simulator.webhooks(answer.gatewayTransactionId)
      expect(sent).toMatchObject([{ status: 200, answer: 'ok' }])
      await system.expectEvents(answer.transactionId, PAID)
    })
  })

  describe(`open payments on ${host}`, () => {
    const end = async (transactionId: string) => {
      const answer = await system.post(`/transactions/${transactionId}/cancel`)
      return [answer.status, (await answer.json()) as { status?: string; code?: string }] as const
    }
    const stateOf = async (id: string) => (await system.simulator.payment(id)).state

    it.each([
      [{ gateway: 'fib' }, 'cancelled', 'Cancelled'],
      [DOLLARS, 'expired', 'Expired'],
    ] as const)('are closed for a changed cart, and cancelled: %j', async (own, state, status) => {
      const one = order(own)
      const first = await charge(one)
      const two = { ...one, amount: 2 * Number(one.amount) }
      expect(await charge(two)).toMatchObject({ status: 409, code: 'reference_conflict' })
      const second = await charge({ ...two, replace: true })
      expect(second.status).toBe(201)
      expect(await stateOf(first.gatewayTransactionId)).toBe(state)
      const { error } = await system.story(first.transactionId)
      expect(error?.code).toBe('replaced')
      expect(await end(second.transactionId)).toMatchObject([200, { status }])
      expect(await stateOf(second.gatewayTransactionId)).toBe(state)
      const ended = ['PaymentInitiated', 'PaymentCancelled']
      await system.expectEvents(first.transactionId, ended)
      await system.expectEvents(second.transactionId, ended)
    })

    it('stay open at redirect, which is named to who charges elsewhere', async () => {
      const one = order()
      const first = await charge(one)
      expect(await end(first.transactionId)).toMatchObject([409, { code: 'not_cancellable' }])
      const changed = { ...one, amount: 50_000, replace: true }
      expect(await charge(changed)).toMatchObject({ status: 409, code: 'reference_conflict' })
      const { transactionId } = first
      expect(await charge({ ...changed, gateway: 'fib' })).toMatchObject({
        status: 201,
        otherOpen: [{ gateway: 'redirect', transactionId }],
      })
    })
  })

  describe(`paused payments on ${host}`, () => {
    const failed = (answer: { status: number; code: string; headers: Headers }) => [
      answer.status,
      answer.code,
      Number(answer.headers.get('Retry-After')),
    ]
    const PAUSED = [503, 'paused', 30]

    it('begin nothing, over a crash, and take in what comes for those that were begun', async () => {
      const paid = await system.paid()
      const { transactionId, ...open } = await system.charged()
      const closable = await charge(order({ gateway: 'fib' }))
      const pause = await (await system.post('/pause')).json()
      expect(pause).toEqual({ since: expect.any(String), by: expect.any(String) })
      await system.edge.crash()
      expect(await (await system.post('/pause')).json()).toEqual(pause)
      expect(await system.get('/gateways')).toMatchObject({ pause })
      const answer = await system.edge.fetch('/healthz')
      const warnings = [expect.stringMatching(/^Payments are paused since /)]
      const health = host === 'workerd' ? [404, {}] : [200, { status: 'ok', warnings }]
      expect([answer.status, await answer.json()]).toMatchObject(health)
      const fresh = order()
      expect(failed(await charge(fresh))).toEqual(PAUSED)
      const refused = await refund('redirect', paid.transactionId)
      expect(refused).toMatchObject([503, { code: 'paused' }])
      const ending = await system.post(`/transactions/${closable.transactionId}/cancel`)
      expect([ending.status, await ending.json()]).toMatchObject([503, { code: 'paused' }])
      const other = { gateway: 'fib', reference: closable.reference, amount: 50_000 }
      expect(failed(await charge(order({ ...other, replace: true })))).toEqual(PAUSED)
      expect((await system.simulator.payment(closable.gatewayTransactionId)).state).toBe('open')
      expect(await word(await redirectCallback(claimsOf(open)))).toEqual([200, 'ok'])
      await system.expectEvents(transactionId, PAID)
      expect(await (await system.post('/resume')).json()).toEqual({ resumed: true })
      expect((await charge(fresh)).status).toBe(201)
    })
  })

  describe(`webhooks on ${host}`, () => {
    it('get a one-word text answer, on both routes, and the second is a duplicate', async () => {
      const { transactionId, ...made } = await system.charged()
      const callback = await redirectCallback(claimsOf(made))
      const own = { 'X-Correlation-Id': 'the-gateways-own_1' }
      const answer = await send({ ...callback, path: `${callback.path}/callback` }, own)
      expect([answer.status, await answer.text()]).toEqual([200, 'ok'])
      expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
      expect(answer.headers.get('X-Correlation-Id')).toBe('the-gateways-own_1')
      // Set by the middleware of signalbox.config.ts.
      expect(answer.headers.get('Cache-Control')).toBe('no-store')
      expect(await word(callback)).toEqual([200, 'duplicate'])
      const { status, webhookEvents } = await system.story(transactionId)
      expect(status).toBe('Paid')
      expect(webhookEvents).toMatchObject([{ correlationId: 'the-gateways-own_1' }])
      await expect.poll(() => system.log(), PATIENT).toContain('the-gateways-own_1')
    })

    it('may have their token in the body under either name, as a form, or in the query', async () => {
      const paid = await system.paid()
      const token = async () => tokenOf(await redirectCallback(claimsOf(paid)))
      const { path } = tokenCallback('')
      for (const callback of [
        { path, headers: {}, body: JSON.stringify({ token: await token() }) },
        { path, headers: {}, body: `webhook_token=${await token()}` },
        { path: `${path}?token=${await token()}`, headers: {}, body: '' },
        { path, ...multipart({ webhook_token: await token() }) },
      ]) {
        expect(await word(callback)).toEqual([200, 'ok'])
        expect(await word(callback)).toEqual([200, 'duplicate'])
      }
    })

    it('are found with a slash too many, and told what is wrong with them', async () => {
      const paid = await system.paid()
      const { path, headers, body } = await redirectCallback(claimsOf(paid))
      // Not as the document has them.
      const sent = async (at: string, own = {}) => {
        const init = { method: 'POST', headers: { ...headers, ...own }, body }
        const answer = await fetch(system.edge.origin + at, init)
        return [answer.status, await answer.text()]
      }
      expect(await sent(`${path}/`)).toEqual([200, 'ok'])
      expect(await sent(`/${path}`)).toEqual([200, 'duplicate'])
      expect(await sent(path, { 'Content-Encoding': 'gzip' })).toEqual([415, 'compressed'])
      const got = await fetch(system.edge.origin + path)
      expect([got.status, got.headers.get('Allow')]).toEqual([405, 'POST'])
      expect(await got.text()).toBe('not_allowed')
    })

    it('that are forged, too large or for nobody are refused, and leave no row', async () => {
      const { path, headers, body } = await redirectCallback(claimsOf({}))
      const completed = 'checkout.session.completed'
      const before = await system.rows()
      const large = { path, headers: LAST, body: 'x'.repeat((256 << 10) + 1) }
      for (const [callback, answer] of [
        [await redirectCallback(claimsOf({}), 'k'.repeat(32)), [401, 'invalid']],
        [{ path, headers, body: 'x'.repeat(256 << 10) }, [401, 'invalid']],
        [fibCallback(crypto.randomUUID()), [401, 'invalid']],
        [stripeCallback(completed, {}, { secret: 'whsec_other' }), [401, 'invalid']],
        [large, [413, 'too_large']],
        // Before it is read.
        [{ ...large, path: '/payments/webhooks/nobody' }, [404, 'unknown']],
        [{ path: '/payments/webhooks/nobody/callback', headers, body }, [404, 'unknown']],
      ] as const) {
        expect(await word(callback)).toEqual(answer)
      }
      const marker = crypto.randomUUID()
      const secrets = { Authorization: 'Bearer a-secret', 'X-Signature': 'a-secret' }
      await send(tokenCallback('no.real.token'), { ...secrets, 'X-Marker': marker })
      const shown = () =>
        system.receiver.events.find(({ data }) => data.headers?.['x-marker'] === marker)
      await vi.waitUntil(shown, PATIENT)
      expect(shown()).toMatchObject({ type: 'WebhookVerificationFailed' })
      expect(JSON.stringify(shown())).not.toContain('a-secret')
      expect(await system.rows()).toEqual(before)
    })

    it('of the bank are 500 while the payment cannot be read, and accepted later', async () => {
      const made = await system.charged({ gateway: 'fib' })
      const { simulator } = system
      await simulator.faults(made.reference, { outage: 502, endpoints: ['status'] })
      // It gives up after three tries, each of them answered with 500.
      await simulator.act(made.gatewayTransactionId, 'pay')
      const sent = await simulator.webhooks(made.gatewayTransactionId)
      expect(sent.map(({ answer }) => answer)).toEqual(['error', 'error', 'error'])
      expect((await system.story(made.transactionId)).webhookEvents).toEqual([])
      await simulator.faults(made.reference, {})
      expect(await word(fibCallback(made.gatewayTransactionId))).toEqual([200, 'ok'])
      await system.expectEvents(made.transactionId, PAID)
    })

    it('that are too old are 400 and not recorded, and the sweeper checks the payment', async () => {
      const made = await system.charged()
      const { simulator } = system
      await simulator.faults(made.reference, { ageMs: 3_600_000 })
      await simulator.act(made.gatewayTransactionId, 'pay')
      const sent = await simulator.webhooks(made.gatewayTransactionId)
      expect(sent.map(({ answer }) => answer)).toEqual(['stale', 'stale', 'stale'])
      expect((await system.story(made.transactionId)).webhookEvents).toEqual([])
      await vi.waitUntil(async () => {
        await system.sweep()
        return (await system.story(made.transactionId)).status === 'Paid'
      }, PATIENT)
      await system.expectEvents(made.transactionId, PAID)
    })

    it('paid with another amount or late raise an alert, until a person acknowledges it', async () => {
      const made = await system.charged()
      await system.simulator.act(made.gatewayTransactionId, 'fail')
      expect(await word(await redirectCallback(claimsOf(made, { amount: 9 })))).toEqual([200, 'ok'])
      const alerts = async () => {
        const { alerts: all } = await system.get<{ alerts: AlertRecord[] }>('/alerts')
        return all.filter(({ transactionId }) => transactionId === made.transactionId)
      }
      const kinds = ['amount_mismatch', 'late_payment']
      expect((await alerts()).map(({ kind }) => kind).toSorted()).toEqual(kinds)
      await expect.poll(() => system.log(), PATIENT).toContain('payments.webhook.amount_mismatch')
      for (const { id } of await alerts()) {
        expect((await system.post(`/alerts/${id}/acknowledge`)).status).toBe(200)
      }
      expect(await alerts()).toEqual([])
      const settled = ['AlertSettled', 'AlertSettled']
      const types = ['PaymentInitiated', 'PaymentFailed', ...settled]
      await system.expectEvents(made.transactionId, types)
    })
  })

  describe(`the audit trail on ${host}`, () => {
    it('names who asked for a charge, a check and a refund, and no webhook', async () => {
      const as = async (sub: string) => {
        const scope = 'payments:read payments:write'
        return { Authorization: `Bearer ${await token({ scope, repos: [], sub })}` }
      }
      const request = order()
      const { transactionId, ...made } = await charge(request, await as('shop'))
      await system.simulator.act(made.gatewayTransactionId, 'pay')
      const checked = `/transactions/${transactionId}/check`
      expect((await system.post(checked, undefined, await as('ada'))).status).toBe(200)
      const refunded = { gateway: 'redirect', transactionId, amount: 25_000, reason: 'Broken' }
      expect((await system.post('/refunds', refunded, await as('=bob'))).status).toBe(200)
      const query = `/audit?reference=${request.reference}`
      const acts = [
        { action: 'refund', subject: '=bob', transactionId, amount: 25_000, currency: 'IQD' },
        { action: 'check', subject: 'ada', transactionId, gateway: 'redirect' },
        { action: 'charge', subject: 'shop', transactionId, reference: request.reference },
      ]
      const { audit, cursor } = await system.get<{ audit: object[]; cursor: string }>(
        `${query}&limit=2`,
      )
      expect(audit).toMatchObject(acts.slice(0, 2))
      const rest = await system.get(`${query}&limit=2&cursor=${cursor}`)
      expect(rest).toEqual({ audit: [expect.objectContaining(acts[2])] })
      const lines = await (await system.api(`${query}&format=jsonl`)).text()
      expect(
        lines
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toMatchObject(acts)
      const csv = await system.api(`${query}&format=csv`)
      expect(csv.headers.get('Content-Disposition')).toContain('signalbox-audit.csv')
      expect(await csv.text()).toContain(`,"refund","'=bob","redirect",`)
      const { audit: told } = await system.story(transactionId)
      expect(told).toMatchObject(acts.toReversed())
    })
  })

  describe(`refunds on ${host}`, () => {
    it('refund all once, although answer and webhook both report it', async () => {
      const { transactionId, gatewayTransactionId, reference } = await system.paid()
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => refund('redirect', gatewayTransactionId)),
      )
      const { refundId } = await system.simulator.payment(gatewayTransactionId)
      const made = answers.filter(([status]) => status === 200)
      expect(made).toEqual([[200, { success: true, refundId, refundedAmount: 25_000 }]])
      await system.expectEvents(transactionId, REFUNDED)
      const isTold = async () => {
        const { events, webhookEvents } = await system.story(transactionId)
        const deliveries = events.flatMap((event) => event.deliveries)
        const isDone = events.every(({ listenersDoneAt }) => listenersDoneAt !== undefined)
        const isDelivered = deliveries.every(({ status }) => status === 'delivered')
        return webhookEvents.length === 2 && isDone && isDelivered
      }
      await vi.waitUntil(isTold, PATIENT)
      const { url } = system.receiver
      expect(await system.story(transactionId)).toMatchObject({
        id: transactionId,
        gateway: 'redirect',
        gatewayTransactionId,
        reference,
        status: 'Refunded',
        refundedAmount: 25_000,
        alerts: [],
        webhookEvents: [
          { outcome: 'applied', toStatus: 'Paid', raw: { eventType: 'STATUS_CHANGED' } },
          // It arrives before or after the refund's answer; the first of them changes the payment.
          { outcome: expect.stringMatching(/^(applied|unchanged)$/), toStatus: 'Refunded' },
        ],
        refunds: [{ status: 'succeeded', correlationId: 'refund-0001' }],
        events: REFUNDED.map((type) => ({
          type,
          payload: { transaction: { id: transactionId } },
          deliveries: [{ endpoint: url, status: 'delivered', attempts: 1, lastStatus: 204 }],
        })),
      })
    })

    it('that the bank makes by hand, and whose webhook is lost, are found by the sweeper', async () => {
      const made = await system.charged({ gateway: 'fib' })
      const { transactionId, gatewayTransactionId, reference } = made
      const { simulator } = system
      // The bank books less than was asked for, which is what goes back.
      await simulator.faults(reference, { amount: 20_000 })
      await simulator.act(gatewayTransactionId, 'pay')
      await simulator.faults(reference, { lost: true })
      expect(await refund('fib', transactionId)).toMatchObject([200, { refundedAmount: 20_000 }])
      expect(await system.story(transactionId)).toMatchObject({ status: 'Paid' })
      const isMade = async () =>
        (await simulator.payment(gatewayTransactionId)).state === 'refunded'
      await vi.waitUntil(isMade, PATIENT)
      await system.passTime(transactionId)
      // The edge of a process sweeps every minute by itself, maybe just now.
      expect(await system.sweep()).toMatchObject({ failed: 0 })
      await system.untilStatus(transactionId, 'Refunded')
      await system.expectEvents(transactionId, REFUNDED)
    })

    it('at Stripe are made in parts, and each of its events comes once', async () => {
      const made = await system.charged(DOLLARS)
      const { transactionId, reference, gatewayTransactionId, redirectUrl = '' } = made
      // Every event arrives five times at once.
      await system.simulator.faults(reference, { copies: 5 })
      const body = new URLSearchParams({ action: 'pay' })
      const pressed = await fetch(redirectUrl, { method: 'POST', body, redirect: 'manual' })
      expect([pressed.status, pressed.headers.get('location')]).toEqual([303, SHOP])
      await system.untilStatus(transactionId, 'Paid')
      for (const amount of [400, 850]) {
        const answer = await refund('stripe', transactionId, amount)
        expect(answer).toMatchObject([200, { refundedAmount: amount }])
      }
      await system.untilStatus(transactionId, 'Refunded')
      const sent = () => system.simulator.webhooks(gatewayTransactionId)
      await vi.waitUntil(async () => (await sent()).length === 15, PATIENT)
      const answers = (await sent()).map(({ answer }) => answer)
      expect(answers.filter((answer) => answer === 'ok')).toHaveLength(3)
      expect(answers.filter((answer) => answer === 'duplicate')).toHaveLength(12)
      await system.expectEvents(transactionId, [...REFUNDED, 'PaymentRefunded'])
    })

    it('at Mollie are accepted, and made when its refunds have ended', async () => {
      const made = await system.charged({ ...DOLLARS, gateway: 'mollie' })
      const { transactionId, redirectUrl = '' } = made
      const body = new URLSearchParams({ action: 'pay' })
      await fetch(redirectUrl, { method: 'POST', body, redirect: 'manual' })
      await system.untilStatus(transactionId, 'Paid')
      const answer = await refund('mollie', transactionId, 400)
      expect(answer).toMatchObject([200, { success: true }])
      await system.untilStatus(transactionId, 'PartiallyRefunded')
      await refund('mollie', transactionId, 850)
      await system.untilStatus(transactionId, 'Refunded')
      expect(await system.story(transactionId)).toMatchObject({ refundedAmount: 1_250 })
    })
  })

  describe(`disputes on ${host}`, () => {
    const DISPUTE = ['AlertRaised', 'AlertRaised', 'AlertSettled']
    const paid = async (gateway: string) => {
      const made = await system.charged({ ...DOLLARS, gateway })
      const body = new URLSearchParams({ action: 'pay' })
      await fetch(made.redirectUrl ?? '', { method: 'POST', body, redirect: 'manual' })
      await system.untilStatus(made.transactionId, 'Paid')
      return { id: made.gatewayTransactionId, transactionId: made.transactionId }
    }
    /** Its alerts about disputes: what is disputed, and how it has ended. */
    const alertsOf = async (transactionId: string) =>
      (await system.story(transactionId)).alerts
        .filter(({ kind }) => kind === 'dispute')
        .map(({ detail: { amount, inquiry, outcome } }) => [amount, inquiry ?? outcome ?? 'open'])
    const becomes = (transactionId: string, ...alert: unknown[]) =>
      expect.poll(() => alertsOf(transactionId), PATIENT).toEqual([alert])
    const booked = async (transactionId: string) => {
      const books = await system.get<{ movements: Movement[] }>('/movements')
      const ofIt = books.movements.filter((each) => each.transactionId === transactionId)
      return ofIt.slice(1).map(({ kind, amountMinor }) => [kind, amountMinor])
    }
    const toldOf = async (transactionId: string) =>
      (await system.story(transactionId)).events.map(({ type }) => type)
    const withdrawn = async (id: string) =>
      (await system.simulator.payment(id)).disputes?.map((each) => each.id) ?? []

    it('at Mollie are one alert with the sum of the chargebacks, until each is reversed', async () => {
      const { id, transactionId } = await paid('mollie')
      await system.simulator.dispute(id, { amount: 500 })
      await becomes(transactionId, 500, 'open')
      await system.simulator.dispute(id, { amount: 300 })
      await becomes(transactionId, 800, 'open')
      const [first = '', second = ''] = await withdrawn(id)
      await system.simulator.dispute(id, { disputeId: first, status: 'reversed' })
      await becomes(transactionId, 300, 'open')
      await system.simulator.dispute(id, { disputeId: second, status: 'reversed' })
      await becomes(transactionId, 800, 'won')
      expect(await toldOf(transactionId)).toEqual([...PAID, ...DISPUTE])
      expect(await booked(transactionId)).toEqual([
        ['disputed', 500],
        ['disputed', 300],
        ['dispute_returned', -500],
        ['dispute_returned', -300],
      ])
    })

    it('at Stripe begin as an inquiry, are answered, lost, and won after all', async () => {
      const { id, transactionId } = await paid('stripe')
      const asked = { status: 'warning_needs_response', moves: 0 }
      await system.simulator.dispute(id, asked)
      await becomes(transactionId, 1_250, true)
      const [disputeId = ''] = await withdrawn(id)
      const goesOn = (status: string, moves: number) =>
        system.simulator.dispute(id, { disputeId, status, moves })
      await goesOn('needs_response', 1)
      await becomes(transactionId, 1_250, 'open')
      await goesOn('under_review', 1)
      await goesOn('lost', 1)
      await becomes(transactionId, 1_250, 'lost')
      await goesOn('won', 2)
      await becomes(transactionId, 1_250, 'won')
      expect(await toldOf(transactionId)).toEqual([...PAID, ...DISPUTE, 'AlertSettled'])
      expect(await booked(transactionId)).toEqual([
        ['disputed', 1_250],
        ['dispute_returned', -1_250],
      ])
    })
  })

  describe(`deliveries on ${host}`, () => {
    const refused = async (status: number) => {
      const { receiver } = system
      const request = order()
      const isOf = (reference?: string) => reference === request.reference
      receiver.refuse(({ data }) => (isOf(data.transaction?.reference) ? status : undefined))
      const { transactionId } = await system.charged(request)
      const delivery = async () => (await system.story(transactionId)).events[0]?.deliveries[0]
      return { transactionId, delivery, receiver }
    }

    it('that are refused are repeated when their wait is over, with the same id', async () => {
      const { transactionId, delivery, receiver } = await refused(500)
      await vi.waitUntil(async () => ((await delivery())?.attempts ?? 0) > 0, PATIENT)
      expect(await delivery()).toMatchObject({ status: 'pending', lastStatus: 500 })
      receiver.takeAll()
      // Nobody sweeps: the host calls by itself.
      await vi.waitUntil(async () => (await delivery())?.status === 'delivered', PATIENT)
      const attempts = receiver.of(transactionId)
      expect(attempts.map(({ status }) => status).slice(-2)).toEqual([500, 204])
      expect(new Set(attempts.map(({ id, timestamp }) => `${id} ${timestamp}`)).size).toBe(1)
    })

    it('that are answered with 410 are sent again, with an alert until one is accepted', async () => {
      const { transactionId, delivery, receiver } = await refused(410)
      await vi.waitUntil(async () => ((await delivery())?.attempts ?? 0) > 0, PATIENT)
      expect(await delivery()).toMatchObject({ status: 'pending', lastStatus: 410 })
      const alerts = async () => (await system.story(transactionId)).alerts
      expect(await alerts()).toMatchObject([
        { kind: 'endpoint_gone', detail: { lastStatus: 410, type: 'PaymentInitiated' } },
      ])
      receiver.takeAll()
      const again = await system.post(`/deliveries/${(await delivery())?.id}/redeliver`)
      expect([again.status, await again.json()]).toEqual([202, { redelivering: true }])
      await vi.waitUntil(async () => (await delivery())?.status === 'delivered', PATIENT)
      expect(receiver.typesOf(transactionId)).toEqual(['PaymentInitiated'])
      await vi.waitUntil(
        async () => (await alerts()).every((each) => each.acknowledgedBy === 'delivery'),
        PATIENT,
      )
    })
  })

  // It stays open for as long as the tests last.
  it(`the circuit of a gateway that fails five times opens on ${host}, and is told once`, async () => {
    const references = Array.from({ length: 6 }, freshReference)
    const [last, ...failing] = references
    for (const reference of failing) await system.simulator.faults(reference, { outage: 503 })
    await Promise.all(failing.map((reference) => charge(order({ ...DOLLARS, reference }))))
    const before = await system.rows()
    const out = await charge(order({ ...DOLLARS, reference: last }))
    expect(out).toMatchObject({ status: 503, code: 'gateway_unavailable' })
    expect(Number(out.headers.get('Retry-After'))).toBeLessThanOrEqual(30)
    expect(await system.rows()).toEqual(before)
    const opened = () => system.receiver.events.filter(({ type }) => type === 'CircuitOpened')
    await vi.waitUntil(() => opened().length > 0, PATIENT)
    expect(opened().map(({ data }) => data)).toEqual([{ gateway: 'stripe', kind: 'charge' }])
  })

  // Last, because it counts what all the others caused.
  eventsContract(host, () => system)
}
