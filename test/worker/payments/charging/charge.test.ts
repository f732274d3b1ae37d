import { describe, expect, it } from 'vitest'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
} from '../../../../worker/payments/domain/exceptions.ts'
import { openRoom, unavailable } from '../../../support/payments-room.ts'

const order = {
  gateway: 'bank',
  reference: 'order-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'A lamp',
}

describe('a charge', () => {
  it('is stored and told before its gateway is called, and answers where the payer goes', async () => {
    const room = openRoom()
    const { payments, script, charged } = room
    const before: unknown[] = []
    const { charge } = script
    script.charge = async (asked) => {
      await room.quiet()
      before.push(room.names(), await payments.queries.transactions({}, { limit: 9 }))
      return charge(asked)
    }
    const response = await payments.charge(order, { correlationId: 'correlation-1' })
    expect(before).toMatchObject([
      ['PaymentInitiated'],
      [{ status: 'Pending', reference: 'order-1', correlationId: 'correlation-1' }],
    ])
    expect(response).toStrictEqual({
      status: 'Pending',
      gateway: 'bank',
      reference: 'order-1',
      transactionId: expect.stringMatching(/^[0-9A-Z]{26}$/) as unknown,
      gatewayTransactionId: `gateway-${charged[0]?.externalReferenceId}`,
      redirectUrl: 'https://bank.example/pay',
    })
    const story = await payments.queries.story(response.transactionId)
    expect(story?.transaction).toMatchObject({
      gatewayTransactionId: response.gatewayTransactionId,
      redirectUrl: response.redirectUrl,
    })
  })

  it('is the same charge with the same key, and never asks the gateway twice', async () => {
    const { payments, charged } = openRoom()
    const first = await payments.charge(order, { idempotencyKey: 'key-1' })
    expect(await payments.charge(order, { idempotencyKey: 'key-1' })).toStrictEqual(first)
    expect(charged).toHaveLength(1)
  })

  it('is refused when its key, or its open order, belongs to another request', async () => {
    const { payments, charged } = openRoom()
    await payments.charge(order, { idempotencyKey: 'key-1' })
    const other = { ...order, amount: 1 }
    await expect(payments.charge(other, { idempotencyKey: 'key-1' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
    await expect(payments.charge(other)).rejects.toMatchObject({ code: 'reference_conflict' })
    expect(charged).toHaveLength(1)
  })

  it('is the same charge with another phone, which no hash gives back then', async () => {
    const { payments, charged } = openRoom()
    const context = { idempotencyKey: 'key-1' }
    const first = await payments.charge({ ...order, customerPhone: '9647801234567' }, context)
    const other = await payments.charge({ ...order, customerPhone: '9647807654321' }, context)
    expect(other).toStrictEqual(first)
    expect(await payments.charge(order, context)).toStrictEqual(first)
    expect(charged).toMatchObject([{ customerPhone: '9647801234567' }])
  })

  it('is in progress for whoever asks the same while its gateway is being called', async () => {
    const { payments, script } = openRoom()
    const called = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<never>()
    script.charge = () => {
      called.resolve()
      return answered.promise
    }
    const first = payments.charge(order)
    // Before that, either of them may be the first.
    await called.promise
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'in_progress' })
    answered.reject(new GatewayUnavailableException('It went away.'))
    await expect(first).rejects.toMatchObject({ code: 'gateway_unavailable' })
  })

  it('stays Pending when its gateway does not answer, and goes on under the same name', async () => {
    const { payments, script, charged } = openRoom()
    const { charge } = script
    script.charge = unavailable
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    const [open] = await payments.queries.transactions({}, { limit: 9 })
    expect(open).toMatchObject({ status: 'Pending' })
    script.charge = charge
    const response = await payments.charge(order)
    expect(response.transactionId).toBe(open?.id)
    expect(charged[1]?.externalReferenceId).toBe(charged[0]?.externalReferenceId)
  })

  it('is not asked for again at a gateway that would charge twice', async () => {
    const { payments, script, charged } = openRoom({ gateway: { chargeIsIdempotent: false } })
    script.charge = unavailable
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    const [open] = await payments.queries.transactions({}, { limit: 9 })
    await expect(payments.charge(order)).rejects.toMatchObject({
      code: 'gateway_unavailable',
      transactionId: open?.id,
    })
    expect(charged).toHaveLength(1)
  })

  it('fails for good by a refusal, tells so, and lets the order be paid anew', async () => {
    const room = openRoom()
    const { payments, script, charged } = room
    const { charge } = script
    script.charge = () => ({ ok: false, error: { code: 'declined', message: 'No.' } })
    await expect(payments.charge(order)).rejects.toMatchObject({
      name: 'GatewayRefusedException',
      error: { code: 'declined' },
    })
    await room.quiet()
    expect(room.names()).toEqual(['PaymentInitiated', 'PaymentFailed'])
    script.charge = charge
    // Ids sort by their time.
    await room.clock.advance(1)
    await payments.charge(order)
    expect(charged[1]?.externalReferenceId).not.toBe(charged[0]?.externalReferenceId)
    const [second, first] = await payments.queries.transactions({}, { limit: 9 })
    expect([first?.status, first?.attempt]).toEqual(['Failed', 1])
    expect([second?.status, second?.attempt]).toEqual(['Pending', 2])
  })

  it('fails when the driver finds it impossible, which is the caller’s fault', async () => {
    const { payments, script } = openRoom()
    script.charge = () => {
      throw new InvalidArgumentException('A return address is needed.')
    }
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'invalid_argument' })
    const [failed] = await payments.queries.transactions({}, { limit: 9 })
    expect(failed).toMatchObject({ status: 'Failed', error: { code: 'invalid_argument' } })
  })

  it('is refused with its key again as it was the first time', async () => {
    const { payments, script } = openRoom()
    const keyed = { idempotencyKey: 'key-1' }
    script.charge = () => {
      throw new InvalidArgumentException('A return address is needed.')
    }
    const first = await payments.charge(order, keyed).catch((error: unknown) => error)
    await expect(payments.charge(order, keyed)).rejects.toEqual(first)
    expect(first).toBeInstanceOf(InvalidArgumentException)
  })

  it('leaves an unknown outcome, not a failure, when a driver breaks', async () => {
    const { payments, script } = openRoom()
    script.charge = () => {
      throw new TypeError('undefined is not an answer')
    }
    await expect(payments.charge(order)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    const [open] = await payments.queries.transactions({}, { limit: 9 })
    expect(open?.status).toBe('Pending')
  })

  it('keeps what a webhook said that was faster than the answer', async () => {
    const room = openRoom()
    const { payments, script, clock } = room
    const { charge } = script
    script.charge = async (asked) => {
      const answer = await charge(asked)
      const payload = {
        gateway: 'bank',
        gatewayTransactionId: `gateway-${asked.externalReferenceId}`,
        reference: '',
        status: 'Paid',
        amount: 25_000,
        currency: 'IQD',
        eventId: 'event-1',
        occurredAt: clock.now(),
        raw: {},
      }
      const request = { headers: new Headers(), query: new URLSearchParams(), receivedAt: 0 }
      const body = JSON.stringify(payload)
      await payments.receive('bank', { ...request, body }, 'correlation-2')
      return answer
    }
    const { transactionId } = await payments.charge(order)
    await room.quiet()
    const story = await payments.queries.story(transactionId)
    expect(story?.transaction.status).toBe('Paid')
    expect(story?.webhookEvents).toMatchObject([{ outcome: 'applied' }])
    expect(room.names().filter((name) => name === 'PaymentSucceeded')).toHaveLength(1)
  })
})

describe('the fluent builder', () => {
  it('charges what was said, and leaves a kept step as it was', async () => {
    const { payments, charged } = openRoom()
    const lamp = payments.for({ reference: 'order-7' }).driver('bank').description('A lamp')
    const response = await lamp
      .amount(25_000, 'IQD')
      .returnUrl('https://shop.example/thanks')
      .customerPhone('9647800000000')
      .metadata({ service_type: 'Express' })
      .idempotencyKey('key-7')
      .charge()
    expect(response).toMatchObject({ status: 'Pending', reference: 'order-7' })
    expect(charged[0]).toMatchObject({
      reference: 'order-7',
      amount: 25_000,
      returnUrl: 'https://shop.example/thanks',
      customerPhone: '9647800000000',
      metadata: { service_type: 'Express' },
    })
    await expect(lamp.charge()).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('amount') as unknown,
    })
  })

  it('knows gateways by their key', () => {
    const { payments } = openRoom()
    expect(payments.driver('bank').key).toBe('bank')
    expect(() => payments.driver('nope')).toThrow(InvalidArgumentException)
  })
})
