import { describe, expect, it } from 'vitest'
import type { Middleware } from '../../../../worker/payments/facade.ts'
import {
  routePath,
  routePrefixOf,
  WEBHOOK_ROUTE_NAMES,
} from '../../../../worker/payments/webhooks/route-names.ts'
import { webhookRoutes, withCorrelationId } from '../../../../worker/payments/webhooks/routes.ts'
import { serveNode } from '../../../../worker/serve-node.ts'
import { processEdge } from '../../../support/in-process-edge.ts'
import { type PaymentsSetup, setUpPayments } from '../../../support/payments-setup.ts'

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
const BANK = '/payments/webhooks/bank'

const post = (setup: PaymentsSetup, path: string, body = '{}', id?: string) =>
  processEdge({ payments: setup.payments }).fetch(path, {
    method: 'POST',
    body,
    headers: id === undefined ? {} : { 'X-Correlation-Id': id },
  })
const idOf = (answer: Response) => answer.headers.get('X-Correlation-Id')

/** Payments with one more middleware and a driver that ignores every webhook. */
function setupWith(...middleware: Middleware[]): PaymentsSetup {
  const setup = setUpPayments({ middleware })
  setup.script.webhook = () => ({ ignored: 'nothing' })
  return setup
}

describe('the correlation id', () => {
  it.each([
    ['the caller’s own', 'mine-1234', /^mine-1234$/],
    ['a new one where there is none', undefined, ULID],
    ['a new one where it is malformed', 'bad id', ULID],
  ])('is there before the configured middlewares: %s', async (_, given, expected) => {
    const read: (string | null)[] = []
    const setup = setupWith(async (request, next) => {
      read.push(request.headers.get('X-Correlation-Id'))
      expect(await request.clone().text()).toBe('{"a":1}')
      return await next()
    })
    const bodies: string[] = []
    setup.script.webhook = (body) => {
      bodies.push(body)
      return { ignored: 'nothing' }
    }
    const answer = await post(setup, BANK, '{"a":1}', given)
    expect([answer.status, await answer.text()]).toEqual([200, 'ignored'])
    expect(idOf(answer)).toMatch(expected)
    expect(read).toEqual([idOf(answer)])
    // The driver verifies the request that the middleware passed on.
    expect(bodies).toEqual(['{"a":1}'])
    const lines = setup.lines.filter(({ event }) => event === 'payments.webhook.ignored')
    expect(lines).toMatchObject([{ fields: { correlationId: idOf(answer) } }])
  })

  it.each<[string, Middleware]>([
    ['answers itself', () => new Response('closed', { status: 418 })],
    [
      'returns a response that cannot be changed',
      () => Response.redirect('https://shop.example/', 302),
    ],
  ])('is in the answer of a middleware that %s', async (_, middleware) => {
    const answer = await post(setupWith(middleware), BANK, '{}', 'mine-1234')
    expect([302, 418]).toContain(answer.status)
    expect(idOf(answer)).toBe('mine-1234')
    // The middleware around it ran too.
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
  })

  it.each<[string, Middleware]>([
    ['throws', () => Promise.reject(new Error('broken'))],
    [
      'throws at once',
      () => {
        throw new Error('broken')
      },
    ],
    ['returns no response', (() => undefined) as unknown as Middleware],
  ])('is in the 500 for a middleware that %s', async (_, middleware) => {
    const logged: string[] = []
    const setup = setupWith(middleware)
    const log = (_level: string, event: string) => void logged.push(event)
    const answer = await processEdge({ payments: setup.payments, log }).fetch(BANK, {
      method: 'POST',
      body: '{}',
    })
    expect([answer.status, await answer.text()]).toEqual([500, 'error'])
    expect(idOf(answer)).toMatch(ULID)
    expect(logged).toContain('payments.webhook.crashed')
  })

  it('is in the answer to an unknown, too large, broken and forged webhook', async () => {
    for (const setup of [setUpPayments(), setupWith((_request, next) => next())]) {
      const huge = 'x'.repeat((256 << 10) + 1)
      for (const [path, body, status] of [
        ['/payments/webhooks/nope', '{}', 404],
        ['/payments/webhooks/nope/callback', '{}', 404],
        [BANK, huge, 413],
        [BANK, 'no JSON', 500],
      ] as const) {
        setup.script.webhook = JSON.parse
        const answer = await post(setup, path, body, 'mine-1234')
        expect([answer.status, idOf(answer)]).toEqual([status, 'mine-1234'])
        expect(answer.headers.get('Content-Type')).toMatch(/^text\/plain/)
      }
    }
  })
})

