// Under Node's own server, with deliveries that the standard's own library signed.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, connect, type Server } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { handleEvents, toNodeHandler } from '../../../libraries/events/index.ts'
import { upload } from '../../support/http.ts'
import { transaction } from '../../support/payments.ts'

const SECRET = `whsec_${randomBytes(32).toString('base64')}`

const serve = (listener: RequestListener) => listen(createServer(listener))

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
}

/** By hand, since fetch sends no TRACE. */
async function statusOf(url: string, method: string): Promise<number> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write(`${method} /events HTTP/1.1\r\nHost: shop\r\n\r\n`)
  const [first] = await once(socket, 'data')
  return Number(String(first).split(' ')[1])
}

async function sendHttp2(url: string, headers: object, body = ''): Promise<unknown> {
  const session = connectHttp2(url)
  onTestFinished(() => session.destroy())
  const stream = session.request({ ':path': '/events', ...headers })
  // Without a body by its method, it has ended already.
  if (!stream.writableEnded) stream.end(body)
  const [answer] = await once(stream, 'response')
  return answer[':status']
}

function signed(more: object = {}) {
  const at = new Date()
  const data = { transaction: transaction({ status: 'Paid' }), ...more }
  const body = JSON.stringify({ type: 'PaymentSucceeded', timestamp: at.toISOString(), data })
  const headers = {
    'webhook-id': '01EVENT',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('01EVENT', at, body),
  }
  return { headers, body }
}

async function deliver(url: string, more: object = {}): Promise<unknown[]> {
  const { headers, body } = signed(more)
  const answer = await fetch(url, { method: 'POST', headers, body })
  const text = await answer.text()
  return [answer.status, text === '' ? undefined : JSON.parse(text).code]
}

const SIGNED = ['webhook-id: 01EVENT', 'webhook-timestamp: 1700000000']

describe('the endpoint under Node’s own server', () => {
  const receiver = (handled: string[], errors: unknown[] = []) =>
    handleEvents({
      secrets: SECRET,
      on: { PaymentSucceeded: (_, { id }) => handled.push(id) },
      onError: (error) => errors.push(error),
    })

  it('gets an event once, however often it is delivered', async () => {
    const handled: string[] = []
    const handle = toNodeHandler(receiver(handled))
    const url = await serve((request, response) => void handle(request, response))
    expect([await deliver(url), await deliver(url)]).toEqual([
      [204, undefined],
      [204, undefined],
    ])
    expect(handled).toEqual(['01EVENT'])
  })

  it('refuses what is no delivery: another method, no signature, more than 256 KiB', async () => {
    const handle = toNodeHandler(receiver([]))
    const url = await serve((request, response) => void handle(request, response))
    expect((await fetch(url)).status).toBe(405)
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
    expect(await deliver(url, { padding: 'x'.repeat(256 << 10) })).toEqual([
      413,
      'payload_too_large',
    ])
  })

  it.each([
    { connection: 'close', pauseMs: 0 },
    { connection: 'close', pauseMs: 5 },
    { connection: 'keep-alive', pauseMs: 5 },
  ])(
    'answers 413 to 20 senders that write 1 MiB before they read: %o',
    async ({ connection, pauseMs }) => {
      const handle = toNodeHandler(receiver([]))
      const url = await serve((request, response) => void handle(request, response))
      const how = { head: [`Connection: ${connection}`, ...SIGNED], pauseMs, pieces: 16 }
      const senders = Array.from({ length: 20 }, () => upload(url, how))
      expect(new Set(await Promise.all(senders))).toEqual(
        new Set(['HTTP/1.1 413 Payload Too Large']),
      )
    },
  )

  it('cuts off a sender that goes on, instead of reading it to its end', async () => {
    const handle = toNodeHandler(receiver([]))
    const url = await serve((request, response) => void handle(request, response))
    const head = ['Connection: close', ...SIGNED]
    const answer = await upload(url, { head, pauseMs: 0, pieces: 1_600 })
    expect(answer).toMatch(/EPIPE|ECONNRESET|closed/)
  })

  it('gets over a sender that leaves in the middle', async () => {
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const handle = toNodeHandler(receiver([]))
    const url = await serve((request, response) => {
      begun.resolve()
      handle(request, response).then(over.resolve, over.reject)
    })
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: shop\r\nContent-Length: 9\r\n\r\nabc')
    await begun.promise
    socket.destroy()
    await over.promise
  })

  it.each(['TRACE', 'TRACK', 'M-SEARCH', 'DELETE', 'HEAD', 'OPTIONS'])(
    'refuses a %s, and goes on',
    async (method) => {
      const handled: string[] = []
      const handle = toNodeHandler(receiver(handled))
      const url = await serve((request, response) => handle(request, response))
      expect(await statusOf(url, method)).toBe(method === 'TRACK' ? 400 : 405)
      expect(await deliver(url)).toEqual([204, undefined])
    },
  )

  it('answers over HTTP/2, whose headers hold the method, too', async () => {
    const handled: string[] = []
    const handle = toNodeHandler(receiver(handled))
    const url = await listen(createHttp2Server((request, response) => handle(request, response)))
    const { body, headers } = signed()
    expect(await sendHttp2(url, { ':method': 'POST', ...headers }, body)).toBe(204)
    expect(await sendHttp2(url, { ':method': 'TRACE' })).toBe(405)
    expect(await sendHttp2(url, { ':method': 'HEAD' })).toBe(405)
    expect(handled).toEqual(['01EVENT'])
  })

  it('answers 500 for a receiver that fails, and goes on', async () => {
    const handle = toNodeHandler(() => Promise.reject(new Error('A receiver failed.')))
    const log = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => log.mockRestore())
    const url = await serve((request, response) => handle(request, response))
    expect(await deliver(url)).toEqual([500, undefined])
    expect(log).toHaveBeenCalledWith('signalbox/events:', new Error('A receiver failed.'))
  })

  it('says so where a parser has read the body before it', async () => {
    const errors: unknown[] = []
    const handle = toNodeHandler(receiver([], errors))
    const parsed = async (request: IncomingMessage) => {
      for await (const _ of request);
    }
    const url = await serve(async (request, response) => {
      await parsed(request)
      await handle(request, response)
    })
    expect(await deliver(url)).toEqual([500, 'body_used'])
    expect(String(errors[0])).toContain('The body was read before')
  })
})
