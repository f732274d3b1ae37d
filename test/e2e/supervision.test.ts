// What `npm start` promises whatever runs the edge: it keeps its processes up, and ends them all.

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { LocalJson } from '../../system/data/local-json.ts'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import { signIn } from '../contract/console-session.ts'
import { editTask, linkOf, retitle } from '../support/console-page.ts'
import { type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'

type DatabaseLocation = Pick<LocalJson, 'database' | 'databaseToken'>

const query = async ({ database, databaseToken }: DatabaseLocation, sql: string) => {
  const requests = [{ type: 'execute', stmt: { sql } }, { type: 'close' }]
  const response = await fetch(`${database}/v2/pipeline`, {
    method: 'POST',
    headers: { authorization: `Bearer ${databaseToken}` },
    body: JSON.stringify({ requests }),
  })
  return response.text()
}

describe('a running system', () => {
  const starts = new Starts()
  let start: Start
  beforeAll(async () => {
    const env = { STRIPE_SECRET_KEY: 'sk_test_hidden', STRIPE_WEBHOOK_SECRET: 'whsec_hidden' }
    start = await (await starts.start({ env })).ready()
  })
  afterAll(() => starts.clear())

  it('refuses access to the database without its token', async () => {
    const { database } = await start.local()
    const answer = await query({ database, databaseToken: '' }, 'SELECT 1')
    expect(answer).toContain('Unauthorized')
    expect((await fetch(`${database}/dump`)).status).toBe(401)
  })

  it('simulates the gateways that the environment does not configure', async () => {
    const { url, simulator, gateways } = await start.local()
    expect(gateways).toEqual({
      redirect: { api_key: expect.stringMatching(/^[\w-]{43}$/) },
      fib: { client_id: 'signalbox-local' },
      stripe: { webhook_secret: 'whsec_hidden' },
    })
    // Only its own system has its credentials.
    const granted = await fetch(`${simulator}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'x' }),
    })
    expect(granted.status).toBe(401)
    expect(new URL(simulator).hostname).toBe(new URL(url).hostname)
  })

  it('restarts the simulator on the same port, with what it booked', async () => {
    const { simulator } = await start.local()
    const { gatewayTransactionId = '' } = await start.charge('order-1')
    await start.killAndWait('simulator')
    const health = () =>
      fetch(`${simulator}/health`).then(
        (answer) => answer.status,
        () => 0,
      )
    await expect.poll(health, PATIENT).toBe(200)
    const payment = await new SimulatorControl(simulator).payment(gatewayTransactionId)
    expect(payment).toMatchObject({ reference: 'order-1', state: 'open' })
  })

  it('loses no change while the sidecar is dead, and clients stay connected', async () => {
    const stream = await (await start.stream()).joined()
    const back = start.killAndWait('sidecar')
    await editTask(start, 'LAMP-5', retitle('Saved in between'))
    await back
    await expect.poll(() => start.title('LAMP-5'), PATIENT).toBe('Saved in between')
    // One that a busy machine starts slowly was told as offline, and is back with a change of the list.
    const [ofList, ofTask] = [{ type: 'tasks-changed' }, { type: 'task-changed', id: 'LAMP-5' }]
    const expected = [[ofTask], [ofList, ofTask], [ofList, ofList]]
    await stream.until(({ messages }) => expected.some((it) => isDeepStrictEqual(messages, it)))
    await stream.close()
    expect(start.stderr).toMatch(
      /signalbox: sidecar \(pid \d+\) was ended by SIGKILL; starting it again/,
    )
  })

  it('prints one line when the board disappears and one when it is back', async () => {
    const lines = () => start.stderr.split('\n').filter((line) => line.includes('board'))
    const folder = join(start.storeDir, '.cairn')
    await rename(folder, join(start.storeDir, 'elsewhere'))
    const board = `signalbox: The board ${start.storeDir} in ${folder}`
    const gone = `${board} is gone; what was published of it stays.`
    await expect.poll(lines, PATIENT).toEqual([gone])
    await start.killAndWait('sidecar')
    await rename(join(start.storeDir, 'elsewhere'), folder)
    await expect.poll(lines, PATIENT).toEqual([gone, `${board} is back.`])
    await editTask(start, 'LAMP-7', retitle('Saved after all'))
    await expect.poll(() => start.title('LAMP-7'), PATIENT).toBe('Saved after all')
  })

  it('publishes a board below the first, and has it in local.json', async () => {
    const folder = join(start.storeDir, 'packages/tea')
    await mkdir(join(folder, '.kiro/specs/cup'), { recursive: true })
    await writeFile(join(folder, '.kiro/specs/cup/tasks.md'), '- [ ] 1. Find a cup\n')
    // It looks for boards at once.
    await start.killAndWait('sidecar')
    const path = `${start.storeDir}/packages/tea#kiro`
    const boards = async () => (await start.local()).boards
    await expect.poll(boards, PATIENT).toEqual([
      { path: start.storeDir, dir: start.storeDir, layout: 'cairn' },
      { path, dir: folder, layout: 'kiro' },
    ])
    const title = () =>
      start.fetch(`/tasks/cup%2F1?path=${encodeURIComponent(path)}`).then((it) => it.text())
    await expect.poll(title, PATIENT).toContain('Find a cup')
    expect(start.stderr).toContain(`The board ${path} has appeared in ${folder} (kiro).`)
  })

  it('restarts the database on the same port, with its data', async () => {
    const local = await start.local()
    const alert = `INSERT INTO payment_alerts (id, kind, subject, gateway, created_at)
      VALUES ('a1', 'test', 's', 'g', 1)`
    expect(await query(local, alert)).toContain('"ok"')
    await start.killAndWait('sqld')
    const alerts = () =>
      // It refuses connections for a moment.
      query(local, 'SELECT id FROM payment_alerts').catch(String)
    await expect.poll(alerts, PATIENT).toContain('"a1"')
  })

  const elsewhere = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address

  it.skipIf(elsewhere === undefined)('cannot be reached from another machine', async () => {
    const { url, database, simulator } = await start.local()
    for (const place of [url, database, simulator]) {
      const socket = connect({ host: elsewhere ?? '', port: Number(new URL(place).port) })
      const outcome = await new Promise((resolve) => {
        socket.once('connect', () => resolve('connected'))
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
      })
      socket.destroy()
      expect(outcome).toBe('ECONNREFUSED')
    }
  })

  it('reports that another start uses its data folder, and does not disturb that one', async () => {
    const second = await starts.start({ dataDir: start.dataDir })
    expect(await second.ended).toEqual({ code: 2, signal: null })
    expect(second.stderr).toBe(
      `signalbox: Signalbox already runs here at ${(await start.local()).url} ` +
        `(pid ${start.process.pid}): ` +
        `signalbox sign-in prints a link to it. The data folder is ${start.dataDir}.\n`,
    )
    expect((await start.fetch('/status')).status).toBe(200)
  })

  it('gives up a process that keeps dying, ends all the others, and exits with 1', async () => {
    while (start.process.exitCode === null) {
      await start
        .pidOf('sidecar')
        .then((pid) => process.kill(pid, 'SIGKILL'))
        // It is not there yet, or the last signal has only now ended it.
        .catch(() => undefined)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    expect(await start.ended).toEqual({ code: 1, signal: null })
    expect(start.stderr).toMatch(
      /5 times within a minute; see .*sidecar\.log\. Everything is ended\.\n$/,
    )
    expect(await start.survivors()).toEqual([])
  })
})

describe('the end of a system', () => {
  const starts = new Starts()
  afterEach(() => starts.clear())

  it('comes by SIGTERM with exit code 0 before the start is ready', async () => {
    const start = await starts.start()
    await expect.poll(async () => (await start.children()).length > 0, PATIENT).toBe(true)
    start.process.kill('SIGTERM')
    expect(await start.ended).toEqual({ code: 0, signal: null })
    expect(start.readyLines).toEqual([])
    expect(await start.survivors()).toEqual([])
  })

  it('leaves no process behind when the parent is killed; the next start takes over at the same addresses, and ends by SIGINT with exit code 0, of which a second is harmless', async () => {
    const first = await (await starts.start()).ready()
    const { url, simulator, tokens } = await first.local()
    const code = linkOf(first).replace(/^.*\//, '')
    const { cookies } = await signIn(
      { origin: url, fetch: (path, init) => fetch(url + path, init) },
      { code },
    )
    first.process.kill('SIGKILL')
    await first.ended
    const { storeDir, dataDir } = first
    const second = await starts.start({ storeDir, dataDir, port: 'last' })
    await second.ready()
    expect(await second.local()).toMatchObject({ url, simulator })
    const status = (headers: Record<string, string>) =>
      fetch(`${url}/api/status`, { headers }).then((answer) => answer.status)
    expect(await status({ authorization: `Bearer ${tokens.board}` })).toBe(200)
    expect(await status({ cookie: (cookies[0] ?? '').replace(/;.*/, '') })).toBe(200)
    second.process.kill('SIGINT')
    second.process.kill('SIGINT')
    expect(await second.ended).toEqual({ code: 0, signal: null })
    expect(await second.survivors()).toEqual([])
  })
})

describe('a start', () => {
  const starts = new Starts()
  afterEach(() => starts.clear())

  it('reports a port that is in use, exits with 1 and leaves nothing behind', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const start = await starts.start({ args: [`--port=${port}`] })
    expect(await start.ended).toEqual({ code: 1, signal: null })
    expect(start.stderr).toBe(
      `signalbox: Port ${port} of 127.0.0.1 is taken; choose another with --port.\n`,
    )
    expect(start.stdout).toBe('')
    expect(await start.survivors()).toEqual([])
    server.close()
  })
})
