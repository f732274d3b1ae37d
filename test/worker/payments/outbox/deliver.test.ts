// What is delivered to listeners and to the endpoint, whose clock and answers the test sets.

import { describe, expect, it, vi } from 'vitest'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import type { Dispatched } from '../../../../worker/payments/acts/dispatch.ts'
import type { EventName } from '../../../../worker/payments/domain/status.ts'
import {
  createDeliverer,
  type Listeners,
  subscribersOf,
} from '../../../../worker/payments/outbox/deliver.ts'
import { PATIENT } from '../../../support/patience.ts'
import { keptLog, pendingEvent, request, transaction } from '../../../support/payments.ts'

const endpoint = {
  url: 'https://shop.example/events',
  secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
}

/** The answer of the endpoint. */
type Answer = (request: Request) => Response | Promise<Response>

function delivererOf(listeners: Listeners, answer?: Answer, types?: ReadonlySet<EventName>) {
  const clock = new FakeClock()
  const { log, lines } = keptLog()
  const sent: Request[] = []
  const signals: AbortSignal[] = []
  const fetch = async (url: string, init: RequestInit) => {
    const request = new Request(url, init)
    sent.push(request.clone() as Request)
    // A copy's own signal does not outlive a garbage collection.
    if (init.signal) signals.push(init.signal)
    return (await answer?.(request)) ?? new Response('ok')
  }
  const options = { listeners, clock, log, fetch: fetch as typeof globalThis.fetch }
  const posted = answer && { ...endpoint, ...(types && { types }) }
  const deliverer = createDeliverer({ ...options, endpoint: posted })
  const subscribers = subscribersOf(listeners, posted)
  return { deliverer, subscribers, clock, lines, sent, signals }
}

const ok: Answer = () => new Response(null, { status: 204 })
const never: Answer = (request) =>
  new Promise((_resolve, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason))
  })

const DAY = 86_400_000

describe('the subscribers', () => {
  it('are the listeners of an event, and the endpoint', () => {
    const { subscribers } = delivererOf({ PaymentSucceeded: () => 1, PaymentFailed: [] }, ok)
    expect(subscribers.endpointFor('PaymentSucceeded')).toBe(endpoint.url)
    expect(subscribers.hasListeners('PaymentSucceeded')).toBe(true)
    expect(subscribers.hasListeners('PaymentFailed')).toBe(false)
    expect(subscribers.hasListeners('PaymentRefunded')).toBe(false)
  })

  it('include the endpoint only for its configured events', async () => {
    const types = new Set(['PaymentFailed', 'CircuitOpened'] as const)
    const { deliverer, subscribers, sent } = delivererOf({}, ok, types)
    const { hasSubscribers } = deliverer
    expect(subscribers.endpointFor('PaymentFailed')).toBe(endpoint.url)
    expect(subscribers.endpointFor('PaymentSucceeded')).toBeUndefined()
    expect([hasSubscribers('CircuitOpened'), hasSubscribers('GatewayTimeout')]).toEqual([
      true,
      false,
    ])
    await deliverer.pass('CircuitOpened', { gateway: 'bank', kind: 'charge' })
    await deliverer.pass('GatewayTimeout', { gateway: 'bank', endpoint: 'init', durationMs: 1 })
    expect(sent).toHaveLength(1)
  })

  it('include no endpoint if none is configured', () => {
    expect(delivererOf({}).subscribers.endpointFor('PaymentFailed')).toBeUndefined()
  })
})

