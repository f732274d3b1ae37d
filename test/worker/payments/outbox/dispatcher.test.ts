import { describe, expect, it, vi } from 'vitest'
import type { Dispatched, Listeners } from '../../../../worker/payments/domain/events.ts'
import type { EventName } from '../../../../worker/payments/domain/status.ts'
import { createDispatcher } from '../../../../worker/payments/outbox/dispatcher.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import { PATIENT } from '../../../support/patience.ts'
import { keptLog, pendingEvent, request, transaction } from '../../../support/payments.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const endpoint = {
  url: 'https://shop.example/events',
  secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
}

type Answer = (request: Request) => Response | Promise<Response>

function dispatcherOf(listeners: Listeners, answer?: Answer, types?: ReadonlySet<EventName>) {
  const clock = new FakeClock()
  const { log, lines } = keptLog()
  const sent: Request[] = []
  const fetch = async (url: string, init: RequestInit) => {
    const request = new Request(url, init)
    sent.push(request.clone() as Request)
    return (await answer?.(request)) ?? new Response('taken')
  }
  const options = { listeners, clock, log, fetch: fetch as typeof globalThis.fetch }
  const dispatcher = createDispatcher({
    ...options,
    ...(answer && { endpoint: { ...endpoint, ...(types && { types }) } }),
  })
  return { dispatcher, clock, lines, sent }
}

const ok: Answer = () => new Response(null, { status: 204 })
const never: Answer = (request) =>
  new Promise((_resolve, reject) => {
    request.signal.addEventListener('abort', () => reject(request.signal.reason))
  })

describe('the subscribers', () => {
  it('are those who listen to an event, and the endpoint', () => {
    const { dispatcher } = dispatcherOf({ PaymentSucceeded: () => 1, PaymentFailed: [] }, ok)
    expect(dispatcher.subscribers.endpointFor('PaymentSucceeded')).toBe(endpoint.url)
    expect(dispatcher.subscribers.hasListeners('PaymentSucceeded')).toBe(true)
    expect(dispatcher.subscribers.hasListeners('PaymentFailed')).toBe(false)
    expect(dispatcher.subscribers.hasListeners('PaymentRefunded')).toBe(false)
  })

  it('are the endpoint only for the events that it wants', async () => {
    const types = new Set(['PaymentFailed', 'CircuitOpened'] as const)
    const { dispatcher, sent } = dispatcherOf({}, ok, types)
    const { subscribers, hasSubscribers } = dispatcher
    expect(subscribers.endpointFor('PaymentFailed')).toBe(endpoint.url)
    expect(subscribers.endpointFor('PaymentSucceeded')).toBeUndefined()
    expect([hasSubscribers('CircuitOpened'), hasSubscribers('GatewayTimeout')]).toEqual([
      true,
      false,
    ])
    await dispatcher.pass('CircuitOpened', { gateway: 'bank' })
    await dispatcher.pass('GatewayTimeout', { gateway: 'bank', endpoint: 'init', durationMs: 1 })
    expect(sent).toHaveLength(1)
  })

  it('have no endpoint where none is configured', () => {
    expect(dispatcherOf({}).dispatcher.subscribers.endpointFor('PaymentFailed')).toBeUndefined()
  })
})

