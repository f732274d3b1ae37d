import { afterEach, describe, expect, it } from 'vitest'
import type { TestServer } from '../../support/http.ts'
import { diagnose, type FakeEdge, FIB, fakeEdge, REDIRECT, STRIPE } from './fake-system.ts'

const OWN = { ...REDIRECT, ...FIB, ...STRIPE }
/** Gateways that nobody asks for anything. */
const NOWHERE = 'http://127.0.0.1:1'
const ENV = {
  ...OWN,
  LIBSQL_URL: NOWHERE,
  REDIRECT_GATEWAY_BASE_URL: NOWHERE,
  FIB_BASE_URL: NOWHERE,
  STRIPE_BASE_URL: NOWHERE,
}

const open: TestServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const findings = async (edge: FakeEdge, more: Record<string, string> = {}): Promise<string[]> => {
  open.push(edge)
  const found = await diagnose(`--edge ${edge.url}`, { ...ENV, ...more })
  return found.findings.map((finding) => finding.replace(edge.url, 'URL'))
}

describe('the edge', () => {
  it('is fine when each route refuses unsigned webhooks and has our secrets', async () => {
    const edge = await fakeEdge(OWN)
    const found = await findings(edge)
    expect(found).toContain(
      'ok edge: URL answers; its payments were not read, since no token was given.',
    )
    for (const key of ['redirect', 'fib', 'stripe']) {
      expect(found).toContain(`ok ${key}: The edge knows it and refuses an unsigned webhook.`)
    }
    expect(found).toContain(
      'ok redirect: The edge verifies with the same REDIRECT_GATEWAY_API_KEY.',
    )
    expect(found).toContain('ok stripe: The edge verifies with the same STRIPE_WEBHOOK_SECRET.')
    // Not even a genuine one left anything behind.
    expect(await edge.queries.webhookEvents({}, { limit: 10 })).toEqual([])
  })

  it('knows both callbacks for the doctor’s: no alarm counts them, and none is an error in its log', async () => {
    const edge = await fakeEdge(OWN)
    await findings(edge)
    const counted = edge.lines.filter(({ event }) => event === 'payments.webhook.answered')
    const outcomes = counted.map(({ fields }) => `${fields.gateway} ${fields.outcome}`)
    const each = [
      'redirect probe',
      'fib probe',
      'stripe probe',
      'redirect ignored',
      'stripe ignored',
    ]
    expect(new Set(outcomes)).toEqual(new Set(each))
    expect(outcomes).toHaveLength(each.length)
    expect(edge.lines.filter(({ level }) => level === 'error')).toEqual([])
    expect(edge.events).toEqual([])
  })

  it('with other secrets is an error', async () => {
    const other = {
      REDIRECT_GATEWAY_API_KEY: 'another-api-key-of-the-merchant-32-bytes',
      STRIPE_WEBHOOK_SECRET: 'whsec_another-one-of-some-length',
    }
    const found = await findings(await fakeEdge({ ...OWN, ...other }))
    expect(found).toContain(
      'error redirect: The edge verifies with another REDIRECT_GATEWAY_API_KEY than this one.',
    )
    expect(found).toContain(
      'error stripe: The edge verifies with another STRIPE_WEBHOOK_SECRET than this one.',
    )
  })

  it('without a gateway’s variables is an error', async () => {
    const found = await findings(await fakeEdge({ ...REDIRECT, ...STRIPE }))
    expect(found).toContain(
      'error fib: The edge does not know it at /payments/webhooks/fib (404): ' +
        'its variables are not set there.',
    )
  })

  it('that accepts an unsigned webhook is an error', async () => {
    const careless = (request: Request) =>
      request.method === 'POST' ? new Response('ok') : undefined
    const found = await findings(await fakeEdge(OWN, careless))
    expect(found).toContain('error fib: The edge accepts an unsigned webhook (200 ok).')
  })

  it.each([
    [200, 'ok edge: URL answers and accepts the token.'],
    [401, 'error edge: URL refuses the token.'],
    [403, 'error edge: The token for URL lacks the scope payments:read.'],
    [404, 'error edge: URL has no payments: it is not Signalbox, or has no gateway configured.'],
    [503, 'error edge: URL answers 503 (not_configured).'],
  ])('that answers a token with %i is told', async (status, sentence) => {
    const api = (request: Request) =>
      request.headers.get('authorization') === 'Bearer a.reader.token'
        ? Response.json({ error: 'No.', code: 'not_configured' }, { status })
        : undefined
    const env = { SIGNALBOX_TOKEN: 'a.reader.token' }
    expect(await findings(await fakeEdge(OWN, api), env)).toContain(sentence)
  })

  it('that is not given is a warning, and one that does not answer is an error', async () => {
    expect((await diagnose('', ENV)).findings).toContain(
      'warn edge: Not checked: name one with --edge or --data.',
    )
    const edge = await fakeEdge(OWN)
    await edge.close()
    const { findings: found } = await diagnose(`--edge ${edge.url}`, ENV)
    expect(found).toContain(`error edge: ${edge.url} does not answer: ECONNREFUSED.`)
  })
})
