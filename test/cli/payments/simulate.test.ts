import { afterEach, describe, expect, it } from 'vitest'
import { type FakeEdge, FIB, fakeEdge, REDIRECT, run, STRIPE } from './fake-system.ts'

const OWN = { ...REDIRECT, ...FIB, ...STRIPE }
const PAYMENT = '--reference order-1 --amount 25000 --currency IQD'
const USD = '--reference order-1 --amount 1250 --currency USD'

let edge: FakeEdge | undefined

afterEach(async () => {
  await edge?.close()
  edge = undefined
})

const received = async (at: FakeEdge) => await at.queries.webhookEvents({}, { limit: 200 })

describe('payments simulate', () => {
  it.each([
    ['Paid', 'Paid'],
    ['Failed', 'Failed'],
    ['Expired', 'Expired'],
    ['Refunded', 'Refunded'],
  ])('is verified and read as %s by the edge that knows the API key', async (word, status) => {
    edge = await fakeEdge(OWN)
    const names = `--status ${word} --transaction tx-9 --event-id e-9`
    const argv = `payments simulate redirect --edge ${edge.url} ${PAYMENT} ${names}`
    expect(await run(argv, OWN)).toEqual({ code: 0, out: '200 ok\n', err: '' })
    expect(await received(edge)).toMatchObject([
      {
        gateway: 'redirect',
        eventId: 'e-9',
        gatewayTransactionId: 'tx-9',
        reference: 'order-1',
        toStatus: status,
        amount: 25_000,
        currency: 'IQD',
      },
    ])
  })

  it.each(['Paid', 'Failed', 'Expired'])(
    'sends %s as an event of Stripe that the edge reads as such',
    async (status) => {
      edge = await fakeEdge(OWN)
      const names = `--status ${status} --transaction cs_1 --event-id evt_1`
      const argv = `payments simulate stripe --edge ${edge.url} ${USD} ${names}`
      expect(await run(argv, OWN)).toEqual({ code: 0, out: '200 ok\n', err: '' })
      const event = { toStatus: status, amount: 1_250, currency: 'USD', reference: 'order-1' }
      const named = { eventId: 'evt_1', gatewayTransactionId: 'cs_1' }
      expect(await received(edge)).toMatchObject([{ ...event, ...named }])
    },
  )

  it('sends Refunded as an event of Stripe, whose refunds the edge cannot read then', async () => {
    edge = await fakeEdge(OWN)
    const names = '--status Refunded --transaction cs_1 --event-id evt_1'
    const argv = `payments simulate stripe --edge ${edge.url} ${USD} ${names}`
    expect(await run(argv, OWN)).toMatchObject({ code: 1, out: '500 error\n' })
  })

  it('sends one event fifty times at once, which is applied once', async () => {
    edge = await fakeEdge(OWN)
    const argv = `payments simulate redirect --edge ${edge.url} ${PAYMENT} --times 50`
    const { code, out } = await run(argv, OWN)
    const lines = out.trim().split('\n')
    expect([code, lines.length]).toEqual([0, 50])
    expect(lines.filter((line) => line === '200 ok')).toHaveLength(1)
    expect(lines.filter((line) => line === '200 duplicate')).toHaveLength(49)
  })

  it('makes a new event each time, so that it is not a duplicate of the last one', async () => {
    edge = await fakeEdge(OWN)
    const argv = `payments simulate redirect --edge ${edge.url} ${PAYMENT}`
    expect([(await run(argv, OWN)).out, (await run(argv, OWN)).out]).toEqual([
      '200 ok\n',
      '200 ok\n',
    ])
  })

  it('exits with 1 and shows the answer when the edge has another key', async () => {
    edge = await fakeEdge({
      ...OWN,
      REDIRECT_GATEWAY_API_KEY: 'another-key-of-thirty-two-bytes-at-least',
    })
    const argv = `payments simulate redirect --edge ${edge.url} ${PAYMENT}`
    expect(await run(argv, OWN)).toEqual({ code: 1, out: '401 invalid\n', err: '' })
  })

  it('exits with 1 when there is no answer', async () => {
    edge = await fakeEdge(OWN)
    await edge.close()
    const { code, err } = await run(`payments simulate redirect --edge ${edge.url} ${PAYMENT}`, OWN)
    expect([code, err]).toEqual([1, `No answer from ${edge.url}: ECONNREFUSED.\n`])
    edge = undefined
  })

  it('posts a bare id and status for the bank, unsigned', async () => {
    edge = await fakeEdge(OWN)
    const argv = `payments simulate fib --edge ${edge.url} --transaction pay-1 --status Cancelled`
    await run(argv, OWN)
    expect(edge.bodies).toEqual(['{"id":"pay-1","status":"DECLINED"}'])
  })

  it('posts a form with a bare id for Mollie', async () => {
    edge = await fakeEdge(OWN)
    const argv = `payments simulate mollie --edge ${edge.url} --transaction tr_1 --status Cancelled`
    await run(argv, OWN)
    expect(edge.bodies).toEqual(['id=tr_1'])
  })

  it('uses the ids of the order’s newest payment', async () => {
    const asked: string[] = []
    edge = await fakeEdge(OWN, (request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname !== '/api/payments/transactions') return undefined
      asked.push(`${search} ${request.headers.get('authorization')}`)
      const payment = { id: '01A', status: 'Pending', externalReferenceId: 'ext-1' }
      return Response.json({ transactions: [{ ...payment, gatewayTransactionId: 'tx-1' }] })
    })
    const env = { ...OWN, SIGNALBOX_TOKEN: 'a.reader.token', SIGNALBOX_EDGE: edge.url }
    const { code, err } = await run(`payments simulate redirect ${PAYMENT}`, env)
    expect([code, err]).toEqual([0, 'The payment of order-1 is 01A, Pending.\n'])
    expect(asked).toEqual(['?gateway=redirect&reference=order-1&limit=1 Bearer a.reader.token'])
    expect(await received(edge)).toMatchObject([{ gatewayTransactionId: 'tx-1' }])
  })

  it('says that it will be parked when the order has no payment', async () => {
    edge = await fakeEdge(OWN, (request) =>
      request.method === 'GET' ? Response.json({ transactions: [] }) : undefined,
    )
    const env = { ...OWN, SIGNALBOX_TOKEN: 'a.reader.token' }
    const argv = `payments simulate redirect --edge ${edge.url} ${PAYMENT}`
    expect((await run(argv, env)).err).toContain('parked')
    expect(await received(edge)).toMatchObject([{ outcome: 'parked' }])
  })

  it('finds the variables of a second account, and its route', async () => {
    const file = {
      payments: {
        gateways: { 'shop-b': { driver: 'redirect', env_prefix: 'SHOP_B_' } },
        webhooks: { route_prefix: '/hooks/' },
      },
    }
    const paths: string[] = []
    edge = await fakeEdge(OWN, (request) => {
      paths.push(new URL(request.url).pathname)
      return new Response('ok')
    })
    const env = { SHOP_B_API_KEY: 'the-api-key-of-the-second-account' }
    const argv = `payments simulate shop-b --edge ${edge.url} ${PAYMENT}`
    expect((await run(argv, env, file)).code).toBe(0)
    expect(paths).toEqual(['/hooks/shop-b'])
  })
})

