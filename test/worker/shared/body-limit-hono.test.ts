// The limit for bodies: with a declared length, and without one.

import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { serveNode } from '../../../worker/serve-node.ts'
import { bodyLimit, readJson } from '../../../worker/shared/body-limit-hono.ts'
import { Problem, problemResponse } from '../../../worker/shared/problem.ts'

const app = new Hono()
app.post('/', bodyLimit(10, 'Ten bytes.'), async (c) => c.text(await c.req.text()))

/** A stream has no length, unless `headers` declare one. */
const post = (body: string, headers: Record<string, string> = {}) =>
  app.request('/', {
    method: 'POST',
    headers,
    body: new Blob([body]).stream(),
    duplex: 'half',
  } as RequestInit)

const declared = (body: string) => ({ 'Content-Length': String(body.length) })

app.post('/json', async (c) => c.json({ read: (await readJson(c)) !== undefined }))
app.onError((error) => (error instanceof Problem ? problemResponse(error) : new Response('no')))

describe('a body of JSON', () => {
  const nested = (depth: number, open: string, close: string) =>
    app.request('/json', { method: 'POST', body: open.repeat(depth) + close.repeat(depth) })

  it.each([
    ['[', ']'],
    ['{"a":[', ']}'],
  ])('may be nested 64 levels deep, and no deeper (%s)', async (open, close) => {
    const levels = open.length === 1 ? 1 : 2
    expect((await nested(64 / levels, open, close)).status).toBe(200)
    const refused = await nested(64 / levels + 1, open, close)
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'invalid_request' }])
    expect((await nested(100_000, open, close)).status).toBe(400)
  })
})

describe('a body', () => {
  it('that is short enough arrives, whether its length is declared or not', async () => {
    const short = 'ten chars.'
    for (const response of [await post(short), await post(short, declared(short))]) {
      expect([response.status, await response.text()]).toEqual([200, short])
    }
  })

  it('that is too long is refused, whether its length is declared or not', async () => {
    const long = 'eleven char'
    expect((await post(long)).status).toBe(413)
    expect((await post(long, declared(long))).status).toBe(413)
  })

  it('is counted where it comes in chunks, whatever length is declared', async () => {
    const headers = { 'Content-Length': '1', 'Transfer-Encoding': 'chunked' }
    expect((await post('eleven char', headers)).status).toBe(413)
  })

  it('is not looked at where its length is declared', async () => {
    const request = new Request('http://edge/', {
      method: 'POST',
      body: 'short',
      headers: declared('short'),
    })
    Object.defineProperty(request, 'body', {
      get: () => expect.unreachable('a stream was made of it'),
    })
    expect((await app.request(request)).status).toBe(200)
  })

  it('without a declared length is counted under Node, too', async () => {
    const server = await serveNode((request) => app.fetch(request), {
      hostname: '127.0.0.1',
      port: 0,
      silenceMs: 60_000,
    })
    const send = async (body: string) => {
      const stream = new Blob([body]).stream()
      const init = { method: 'POST', body: stream, duplex: 'half' }
      const response = await fetch(server.url, init as RequestInit)
      return [response.status, await response.text()]
    }
    expect(await send('ten chars.')).toEqual([200, 'ten chars.'])
    expect(await send('eleven char')).toEqual([
      413,
      '{"error":"Ten bytes.","code":"payload_too_large"}',
    ])
    expect((await fetch(server.url, { method: 'POST' })).status).toBe(200)
    await server.close(0)
  })
})
