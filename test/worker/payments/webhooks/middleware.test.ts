import { expect, it } from 'vitest'
import {
  correlationIdOf,
  withCorrelationId,
} from '../../../../worker/payments/webhooks/middleware.ts'
import { serveNode } from '../../../../worker/serve-node.ts'

it.each(['12345678', 'A_b-C_d-9', 'x'.repeat(64)])('keeps the caller’s own id %s', (id) => {
  expect(correlationIdOf(id, 1)).toBe(id)
})

it.each([undefined, null, '', 'seven77', 'x'.repeat(65), 'has space', 'line\nbreak-1'])(
  'generates a ULID instead of %j',
  (id) => {
    expect(correlationIdOf(id, 1_700_000_000_000)).toMatch(/^01HF7YAT00[0-9A-HJKMNP-TV-Z]{16}$/)
  },
)

it.each(['mine-1234', 'bad id'])(
  'a middleware can copy a request with the id %s under Node',
  async (id) => {
    const handle = async (given: Request) => {
      const carried = withCorrelationId(given, 'mine-1234')
      const copy = new Request(carried, { headers: { 'X-Mine': 'yes' } })
      return Response.json([
        carried.headers.get('X-Correlation-Id'),
        copy.method,
        await copy.text(),
      ])
    }
    const server = await serveNode(handle, { hostname: '127.0.0.1', port: 0, silenceMs: 60_000 })
    const headers = { 'X-Correlation-Id': id }
    const answer = await fetch(server.url, { method: 'POST', headers, body: '{"a":1}' })
    expect(await answer.json()).toEqual(['mine-1234', 'POST', '{"a":1}'])
    await server.close(0)
  },
)
