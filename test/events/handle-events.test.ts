// Deliveries are signed by the standard's own library, not by our code.

import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { EventIds } from '../../events/event-ids.ts'
import { createEventReceiver, type HandleEventsOptions } from '../../events/handle-events.ts'
import { type EventsConfigError, handleEvents } from '../../events/index.ts'
import { EVENT_NAMES } from '../../worker/payments/domain/status.ts'
import { transaction } from '../support/payments.ts'

const secret = () => `whsec_${randomBytes(32).toString('base64')}`
const SECRET = secret()
const NOW = 1_800_000_000_000

interface Delivery {
  id?: string
  type?: string
  key?: string
  signedAt?: number
  body?: string
  headers?: Record<string, string>
}

function delivery(own: Delivery = {}): Request {
  const { id = '01EVENT', key = SECRET, signedAt = NOW, type = 'PaymentSucceeded' } = own
  const data = { transaction: transaction({ status: 'Paid' }) }
  const timestamp = new Date(NOW).toISOString()
  const { body = JSON.stringify({ type, timestamp, data }) } = own
  const signature = new Webhook(key).sign(id, new Date(signedAt), body)
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(signedAt / 1_000)),
    'webhook-signature': signature,
    ...own.headers,
  }
  return new Request('https://shop.test/events', { method: 'POST', headers, body })
}

function receiver(own: Partial<HandleEventsOptions> = {}) {
  const clock = { now: NOW }
  const handled: string[] = []
  const errors: unknown[] = []
  const options: HandleEventsOptions = {
    secrets: SECRET,
    on: { PaymentSucceeded: (_, { id }) => handled.push(id) },
    onError: (error) => errors.push(error),
    ...own,
  }
  return { clock, handled, errors, receive: createEventReceiver(options, () => clock.now) }
}

const answerOf = async (response: Response) => {
  const text = await response.text()
  return [response.status, text === '' ? undefined : JSON.parse(text).code]
}

