import { describe, expect, it } from 'vitest'
import { pendingEvent, request, transaction } from '../../../support/payments.ts'
import { dispatcherOf, endpoint, ok } from './dispatcher-bed.ts'

const DAY = 86_400_000

describe('the subscribers', () => {
  it('are the listeners of an event, and the endpoint', () => {
    const { dispatcher } = dispatcherOf({ PaymentSucceeded: () => 1, PaymentFailed: [] }, ok)
    expect(dispatcher.subscribers.endpointFor('PaymentSucceeded')).toBe(endpoint.url)
    expect(dispatcher.subscribers.hasListeners('PaymentSucceeded')).toBe(true)
    expect(dispatcher.subscribers.hasListeners('PaymentFailed')).toBe(false)
    expect(dispatcher.subscribers.hasListeners('PaymentRefunded')).toBe(false)
  })

  it('include the endpoint only for its configured events', async () => {
    const types = new Set(['PaymentFailed', 'CircuitOpened'] as const)
    const { dispatcher, sent } = dispatcherOf({}, ok, types)
    const { subscribers, hasSubscribers } = dispatcher
    expect(subscribers.endpointFor('PaymentFailed')).toBe(endpoint.url)
    expect(subscribers.endpointFor('PaymentSucceeded')).toBeUndefined()
    expect([hasSubscribers('CircuitOpened'), hasSubscribers('GatewayTimeout')]).toEqual([
      true,
      false,
    ])
    await dispatcher.pass('CircuitOpened', { gateway: 'bank', kind: 'charge' })
    await dispatcher.pass('GatewayTimeout', { gateway: 'bank', endpoint: 'init', durationMs: 1 })
    expect(sent).toHaveLength(1)
  })

  it('include no endpoint if none is configured', () => {
    expect(dispatcherOf({}).dispatcher.subscribers.endpointFor('PaymentFailed')).toBeUndefined()
  })
})

describe('listeners in process', () => {
  it('are all called, even if the first throws and the second rejects', async () => {
    const called: string[] = []
    const { dispatcher, clock, lines } = dispatcherOf({
      PaymentSucceeded: [
        () => {
          throw new Error('broken')
        },
        () => Promise.reject(new Error('broken too')),
        ({ transaction }) => called.push(transaction.id),
      ],
    })
    const [dispatched] = await dispatcher.dispatch([
      pendingEvent({ createdAt: clock.now(), listeners: { attempts: 0 } }),
    ])
    expect(called).toEqual(['01TX'])
    expect(dispatched).toEqual({
      outboxId: '01OUT',
      listeners: { ok: false, nextAttemptAt: clock.now() + 3_750, error: 'Error: broken' },
    })
    const fields = { transactionId: '01TX', correlationId: 'correlation-1' }
    expect(lines).toMatchObject([
      { level: 'warn', event: 'payments.listener.failed', fields },
      { level: 'warn', event: 'payments.listener.failed', fields },
    ])
  })

  it('have accepted an event when all of them have resolved', async () => {
    const { dispatcher } = dispatcherOf({ PaymentSucceeded: async () => 'done' })
    const dispatched = await dispatcher.dispatch([pendingEvent({ listeners: { attempts: 3 } })])
    expect(dispatched).toEqual([{ outboxId: '01OUT', listeners: { ok: true } }])
  })

  it('have accepted an event if there are none any more', async () => {
    const dispatched = await dispatcherOf({}).dispatcher.dispatch([
      pendingEvent({ listeners: { attempts: 3 } }),
    ])
    expect(dispatched).toEqual([{ outboxId: '01OUT', listeners: { ok: true } }])
  })

  it('are given up after 20 seconds if one never resolves', async () => {
    const { dispatcher, clock } = dispatcherOf({
      PaymentSucceeded: () => new Promise(() => undefined),
    })
    const dispatching = dispatcher.dispatch([
      pendingEvent({ createdAt: clock.now(), listeners: { attempts: 0 } }),
    ])
    let isOver = false
    void dispatching.then(() => {
      isOver = true
    })
    await clock.advance(19_999)
    expect(isOver).toBe(false)
    await clock.advance(1)
    const error = 'DeadlineExceeded: No answer within 20 s.'
    expect(await dispatching).toMatchObject([{ listeners: { ok: false, error } }])
    expect(clock.pending).toBe(0)
  })

  it('cannot change the payload of others', async () => {
    const seen: number[] = []
    const spoil = ({ transaction }: { transaction: { amount: number } }) => {
      seen.push(transaction.amount)
      transaction.amount = 0
    }
    const { dispatcher, sent } = dispatcherOf({ PaymentSucceeded: [spoil, spoil] }, ok)
    const delivery = { id: '01DEL', endpoint: endpoint.url, attempts: 0 }
    await dispatcher.dispatch([pendingEvent({ listeners: { attempts: 0 }, delivery })])
    expect(seen).toEqual([25_000, 25_000])
    expect(await sent[0]?.json()).toMatchObject({ data: { transaction: { amount: 25_000 } } })
  })

  it('and the endpoint get the values of the host application unchanged', async () => {
    const seen: unknown[] = []
    const { dispatcher, sent } = dispatcherOf(
      { PaymentInitiated: (payload) => seen.push(payload) },
      ok,
    )
    const given = {
      reference: 'cart?ticket=42&seat=7',
      description: 'Card 4111 1111 1111 1111',
      returnUrl: 'https://shop.example/thanks?token=abc',
      metadata: { ticket: 'A-7', keyboard: 'qwerty', monkey: 'see', postcard: true, token: 5 },
    }
    const payload = { gateway: 'bank', request: request(given), transaction: transaction(given) }
    const delivery = { id: '01DEL', endpoint: endpoint.url, attempts: 0 }
    const type = 'PaymentInitiated'
    await dispatcher.dispatch([
      pendingEvent({ type, payload, listeners: { attempts: 0 }, delivery }),
    ])
    expect(seen).toEqual([payload])
    expect(await sent[0]?.json()).toMatchObject({ data: payload })
  })
})

