import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { freePort } from '../../tools/harness/free-port.ts'
import { run } from '../cli/run.ts'
import { EventStream } from '../support/event-stream.ts'
import { MADE, type Start, Starts, serve } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { tempFolder } from '../support/temp-folder.ts'

const REPO = 'team/board'
const secret = (name: string) => name.padEnd(32, '.')

const starts = new Starts()
let folder: string
let envFile: string
const PRIVATE = { mode: 0o600 }
beforeEach(() => {
  folder = tempFolder()
  envFile = join(folder, 'env')
})
afterEach(() => starts.clear())

const start = (args: string[]) =>
  starts.start({ launch: serve, args: [`--repo=${REPO}`, `--env=${envFile}`, ...args] })

const setSecrets = (...names: string[]) =>
  writeFile(envFile, `AUTH_SECRETS="${names.map(secret).join(' ')}"\nMAX_STREAMS=10\n`, PRIVATE)

async function tokenBy(name: string): Promise<string> {
  const argv = ['token', '--repo', REPO, '--scope', 'board:read payments:read']
  return (await run(argv, { AUTH_SECRETS: secret(name) })).out.trim()
}

/** A start of this command writes no local.json. */
async function ask({ stdout }: Start, path: string, by?: string): Promise<Response> {
  const url = /^signalbox ready (\S+)$/m.exec(stdout)?.[1] ?? ''
  const headers = by === undefined ? {} : { authorization: `Bearer ${await tokenBy(by)}` }
  return await fetch(`${url}${path}`, { headers })
}