describe('a delivery', () => {
  it('reaches the handler of its name, with the payload and the event', async () => {
    const got: unknown[] = []
    const { receive } = receiver({
      on: {
        PaymentSucceeded: ({ transaction }, { id, type, timestamp }) => {
          got.push([transaction.reference, id, type, timestamp])
        },
      },
    })
    expect(await answerOf(await receive(delivery()))).toEqual([204, undefined])
    expect(got).toEqual([['order-1', '01EVENT', 'PaymentSucceeded', new Date(NOW).toISOString()]])
  })

  it('is taken with each of several secrets, in a list or separated by spaces', async () => {
    const [old, next, other] = [secret(), secret(), secret()]
    for (const secrets of [`${next} ${old}`, [next, old]]) {
      const { receive } = receiver({ secrets })
      for (const [id, key] of Object.entries({ a: old, b: next })) {
        expect((await receive(delivery({ id, key }))).status).toBe(204)
      }
      expect(await answerOf(await receive(delivery({ key: other })))).toEqual([
        401,
        'invalid_signature',
      ])
    }
  })

  it('is taken when one of its signatures is ours, and the others are not', async () => {
    const { receive } = receiver()
    const { headers } = delivery()
    const many = `v1a,AAAA ${delivery({ key: secret() }).headers.get('webhook-signature')} ${headers.get('webhook-signature')}`
    const response = await receive(delivery({ headers: { 'webhook-signature': many } }))
    expect(response.status).toBe(204)
  })

  it.each<[string, Delivery]>([
    ['another secret', { key: secret() }],
    ['another id', { headers: { 'webhook-id': '01OTHER' } }],
    ['another time', { headers: { 'webhook-timestamp': String(NOW / 1_000 - 1) } }],
    ['no id', { headers: { 'webhook-id': '' } }],
    ['no time', { headers: { 'webhook-timestamp': '' } }],
    ['a time that is none', { headers: { 'webhook-timestamp': '1e9' } }],
    ['no signature', { headers: { 'webhook-signature': '' } }],
    ['half a signature', { headers: { 'webhook-signature': 'v1,AAAA' } }],
    ['a signature that is no base64', { headers: { 'webhook-signature': 'v1,****' } }],
  ])('with %s is 401 and handled by nobody', async (_, own) => {
    const { receive, handled } = receiver()
    expect(await answerOf(await receive(delivery(own)))).toEqual([401, 'invalid_signature'])
    expect(handled).toEqual([])
  })

  it('with another body is 401, also one that only decodes to the same text', async () => {
    const { receive } = receiver()
    const { headers } = delivery()
    const bytes = new TextEncoder().encode(await delivery().text())
    for (const body of ['{}', Buffer.concat([bytes, Buffer.of(0xff)])]) {
      const request = new Request('https://shop.test/', { method: 'POST', headers, body })
      expect((await receive(request)).status).toBe(401)
    }
    const bom = Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes])
    const request = new Request('https://shop.test/', { method: 'POST', headers, body: bom })
    expect((await receive(request)).status).toBe(401)
  })

  it('is refused when it is more than five minutes old, or ahead', async () => {
    const { receive, handled } = receiver()
    for (const away of [301_000, -301_000]) {
      const response = await receive(delivery({ signedAt: NOW + away }))
      expect(await answerOf(response)).toEqual([400, 'stale'])
    }
    expect(handled).toEqual([])
    for (const [id, away] of Object.entries({ a: 300_000, b: -300_000 })) {
      expect((await receive(delivery({ id, signedAt: NOW + away }))).status).toBe(204)
    }
  })

  it('over 256 KiB is refused before it was read to its end', async () => {
    const { receive } = receiver()
    let sent = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 64 << 10
        controller.enqueue(new Uint8Array(64 << 10))
      },
    })
    const { headers } = delivery()
    const init = { method: 'POST', headers, body, duplex: 'half' } as const
    const response = await receive(new Request('https://shop.test/', init as RequestInit))
    expect(await answerOf(response)).toEqual([413, 'payload_too_large'])
    expect(sent).toBeLessThan(1 << 20)
  })

  it.each(['no JSON', 'null', '[]', '{"type":1,"data":{}}', '{"type":"PaymentFailed"}'])(
    'that is signed and holds %s is 400',
    async (body) => {
      const { receive } = receiver()
      expect(await answerOf(await receive(delivery({ body })))).toEqual([400, 'invalid_body'])
    },
  )

  it('must be a POST', async () => {
    const response = await receiver().receive(new Request('https://shop.test/events'))
    expect(response.headers.get('Allow')).toBe('POST')
    expect(await answerOf(response)).toEqual([405, 'method_not_allowed'])
  })

  it('whose body somebody read before is our fault, and is told', async () => {
    const { receive, errors } = receiver()
    const request = delivery()
    await request.text()
    expect(await answerOf(await receive(request))).toEqual([500, 'body_used'])
    expect(String(errors[0])).toContain('The body was read before')
  })

  it('whose body breaks off is refused', async () => {
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error('the connection is gone'))
      },
    })
    const init = { method: 'POST', headers: delivery().headers, body, duplex: 'half' } as const
    const response = await receiver().receive(new Request('https://shop.test/', init))
    expect(await answerOf(response)).toEqual([400, 'invalid_body'])
  })
})

