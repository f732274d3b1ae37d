import { describe, expect, it } from 'vitest'
import {
  aboutPayment,
  GatewayUnavailableException,
  InvalidWebhookSignatureException,
} from '../../../../worker/payments/domain/exceptions.ts'
import type { VerifiedWebhook } from '../../../../worker/payments/domain/types.ts'
import { fib } from '../../../../worker/payments/gateways/fib/fib.ts'
import { mollie } from '../../../../worker/payments/gateways/mollie/mollie.ts'
import { request, verified, webhookRequest } from '../../../support/payments.ts'
import { type PaymentsSetup, reported, setUpPayments } from '../../../support/payments-setup.ts'

const CORRELATION = 'correlation-1'

const payloadOf = (setup: PaymentsSetup, own: Partial<VerifiedWebhook> = {}) =>
  verified({
    gatewayTransactionId: 'gateway-1',
    reference: 'order-1',
    eventId: 'event-1',
    occurredAt: setup.clock.now(),
    raw: { secret: 'hidden', kept: 'seen' },
    ...own,
  })

const send = (
  setup: PaymentsSetup,
  payload: unknown,
  headers: Record<string, string> = {},
  key = 'bank',
) =>
  setup.payments.receive(
    key,
    webhookRequest(JSON.stringify(payload), setup.clock.now(), headers),
    CORRELATION,
  )

const charge = (setup: PaymentsSetup) => {
  setup.script.charge = () => ({ ok: true, gatewayTransactionId: 'gateway-1' })
  return setup.payments.charge(request())
}

const stored = (setup: PaymentsSetup) => setup.payments.queries.webhookEvents({}, { limit: 9 })

