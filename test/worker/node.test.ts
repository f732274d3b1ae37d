// The Node host as whoever embeds it uses it: one process, one file for the payments.

import { readFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type OpenSimulator, openSimulator } from '../../simulator/open-simulator.ts'
import {
  gatewaySecrets,
  simulatedGateways,
  simulatorVariables,
} from '../../system/local/gateways.ts'
import { loopbackUrl } from '../../system/local/ports.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { openNodeEdge } from '../../worker/node.ts'
import type { OpenedPayment, Transaction } from '../../worker/payments/domain/types.ts'
import { embeddedDatabase } from '../../worker/payments/ledger/libsql/embedded-libsql.ts'
import {
  boardReport,
  freshHash,
  publishedRepo,
  Repo,
  SECRET,
  syncRoot,
  taskRecord,
  token,
} from '../support/edge.ts'
import { serve } from '../support/http.ts'
import { jsonOf } from '../support/json-of.ts'
import { PATIENT } from '../support/patience.ts'
import { order } from '../support/payment-system.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'

const NEW_SECRET = 'another-secret-for-tests-of-32-bytes'
const SECRETS = gatewaySecrets(SECRET)

const paymentsToken = (secret?: string) =>
  token({ scope: 'payments:read payments:write', repos: [] }, secret)

describe('a payment on embedded libSQL', () => {
  const delivered: string[] = []
  let edge: NodeEdgeInTest
  let simulator: OpenSimulator
  let metricsPort: number
  beforeAll(async () => {
    const simulatorPort = await freePort()
    metricsPort = await freePort()
    edge = await startNodeEdge(
      (origin) => ({
        ...simulatedGateways(SECRETS, loopbackUrl(simulatorPort)),
        PAYMENT_PUBLIC_URL: origin,
        METRICS_PORT: String(metricsPort),
      }),
      {
        sweepEveryMs: 50,
        file: {
          payments: {
            gateways: { redirect: { driver: 'redirect' } },
            listeners: {
              PaymentSucceeded: ({ transaction }) => void delivered.push(transaction.reference),
            },
          },
        },
      },
    )
    const callbackOf = (gateway: string) => `${edge.origin}/payments/webhooks/${gateway}`
    simulator = await openSimulator(
      simulatorVariables(SECRETS, { port: simulatorPort, callbackOf }),
    )
  })
  afterAll(async () => {
    await edge?.close()
    await simulator?.close()
  })

  const api = async (path: string, init: RequestInit = {}) =>
    edge.fetch(`/api/payments${path}`, {
      ...init,
      headers: { authorization: `Bearer ${await paymentsToken()}` },
    })
  const charged = async (reference: string) => {
    const body = JSON.stringify(order({ reference }))
    return jsonOf<OpenedPayment>(await api('/charges', { method: 'POST', body }), 201)
  }
  const paymentOf = async ({ transactionId }: OpenedPayment) =>
    jsonOf<Transaction>(await api(`/transactions/${transactionId}`))
  const pays = ({ gatewayTransactionId }: OpenedPayment) =>
    fetch(`${simulator.url}/_control/payments/${gatewayTransactionId}/pay?wait`, { method: 'POST' })

  it('is charged, paid by a webhook, and told to the listener', async () => {
    const charge = await charged('node-1')
    expect(await paymentOf(charge)).toMatchObject({ status: 'Pending' })
    await pays(charge)
    expect(await paymentOf(charge)).toMatchObject({ status: 'Paid' })
    await vi.waitUntil(() => delivered.includes('node-1'), PATIENT)
  })

  it('is counted at the port for metrics, which no path of the edge leads to', async () => {
    await pays(await charged('node-counted'))
    const read = async () => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    const applied = /^signalbox_webhooks_total\{gateway="redirect",outcome="applied"\} [1-9]/m
    expect(await read()).toMatch(applied)
    await expect
      .poll(read, PATIENT)
      .toMatch(/^signalbox_deliveries_total\{subscriber="listeners",outcome="delivered"\} [1-9]/m)
    expect(await read()).toMatch(/^process_cpu_seconds_total \d/m)
    expect((await edge.fetch('/metrics')).status).toBe(404)
  })

  it('whose webhook is lost is found by the sweeper, which its host calls again and again', async () => {
    const faults = { orders: { 'node-lost': { lost: true } } }
    const body = JSON.stringify(faults)
    const headers = { 'content-type': 'application/json' }
    await fetch(`${simulator.url}/_control/faults`, { method: 'PUT', headers, body })
    const charge = await charged('node-lost')
    await pays(charge)
    const database = embeddedDatabase(join(edge.dir, 'payments.db'))
    const sql = `UPDATE payment_transactions SET next_check_at = 0 WHERE reference = 'node-lost'`
    await database.write([{ sql, args: {} }], AbortSignal.timeout(30_000))
    database.close()
    await expect.poll(() => paymentOf(charge), PATIENT).toMatchObject({ status: 'Paid' })
  })

  it('is in the file when the process comes back, and goes on', async () => {
    const charge = await charged('node-2')
    await edge.restart()
    expect(await paymentOf(charge)).toMatchObject({ status: 'Pending' })
    await pays(charge)
    expect(await paymentOf(charge)).toMatchObject({ status: 'Paid' })
  })

  it('has its event stored as delivered before the edge has closed', async () => {
    const charge = await charged('node-3')
    await pays(charge)
    await edge.restart()
    const database = embeddedDatabase(join(edge.dir, 'payments.db'))
    const sql = `SELECT type, done_at IS NOT NULL AS is_done FROM payment_outbox
      WHERE transaction_id = '${charge.transactionId}' AND type = 'PaymentSucceeded'`
    expect(await database.read([{ sql, args: {} }])).toEqual([
      [{ type: 'PaymentSucceeded', is_done: 1 }],
    ])
    database.close()
  })
})