describe('a middleware that reads the body', () => {
  const reads: Record<string, Middleware> = {
    'before it goes on': async (request, next) => {
      expect(await request.text()).toBe('{"a":1}')
      return await next()
    },
    'and never looks at it': async (request, next) => {
      await request.body?.cancel()
      return await next()
    },
    'beside the driver': async (request, next) => {
      const [answer] = await Promise.all([next(), request.arrayBuffer()])
      return answer
    },
    'through a reader that it does not release': async (request, next) => {
      await request.body?.getReader().read()
      return await next()
    },
  }

  it.each(Object.entries(reads))('breaks no webhook: %s', async (_, middleware) => {
    const setup = setupWith(middleware, middleware)
    const bodies: string[] = []
    setup.script.webhook = (body) => {
      bodies.push(body)
      return { ignored: 'nothing' }
    }
    const answer = await post(setup, BANK, '{"a":1}')
    expect([answer.status, bodies]).toEqual([200, ['{"a":1}']])
  })

  it('finds none where the request is refused', async () => {
    const read: string[] = []
    const setup = setupWith(async (request, next) => {
      read.push(await request.text())
      return await next()
    })
    for (const [path, body, status] of [
      ['/payments/webhooks/nope', '{}', 404],
      [BANK, 'x'.repeat((256 << 10) + 1), 413],
      [BANK, 'x'.repeat(256 << 10), 200],
    ] as const) {
      expect((await post(setup, path, body)).status).toBe(status)
    }
    expect(read).toEqual(['', '', 'x'.repeat(256 << 10)])
  })
})

describe('the routes of webhooks', () => {
  it('exist by name, with any configured prefix', async () => {
    const setup = setUpPayments({ routePrefix: 'hooks/pay' })
    setup.script.webhook = () => ({ ignored: 'nothing' })
    expect(WEBHOOK_ROUTE_NAMES).toEqual(['payments.webhook', 'payments.webhook.callback'])
    for (const name of WEBHOOK_ROUTE_NAMES) {
      const path = setup.payments.route(name, 'bank')
      expect(path).toBe(routePath(name, 'hooks/pay', 'bank'))
      expect((await post(setup, path)).status).toBe(200)
    }
    expect((await post(setup, BANK)).status).toBe(404)
    expect(() => setup.payments.route('payments.webhook', 'nope')).toThrow('no gateway nope')
  })

  it.each([
    '/payments/webhooks/bank/',
    '//payments/webhooks/bank',
    '/payments//webhooks///bank//callback//',
  ])('are found with a slash too many: %s', async (path) => {
    const answer = await post(setupWith(), path)
    expect([answer.status, await answer.text()]).toEqual([200, 'ignored'])
  })

  it('do not take a path that only looks like theirs', async () => {
    for (const path of ['/payments/webhooks/', '//payments/webhooks', '/payments/webhooks/bank/x/'])
      expect((await post(setupWith(), path)).status).toBe(404)
  })

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])(
    'answer %s with what is allowed',
    async (method) => {
      const { fetch } = processEdge({ payments: setupWith().payments })
      const answer = await fetch(BANK, { method })
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST'])
      expect(idOf(answer)).toMatch(ULID)
      expect((await fetch('/payments/webhooks/nope', { method })).status).toBe(404)
    },
  )

  it.each([
    ['gzip', 415],
    ['br, gzip', 415],
    ['identity', 200],
    ['', 200],
  ])('take no body with the Content-Encoding “%s” but their own', async (coding, status) => {
    const { fetch } = processEdge({ payments: setupWith().payments })
    const answer = await fetch(BANK, {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Encoding': coding },
    })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('Accept-Encoding')).toBe(status === 415 ? 'identity' : null)
  })

  it('ask to send again in some seconds what cannot be stored now', async () => {
    const { clock, payments } = setUpPayments()
    const receive = async () => ({ status: 503, body: 'unavailable' }) as const
    const app = webhookRoutes({ config: payments.config, receive }, clock, () => undefined)
    const answer = await app.request(BANK, { method: 'POST', body: '{}' })
    const { status, headers } = answer
    expect([status, await answer.text(), headers.get('Retry-After')]).toEqual([
      503,
      'unavailable',
      '5',
    ])
  })

  it('are the callback URLs that gateways get', async () => {
    const setup = setUpPayments({ routePrefix: 'hooks/pay' })
    const request = { gateway: 'bank', reference: 'order-1', amount: 1, currency: 'IQD' }
    const origin = 'https://edge.test'
    await setup.payments.charge({ ...request, description: 'A lamp' }, { origin })
    expect(setup.charged[0]?.callbackUrl).toBe(
      `${origin}${setup.payments.route('payments.webhook', 'bank')}`,
    )
  })

  it.each([
    [{}, 'payments/webhooks'],
    [{ payments: { webhooks: { route_prefix: '/hooks/pay/' } } }, 'hooks/pay'],
  ])('stand below the prefix of %j', (file, prefix) => {
    expect(routePrefixOf(file)).toBe(prefix)
  })
})

describe('a body', () => {
  it.each([
    ['declares its length', { 'Content-Length': '9' }],
    ['does not', undefined],
  ])('has ten seconds, whether it %s', async (_, headers) => {
    const setup = setUpPayments()
    const { clock, payments } = setup
    const app = webhookRoutes(payments, clock, () => undefined)
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Uint8Array.of(1)) })
    const init = { method: 'POST', body, duplex: 'half' as const, ...(headers && { headers }) }
    const answering = Promise.resolve(app.request(BANK, init))
    const state = () => Promise.race([answering.then(({ status }) => status), 'waits'])
    await expect.poll(() => clock.pending).toBeGreaterThan(0)
    await clock.advance(9_999)
    expect(await state()).toBe('waits')
    await clock.advance(1)
    const answer = await answering
    expect([answer.status, await answer.text()]).toEqual([408, 'timeout'])
    expect(answer.headers.get('Connection')).toBe('close')
    expect(idOf(answer)).toMatch(ULID)
  })
})

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
