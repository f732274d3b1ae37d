import { afterEach, describe, expect, it } from 'vitest'
import { end } from '../../../../libraries/testing/fake-clock.ts'
import { token } from '../../../support/edge.ts'
import { processEdge } from '../../../support/in-process-edge.ts'
import { request } from '../../../support/payments.ts'
import { type PaymentsSetup, setUpPayments } from '../../../support/payments-setup.ts'

const order = request()

interface RoutesSetup {
  setup: PaymentsSetup
  call(method: string, path: string, body?: unknown, headers?: object): Promise<Response>
}

async function setUp(): Promise<RoutesSetup> {
  const setup = setUpPayments()
  const edge = processEdge({ payments: setup.payments })
  const scope = 'payments:read payments:write'
  const authorization = `Bearer ${await token({ repos: ['any'], scope })}`
  return {
    setup,
    call: (method, path, body, headers = {}) =>
      edge.fetch(`/api/payments${path}`, {
        method,
        headers: { authorization, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  }
}

const json = async (response: Response) => (await response.json()) as Record<string, unknown>

describe('payments over HTTP', () => {
  let current: RoutesSetup | undefined
  afterEach(() => current?.setup.quiet())

  it('honour an Idempotency-Key', async () => {
    current = await setUp()
    const { call, setup } = current
    const key = { 'Idempotency-Key': 'key-1' }
    const made = await call('POST', '/charges', order, key)
    expect([made.status, made.headers.get('Cache-Control')]).toEqual([201, 'no-store'])
    const first = await json(made)
    // The callback URL has the origin of this request.
    expect(setup.charged[0]?.callbackUrl).toBe('https://edge.test/payments/webhooks/bank')
    const again = await call('POST', '/charges', order, key)
    expect([again.status, await json(again)]).toEqual([200, first])
    const other = await call('POST', '/charges', { ...order, amount: 1 }, key)
    expect([other.status, await json(other)]).toMatchObject([
      409,
      { code: 'idempotency_conflict', error: expect.stringMatching(/ another amount\.$/) },
    ])
    const bad = await call('POST', '/charges', order, { 'Idempotency-Key': 'x'.repeat(256) })
    expect(bad.status).toBe(422)
  })

  it('take a body of 64 KiB, and none that is larger', async () => {
    current = await setUp()
    const { call } = current
    const body = JSON.stringify(order)
    expect((await call('POST', '/charges', body.padEnd((64 << 10) + 1))).status).toBe(413)
    expect((await call('POST', '/charges', body.padEnd(64 << 10))).status).toBe(201)
  })

  it('sweep at once for what is to be sent again', async () => {
    current = await setUp()
    const { setup } = current
    let swept = 0
    const edge = processEdge({ payments: { ...setup.payments, sweepLater: () => swept++ } })
    const authorization = `Bearer ${await token({ repos: ['any'], scope: 'payments:write' })}`
    const answer = await edge.fetch('/api/payments/failing-endpoints/send-all', {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ endpoint: 'https://shop.example/events' }),
    })
    expect([answer.status, swept]).toEqual([202, 1])
  })

  it('answer 409 already_paid to another key of a paid order, until it says repeat', async () => {
    current = await setUp()
    const { call, setup } = current
    const charge = (key: string, more = {}) =>
      call('POST', '/charges', { ...order, ...more }, { 'Idempotency-Key': key })
    const { transactionId } = (await json(await charge('january'))) as { transactionId: string }
    const [{ gatewayTransactionId = '' } = {}] = await setup.payments.queries.transactions(
      {},
      { limit: 1 },
    )
    await setup.webhook({ gatewayTransactionId })
    const refused = await charge('february')
    expect([refused.status, await json(refused)]).toEqual([
      409,
      { code: 'already_paid', error: expect.any(String), transactionId },
    ])
    await setup.clock.advance(1)
    const repeated = await charge('february', { repeat: true })
    expect(repeated.status).toBe(201)
    expect(await json(repeated)).not.toMatchObject({ transactionId })
    const unkeyed = await call('POST', '/charges', { ...order, repeat: true })
    expect([unkeyed.status, await json(unkeyed)]).toMatchObject([422, { code: 'invalid_argument' }])
  })

  it('answer 409 in_progress with the time until which it can be, after a crash', async () => {
    current = await setUp()
    const { call, setup } = current
    // Its result is never stored, as after a crash.
    setup.script.charge = () => new Promise(() => undefined)
    void call('POST', '/charges', order)
    await expect.poll(() => setup.charged.length).toBe(1)
    await setup.clock.advance(30_000)
    setup.script.charge = () => ({ ok: true, gatewayTransactionId: 'gateway-1' })
    const early = await end(setup.clock, call('POST', '/charges', order))
    expect([early.status, await json(early)]).toMatchObject([409, { code: 'in_progress' }])
    const seconds = Number(early.headers.get('Retry-After'))
    expect(seconds).toBe(25)
    await setup.clock.advance(seconds * 1_000)
    expect((await call('POST', '/charges', order)).status).toBe(201)
  })

  it('page through transactions, newest first, with filters', async () => {
    current = await setUp()
    const { call } = current
    for (const n of [1, 2, 3]) {
      await call('POST', '/charges', { ...order, reference: `order-${n}` })
      await current.setup.clock.advance(1)
    }
    const references = async (query: string) => {
      const page = (await json(await call('GET', `/transactions?${query}`))) as {
        transactions: { reference: string }[]
        cursor?: string
      }
      return { found: page.transactions.map(({ reference }) => reference), cursor: page.cursor }
    }
    const first = await references('limit=2')
    expect(first.found).toEqual(['order-3', 'order-2'])
    const second = await references(`limit=2&cursor=${first.cursor}`)
    expect(second).toEqual({ found: ['order-1'], cursor: undefined })
    expect((await references('reference=order-2')).found).toEqual(['order-2'])
    expect((await references('status=Paid')).found).toEqual([])
    expect((await call('GET', '/transactions?status=paid')).status).toBe(422)
    expect((await call('GET', '/transactions?limit=0')).status).toBe(422)
  })

  it('answer 404 for an unknown id', async () => {
    current = await setUp()
    const { call } = current
    for (const [method, path, code] of [
      ['GET', '/transactions/nope', 'unknown_transaction'],
      ['POST', '/alerts/nope/acknowledge', 'unknown_alert'],
      ['DELETE', '/alerts/nope/acknowledge', 'unknown_alert'],
      ['POST', '/deliveries/nope/redeliver', 'unknown_delivery'],
      ['GET', '/nope', 'not_found'],
    ] as const) {
      const response = await call(method, path)
      expect([response.status, await json(response)]).toMatchObject([404, { code }])
    }
  })

  it('take an acknowledgement with what was done at the gateway, and refuse any other field', async () => {
    current = await setUp()
    const { call } = current
    const acknowledge = (body: unknown) => call('POST', '/alerts/nope/acknowledge', body)
    expect((await acknowledge({ gatewayReference: 'bank-7' })).status).toBe(404)
    for (const wrong of [{ gatewayReference: 7 }, { gatewayReference: '' }, { by: 'x' }, 'x']) {
      const response = await acknowledge(wrong)
      const code = 'invalid_argument'
      expect([response.status, await json(response)]).toMatchObject([422, { code }])
    }
  })

  it('count the characters of a note as a person does, and refuse control characters', async () => {
    current = await setUp()
    const { call } = current
    const { transactionId } = await json(await call('POST', '/charges', order))
    const write = async (text: string) => {
      const response = await call('POST', `/transactions/${transactionId}/notes`, { text })
      return [response.status, (await json(response)).error]
    }
    expect(await write('😀'.repeat(2_000))).toEqual([201, undefined])
    expect(await write('One line.\r\n\tAnother.')).toEqual([201, undefined])
    const long = 'text must have 2000 characters at most.'
    expect(await write('😀'.repeat(2_001))).toEqual([422, long])
    expect(await write('')).toEqual([422, 'text must not be empty.'])
    expect(await write('\ud83d')).toEqual([422, 'text must be whole characters.'])
    for (const control of ['\0', '\x1b[2J', '\x7f']) {
      expect(await write(control)).toEqual([422, 'text must not hold control characters.'])
    }
  })

  it('answer 503 when none are configured, and the board still works', async () => {
    const edge = processEdge()
    const authorization = `Bearer ${await token({ repos: ['any'], scope: 'payments:read' })}`
    const response = await edge.fetch('/api/payments/alerts', { headers: { authorization } })
    expect([response.status, await json(response)]).toMatchObject([503, { code: 'not_configured' }])
    expect((await edge.fetch('/payments/webhooks/bank', { method: 'POST' })).status).toBe(404)
  })
})

describe('the host application in the same process', () => {
  it('asks as itself, or as whom it names', async () => {
    const setup = setUpPayments()
    const { payments } = setup
    const charge = (reference: string) =>
      payments.for(reference).driver('bank').amount(25_000, 'IQD')
    await charge('order-1').charge()
    const { gatewayTransactionId = '' } = await charge('order-2').by('ada').charge()
    await setup.webhook({ gatewayTransactionId })
    const refund = { transactionId: gatewayTransactionId, amount: 1, reason: 'Broken' }
    await payments.driver('bank').refund?.(refund, { by: 'bob' })
    await payments.driver('bank').refund?.(refund)
    const acts = await payments.queries.audit({}, { limit: 9 })
    expect(acts.map(({ action, subject }) => [action, subject])).toEqual([
      ['refund', 'in process'],
      ['refund', 'bob'],
      ['charge', 'ada'],
      ['charge', 'in process'],
    ])
  })

  it('gets requests for other paths, never below /api, and charges without HTTP', async () => {
    const { payments } = setUpPayments()
    const asked: string[] = []
    const edge = processEdge({
      payments,
      hostFetch: async (request, signalbox) => {
        const { pathname } = new URL(request.url)
        asked.push(pathname)
        if (pathname !== '/buy') return undefined
        const charge = signalbox.payments?.for('order-9').driver('bank').amount(25_000, 'IQD')
        return Response.redirect((await charge?.charge())?.redirectUrl ?? '', 303)
      },
    })
    const bought = await edge.fetch('/buy', { method: 'POST' })
    expect([bought.status, bought.headers.get('Location')]).toEqual([
      303,
      'https://bank.example/pay',
    ])
    expect((await edge.fetch('/elsewhere')).status).toBe(404)
    expect((await edge.fetch('/api/elsewhere')).status).toBe(401)
    expect(asked).toEqual(['/buy', '/elsewhere'])
  })
})