describe('an edge in this process', () => {
  let edge: NodeEdgeInTest
  beforeAll(async () => {
    edge = await startNodeEdge()
  })
  afterEach(() => edge.edge().reload({ AUTH_SECRETS: SECRET }))
  afterAll(() => edge.close())

  const statusWith = async (secret: string) => {
    const headers = { authorization: `Bearer ${await paymentsToken(secret)}` }
    return (await edge.fetch('/api/payments/alerts', { headers })).status
  }

  it('lists after a restart the boards that it listed before', async () => {
    const repo = new Repo(edge)
    const body = JSON.stringify(boardReport({ title: 'Kept' }))
    expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
    const headers = { authorization: `Bearer ${await token({ repos: [repo.path] })}` }
    const list = async () => await jsonOf(await edge.fetch('/api/boards', { headers }), 200)
    const before = await list()
    expect(before).toMatchObject({ boards: [{ path: repo.path, title: 'Kept' }] })
    await edge.restart()
    expect(await list()).toEqual(before)
  })

  it('goes on after a restart to tell people of a board, though nobody asks about it', async () => {
    let tries = 0
    let isUp = false
    const took: string[] = []
    const receiver = await serve(async (request) => {
      tries++
      if (!isUp) return new Response(null, { status: 503 })
      took.push(await request.text())
      return new Response(null, { status: 204 })
    })
    onTestFinished(() => receiver.close())
    const config = { layout: 'cairn', states: ['todo'], closed: [] } as const
    const board = { ...config, states: [...config.states], closed: [] }
    const repo = await publishedRepo(edge, [
      { kind: 'board', id: 'board', hash: freshHash(), board },
      taskRecord('A', { status: 'todo' }),
    ])
    const body = JSON.stringify(boardReport())
    await repo.request('/boards', { method: 'PUT', body })
    const notices = [{ on: 'ready', minutes: 0, to: { ntfy: receiver.url } }] as const
    await repo.sync({ ...syncRoot(repo.run, { root: freshHash() }), notices: [...notices] })
    await vi.waitUntil(() => tries > 0, PATIENT)
    await edge.restart()
    isUp = true
    await vi.waitUntil(() => took.length > 0, PATIENT)
    expect(took).toEqual([`Signalbox, ${repo.path}:\nReady, and nobody works: 1, next A Task A`])
  })

  it('answers without a socket what it answers over HTTP', async () => {
    const path = `/api/payments/alerts`
    const headers = { authorization: `Bearer ${await paymentsToken()}` }
    const inProcess = await edge.edge().fetch(new Request(`${edge.origin}${path}`, { headers }))
    expect(await inProcess.json()).toEqual(await (await edge.fetch(path, { headers })).json())
  })

  it('takes tokens of a new secret after a reload, and keeps its streams', async () => {
    const repo = await publishedRepo(edge)
    const stream = await (await repo.stream()).joined()
    expect([await statusWith(SECRET), await statusWith(NEW_SECRET)]).toEqual([200, 401])
    edge.edge().reload({ AUTH_SECRETS: `${NEW_SECRET} ${SECRET}` })
    expect([await statusWith(SECRET), await statusWith(NEW_SECRET)]).toEqual([200, 200])
    edge.edge().reload({ AUTH_SECRETS: NEW_SECRET })
    expect([await statusWith(SECRET), await statusWith(NEW_SECRET)]).toEqual([401, 200])
    edge.edge().reload({ AUTH_SECRETS: SECRET })
    await repo.changes({ upserts: [taskRecord('A-1')] })
    await stream.until((s) => s.messages.length === 1)
    await stream.close()
  })

  it.each([
    ['a secret that is too short', { AUTH_SECRETS: 'short' }],
    ['no key at all', {}],
    ['keys of an issuer without its name', { AUTH_JWKS_URL: 'https://issuer.example/keys' }],
  ])('refuses to reload %s, and changes nothing', async (_, env) => {
    expect(() => edge.edge().reload(env)).toThrow(
      expect.objectContaining({ code: 'misconfigured' }),
    )
    expect(await statusWith(SECRET)).toBe(200)
  })

  it('answers a Host header that names no host with an error of the API', async () => {
    const { port } = new URL(edge.origin)
    const answer = await new Promise<{ status: number | undefined; body: unknown }>(
      (resolve, reject) => {
        const headers = { host: 'a b' }
        httpRequest({ host: '127.0.0.1', port, path: '/api/status', headers }, (response) => {
          text(response).then(
            (body) => resolve({ status: response.statusCode, body: JSON.parse(body) }),
            reject,
          )
        })
          .on('error', reject)
          .end()
      },
    )
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })

  it.each([
    ['a folder', () => edge.dir],
    ['a file that is no database', () => join(edge.dir, 'edge.log')],
  ])('is refused %s as its database, in a sentence', async (_, path) => {
    const env = { AUTH_SECRETS: SECRET, LIBSQL_URL: `file:${path()}` }
    const opening = openNodeEdge({ env, file: {}, log: () => undefined })
    await expect(opening).rejects.toMatchObject({
      code: 'misconfigured',
      message: expect.stringContaining(`${path()} cannot be opened`),
    })
  })

  it('is refused the port of another one, and leaves nothing open', async () => {
    const { port } = new URL(edge.origin)
    const env = { AUTH_SECRETS: SECRET, PORT: port, DATA_DIR: edge.dir }
    const opening = openNodeEdge({ env, file: {}, log: () => undefined })
    await expect(opening).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })
})

