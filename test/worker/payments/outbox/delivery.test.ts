// Deliveries to the endpoint: their attempts, results and limits.

import { describe, expect, it, vi } from 'vitest'
import type { Dispatched } from '../../../../worker/payments/domain/events.ts'
import { createDispatcher } from '../../../../worker/payments/outbox/dispatcher.ts'
import { FakeClock } from '../../../support/fake-clock.ts'
import { PATIENT } from '../../../support/patience.ts'
import { keptLog, pendingEvent, transaction } from '../../../support/payments.ts'
import { type Answer, dispatcherOf, endpoint, never, ok } from './dispatcher-bed.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

it('shows the query of its endpoint nowhere, and still sends to it', async () => {
  const url = 'https://shop.example/events?key=s3cret'
  const asked: string[] = []
  const refused = (to: string) => {
    asked.push(to)
    return Promise.reject(new TypeError(`error sending request for (${to})`))
  }
  const { log, lines } = keptLog()
  const dispatcher = createDispatcher({
    ...{ listeners: {}, clock: new FakeClock(), log, endpoint: { ...endpoint, url } },
    fetch: refused as typeof fetch,
  })
  expect(dispatcher.subscribers.endpointFor('PaymentFailed')).toBe('https://shop.example/events')
  const delivery = { id: '01DEL', endpoint: 'https://shop.example/events', attempts: 0 }
  const dispatched = await dispatcher.dispatch([pendingEvent({ delivery })])
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
    const { dispatcher, clock, lines } = dispatcherOf({}, answer)
    const [dispatched] = await dispatcher.dispatch([due({ createdAt: clock.now(), ...own })])
    return { delivery: dispatched?.delivery, now: clock.now(), lines }
  }

  it.each([200, 201, 204, 299])('is delivered when the endpoint answers %i', async (status) => {
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

  it('is dead at once when the endpoint answers 410 Gone', async () => {
    const { delivery, lines } = await tryOnce(() => new Response(null, { status: 410 }))
    expect(delivery).toEqual({
      id: '01DEL',
      ok: false,
      status: 410,
      error: 'The endpoint answered 410.',
    })
    expect(lines.at(-1)).toMatchObject({ level: 'error', event: 'payments.delivery.dead' })
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
    const { dispatcher, clock, sent, signals } = dispatcherOf({}, never)
    const dispatching = dispatcher.dispatch([due({ createdAt: clock.now() })])
    await vi.waitFor(() => expect(sent).toHaveLength(1), PATIENT)
    await clock.advance(15_000)
    const error = 'DeadlineExceeded: No answer within 15 s.'
    expect(await dispatching).toMatchObject([{ delivery: { ok: false, error } }])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(clock.pending).toBe(0)
  })

  it('is tried again while no endpoint is configured', async () => {
    const [dispatched] = await dispatcherOf({}).dispatcher.dispatch([due()])
    expect(dispatched?.delivery).toMatchObject({ ok: false, error: 'No endpoint is configured.' })
  })

  it('is sent with the same id and body every time, and the time of each attempt', async () => {
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

  /** Fails until the delivery is dead. Returns the times of all attempts, in ms since the first. */
  async function failUntilDead(ageMs: number): Promise<number[]> {
    const { dispatcher, clock } = dispatcherOf({}, () => new Response(null, { status: 500 }))
    const createdAt = clock.now() - ageMs
    const start = clock.now()
    const times: number[] = []
    for (;;) {
      times.push(clock.now() - start)
      const [dispatched]: Dispatched[] = await dispatcher.dispatch([
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
    await vi.waitFor(() => expect(accepted).toEqual(['arrives']), PATIENT)
    await clock.advance(20_000)
    expect((await dispatching).map(({ delivery }) => delivery?.ok)).toEqual([false, true])
  })
})