it('a gateway that there is not is answered with those that there are', async () => {
  const { code, err } = await run(`payments simulate nope --edge http://127.0.0.1:1 ${PAYMENT}`)
  expect(code).toBe(2)
  expect(err).toContain(
    'There is no gateway nope; signalbox.config.ts has: redirect, fib, stripe, mollie.',
  )
})

describe('missing options', () => {
  it('are named in one sentence', async () => {
    const { code, out, err } = await run('payments simulate redirect')
    expect([code, out]).toEqual([2, ''])
    expect(err.trim().split('\n')).toHaveLength(1)
    for (const name of ['--edge', '--reference', '--amount', '--currency']) {
      expect(err).toContain(name)
    }
    expect(err).toContain('REDIRECT_GATEWAY_API_KEY')
    expect((await run('payments simulate')).err).toContain('one of redirect, fib, stripe')
    expect((await run('payments simulate fib --edge http://127.0.0.1:1')).err).toContain(
      '--transaction',
    )
  })

  it.each([
    ['a gateway that is not configured', `nobody ${PAYMENT}`, 'redirect, fib, stripe'],
    ['an amount of nothing', 'redirect --amount 0', '--amount'],
    ['an amount that is no number', 'redirect --amount 1e3', '--amount'],
    ['a currency in small letters', 'redirect --currency iqd', '--currency'],
    ['a status that is none', 'stripe --status Done', '--status'],
    ['a status that the gateway does not have', 'redirect --status Cancelled', '--status'],
    ['no times', 'redirect --times 0', '--times'],
    ['more times than any test needs', 'redirect --times 1001', '--times'],
    ['an edge that is not a URL', 'redirect --edge shop', '--edge'],
    ['a flag that it does not have', 'redirect --api-key x', '--api-key'],
    ['a second gateway', 'redirect stripe', 'too many arguments'],
    ['two places at once', 'redirect --data . --edge http://127.0.0.1:1', '--data'],
  ])('refuses %s with 2', async (_, argv, why) => {
    const { code, err } = await run(`payments simulate ${argv}`, OWN)
    expect(code).toBe(2)
    expect(err).toContain(why)
  })
})