describe('a passing event', () => {
  const headers = { authorization: 'Bearer abc', accept: '*/*' }
  const failure = { gateway: 'bank', reason: 'signature', headers }

  it('is passed to listeners and endpoint, once', async () => {
    const seen: unknown[] = []
    const { dispatcher, sent } = dispatcherOf(
      { WebhookReceived: (payload) => seen.push(payload) },
      ok,
    )
    const payload = {
      gateway: 'bank',
      gatewayTransactionId: 'g-1',
      reference: 'order-1',
      status: 'Paid' as const,
      amount: 25_000,
      currency: 'IQD',
      eventId: 'e-1',
      occurredAt: '1970-01-01T00:00:01.000Z',
      raw: { id: 1, of: ['some', 'more'] },
    }
    await dispatcher.pass('WebhookReceived', { payload })
    expect(seen).toEqual([{ payload }])
    expect(sent).toHaveLength(1)
    expect(await sent[0]?.json()).toEqual({
      type: 'WebhookReceived',
      timestamp: '1970-01-01T00:16:40.000Z',
      data: { payload },
    })
  })

  it('that nobody accepts is logged and not passed again', async () => {
    const { dispatcher, clock, lines, sent } = dispatcherOf(
      {
        CircuitOpened: () => {
          throw new Error('broken')
        },
      },
      () => new Response(null, { status: 500 }),
    )
    await dispatcher.pass('CircuitOpened', { gateway: 'bank', kind: 'charge' })
    expect(new Set(lines.map(({ event }) => event))).toEqual(
      new Set(['payments.listener.failed', 'payments.passing_event.failed']),
    )
    await clock.advance(DAY)
    expect(sent).toHaveLength(1)
  })

  it('has its own id', async () => {
    const { dispatcher, sent } = dispatcherOf({}, ok)
    const timeout = { gateway: 'bank', endpoint: 'init', durationMs: 15_000 }
    await dispatcher.pass('GatewayTimeout', timeout)
    await dispatcher.pass('GatewayTimeout', timeout)
    const ids = sent.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(ids).size).toBe(2)
  })

  it('for a failed verification is passed 60 times a minute, and the rest is counted in one log line', async () => {
    const seen: unknown[] = []
    const { dispatcher, clock, lines } = dispatcherOf({
      WebhookVerificationFailed: (payload) => seen.push(payload),
    })
    for (let i = 0; i < 1_000; i++) await dispatcher.pass('WebhookVerificationFailed', failure)
    expect(seen).toHaveLength(60)
    await clock.advance(60_000)
    expect(lines).toEqual([
      {
        level: 'warn',
        event: 'payments.verification_failures_not_passed',
        fields: { count: 940 },
      },
    ])
    await dispatcher.pass('WebhookVerificationFailed', failure)
    expect(seen).toHaveLength(61)
    expect(clock.pending).toBe(0)
  })

  it('of another kind is not limited', async () => {
    let seen = 0
    const { dispatcher } = dispatcherOf({ CircuitOpened: () => seen++ })
    for (let i = 0; i < 100; i++)
      await dispatcher.pass('CircuitOpened', { gateway: 'bank', kind: 'charge' })
    expect(seen).toBe(100)
  })
})
