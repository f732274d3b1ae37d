// Requests of web pages in a browser on this machine: with a foreign Origin, or with a foreign Host
// through a domain name that points to this machine (DNS rebinding).

import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SimulatorSetup, setUpSimulator } from '../support/simulator.ts'

const SHARED = 'https://192.168.1.5:8789'

let setup: SimulatorSetup
beforeAll(async () => {
  setup = await setUpSimulator({ SIMULATOR_SHARED_URL: SHARED })
})
afterAll(() => setup[Symbol.asyncDispose]())

/** node:http, since `fetch` sets these headers itself. */
function ask(method: string, path: string, headers: Record<string, string>) {
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const asked = request(`${setup.url}${path}`, { method, headers }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode, body }), reject)
    })
    asked.once('error', reject).end(/^P/.test(method) ? 'action=pay' : undefined)
  })
}

const ROUTES = [
  ['GET', '/'],
  ['GET', '/health'],
  ['GET', '/_control/payments'],
  ['PUT', '/_control/faults'],
  ['DELETE', '/_control/tokens'],
  ['POST', '/_control/payments/some/pay'],
  ['GET', '/pay/some'],
  ['POST', '/pay/some'],
  ['POST', '/oauth2/token'],
  ['POST', '/api/v2/payment-gateway/transaction/init'],
  ['POST', '/protected/v1/payments'],
  ['OPTIONS', '/_control/faults'],
] as const

describe('the simulator', () => {
  it.each(ROUTES)('refuses a foreign Host at %s %s', async (method, path) => {
    for (const host of [
      'evil.example',
      `evil.example:${new URL(setup.url).port}`,
      '127.0.0.1.nip.io',
    ]) {
      const { status, body } = await ask(method, path, { host })
      expect([status, JSON.parse(body)]).toMatchObject([403, { code: 'foreign_host' }])
    }
  })

  it.each(ROUTES)('refuses a foreign Origin at %s %s', async (method, path) => {
    const { port } = new URL(setup.url)
    const neighbours = [
      'http://127.0.0.1:1',
      `https://127.0.0.1:${port}`,
      `http://localhost:${port}`,
    ]
    for (const origin of ['https://evil.example', 'null', ...neighbours]) {
      const { status, body } = await ask(method, path, { origin })
      expect([status, JSON.parse(body)]).toMatchObject([403, { code: 'foreign_origin' }])
    }
  })

  it('accepts programs, its own page, and localhost through a tunnel', async () => {
    const { host } = new URL(setup.url)
    const localhost = 'localhost:9000'
    const shared = new URL(SHARED).host
    const allowed: Record<string, string>[] = [
      { host: shared },
      { host: shared, origin: SHARED },
      { host },
      { host, origin: setup.url },
      { host: localhost },
      { host: localhost, origin: `http://${localhost}` },
    ]
    for (const headers of allowed) {
      expect(await ask('GET', '/health', headers)).toEqual({ status: 200, body: 'ok' })
    }
  })

  it('accepts of the shared address exactly its host, with its own pages', async () => {
    const { host, hostname } = new URL(SHARED)
    const refused: [string, Record<string, string>][] = [
      ...[hostname, `${hostname}:8788`, `x${host}`, `${hostname}.evil.example:8789`].map(
        (other): [string, Record<string, string>] => ['foreign_host', { host: other }],
      ),
      ...[`http://${host}`, setup.url, 'https://evil.example', 'null'].map(
        (origin): [string, Record<string, string>] => ['foreign_origin', { host, origin }],
      ),
      ['foreign_origin', { origin: SHARED }],
    ]
    for (const [code, headers] of refused) {
      const { status, body } = await ask('GET', '/health', headers)
      expect([status, JSON.parse(body)], JSON.stringify(headers)).toMatchObject([403, { code }])
    }
  })

  it('leads payers to the shared address', async () => {
    const { redirectUrl } = (await (await setup.init('shared-1')).json()) as { redirectUrl: string }
    expect(redirectUrl).toMatch(/^https:\/\/192\.168\.1\.5:8789\/pay\/[\w-]+$/)
  })

  it('refuses a long body and an invalid Host, and a foreign page before its body is read', async () => {
    const { port } = new URL(setup.url)
    const answered = (headers: Record<string, string | number>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port, path: '/health', method: 'POST', headers })
        asked.once('response', ({ statusCode }) => resolve(statusCode))
        asked.once('error', reject)
        asked.write(Buffer.alloc((1 << 20) + 1))
      })
    const declared = { 'content-length': 1 << 30 }
    expect(await answered(declared)).toBe(413)
    expect(await answered({ 'transfer-encoding': 'chunked' })).toBe(413)
    expect(await answered({ ...declared, origin: 'https://evil.example' })).toBe(403)
    expect((await ask('GET', '/health', { host: 'no host' })).status).toBe(400)
    expect((await ask('GET', '/health', {})).status).toBe(200)
  })

  it('executes nothing that it refuses', async () => {
    const id = await setup.charged('order-of-nobody')
    await ask('POST', `/pay/${id}`, { origin: 'https://evil.example' })
    await ask('POST', `/_control/payments/${id}/pay`, { origin: 'null' })
    expect(await setup.inquiry(id)).toMatchObject({ status: 'PENDING' })
  })
})