describe('listeners in process', () => {
  it('are all called, even if the first throws and the second rejects', async () => {
    const called: string[] = []
    const { deliverer, clock, lines } = delivererOf({
      PaymentSucceeded: [
        () => {
          throw new Error('broken')
        },
        () => Promise.reject(new Error('broken too')),
        ({ transaction }) => called.push(transaction.id),
      ],
    })
    const [dispatched] = await deliverer.deliver([
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
    const { deliverer } = delivererOf({ PaymentSucceeded: async () => 'done' })
    const dispatched = await deliverer.deliver([pendingEvent({ listeners: { attempts: 3 } })])
    expect(dispatched).toEqual([{ outboxId: '01OUT', listeners: { ok: true } }])
  })

  it('have accepted an event if there are none any more', async () => {
    const dispatched = await delivererOf({}).deliverer.deliver([
      pendingEvent({ listeners: { attempts: 3 } }),
    ])
    expect(dispatched).toEqual([{ outboxId: '01OUT', listeners: { ok: true } }])
  })

  it('are given up after 20 seconds if one never resolves', async () => {
    const { deliverer, clock } = delivererOf({
      PaymentSucceeded: () => new Promise(() => undefined),
    })
    const dispatching = deliverer.deliver([
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
    const { deliverer, sent } = delivererOf({ PaymentSucceeded: [spoil, spoil] }, ok)
    const delivery = { id: '01DEL', endpoint: endpoint.url, attempts: 0 }
    await deliverer.deliver([pendingEvent({ listeners: { attempts: 0 }, delivery })])
    expect(seen).toEqual([25_000, 25_000])
    expect(await sent[0]?.json()).toMatchObject({ data: { transaction: { amount: 25_000 } } })
  })

  it('and the endpoint get the values of the host application unchanged', async () => {
    const seen: unknown[] = []
    const { deliverer, sent } = delivererOf(
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
    await deliverer.deliver([pendingEvent({ type, payload, listeners: { attempts: 0 }, delivery })])
    expect(seen).toEqual([payload])
    expect(await sent[0]?.json()).toMatchObject({ data: payload })
  })
})

describe('a passing event', () => {
  const headers = { authorization: 'Bearer abc', accept: '*/*' }
  const failure = { gateway: 'bank', reason: 'signature', headers }

  it('is passed to listeners and endpoint, once', async () => {
    const seen: unknown[] = []
    const { deliverer, sent } = delivererOf(
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
    await deliverer.pass('WebhookReceived', { payload })
    expect(seen).toEqual([{ payload }])
    expect(sent).toHaveLength(1)
    expect(await sent[0]?.json()).toEqual({
      type: 'WebhookReceived',
      timestamp: '1970-01-01T00:16:40.000Z',
      data: { payload },
    })
  })

  it('that nobody accepts is logged and not passed again', async () => {
    const { deliverer, clock, lines, sent } = delivererOf(
      {
        CircuitOpened: () => {
          throw new Error('broken')
        },
      },
      () => new Response(null, { status: 500 }),
    )
    await deliverer.pass('CircuitOpened', { gateway: 'bank', kind: 'charge' })
    expect(new Set(lines.map(({ event }) => event))).toEqual(
      new Set(['payments.listener.failed', 'payments.passing_event.failed']),
    )
    await clock.advance(DAY)
    expect(sent).toHaveLength(1)
  })

  it('has its own id', async () => {
    const { deliverer, sent } = delivererOf({}, ok)
    const timeout = { gateway: 'bank', endpoint: 'init', durationMs: 15_000 }
    await deliverer.pass('GatewayTimeout', timeout)
    await deliverer.pass('GatewayTimeout', timeout)
    const ids = sent.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(ids).size).toBe(2)
  })

  it('for a failed verification is passed 60 times a minute, and the rest is counted in one log line', async () => {
    const seen: unknown[] = []
    const { deliverer, clock, lines } = delivererOf({
      WebhookVerificationFailed: (payload) => seen.push(payload),
    })
    for (let i = 0; i < 1_000; i++) await deliverer.pass('WebhookVerificationFailed', failure)
    expect(seen).toHaveLength(60)
    await clock.advance(60_000)
    expect(lines).toEqual([
      {
        level: 'warn',
        event: 'payments.verification_failures_not_passed',
        fields: { count: 940 },
      },
    ])
    await deliverer.pass('WebhookVerificationFailed', failure)
    expect(seen).toHaveLength(61)
    expect(clock.pending).toBe(0)
  })

  it('of another kind is not limited', async () => {
    let seen = 0
    const { deliverer } = delivererOf({ CircuitOpened: () => seen++ })
    for (let i = 0; i < 100; i++)
      await deliverer.pass('CircuitOpened', { gateway: 'bank', kind: 'charge' })
    expect(seen).toBe(100)
  })
})

const HOUR = 3_600_000

it('shows the query of its endpoint nowhere, and still sends to it', async () => {
  const url = 'https://shop.example/events?key=s3cret'
  const asked: string[] = []
  const refused = (to: string) => {
    asked.push(to)
    return Promise.reject(new TypeError(`error sending request for (${to})`))
  }
  const { log, lines } = keptLog()
  const deliverer = createDeliverer({
    listeners: {},
    clock: new FakeClock(),
    log,
    endpoint: { ...endpoint, url },
    fetch: refused as typeof fetch,
  })
  const { endpointFor } = subscribersOf({}, { ...endpoint, url })
  expect(endpointFor('PaymentFailed')).toBe('https://shop.example/events')
  const delivery = { id: '01DEL', endpoint: 'https://shop.example/events', attempts: 0 }
  const dispatched = await deliverer.deliver([pendingEvent({ delivery })])
  expect(asked).toEqual([url])
  expect(dispatched[0]?.delivery?.error).toContain('(https://shop.example/events)')
  expect(JSON.stringify([dispatched, lines])).not.toContain('s3cret')
})

describe('a delivery', () => {
  const due = (own: { createdAt?: number; attempts?: number } = {}) =>
    pendingEvent({
      createdAt: own.createdAt ?? 0,
      delivery: { id: '01DEL', endpoint: endpoint.url, attempts: own.attempts ?? 0 },
    })
  const tryOnce = async (answer: Answer, own?: Parameters<typeof due>[0]) => {
    const { deliverer, clock, lines } = delivererOf({}, answer)
    const [dispatched] = await deliverer.deliver([due({ createdAt: clock.now(), ...own })])
    return { delivery: dispatched?.delivery, now: clock.now(), lines }
  }

  it('reports that the listeners were called, before the endpoint has answered', async () => {
    const order: string[] = []
    const listener = () => {
      order.push('listener')
    }
    const { deliverer, clock } = delivererOf({ PaymentSucceeded: listener }, never)
    const event = { ...due({ createdAt: clock.now() }), listeners: { attempts: 0 } }
    void deliverer.deliver([event], () => order.push('called'))
    await vi.waitFor(() => expect(order).toEqual(['listener', 'called']), PATIENT)
  })

  it.each([200, 201, 204, 299])('is delivered when the endpoint answers %i', async (status) => {
    const body = status === 204 ? null : 'thanks'
    const { delivery } = await tryOnce(() => new Response(body, { status }))
    expect(delivery).toEqual({ id: '01DEL', ok: true, status })
  })

  it.each([301, 302, 307, 400, 401, 404, 410, 429, 500, 503])(
    'is tried again when the endpoint answers %i',
    async (status) => {
      const { delivery, now } = await tryOnce(() => new Response(null, { status }))
      const error = `The endpoint answered ${status}.`
      expect(delivery).toEqual({
        id: '01DEL',
        ok: false,
        status,
        error,
        nextAttemptAt: now + 3_750,
      })
    },
  )

  it.each([
    ['60', 60_000],
    ['1', 3_750],
    ['99999999', 3_600_000],
    ['soon', 3_750],
  ])('is tried again after a Retry-After of %s, and an hour at most', async (value, waitMs) => {
    const headers = { 'Retry-After': value }
    const { delivery, now } = await tryOnce(() => new Response(null, { status: 503, headers }))
    expect(delivery?.nextAttemptAt).toBe(now + waitMs)
    expect(delivery).not.toHaveProperty('retryAfterMs')
  })

  it('is tried again when the endpoint cannot be reached, with the reason', async () => {
    const { delivery } = await tryOnce(() => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    })
    const error = 'TypeError: fetch failed: Error: connect ECONNREFUSED'
    expect(delivery).toMatchObject({ ok: false, error, nextAttemptAt: expect.any(Number) })
    expect(delivery).not.toHaveProperty('status')
  })

  it('is given up after 15 seconds without an answer', async () => {
    const { deliverer, clock, sent, signals } = delivererOf({}, never)
    const dispatching = deliverer.deliver([due({ createdAt: clock.now() })])
    await vi.waitFor(() => expect(sent).toHaveLength(1), PATIENT)
    await clock.advance(15_000)
    const error = 'DeadlineExceeded: No answer within 15 s.'
    expect(await dispatching).toMatchObject([{ delivery: { ok: false, error } }])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(clock.pending).toBe(0)
  })

  it('is tried again while no endpoint is configured', async () => {
    const [dispatched] = await delivererOf({}).deliverer.deliver([due()])
    expect(dispatched?.delivery).toMatchObject({ ok: false, error: 'No endpoint is configured.' })
  })

  it('is sent with the same id and body every time, and the time of each attempt', async () => {
    const { deliverer, clock, sent } = delivererOf({}, ok)
    await deliverer.deliver([due()])
    await clock.advance(60_000)
    await deliverer.deliver([due({ attempts: 1 })])
    const [first, second] = sent
    expect(second?.headers.get('webhook-id')).toBe('01OUT')
    expect(first?.headers.get('webhook-id')).toBe('01OUT')
    expect(first?.headers.get('webhook-timestamp')).toBe('1000')
    expect(second?.headers.get('webhook-timestamp')).toBe('1060')
    expect(await second?.text()).toBe(await first?.text())
  })

  /** Fails until the delivery is dead. Returns the times of all attempts, in ms since the first. */
  async function failUntilDead(ageMs: number): Promise<number[]> {
    const { deliverer, clock } = delivererOf({}, () => new Response(null, { status: 500 }))
    const createdAt = clock.now() - ageMs
    const start = clock.now()
    const times: number[] = []
    for (;;) {
      times.push(clock.now() - start)
      const [dispatched]: Dispatched[] = await deliverer.deliver([
        due({ createdAt, attempts: times.length - 1 }),
      ])
      const next = dispatched?.delivery?.nextAttemptAt
      if (next === undefined) return times
      await clock.advance(next - clock.now())
    }
  }

  it('is tried for a day, first after seconds, later every hour, and then is dead', async () => {
    const times = await failUntilDead(0)
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0))
    expect(waits.slice(0, 4)).toEqual([3_750, 7_500, 15_000, 30_000])
    expect(waits.at(-1)).toBe(0.75 * HOUR)
    expect(times.at(-1)).toBeGreaterThan(DAY - HOUR)
    expect(times.at(-1)).toBeLessThanOrEqual(DAY)
    expect(times.length).toBeGreaterThan(24)
  })

  it('is tried 12 times, for more than an hour, when it is sent again days later', async () => {
    const times = await failUntilDead(5 * DAY)
    expect(times).toHaveLength(12)
    expect(times.at(-1)).toBeGreaterThan(HOUR)
    expect(times.at(-1)).toBeLessThan(3 * HOUR)
  })

  it('does not wait for another one that hangs, nor for listeners', async () => {
    const accepted: string[] = []
    const answer: Answer = async (request) => {
      const { data } = (await request.clone().json()) as { data: { transaction: { id: string } } }
      if (data.transaction.id === 'hangs') return await never(request)
      accepted.push(data.transaction.id)
      return new Response(null)
    }
    const { deliverer, clock } = delivererOf(
      { PaymentSucceeded: () => new Promise(() => 0) },
      answer,
    )
    const event = (id: string) => ({
      ...due(),
      outboxId: id,
      payload: JSON.stringify({ transaction: transaction({ id }) }),
      listeners: { attempts: 0 },
    })
    const dispatching = deliverer.deliver([event('hangs'), event('arrives')])
    await vi.waitFor(() => expect(accepted).toEqual(['arrives']), PATIENT)
    await clock.advance(20_000)
    expect((await dispatching).map(({ delivery }) => delivery?.ok)).toEqual([false, true])
  })
})
