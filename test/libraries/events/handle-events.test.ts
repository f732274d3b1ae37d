import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createEventReceiver } from '../../../libraries/events/handle-events.ts'
import { type EventsConfigError, handleEvents } from '../../../libraries/events/index.ts'
import {
  answerOf,
  type Delivery,
  delivery,
  NOW,
  receiver,
  SECRET,
  secret,
} from './signed-deliveries.ts'

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

  it('of a refunded amount that changed has the sum before, and the revision', async () => {
    const got: unknown[] = []
    const { receive } = receiver({
      on: {
        RefundAmountChanged: ({ previousRefundedAmount, transaction }) => {
          got.push([previousRefundedAmount, transaction.refundRevision])
        },
      },
    })
    const data = { previousRefundedAmount: 5_000, transaction: { refundRevision: 2 } }
    const timestamp = new Date(NOW).toISOString()
    const body = JSON.stringify({ type: 'RefundAmountChanged', timestamp, data })
    expect((await receive(delivery({ body }))).status).toBe(204)
    expect(got).toEqual([[5_000, 2]])
  })

  it('is accepted with each of several secrets, in a list or separated by spaces', async () => {
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

  it('is accepted if one of its signatures is valid', async () => {
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

  it('with other bytes gets 401, even if they decode to the same text', async () => {
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

  it('over 256 KiB is refused before it is read to its end', async () => {
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

  it('whose body was read before is an error of the application, and is reported', async () => {
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

describe('wrong options', () => {
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

  it('without a secret name what to set, in one sentence', () => {
    for (const secrets of [undefined, '', [], 'undefined']) {
      expect(() => handleEvents({ secrets, on: {} })).toThrow(
        /^handleEvents needs its secrets: set PAYMENT_EVENTS_SECRET [^.]+ \S+local\.json\.$/,
      )
    }
  })

  it('are reported without the secret', () => {
    expect(() => handleEvents({ secrets: 'whsec_hunter2', on: {} })).toThrow(/^(?!.*hunter2)/)
  })
})

describe('an error', () => {
  it('of a handler is printed unless there is an onError, and an error of onError is printed, too', async () => {
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
