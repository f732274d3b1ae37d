import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type BoardHealth, healthOf } from '../../sidecar/health.ts'
import { serveHealthz } from '../../sidecar/healthz.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import type { MonitorServer } from '../../worker/shared/metrics-node.ts'

const GOOD: BoardHealth = {
  board: 'tea',
  connected: true,
  lastSyncAt: 0,
  lastPublishedAt: 1_000,
  dirty: 0,
  behind: false,
  lastError: null,
  store: 'present',
  unwatched: false,
  files: 7,
}

const open: MonitorServer[] = []
afterEach(async () => {
  for (const healthz of open.splice(0)) await healthz.close()
})

async function ask(
  health: BoardHealth | BoardHealth[],
  path = '/healthz',
  method = 'GET',
): Promise<Response> {
  const boards = Array.isArray(health) ? health : [health]
  const healthz = await serveHealthz(0, () => healthOf(boards), new Metrics())
  open.push(healthz)
  return fetch(`http://127.0.0.1:${healthz.port}${path}`, { method })
}

test('a sidecar whose edge holds everything is healthy', async () => {
  const response = await ask(GOOD)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    status: 'ok',
    dirty: 0,
    lastSyncAt: '1970-01-01T00:00:00.000Z',
    lastPublishedAt: '1970-01-01T00:00:01.000Z',
    connected: true,
    files: 7,
    rssBytes: expect.any(Number) as number,
  })
})

test('one that lost its edge, or never synced, is not', async () => {
  const lost = await ask({ ...GOOD, connected: false, lastError: 'network: away' })
  expect(lost.status).toBe(503)
  expect(await lost.json()).toMatchObject({ status: 'unavailable', lastError: 'network: away' })
  expect((await ask({ ...GOOD, lastSyncAt: null })).status).toBe(503)
})

test('it speaks for all boards, and says by name which is behind', async () => {
  const late = { ...GOOD, board: 'tea#kiro', behind: true, dirty: 2, lastError: 'busy: later' }
  const both = await ask([GOOD, late])
  expect(both.status).toBe(200)
  expect(await both.json()).toMatchObject({
    status: 'ok',
    behind: true,
    dirty: 2,
    files: 14,
    lastError: 'busy: later',
    boards: [
      { board: 'tea', behind: false, lastSyncAt: '1970-01-01T00:00:00.000Z' },
      { board: 'tea#kiro', behind: true, lastError: 'busy: later' },
    ],
  })
  const never = await ask([GOOD, { ...late, connected: false, lastSyncAt: null }])
  expect(never.status).toBe(503)
  expect(await never.json()).toMatchObject({ connected: false, lastSyncAt: null })
  const none = await ask([])
  expect(none.status).toBe(503)
  expect(await none.json()).toMatchObject({ connected: false, store: null, boards: [] })
})

test('its numbers are beside it', async () => {
  const response = await ask(GOOD, '/metrics')
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
})

test('nothing else is answered', async () => {
  expect((await ask(GOOD, '/')).status).toBe(404)
  expect((await ask(GOOD, '/metrics', 'POST')).status).toBe(405)
  expect((await ask(GOOD, '/healthz', 'POST')).status).toBe(405)
  expect((await ask(GOOD, '/healthz', 'HEAD')).status).toBe(200)
})

test('an address that is none is refused, and does not end the sidecar', async () => {
  await ask(GOOD)
  const port = open[0]?.port ?? 0
  for (const path of ['//', '//[', '/\\\\[', 'http://[/healthz']) {
    const asked = request({ port, host: '127.0.0.1', path }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    expect(answer.statusCode, path).toBe(404)
  }
})

test('a port that is taken is an error with a code, not a crash', async () => {
  await ask(GOOD)
  const port = open[0]?.port ?? 0
  await expect(serveHealthz(port, () => healthOf([GOOD]), new Metrics())).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})

test('a foreign Host is refused: a web page may have pointed its name at this machine', async () => {
  await ask(GOOD)
  const port = open[0]?.port
  const status = (host: string) =>
    new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path: '/healthz', headers: { host } })
      asked.once('response', (response) => resolve(response.resume().statusCode))
      asked.once('error', reject).end()
    })
  expect(await status(`evil.example:${port}`)).toBe(403)
  expect(await status('127.0.0.1.nip.io')).toBe(403)
  expect(await status(`localhost:${port}`)).toBe(200)
})