describe('a webhook', () => {
  it('changes its payment, with the event after WebhookReceived and a masked body', async () => {
    const setup = setUpPayments()
    const { transactionId } = await charge(setup)
    expect(await send(setup, payloadOf(setup))).toEqual({ status: 200, body: 'ok' })
    await setup.quiet()
    expect(setup.eventNames()).toEqual(['PaymentInitiated', 'WebhookReceived', 'PaymentSucceeded'])
    expect(JSON.stringify(setup.events)).not.toContain('hidden')
    const story = await setup.payments.queries.story(transactionId)
    expect(story?.transaction.status).toBe('Paid')
    const [event] = story?.webhookEvents ?? []
    expect(event).toMatchObject({ outcome: 'applied', correlationId: CORRELATION })
    expect(event?.raw).toEqual({ secret: '[redacted]', kept: 'seen' })
  })

  it('that is a duplicate causes WebhookReceived, and nothing else', async () => {
    const setup = setUpPayments()
    await charge(setup)
    await send(setup, payloadOf(setup))
    expect(await send(setup, payloadOf(setup))).toEqual({ status: 200, body: 'duplicate' })
    await setup.quiet()
    expect(setup.eventNames()).toEqual([
      'PaymentInitiated',
      'WebhookReceived',
      'PaymentSucceeded',
      'WebhookReceived',
    ])
  })

  it('for an unknown gateway gets 404, and causes nothing', async () => {
    const setup = setUpPayments()
    expect(await send(setup, 'anything', {}, 'nope')).toEqual({ status: 404, body: 'unknown' })
    expect(setup.events).toEqual([])
  })

  it('without a valid signature is reported without its secrets, and not stored', async () => {
    const setup = setUpPayments()
    setup.script.webhook = () => {
      throw new InvalidWebhookSignatureException('The signature is not valid.')
    }
    const headers = { 'X-Signature': 'forged-one', 'User-Agent': 'curl', Cookie: 'a=b' }
    expect(await send(setup, {}, headers)).toEqual({ status: 401, body: 'invalid' })
    await setup.quiet()
    expect(setup.events).toMatchObject([
      {
        name: 'WebhookVerificationFailed',
        payload: {
          gateway: 'bank',
          reason: 'The signature is not valid.',
          headers: { 'user-agent': 'curl' },
        },
      },
    ])
    expect(JSON.stringify([setup.events, setup.lines])).not.toMatch(/forged-one|a=b/)
    expect(await stored(setup)).toEqual([])
  })

  it('that is forged many times does not fill the log, which counts the others', async () => {
    const setup = setUpPayments()
    setup.script.webhook = () => {
      throw new InvalidWebhookSignatureException('The signature is not valid.')
    }
    const lines = () => setup.lines.filter(({ event }) => event === 'payments.webhook.not_verified')
    for (let times = 0; times < 100; times++) await send(setup, {})
    expect(lines()).toHaveLength(60)
    await setup.clock.advance(60_001)
    await send(setup, {})
    expect(lines()).toHaveLength(61)
    expect(lines().at(-1)).toMatchObject({ fields: { others: 40 } })
  })

  it('that its driver cannot read gets 500, so that it is sent again, and is not stored', async () => {
    const setup = setUpPayments()
    setup.script.webhook = () => {
      throw new Error('no such claim')
    }
    expect(await send(setup, {})).toEqual({ status: 500, body: 'error' })
    expect(await stored(setup)).toEqual([])
  })

  it('whose payment could not be read is asked about, though it is not sent again', async () => {
    const setup = setUpPayments()
    const { transactionId } = await charge(setup)
    const down = Promise.reject(new GatewayUnavailableException('The circuit is open.'))
    setup.script.webhook = () => down.catch(aboutPayment('gateway-1')) as never
    setup.script.status = () => reported('Paid')
    expect(await send(setup, {})).toEqual({ status: 500, body: 'error' })
    await setup.quiet()
    expect(await setup.payments.queries.alerts({}, { limit: 9 })).toEqual([])
    await setup.payments.sweeper.sweep()
    expect((await setup.payments.queries.story(transactionId))?.transaction.status).toBe('Paid')
  })

  it.each([
    ['its driver', () => ({ unreadable: 'data.amount', gatewayTransactionId: 'gateway-1' })],
    ['we', (setup: PaymentsSetup) => payloadOf(setup, { amount: Number.NaN })],
  ])(
    'whose amount %s cannot read gets 500, its gateway is asked, and the second is an alert',
    async (_, read) => {
      const setup = setUpPayments()
      const { transactionId } = await charge(setup)
      setup.script.webhook = () => read(setup)
      setup.script.status = () => reported('Paid')
      const alerts = () => setup.payments.queries.alerts({}, { limit: 9 })
      expect(await send(setup, {})).toEqual({ status: 500, body: 'error' })
      await setup.quiet()
      expect([await stored(setup), await alerts()]).toEqual([[], []])
      await setup.payments.sweeper.sweep()
      expect((await setup.payments.queries.story(transactionId))?.transaction.status).toBe('Paid')
      for (let times = 0; times < 2; times++) await send(setup, {})
      await setup.quiet()
      expect(await alerts()).toMatchObject([{ kind: 'unreadable', transactionId }])
      expect(setup.eventNames()).toEqual(['PaymentInitiated', 'PaymentSucceeded', 'AlertRaised'])
    },
  )

  it('whose payment cannot be read is an alert from the second time on, by checks alone, too', async () => {
    const setup = setUpPayments()
    const { transactionId } = await charge(setup)
    const unreadable = () => {
      throw new GatewayUnavailableException('It cannot be read.', { unreadable: 'amount' })
    }
    setup.script.status = unreadable
    setup.script.webhook = () =>
      Promise.reject(0).catch(unreadable).catch(aboutPayment('gateway-1'))
    const alerts = () => setup.payments.queries.alerts({}, { limit: 9 })
    expect(await send(setup, {})).toEqual({ status: 500, body: 'error' })
    await setup.quiet()
    expect(await alerts()).toEqual([])
    await setup.payments.sweeper.sweep()
    const error = 'Its status cannot be read: amount.'
    expect(await alerts()).toMatchObject([{ kind: 'unreadable', transactionId, detail: { error } }])
    // One is enough, and it goes on being asked about.
    await send(setup, {})
    await setup.quiet()
    expect(await setup.payments.sweeper.sweep()).toMatchObject({ checked: 1, unreachable: 1 })
    expect(await alerts()).toHaveLength(1)
  })

  it('that cannot be read and names no payment of ours gets 500, and nothing else', async () => {
    const setup = setUpPayments()
    await charge(setup)
    setup.script.webhook = () => ({ unreadable: 'data', externalReferenceId: 'foreign' })
    for (let times = 0; times < 2; times++) await send(setup, {})
    await setup.quiet()
    expect(await setup.payments.queries.alerts({}, { limit: 9 })).toEqual([])
    expect((await setup.payments.sweeper.sweep()).checked).toBe(0)
  })

  it('that its driver ignores gets 200, and is not stored', async () => {
    const setup = setUpPayments()
    setup.script.webhook = () => ({ ignored: 'a product was renamed' })
    expect(await send(setup, {})).toEqual({ status: 200, body: 'ignored' })
    expect(await stored(setup)).toEqual([])
  })

  it('as old as the tolerance is accepted; an older one is stale and its payment is checked', async () => {
    const setup = setUpPayments()
    const { transactionId } = await charge(setup)
    const { clock, payments } = setup
    await clock.advance(1_000_000)
    setup.script.status = () => reported('Paid')
    const old = payloadOf(setup, { occurredAt: clock.now() - 300_001 })
    expect(await send(setup, old)).toEqual({ status: 400, body: 'stale' })
    await setup.quiet()
    expect(setup.eventNames()).toEqual(['PaymentInitiated'])
    await payments.sweeper.sweep()
    await setup.quiet()
    expect((await payments.queries.story(transactionId))?.transaction.status).toBe('Paid')
    const just = payloadOf(setup, { eventId: 'event-2', occurredAt: clock.now() - 300_000 })
    expect(await send(setup, just)).toEqual({ status: 200, body: 'ok' })
  })

  it.each([
    ['no time', Number.NaN],
    ['a time that no date can have', 8_900_000_000_000_000],
    ['a time in days', 4 * 86_400_000],
  ])('with %s is stale and not stored, and its payment is checked', async (_, offset) => {
    const setup = setUpPayments()
    const { transactionId } = await charge(setup)
    const { clock, payments } = setup
    const occurredAt = offset < 1e12 ? clock.now() + offset : offset
    setup.script.webhook = () => payloadOf(setup, { occurredAt })
    setup.script.status = () => reported('Paid')
    expect(await send(setup, {})).toEqual({ status: 400, body: 'stale' })
    await setup.quiet()
    expect(setup.eventNames()).toEqual(['PaymentInitiated'])
    expect(await stored(setup)).toEqual([])
    await payments.sweeper.sweep()
    await setup.quiet()
    expect((await payments.queries.story(transactionId))?.transaction.status).toBe('Paid')
  })

  it('with another amount is applied and logged, or refused, as configured', async () => {
    for (const [onMismatch, status] of [
      ['log', 'Paid'],
      ['reject', 'Pending'],
    ] as const) {
      const setup = setUpPayments({ onMismatch })
      const { transactionId } = await charge(setup)
      expect(await send(setup, payloadOf(setup, { amount: 0 }))).toMatchObject({ body: 'ok' })
      await setup.quiet()
      const story = await setup.payments.queries.story(transactionId)
      expect(story?.transaction.status).toBe(status)
      expect(story?.alerts).toMatchObject([{ kind: 'amount_mismatch' }])
      const logged = setup.lines.filter(({ event }) => event === 'payments.webhook.amount_mismatch')
      expect(logged).toHaveLength(1)
      expect(setup.eventNames().includes('PaymentSucceeded')).toBe(status === 'Paid')
    }
  })

  it('has its time in ISO 8601 in the event', async () => {
    const setup = setUpPayments()
    await send(setup, payloadOf(setup))
    await setup.quiet()
    const occurredAt = new Date(setup.clock.now()).toISOString()
    expect(setup.events).toMatchObject([{ payload: { payload: { occurredAt } } }])
    expect(await stored(setup)).toMatchObject([{ occurredAt }])
  })

  it('with an impossible time is stale', async () => {
    const setup = setUpPayments()
    for (const occurredAt of [8_900_000_000_000_000, Number.NaN]) {
      const impossible = payloadOf(setup, { occurredAt })
      setup.script.webhook = () => impossible
      expect(await send(setup, {})).toEqual({ status: 400, body: 'stale' })
    }
    expect(await stored(setup)).toEqual([])
  })

  it('keeps the values of the host application unchanged, and out of the log', async () => {
    const given = {
      reference: 'cart?ticket=42&seat=7',
      description: 'A monkey on a postcard, card 4111 1111 1111 1111',
      returnUrl: 'https://shop.example/thanks?token=abc',
      metadata: { ticket: 'A-7', keyboard: 'qwerty' },
    }
    const setup = setUpPayments({ onMismatch: 'reject' })
    const { payments, script, clock } = setup
    const { transactionId, gatewayTransactionId = '' } = await payments.charge({
      ...given,
      gateway: 'bank',
      amount: 25_000,
      currency: 'IQD',
    })
    const { reference } = given
    const payload = payloadOf(setup, { reference, gatewayTransactionId, raw: { order: reference } })
    await send(setup, { ...payload, eventId: 'event-0', amount: 1 })
    await clock.advance(600_000)
    script.status = () => ({ known: false })
    await payments.sweeper.sweep()
    script.status = () => Promise.reject(new Error('broken')) as never
    await clock.advance(600_000)
    await payments.sweeper.sweep()
    await send(setup, { ...payload, occurredAt: clock.now() })
    await payments.refund('bank', { transactionId, amount: 25_000, reason: 'Broken' })
    await setup.quiet()

    const story = await payments.queries.story(transactionId)
    const { returnUrl: _, ...kept } = given
    expect(story?.transaction).toMatchObject({ ...kept, status: 'Refunded' })
    expect(story?.webhookEvents).toMatchObject([
      { reference, raw: { order: reference } },
      { reference, raw: { order: reference } },
    ])
    expect(setup.events.find(({ name }) => name === 'PaymentInitiated')).toMatchObject({
      payload: { request: given, transaction: kept },
    })
    const received = setup.events.filter(({ name }) => name === 'WebhookReceived')
    expect(received).toMatchObject([
      { payload: { payload: { reference } } },
      { payload: { payload: { reference } } },
    ])
    expect(setup.events.at(-1)).toMatchObject({
      name: 'PaymentRefunded',
      payload: { transaction: kept },
    })
    expect(setup.lines.length).toBeGreaterThan(5)
    const log = JSON.stringify(setup.lines)
    expect(log).not.toMatch(/cart\?|monkey|shop\.example|qwerty/)
  })
})