describe('the numbers of an edge', () => {
  it('are right at the first scrape after a start', async () => {
    const metricsPort = await freePort()
    const file = { payments: { gateways: { redirect: { driver: 'redirect' } } } } as const
    const variables = (origin: string) => ({
      ...simulatedGateways(SECRETS, origin),
      METRICS_PORT: String(metricsPort),
      PAYMENT_PUBLIC_URL: origin,
    })
    const edge = await startNodeEdge(variables, { file, sweepEveryMs: 3_600_000 })
    try {
      const database = embeddedDatabase(join(edge.dir, 'payments.db'))
      const sql = `INSERT INTO payment_alerts (id, kind, subject, gateway, created_at)
        VALUES ('a-1', 'late_payment', 's-1', 'redirect', 0)`
      await database.write([{ sql, args: {} }], AbortSignal.timeout(30_000))
      database.close()
      await edge.restart()
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
      expect(text).toContain('signalbox_alerts_open{kind="late_payment"} 1\n')
    } finally {
      await edge.close()
    }
  })
})

describe('an edge that closes', () => {
  it('ends its streams, answers what is under way, and takes no connection any more', async () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const edge = await startNodeEdge(
      {},
      {
        file: {
          async fetch() {
            asked.resolve()
            await answered.promise
            return new Response('late')
          },
        },
      },
    )
    const stream = await (await new Repo(edge).stream()).joined()
    const late = edge.fetch('/shop')
    await asked.promise
    const closed = edge.edge().close()
    await stream.until(({ ended }) => ended)
    answered.resolve()
    expect(await (await late).text()).toBe('late')
    await closed
    await expect(edge.fetch('/')).rejects.toThrow()
    await edge.close()
  })

  it('logs where it listens, and no secret', async () => {
    const edge = await startNodeEdge()
    const log = await readFile(join(edge.dir, 'edge.log'), 'utf8')
    expect(log).toContain(`"url":"${edge.origin}"`)
    expect(log).not.toContain(SECRET)
    await edge.close()
  })
})

describe('the end of a host', () => {
  let edge: NodeEdgeInTest | undefined
  afterEach(() => edge?.close())

  it('the end of the payments waits for no board, and the end of all not for one that hangs', async () => {
    edge = await startNodeEdge({}, { stopWithinMs: 1_000 })
    const from = performance.now()
    await edge.edge().close(new Promise(() => undefined))
    expect(performance.now() - from).toBeGreaterThan(800)
    await expect(fetch(edge.origin)).rejects.toThrow()
  })

  it('boards that end publish their last changes after the payments are closed', async () => {
    edge = await startNodeEdge()
    const { fetch: ask } = edge.edge()
    const ended = Promise.withResolvers<number>()
    const closed = edge.edge().close(ended.promise)
    await expect
      .poll(() =>
        fetch(`${edge?.origin}/`).then(
          () => 'up',
          () => 'down',
        ),
      )
      .toBe('down')
    const answer = await ask(new Request(`${edge.origin}/api/sync?path=a`, { method: 'POST' }))
    expect(answer.status).toBe(401)
    ended.resolve(0)
    await closed
  })
})