describe('signalbox serve', () => {
  it('publishes its board, is healthy, takes secrets over by SIGHUP, and ends by SIGTERM', async () => {
    await setSecrets('old')
    const system = await (await start([])).ready()
    expect(await (await ask(system, '/healthz')).json()).toEqual({ status: 'ok' })
    expect((await ask(system, '/api/tasks/LAMP-1', 'old')).status).toBe(200)
    expect((await ask(system, '/api/payments/transactions', 'old')).status).toBe(200)
    expect((await ask(system, '/api/tasks/LAMP-1', 'new')).status).toBe(401)

    await setSecrets('new')
    system.process.kill('SIGHUP')
    const status = async (by: string) => (await ask(system, '/api/tasks/LAMP-1', by)).status
    await expect.poll(() => status('new'), PATIENT).toBe(200)
    expect(await status('old')).toBe(401)

    // What was changed beside them is named, and not taken over.
    const lines = [`AUTH_SECRETS=${secret('new')}`, 'MAX_STREAMS=20', 'PAYMENT_EVENTS_URL=http://x']
    await writeFile(envFile, `${lines.join('\n')}\n`, PRIVATE)
    system.process.kill('SIGHUP')
    const named = '"needsRestart":["MAX_STREAMS","PAYMENT_EVENTS_URL"]'
    await expect.poll(() => system.stderr, PATIENT).toContain(named)
    expect(system.stderr).toMatch(/"level":"warn","event":"config.reloaded","needsRestart"/)

    // A file that nobody could sign in with changes nothing.
    await writeFile(envFile, 'AUTH_SECRETS=\n', PRIVATE)
    system.process.kill('SIGHUP')
    await expect.poll(() => system.stderr, PATIENT).toContain('config.reload_failed')
    const stream = await new EventStream(await ask(system, '/api/events', 'new')).joined()
    // What the board here publishes is signed by the secret of now.
    await writeFile(join(system.storeDir, '.cairn/tasks/LAMP-8.md'), '---\ntitle: New\n---\n')
    await stream.until(({ messages }) => messages.length > 0)

    system.process.kill('SIGTERM')
    expect(await system.ended).toEqual({ code: 0, signal: null })
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
  })

  it('says at its start that the database is away, and that is a metric at the first scrape', async () => {
    const metricsPort = await freePort()
    const lines = [
      `AUTH_SECRETS=${secret('new')}`,
      'LIBSQL_URL=http://127.0.0.1:1',
      `METRICS_PORT=${metricsPort}`,
    ]
    await writeFile(envFile, `${lines.join('\n')}\n`, PRIVATE)
    const system = await (await start([])).ready()
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(text).toContain('\nsignalbox_healthy 0\n')
    const failed = `"level":"error","event":"health.failed","why":"The database of payments cannot be read."`
    expect(system.stderr).toContain(failed)
    expect(system.stderr.split('health.failed')).toHaveLength(2)
  })

  it('makes a database once, and takes no empty one for it after a payment at a real gateway', async () => {
    const home = tempFolder()
    const bank = 'https://gateway.invalid'
    const lines = [
      `AUTH_SECRETS=${secret('new')}`,
      ...['CLIENT_ID', 'CLIENT_SECRET', 'API_KEY'].map((it) => `REDIRECT_GATEWAY_${it}=${it}`),
      `REDIRECT_GATEWAY_BASE_URL=${bank}`,
    ]
    await writeFile(envFile, `${lines.join('\n')}\n`, PRIVATE)
    const again = () =>
      starts.start({ ...served, env: { HOME: home }, dataDir: join(home, 'data') })
    const served = { launch: serve, args: [`--repo=${REPO}`, `--env=${envFile}`] }
    const first = await (await again()).ready()
    expect(first.stderr).toMatch(/Made a new database of payments: PAYMENT_INSTALLATION=[0-9a-f]/)
    const charge = {
      gateway: 'redirect',
      reference: 'order-1',
      amount: 25_000,
      currency: 'IQD',
      description: 'Bread',
      returnUrl: 'https://shop.example/back',
    }
    const scope = 'payments:read payments:write'
    const words = ['token', '--repo', REPO, '--scope', scope]
    const token = (await run(words, { AUTH_SECRETS: secret('new') })).out.trim()
    const url = /^signalbox ready (\S+)$/m.exec(first.stdout)?.[1] ?? ''
    const charged = await fetch(`${url}/api/payments/charges`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(charge),
    })
    expect(charged.status).toBe(503)
    first.process.kill('SIGTERM')
    await first.ended
    const database = join(first.dataDir, 'node/payments.db')
    await rename(database, join(home, 'payments.db'))
    for (const empty of [() => undefined, () => writeFile(database, '')]) {
      await empty()
      const refused = await again()
      expect(await refused.ended).toEqual({ code: 1, signal: null })
      expect(refused.stderr).toContain('another one: it is empty, and this is the shop')
    }
    await rename(join(home, 'payments.db'), database)
    const right = await (await again()).ready()
    expect(right.stderr).not.toContain('Made a new database')
  })

  it('writes local.json again when somebody has deleted it, and removes it at its end', async () => {
    await setSecrets('new')
    const system = await (await start([])).ready()
    const file = join(system.dataDir, 'local.json')
    await expect.poll(() => existsSync(file), PATIENT).toBe(true)
    await rm(file)
    await expect.poll(() => existsSync(file), PATIENT).toBe(true)
    system.process.kill('SIGTERM')
    await system.ended
    expect(existsSync(file)).toBe(false)
  })

  it('refuses to run without a way to verify tokens, and names a variable that is misspelt', async () => {
    await writeFile(envFile, `AUTH_SECRET=${secret('new')}\n`, PRIVATE)
    const refused = await start([])
    expect(await refused.ended).toEqual({ code: 2, signal: null })
    const misspelt = 'AUTH_SECRET is set, and nothing here reads it: is AUTH_SECRETS meant?'
    expect(refused.stderr).toMatch(
      new RegExp(
        `^signalbox: ${misspelt.replace('?', '.')}\nsignalbox: No way to verify [^\n]+\n$`,
      ),
    )
  })

  it('names the variable of a port for metrics that is taken, which is no wrong use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await writeFile(envFile, `AUTH_SECRETS=${secret('new')}\nMETRICS_PORT=${port}\n`, PRIVATE)
    const refused = await start(['--port=0'])
    expect(await refused.ended).toEqual({ code: 1, signal: null })
    const why = `Port ${port} of 127.0.0.1 is taken; choose another with METRICS_PORT.`
    expect(refused.stderr).toMatch(new RegExp(`^${MADE}signalbox: ${why}\n$`))
    server.close()
  })

  it.each([
    { name: 'HOST', host: '192.0.2.1', code: 'EADDRNOTAVAIL' },
    { name: 'METRICS_HOST', host: '192.0.2.1', code: 'EADDRNOTAVAIL' },
    { name: 'METRICS_HOST', host: 'a..b', code: 'ENOTFOUND' },
  ])('names the variable of an address that is not its own: $name $host', async (wrong) => {
    const { name, host, code } = wrong
    const metrics = name === 'HOST' ? '' : 'METRICS_PORT=0\n'
    await writeFile(envFile, `AUTH_SECRETS=${secret('new')}\n${metrics}${name}=${host}\n`, PRIVATE)
    const refused = await start(['--port=0'])
    expect(await refused.ended).toEqual({ code: 2, signal: null })
    const why = `signalbox: ${name}: ${host} is no address of this machine \\(${code}\\).`
    expect(refused.stderr).toMatch(new RegExp(`^${MADE}${why}\n$`))
  })
})
