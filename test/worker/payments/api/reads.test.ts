import { beforeEach, describe, expect, it } from 'vitest'
import { InvalidWebhookSignatureException } from '../../../../worker/payments/domain/exceptions.ts'
import type {
  FailingEndpoint,
  GatewayHealth,
  VerifiedWebhook,
  WebhookRates,
} from '../../../../worker/payments/domain/types.ts'
import { LedgerUnavailable } from '../../../../worker/payments/ledger/failures.ts'
import { type Edge, SECRET, token } from '../../../support/edge.ts'
import { processEdge } from '../../../support/in-process-edge.ts'
import { request, verified } from '../../../support/payments.ts'
import { type PaymentsSetup, setUpPayments } from '../../../support/payments-setup.ts'

const ELSEWHERE = 'https://shop.example'

let setup: PaymentsSetup
let edge: Edge
let bearer: string
beforeEach(async () => {
  setup = setUpPayments()
  const env = { AUTH_SECRETS: SECRET, ALLOWED_ORIGINS: ELSEWHERE }
  edge = processEdge({ payments: setup.payments, clock: setup.clock, env })
  bearer = `Bearer ${await token({ repos: [], scope: 'payments:read' })}`
})

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  edge.fetch(`/api/payments${path}`, { headers: { Authorization: bearer, ...headers } })
const read = async <Body>(path: string): Promise<Body> => (await (await get(path)).json()) as Body

const charge = (reference = 'order-1') =>
  setup.payments.charge(request({ reference, description: 'A lamp' }), {})
const paid = (eventId: string, more: Partial<VerifiedWebhook> = {}) =>
  edge.fetch('/payments/webhooks/bank', {
    method: 'POST',
    body: JSON.stringify(
      verified({
        gatewayTransactionId: 'nobody',
        eventId,
        occurredAt: setup.clock.now(),
        ...more,
      }),
    ),
  })

describe('the gateways', () => {
  const health = async () => (await read<{ gateways: GatewayHealth[] }>('/gateways')).gateways

  it('are listed with their driver, capabilities and circuits', async () => {
    expect(await health()).toEqual([
      {
        key: 'bank',
        driver: 'redirect',
        supportsCancel: false,
        supportsStatusCheck: true,
        findsLostForS: expect.any(Number),
        breaker: {
          charge: { state: 'closed', failures: 0 },
          refund: { state: 'closed', failures: 0 },
          status: { state: 'closed', failures: 0 },
        },
        supportsRefund: true,
        refunds: 'partial',
        currencies: ['IQD'],
        isLocal: true,
      },
    ])
  })

  it('show a circuit that opened, and one that the next call may close', async () => {
    for (let call = 0; call < 5; call++) await setup.guard.report('bank', 'charge', 'failure')
    const openUntil = new Date(setup.clock.now() + 30_000).toISOString()
    const [open] = await health()
    const closed = { state: 'closed', failures: 0 }
    const charge = { state: 'open', failures: 5, openUntil }
    expect(open?.breaker).toEqual({ charge, refund: closed, status: closed })
    await setup.clock.advance(30_000)
    expect((await health())[0]?.breaker.charge).toEqual({ state: 'probing', failures: 5 })
  })

  it('show if their configuration cannot refund, and if they take any currency', async () => {
    const refundProblem = () => 'The scope is missing.'
    setup = setUpPayments({ gateway: { refundProblem, currencies: 'any' } })
    edge = processEdge({ payments: setup.payments })
    const [gateway] = await health()
    expect(gateway).toMatchObject({ supportsRefund: false })
    expect(gateway).not.toHaveProperty('refunds')
    expect(gateway).not.toHaveProperty('currencies')
  })

  it('are 503 while the ledger is unavailable', async () => {
    setup.guard.health = () => Promise.reject(new LedgerUnavailable('gone'))
    const response = await get('/gateways')
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { code: 'ledger_unavailable' },
    ])
  })
})