describe('listeners in process', () => {
  it('are all called, though the first throws and the second rejects', async () => {
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
    const [told] = await dispatcher.dispatch([
      pendingEvent({ createdAt: clock.now(), listeners: { attempts: 0 } }),
    ])
    expect(called).toEqual(['01TX'])
    expect(told).toEqual({
      outboxId: '01OUT',
      listeners: { ok: false, nextAttemptAt: clock.now() + 3_750, error: 'Error: broken' },
    })
    const about = { transactionId: '01TX', correlationId: 'correlation-1' }
    expect(lines).toMatchObject([
      { level: 'warn', event: 'payments.listener.failed', fields: about },
      { level: 'warn', event: 'payments.listener.failed', fields: about },
    ])
  })

  it('have taken it when all of them settled', async () => {
    const { dispatcher } = dispatcherOf({ PaymentSucceeded: async () => 'done' })
    const told = await dispatcher.dispatch([pendingEvent({ listeners: { attempts: 3 } })])
    expect(told).toEqual([{ outboxId: '01OUT', listeners: { ok: true } }])
  })

  it('have taken it when nobody listens any more', async () => {
    const told = await dispatcherOf({}).dispatcher.dispatch([
      pendingEvent({ listeners: { attempts: 3 } }),
    ])
    expect(told).toEqual([{ outboxId: '01OUT', listeners: { ok: true } }])
  })

  it('are given up after 20 seconds when one never settles', async () => {
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

  it('cannot change what others are told', async () => {
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

  it('and the endpoint are told what the host application gave as it gave it', async () => {
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

describe('a delivery', () => {
  const due = (own: { createdAt?: number; attempts?: number } = {}) =>
    pendingEvent({
      createdAt: own.createdAt ?? 0,
      delivery: { id: '01DEL', endpoint: endpoint.url, attempts: own.attempts ?? 0 },
    })
  const tryOnce = async (answer: Answer, own?: Parameters<typeof due>[0]) => {
    const { dispatcher, clock, lines } = dispatcherOf({}, answer)
    const [told] = await dispatcher.dispatch([due({ createdAt: clock.now(), ...own })])
    return { delivery: told?.delivery, now: clock.now(), lines }
  }

  it.each([200, 201, 204, 299])('is done when the endpoint answers %i', async (status) => {
    const body = status === 204 ? null : 'thanks'
    const { delivery } = await tryOnce(() => new Response(body, { status }))
    expect(delivery).toEqual({ id: '01DEL', ok: true, status })
  })

  it.each([301, 302, 307, 400, 401, 404, 429, 500, 503])(
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

  it('is dead at once when the endpoint is gone', async () => {
    const { delivery, lines } = await tryOnce(() => new Response(null, { status: 410 }))
    expect(delivery).toEqual({
      id: '01DEL',
      ok: false,
      status: 410,
      error: 'The endpoint answered 410.',
    })
    expect(lines.at(-1)).toMatchObject({ level: 'error', event: 'payments.delivery.dead' })
  })

  it('is tried again when the endpoint cannot be reached, and says why', async () => {
    const { delivery } = await tryOnce(() => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    })
    const error = 'TypeError: fetch failed: Error: connect ECONNREFUSED'
    expect(delivery).toMatchObject({ ok: false, error, nextAttemptAt: expect.any(Number) })
    expect(delivery).not.toHaveProperty('status')
  })

  it('is given up after 15 seconds without an answer', async () => {
    const { dispatcher, clock, sent } = dispatcherOf({}, never)
    const dispatching = dispatcher.dispatch([due({ createdAt: clock.now() })])
    await vi.waitFor(() => expect(sent).toHaveLength(1), PATIENT)
    await clock.advance(15_000)
    const error = 'DeadlineExceeded: No answer within 15 s.'
    expect(await dispatching).toMatchObject([{ delivery: { ok: false, error } }])
    expect(sent[0]?.signal.aborted).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('is tried again while no endpoint is configured', async () => {
    const [told] = await dispatcherOf({}).dispatcher.dispatch([due()])
    expect(told?.delivery).toMatchObject({ ok: false, error: 'No endpoint is configured.' })
  })

  it('is told with the same id and body every time, and the time of each attempt', async () => {
    const { dispatcher, clock, sent } = dispatcherOf({}, ok)
    await dispatcher.dispatch([due()])
    await clock.advance(60_000)
    await dispatcher.dispatch([due({ attempts: 1 })])
    const [first, second] = sent
    expect(second?.headers.get('webhook-id')).toBe('01OUT')
    expect(first?.headers.get('webhook-id')).toBe('01OUT')
    expect(first?.headers.get('webhook-timestamp')).toBe('1000')
    expect(second?.headers.get('webhook-timestamp')).toBe('1060')
    expect(await second?.text()).toBe(await first?.text())
  })

  /** Fails until it is dead; answers when each attempt was, in ms since the first. */
  async function failUntilDead(ageMs: number): Promise<number[]> {
    const { dispatcher, clock } = dispatcherOf({}, () => new Response(null, { status: 500 }))
    const createdAt = clock.now() - ageMs
    const start = clock.now()
    const times: number[] = []
    for (;;) {
      times.push(clock.now() - start)
      const [told]: Dispatched[] = await dispatcher.dispatch([
        due({ createdAt, attempts: times.length - 1 }),
      ])
      const next = told?.delivery?.nextAttemptAt
      if (next === undefined) return times
      await clock.advance(next - clock.now())
    }
  }

  it('is tried for a day, at first after seconds, at last every hour, and then is dead', async () => {
    const times = await failUntilDead(0)
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0))
    expect(waits.slice(0, 4)).toEqual([3_750, 7_500, 15_000, 30_000])
    expect(waits.at(-1)).toBe(0.75 * HOUR)
    expect(times.at(-1)).toBeGreaterThan(DAY - HOUR)
    expect(times.at(-1)).toBeLessThanOrEqual(DAY)
    expect(times.length).toBeGreaterThan(24)
  })

  it('is tried for an hour or more, a dozen times, when it is sent again days later', async () => {
    const times = await failUntilDead(5 * DAY)
    expect(times).toHaveLength(12)
    expect(times.at(-1)).toBeGreaterThan(HOUR)
    expect(times.at(-1)).toBeLessThan(3 * HOUR)
  })

  it('of one event does not wait for another that hangs, nor for the listeners', async () => {
    const taken: string[] = []
    const answer: Answer = async (request) => {
      const { data } = (await request.clone().json()) as { data: { transaction: { id: string } } }
      if (data.transaction.id === 'hangs') return await never(request)
      taken.push(data.transaction.id)
      return new Response(null)
    }
    const { dispatcher, clock } = dispatcherOf(
      { PaymentSucceeded: () => new Promise(() => 0) },
      answer,
    )
    const event = (id: string) => ({
      ...due(),
      outboxId: id,
      payload: { transaction: transaction({ id }) },
      listeners: { attempts: 0 },
    })
    const dispatching = dispatcher.dispatch([event('hangs'), event('arrives')])
    await vi.waitFor(() => expect(taken).toEqual(['arrives']), PATIENT)
    await clock.advance(20_000)
    expect((await dispatching).map((told) => told.delivery?.ok)).toEqual([false, true])
  })
})

describe('a passing event', () => {
  const headers = { authorization: 'Bearer abc', accept: '*/*' }
  const failure = { gateway: 'bank', reason: 'signature', headers }

  it('is told to both, once', async () => {
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

  it('that nobody takes is logged and not told again', async () => {
    const { dispatcher, clock, lines, sent } = dispatcherOf(
      {
        CircuitOpened: () => {
          throw new Error('broken')
        },
      },
      () => new Response(null, { status: 500 }),
    )
    await dispatcher.pass('CircuitOpened', { gateway: 'bank' })
    expect(new Set(lines.map(({ event }) => event))).toEqual(
      new Set(['payments.listener.failed', 'payments.passing_event.failed']),
    )
    await clock.advance(DAY)
    expect(sent).toHaveLength(1)
  })

  it('has an id of its own', async () => {
    const { dispatcher, sent } = dispatcherOf({}, ok)
    const timeout = { gateway: 'bank', endpoint: 'init', durationMs: 15_000 }
    await dispatcher.pass('GatewayTimeout', timeout)
    await dispatcher.pass('GatewayTimeout', timeout)
    const ids = sent.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(ids).size).toBe(2)
  })

  it('of a failed verification is told 60 times a minute, and the rest in one line', async () => {
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

  it('of another kind is never held back', async () => {
    let seen = 0
    const { dispatcher } = dispatcherOf({ CircuitOpened: () => seen++ })
    for (let i = 0; i < 100; i++) await dispatcher.pass('CircuitOpened', { gateway: 'bank' })
    expect(seen).toBe(100)
  })
})