describe('an event', () => {
  it('is handled once, however often it is delivered', async () => {
    const { receive, handled } = receiver()
    for (let times = 0; times < 3; times++) {
      expect((await receive(delivery())).status).toBe(204)
    }
    await receive(delivery({ id: '02EVENT' }))
    expect(handled).toEqual(['01EVENT', '02EVENT'])
  })

  it('is handled by one of two deliveries at once, and the other comes again', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const handle = vi.fn(() => promise)
    const { receive } = receiver({ on: { PaymentSucceeded: handle } })
    const first = receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1))
    expect(await answerOf(await receive(delivery()))).toEqual([409, 'in_progress'])
    resolve()
    expect((await first).status).toBe(204)
    expect((await receive(delivery())).status).toBe(204)
    expect(handle).toHaveBeenCalledTimes(1)
  })

  it('whose handler fails is sent again and handled again', async () => {
    const handle = vi.fn().mockRejectedValueOnce(new Error('the database is away'))
    const { receive, errors } = receiver({ on: { PaymentSucceeded: handle } })
    expect(await answerOf(await receive(delivery()))).toEqual([500, 'handler_failed'])
    expect(errors).toEqual([new Error('the database is away')])
    expect((await receive(delivery())).status).toBe(204)
    expect((await receive(delivery())).status).toBe(204)
    expect(handle).toHaveBeenCalledTimes(2)
  })

  it('whose handler throws at once is the same', async () => {
    const { receive } = receiver({
      on: {
        PaymentSucceeded() {
          throw new Error('a defect')
        },
      },
    })
    expect((await receive(delivery())).status).toBe(500)
  })

  it('whose handler never ends is handled again a minute later, and not before', async () => {
    const handle = vi.fn(() => new Promise(() => undefined))
    const { receive, clock } = receiver({ on: { PaymentSucceeded: handle } })
    void receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1))
    clock.now += 59_999
    expect((await receive(delivery())).status).toBe(409)
    clock.now += 1
    void receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2))
  })

  it('whose handler failed after its claim was over does not take the next one’s', async () => {
    const first = Promise.withResolvers<void>()
    const second = Promise.withResolvers<void>()
    const handle = vi.fn().mockReturnValueOnce(first.promise).mockReturnValueOnce(second.promise)
    const { receive, clock } = receiver({ on: { PaymentSucceeded: handle } })
    const late = receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(1))
    clock.now += 60_000
    const next = receive(delivery())
    await vi.waitFor(() => expect(handle).toHaveBeenCalledTimes(2))
    first.reject(new Error('too late'))
    expect((await late).status).toBe(500)
    expect((await receive(delivery())).status).toBe(409)
    second.resolve()
    expect((await next).status).toBe(204)
  })

  it('without a handler is taken, and its id is not kept', async () => {
    const ids = { claim: vi.fn(), complete: vi.fn(), release: vi.fn() }
    const { receive } = receiver({ ids })
    expect((await receive(delivery({ type: 'PaymentFailed' }))).status).toBe(204)
    expect(ids.claim).not.toHaveBeenCalled()
  })

  it.each(['PaymentBlessed', 'constructor', '__proto__'])(
    'of a name like %s, which nobody knows, is taken and told to onUnknown',
    async (type) => {
      const unknown: string[] = []
      const { receive } = receiver({ onUnknown: (event) => unknown.push(event.type) })
      expect((await receive(delivery({ type }))).status).toBe(204)
      expect(unknown).toEqual([type])
      expect((await receiver().receive(delivery({ type }))).status).toBe(204)
    },
  )

  it('that nobody knows is taken also when onUnknown fails', async () => {
    const onUnknown = () => Promise.reject(new Error('no'))
    const { receive, errors } = receiver({ onUnknown })
    expect((await receive(delivery({ type: 'PaymentBlessed' }))).status).toBe(204)
    expect(errors).toEqual([new Error('no')])
  })

  it('of each of the ten names can have a handler', async () => {
    const handled: string[] = []
    const on = Object.fromEntries(
      EVENT_NAMES.map((name) => [
        name,
        (_: unknown, { type }: { type: string }) => handled.push(type),
      ]),
    )
    const { receive } = receiver({ on })
    for (const type of EVENT_NAMES) await receive(delivery({ id: type, type }))
    expect(handled).toEqual([...EVENT_NAMES])
  })
})