describe('the rate of webhooks', () => {
  it('is given for whole minutes, including the current one', async () => {
    // 16 minutes and 40 seconds since 1970.
    await paid('event-1')
    await setup.clock.advance(20_000)
    await paid('event-2')
    await paid('event-3')
    expect(await read<WebhookRates>('/webhook-rates?minutes=2')).toEqual({
      from: '1970-01-01T00:16:00.000Z',
      to: '1970-01-01T00:18:00.000Z',
      refused: [],
      refusedSince: '1970-01-01T00:16:40.000Z',
      minutes: [
        { at: '1970-01-01T00:16:00.000Z', outcomes: { parked: 1 } },
        { at: '1970-01-01T00:17:00.000Z', outcomes: { parked: 2 } },
      ],
    })
    const { minutes } = await read<WebhookRates>('/webhook-rates?minutes=1')
    expect(minutes).toEqual([{ at: '1970-01-01T00:17:00.000Z', outcomes: { parked: 2 } }])
  })

  it('has those that were refused, sixty of a minute at once and the others later', async () => {
    setup.script.webhook = () => Promise.reject(new InvalidWebhookSignatureException('Forged.'))
    for (let sent = 0; sent < 100; sent++) await setup.webhook()
    await setup.quiet()
    const refused = async () =>
      (await read<WebhookRates>('/webhook-rates?minutes=2')).refused.map(({ count }) => count)
    expect(await refused()).toEqual([60])
    await setup.clock.advance(60_000)
    await setup.webhook()
    await setup.quiet()
    expect(await refused()).toEqual([100, 1])
  })

  it('has old events and unreadable ones beside what was stored', async () => {
    await paid('event-1')
    await paid('event-2', { occurredAt: setup.clock.now() - 301_000 })
    setup.script.webhook = () => Promise.reject(new Error('It has changed.'))
    await paid('event-3')
    await setup.quiet()
    const at = '1970-01-01T00:16:00.000Z'
    expect(await read<WebhookRates>('/webhook-rates?minutes=1')).toMatchObject({
      minutes: [{ at, outcomes: { parked: 1 } }],
      refused: [
        { at, gateway: 'bank', reason: 'stale', count: 1 },
        { at, gateway: 'bank', reason: 'error', count: 1 },
      ],
    })
  })

  it('covers an hour by default and a day at most', async () => {
    const spanOf = async (query: string) => {
      const { from, to } = await read<WebhookRates>(`/webhook-rates${query}`)
      return (Date.parse(to) - Date.parse(from)) / 60_000
    }
    expect(await spanOf('')).toBe(60)
    expect(await spanOf('?minutes=1440')).toBe(1_440)
  })

  it.each(['0', '1441', '1.5', 'x', '-1'])('of %s minutes is refused', async (minutes) => {
    const response = await get(`/webhook-rates?minutes=${minutes}`)
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { code: 'invalid_argument' },
    ])
  })
})

describe('the endpoints that fail', () => {
  it('are those that did not accept an event twice, until they do', async () => {
    const answer = { status: 500 }
    setup = setUpPayments({
      endpoint: {
        url: 'https://shop.example/events?key=1',
        secrets: [`whsec_${btoa('x'.repeat(32))}`],
      },
      fetch: async () => new Response(null, answer),
    })
    edge = processEdge({ payments: setup.payments })
    const failing = () => read<{ endpoints: FailingEndpoint[] }>('/failing-endpoints')
    const since = new Date(setup.clock.now()).toISOString()
    await charge()
    await setup.quiet()
    expect(await failing()).toEqual({ endpoints: [] })
    await setup.clock.advance(10_000)
    await setup.quiet()
    expect(await failing()).toEqual({
      endpoints: [
        {
          endpoint: 'https://shop.example/events',
          events: 1,
          since,
          lastStatus: 500,
          lastError: 'The endpoint answered 500.',
          nextAttemptAt: expect.stringMatching(/^1970-01-01T00:1[67]:/),
        },
      ],
    })
    answer.status = 204
    await setup.clock.advance(60_000)
    await setup.quiet()
    expect(await failing()).toEqual({ endpoints: [] })
  })
})

