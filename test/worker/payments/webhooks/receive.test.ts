import { describe, expect, it } from 'vitest'
import { InvalidWebhookSignatureException } from '../../../../worker/payments/domain/exceptions.ts'
import type { VerifiedWebhook } from '../../../../worker/payments/schemas.ts'
import { openRoom, type Room, reported } from '../../../support/payments-room.ts'

const CORRELATION = 'correlation-1'

const payloadOf = (room: Room, own: Partial<VerifiedWebhook> = {}): VerifiedWebhook => ({
  gateway: 'bank',
  gatewayTransactionId: 'gateway-1',
  reference: 'order-1',
  status: 'Paid',
  amount: 25_000,
  currency: 'IQD',
  eventId: 'event-1',
  occurredAt: room.clock.now(),
  raw: { secret: 'hidden', kept: 'seen' },
  ...own,
})

const send = (room: Room, payload: unknown, headers: Record<string, string> = {}, key = 'bank') =>
  room.payments.receive(
    key,
    {
      headers: new Headers(headers),
      query: new URLSearchParams(),
      body: JSON.stringify(payload),
      receivedAt: room.clock.now(),
    },
    CORRELATION,
  )

const charge = (room: Room) => {
  room.script.charge = () => ({ ok: true, gatewayTransactionId: 'gateway-1' })
  return room.payments.charge({
    gateway: 'bank',
    reference: 'order-1',
    amount: 25_000,
    currency: 'IQD',
    description: 'A lamp',
  })
}

const stored = (room: Room) => room.payments.queries.webhookEvents({}, { limit: 9 })