describe('a store of one’s own', () => {
  const storeOf = (own: Partial<EventIds>): EventIds => ({
    claim: () => 'new',
    complete: () => undefined,
    release: () => undefined,
    ...own,
  })

  it('that does not answer has the event sent again, and nothing is handled', async () => {
    const ids = storeOf({ claim: () => Promise.reject(new Error('away')) })
    const { receive, handled, errors } = receiver({ ids })
    expect(await answerOf(await receive(delivery()))).toEqual([503, 'ids_unavailable'])
    expect([handled, errors]).toEqual([[], [new Error('away')]])
  })

  it('that answers something else than it should is told, and nothing is handled', async () => {
    const { receive, handled, errors } = receiver({ ids: storeOf({ claim: () => true as never }) })
    expect(await answerOf(await receive(delivery()))).toEqual([503, 'ids_unavailable'])
    expect(handled).toEqual([])
    expect(String(errors[0])).toContain('ids.claim answered true')
  })

  it('that cannot complete an id does not have a handled event sent again', async () => {
    const ids = storeOf({ complete: () => Promise.reject(new Error('away')) })
    const { receive, handled, errors } = receiver({ ids })
    expect((await receive(delivery())).status).toBe(204)
    expect([handled, errors]).toEqual([['01EVENT'], [new Error('away')]])
  })

  it('that cannot release an id still has the failed event sent again', async () => {
    const ids = storeOf({ release: () => Promise.reject(new Error('away')) })
    const on = { PaymentSucceeded: () => Promise.reject(new Error('failed')) }
    const { receive, errors } = receiver({ ids, on })
    expect((await receive(delivery())).status).toBe(500)
    expect(errors).toEqual([new Error('failed'), new Error('away')])
  })
})

describe('what is wrong with the options', () => {
  const codeOf = (own: object): string | undefined => {
    try {
      handleEvents({ secrets: SECRET, on: {}, ...own })
      return undefined
    } catch (error) {
      return (error as EventsConfigError).code
    }
  }

  it.each([
    [{ secrets: undefined }, 'no_secret'],
    [{ secrets: '' }, 'no_secret'],
    [{ secrets: [] }, 'no_secret'],
    [{ secrets: 'hunter2' }, 'invalid_secret'],
    [{ secrets: [SECRET, 'whsec_c2hvcnQ='] }, 'invalid_secret'],
    [{ on: { PaymentSuceeded: () => undefined } }, 'unknown_event'],
    [{ on: { PaymentSucceeded: 'no' } }, 'invalid_handler'],
    [{ on: { PaymentSucceeded: undefined } }, undefined],
    [{ secrets: ` ${SECRET} \n` }, undefined],
  ])('is thrown at once, with a code', (own, code) => {
    expect(codeOf(own)).toBe(code)
  })

  it('is never told with the secret itself', () => {
    expect(() => handleEvents({ secrets: 'whsec_hunter2', on: {} })).toThrow(/^(?!.*hunter2)/)
  })
})

describe('an error', () => {
  it('of a handler is printed unless onError takes it, and one of onError is printed too', async () => {
    const printed = vi.spyOn(console, 'error').mockReturnValue(undefined)
    onTestFinished(() => printed.mockRestore())
    const on = { PaymentSucceeded: () => Promise.reject(new Error('a')) }
    const plain = createEventReceiver({ secrets: SECRET, on }, () => NOW)
    await plain(delivery())
    expect(printed.mock.calls[0]).toEqual([
      'signalbox/events:',
      'PaymentSucceeded 01EVENT:',
      new Error('a'),
    ])
    const onError = () => Promise.reject(new Error('b'))
    const failing = createEventReceiver({ secrets: SECRET, on, onError }, () => NOW)
    expect((await failing(delivery())).status).toBe(500)
    expect(printed.mock.calls[1]?.at(-1)).toEqual(new Error('b'))
  })
})