describe('a search', () => {
  const found = async (query: string) =>
    (await read<{ transactions: { reference: string }[] }>(`/transactions?${query}`)).transactions

  it('finds payments by a part of what they are named, and all with an empty text', async () => {
    const { transactionId } = await charge('order-1')
    await setup.clock.advance(1)
    await charge('other-2')
    expect(await found('q=ord')).toMatchObject([{ reference: 'order-1' }])
    expect(await found(`q=${transactionId}`)).toMatchObject([{ reference: 'order-1' }])
    expect(await found('q=o')).toHaveLength(2)
    expect(await found('q=o&limit=1')).toMatchObject([{ reference: 'other-2' }])
    expect(await found('q=')).toHaveLength(2)
    expect(await found('q=rd')).toEqual([])
  })

  it('is by amount, currency and time, too', async () => {
    await charge('order-1')
    expect(
      await found('amount=25000&currency=IQD&after=1970-01-01&before=2030-01-01'),
    ).toHaveLength(1)
    expect(await found('amount=25001')).toEqual([])
    expect(await found('by=paid&after=1970-01-01')).toEqual([])
  })

  it('answers all that match as one text, with the same filters', async () => {
    for (let n = 0; n < 3; n++) {
      await charge(`order-${n}`)
      await setup.clock.advance(1)
    }
    const lines = async (query: string) => (await (await get(query)).text()).trimEnd().split('\n')
    const csv = await lines('/transactions?q=order&format=csv&limit=1')
    expect(csv).toHaveLength(4)
    expect(csv[0]).toMatch(/^id,createdAt,status,gateway,reference/)
    expect(csv[1]).toMatch(/"Pending","bank","order-2",/)
    const rows = await lines('/transactions?q=order-1&format=jsonl')
    expect(rows.map((line) => JSON.parse(line).reference)).toEqual(['order-1'])
  })

  it.each([
    `q=${'x'.repeat(256)}`,
    'amount=12.50',
    'amount=-1',
    'amount=9999999999999999',
    'currency=iqd',
    'after=yesterday',
    'by=seen',
    'format=xml',
  ])('for %s is refused', async (query) => {
    expect((await get(`/transactions?${query}`)).status).toBe(422)
  })
})

describe('a repeated request', () => {
  it.each(['/transactions', '/webhook-events', '/alerts', '/gateways', '/webhook-rates'])(
    'for %s gets 304 when nothing has changed, and otherwise the new state',
    async (path) => {
      const first = await get(path)
      const tag = first.headers.get('ETag') ?? ''
      expect(tag).toMatch(/^W\/"[0-9a-f]{40}"$/)
      expect(first.headers.get('Cache-Control')).toBe('private, no-cache')

      const same = await get(path, { 'If-None-Match': tag })
      expect([same.status, await same.text()]).toEqual([304, ''])
      expect(same.headers.get('ETag')).toBe(tag)
      expect(same.headers.get('Cache-Control')).toBe('private, no-cache')

      const { gatewayTransactionId = '' } = await charge()
      await paid('event-1', { gatewayTransactionId, amount: 1 })
      await setup.guard.report('bank', 'charge', 'failure')
      const other = await get(path, { 'If-None-Match': tag })
      expect(other.status).toBe(200)
      expect(other.headers.get('ETag')).not.toBe(tag)
    },
  )

  it('for one payment gets 304 too, until the payment changes', async () => {
    const { transactionId, gatewayTransactionId = '' } = await charge()
    const path = `/transactions/${transactionId}`
    await setup.quiet()
    const tag = (await get(path)).headers.get('ETag') ?? ''
    expect((await get(path, { 'If-None-Match': `"other", ${tag}` })).status).toBe(304)
    await paid('event-1', { gatewayTransactionId })
    expect((await get(path, { 'If-None-Match': tag })).status).toBe(200)
  })

  it('from a page of another origin can read the ETag and the 304', async () => {
    const first = await get('/alerts', { Origin: ELSEWHERE })
    expect(first.headers.get('Access-Control-Expose-Headers')).toContain('ETag')
    const tag = first.headers.get('ETag') ?? ''
    const same = await get('/alerts', { Origin: ELSEWHERE, 'If-None-Match': tag })
    expect(same.status).toBe(304)
    expect(same.headers.get('Access-Control-Allow-Origin')).toBe(ELSEWHERE)
    expect(same.headers.get('Access-Control-Allow-Credentials')).toBe('true')
    expect(same.headers.get('Vary')).toContain('Origin')
    expect(same.headers.get('X-Correlation-Id')).toMatch(/^[0-9A-Z]{26}$/)
  })

  it('for an unknown id, or without the scope, gets no ETag and is not cached', async () => {
    const none = await get('/transactions/nope')
    const refused = await edge.fetch('/api/payments/alerts')
    const nowhere = await get('/nope')
    for (const response of [none, refused, nowhere]) {
      expect(response.headers.get('ETag')).toBeNull()
      expect(response.headers.get('Cache-Control')).toBe('no-store')
    }
  })
})