describe('a webhook', () => {
  it('changes its payment, with the event after WebhookReceived and a masked body', async () => {
    const room = openRoom()
    const { transactionId } = await charge(room)
    expect(await send(room, payloadOf(room))).toEqual({ status: 200, body: 'ok' })
    await room.quiet()
    expect(room.eventNames()).toEqual(['PaymentInitiated', 'WebhookReceived', 'PaymentSucceeded'])
    expect(JSON.stringify(room.events)).not.toContain('hidden')
    const story = await room.payments.queries.story(transactionId)
    expect(story?.transaction.status).toBe('Paid')
    const [event] = story?.webhookEvents ?? []
    expect(event).toMatchObject({ outcome: 'applied', correlationId: CORRELATION })
    expect(event?.raw).toEqual({ secret: '[redacted]', kept: 'seen' })
  })

  it('that is a duplicate causes WebhookReceived, and nothing else', async () => {
    const room = openRoom()
    await charge(room)
    await send(room, payloadOf(room))
    expect(await send(room, payloadOf(room))).toEqual({ status: 200, body: 'duplicate' })
    await room.quiet()
    expect(room.eventNames()).toEqual([
      ...['PaymentInitiated', 'WebhookReceived', 'PaymentSucceeded', 'WebhookReceived'],
    ])
  })

  it('for an unknown gateway gets 404, and causes nothing', async () => {
    const room = openRoom()
    expect(await send(room, 'anything', {}, 'nope')).toEqual({ status: 404, body: 'unknown' })
    expect(room.events).toEqual([])
  })

  it('without a valid signature is reported without its secrets, and not stored', async () => {
    const room = openRoom()
    room.script.webhook = () => {
      throw new InvalidWebhookSignatureException('The signature is not valid.')
    }
    const headers = { 'X-Signature': 'forged-one', 'User-Agent': 'curl', Cookie: 'a=b' }
    expect(await send(room, {}, headers)).toEqual({ status: 401, body: 'invalid' })
    await room.quiet()
    expect(room.events).toMatchObject([
      {
        name: 'WebhookVerificationFailed',
        payload: {
          gateway: 'bank',
          reason: 'The signature is not valid.',
          headers: { 'user-agent': 'curl' },
        },
      },
    ])
    expect(JSON.stringify([room.events, room.lines])).not.toMatch(/forged-one|a=b/)
    expect(await stored(room)).toEqual([])
  })

  it('that is forged many times does not fill the log, which counts the others', async () => {
    const room = openRoom()
    room.script.webhook = () => {
      throw new InvalidWebhookSignatureException('The signature is not valid.')
    }
    const lines = () => room.lines.filter(({ event }) => event === 'payments.webhook.not_verified')
    for (let times = 0; times < 100; times++) await send(room, {})
    expect(lines()).toHaveLength(60)
    await room.clock.advance(60_001)
    await send(room, {})
    expect(lines()).toHaveLength(61)
    expect(lines().at(-1)).toMatchObject({ fields: { others: 40 } })
  })

  it('that its driver cannot read gets 500, so that it is sent again, and is not stored', async () => {
    const room = openRoom()
    room.script.webhook = () => {
      throw new Error('no such claim')
    }
    expect(await send(room, {})).toEqual({ status: 500, body: 'error' })
    expect(await stored(room)).toEqual([])
  })

  it.each([
    ['its driver', () => ({ unreadable: 'data.amount', gatewayTransactionId: 'gateway-1' })],
    ['we', (room: Room) => payloadOf(room, { amount: Number.NaN })],
  ])(
    'whose amount %s cannot read gets 500, its gateway is asked, and the second is an alert',
    async (_, read) => {
      const room = openRoom()
      const { transactionId } = await charge(room)
      room.script.webhook = () => read(room)
      room.script.status = () => reported('Paid')
      const alerts = () => room.payments.queries.alerts({}, { limit: 9 })
      expect(await send(room, {})).toEqual({ status: 500, body: 'error' })
      await room.quiet()
      expect([await stored(room), await alerts()]).toEqual([[], []])
      await room.payments.sweeper.sweep()
      expect((await room.payments.queries.story(transactionId))?.transaction.status).toBe('Paid')
      for (let times = 0; times < 2; times++) await send(room, {})
      await room.quiet()
      expect(await alerts()).toMatchObject([{ kind: 'unreadable', transactionId }])
      expect(room.eventNames()).toEqual(['PaymentInitiated', 'PaymentSucceeded', 'AlertRaised'])
    },
  )

  it('that cannot be read and names no payment of ours gets 500, and nothing else', async () => {
    const room = openRoom()
    await charge(room)
    room.script.webhook = () => ({ unreadable: 'data', externalReferenceId: 'foreign' })
    for (let times = 0; times < 2; times++) await send(room, {})
    await room.quiet()
    expect(await room.payments.queries.alerts({}, { limit: 9 })).toEqual([])
    expect((await room.payments.sweeper.sweep()).checked).toBe(0)
  })

  it('that its driver ignores gets 200, and is not stored', async () => {
    const room = openRoom()
    room.script.webhook = () => ({ ignored: 'a product was renamed' })
    expect(await send(room, {})).toEqual({ status: 200, body: 'ignored' })
    expect(await stored(room)).toEqual([])
  })

  it('as old as the tolerance is accepted; an older one is stale and its payment is checked', async () => {
    const room = openRoom()
    const { transactionId } = await charge(room)
    const { clock, payments } = room
    await clock.advance(1_000_000)
    room.script.status = () => reported('Paid')
    const old = payloadOf(room, { occurredAt: clock.now() - 300_001 })
    expect(await send(room, old)).toEqual({ status: 400, body: 'stale' })
    await room.quiet()
    expect(room.eventNames()).toEqual(['PaymentInitiated'])
    await payments.sweeper.sweep()
    await room.quiet()
    expect((await payments.queries.story(transactionId))?.transaction.status).toBe('Paid')
    const just = payloadOf(room, { eventId: 'event-2', occurredAt: clock.now() - 300_000 })
    expect(await send(room, just)).toEqual({ status: 200, body: 'ok' })
  })

  it.each([
    ['no time', Number.NaN],
    ['a time that no date can have', 8_900_000_000_000_000],
    ['a time in days', 4 * 86_400_000],
  ])('with %s is stale and not stored, and its payment is checked', async (_, offset) => {
    const room = openRoom()
    const { transactionId } = await charge(room)
    const { clock, payments } = room
    const occurredAt = offset < 1e12 ? clock.now() + offset : offset
    room.script.webhook = () => payloadOf(room, { occurredAt })
    room.script.status = () => reported('Paid')
    expect(await send(room, {})).toEqual({ status: 400, body: 'stale' })
    await room.quiet()
    expect(room.eventNames()).toEqual(['PaymentInitiated'])
    expect(await stored(room)).toEqual([])
    await payments.sweeper.sweep()
    await room.quiet()
    expect((await payments.queries.story(transactionId))?.transaction.status).toBe('Paid')
  })

  it('with another amount is applied and logged, or refused, as configured', async () => {
    for (const [onMismatch, status] of [
      ['log', 'Paid'],
      ['reject', 'Pending'],
    ] as const) {
      const room = openRoom({ onMismatch })
      const { transactionId } = await charge(room)
      expect(await send(room, payloadOf(room, { amount: 0 }))).toMatchObject({ body: 'ok' })
      await room.quiet()
      const story = await room.payments.queries.story(transactionId)
      expect(story?.transaction.status).toBe(status)
      expect(story?.alerts).toMatchObject([{ kind: 'amount_mismatch' }])
      const logged = room.lines.filter(({ event }) => event === 'payments.webhook.amount_mismatch')
      expect(logged).toHaveLength(1)
      expect(room.eventNames().includes('PaymentSucceeded')).toBe(status === 'Paid')
    }
  })

  it('has its time in ISO 8601 in the event', async () => {
    const room = openRoom()
    await send(room, payloadOf(room))
    await room.quiet()
    const occurredAt = new Date(room.clock.now()).toISOString()
    expect(room.events).toMatchObject([{ payload: { payload: { occurredAt } } }])
    expect(await stored(room)).toMatchObject([{ occurredAt }])
  })

  it('with an impossible time is stale', async () => {
    const room = openRoom()
    for (const occurredAt of [8_900_000_000_000_000, Number.NaN]) {
      const impossible = payloadOf(room, { occurredAt })
      room.script.webhook = () => impossible
      expect(await send(room, {})).toEqual({ status: 400, body: 'stale' })
    }
    expect(await stored(room)).toEqual([])
  })

  it('keeps the values of the host application unchanged, and out of the log', async () => {
    const given = {
      reference: 'cart?ticket=42&seat=7',
      description: 'A monkey on a postcard, card 4111 1111 1111 1111',
      returnUrl: 'https://shop.example/thanks?token=abc',
      metadata: { ticket: 'A-7', keyboard: 'qwerty' },
    }
    const room = openRoom({ onMismatch: 'reject' })
    const { payments, script, clock } = room
    const { transactionId, gatewayTransactionId = '' } = await payments.charge({
      ...given,
      gateway: 'bank',
      amount: 25_000,
      currency: 'IQD',
    })
    const { reference } = given
    const payload = payloadOf(room, { reference, gatewayTransactionId, raw: { order: reference } })
    await send(room, { ...payload, eventId: 'event-0', amount: 1 })
    await clock.advance(600_000)
    script.status = () => ({ known: false })
    await payments.sweeper.sweep()
    script.status = () => Promise.reject(new Error('broken')) as never
    await clock.advance(600_000)
    await payments.sweeper.sweep()
    await send(room, { ...payload, occurredAt: clock.now() })
    await payments.refund('bank', { transactionId, amount: 25_000, reason: 'Broken' })
    await room.quiet()

    const story = await payments.queries.story(transactionId)
    const { returnUrl: _, ...kept } = given
    expect(story?.transaction).toMatchObject({ ...kept, status: 'Refunded' })
    expect(story?.webhookEvents).toMatchObject([
      { reference, raw: { order: reference } },
      { reference, raw: { order: reference } },
    ])
    expect(room.events.find(({ name }) => name === 'PaymentInitiated')).toMatchObject({
      payload: { request: given, transaction: kept },
    })
    const received = room.events.filter(({ name }) => name === 'WebhookReceived')
    expect(received).toMatchObject([
      { payload: { payload: { reference } } },
      { payload: { payload: { reference } } },
    ])
    expect(room.events.at(-1)).toMatchObject({
      name: 'PaymentRefunded',
      payload: { transaction: kept },
    })
    expect(room.lines.length).toBeGreaterThan(5)
    const log = JSON.stringify(room.lines)
    expect(log).not.toMatch(/cart\?|monkey|shop\.example|qwerty/)
  })
})