describe('a webhook that its gateway does not sign', () => {
  const DRIVERS = [
    ['FIB', fib.create('bank', { client_id: 'shop', client_secret: 'secret' }), fibBody],
    ['Mollie', mollie.create('bank', { api_key: 'test_key' }), mollieBody],
  ] as const

  it.each(DRIVERS)(
    'and that a stranger forges 5,000 times costs %s ten calls, and us as many looks and one line',
    async (_, { handleWebhook }, bodyOf) => {
      const counts = new Map<string, number>()
      const setup = setUpPayments({
        gateway: { handleWebhook },
        fetch: async () => new Response('{}', { status: 422 }),
        wait: async (method) => void counts.set(method, (counts.get(method) ?? 0) + 1),
      })
      const forge = (n: number) => {
        const callback = webhookRequest(bodyOf(n), setup.clock.now())
        return setup.payments.receive('bank', callback, CORRELATION)
      }
      for (let n = 0; n < 5_000; n++) {
        expect(await forge(n)).toEqual({ status: 500, body: 'error' })
      }
      await setup.quiet()
      const linesOf = (name: string) => setup.lines.filter(({ event }) => event === name)
      expect(linesOf('payments.webhook.failed')).toHaveLength(10)
      expect(linesOf('payments.webhook.limited')).toHaveLength(1)
      expect(counts.get('admit')).toBe(10)
      expect(counts.get('checkSoon')).toBe(10)
      // A minute later there are tokens for ten again, and the next line has the count.
      await setup.clock.advance(60_001)
      for (let n = 0; n < 11; n++) await forge(n)
      expect(linesOf('payments.webhook.limited')).toMatchObject([
        { level: 'warn', fields: { others: 0 } },
        { level: 'warn', fields: { others: 4_989 } },
      ])
    },
  )
})

function fibBody(n: number): string {
  return JSON.stringify({ id: `forged-${n}`, status: 'PAID' })
}

function mollieBody(n: number): string {
  return `id=tr_forged${n}`
}
