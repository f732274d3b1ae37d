import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeLocalJson } from '../../../system/data/local-json.ts'
import {
  describeGateways,
  gatewaySecrets,
  simulatedGateways,
} from '../../../system/local/gateways.ts'
import { DRIVERS } from '../../../worker/payments/gateways/registry.ts'
import { giveSecret } from '../../support/run-home.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { diagnose, type FakeEdge, FILE, fakeEdge, run } from './fake-system.ts'

const SECRET = 'a-data-folder-secret-of-43-characters-or-so'
const SIMULATOR = 'http://127.0.0.1:1'
const PAYMENT = '--reference order-1 --amount 25000 --currency IQD'

let dir: string
let edge: FakeEdge

/** A data folder as `npm start` leaves it while it runs. */
async function start(given: Record<string, string> = {}, file = FILE): Promise<void> {
  const simulated = simulatedGateways(gatewaySecrets(SECRET), SIMULATOR)
  const variables = { ...simulated, ...given }
  const seen: string[] = []
  const first = (request: Request) => {
    if (request.method !== 'GET') return undefined
    seen.push(request.headers.get('authorization') ?? '')
    return Response.json({ transactions: [] }, { status: seen[0] === 'Bearer p.t.k' ? 200 : 401 })
  }
  edge = await fakeEdge(variables, first, file)
  await giveSecret(dir, SECRET)
  await writeLocalJson(dir, {
    url: edge.url,
    path: 'board',
    boards: [],
    database: SIMULATOR,
    databaseToken: 'd.t.k',
    simulator: SIMULATOR,
    tokens: { board: 'b.t.k', sidecar: 's.t.k', payments: 'p.t.k' },
    gateways: describeGateways(variables),
  })
}

beforeEach(() => {
  dir = tempFolder()
})

afterEach(() => edge.close())

describe('a running system', () => {
  it('gives the doctor its edge, its token and its variables', async () => {
    await start()
    const { findings } = await diagnose(`--data ${dir}`, {})
    for (const key of ['redirect', 'fib', 'stripe']) {
      expect(findings).toContain(`ok ${key}: It is configured (driver ${key}).`)
    }
    expect(findings).toContain(`ok edge: ${edge.url} answers and accepts the token.`)
    expect(findings).toContain(
      'ok redirect: The edge verifies with the same REDIRECT_GATEWAY_API_KEY.',
    )
    expect(findings.join()).not.toContain('other variables')
  })

  it('gives simulate its signing secrets', async () => {
    await start()
    for (const key of ['redirect', 'stripe']) {
      const { code, out } = await run(`payments simulate ${key} --data ${dir} ${PAYMENT}`)
      expect([code, out]).toEqual([0, '200 ok\n'])
    }
  })

  it('uses the variables of its start, not those of this shell', async () => {
    const given = {
      REDIRECT_GATEWAY_CLIENT_ID: 'merchant',
      REDIRECT_GATEWAY_CLIENT_SECRET: 'the-client-secret-of-the-merchant',
      REDIRECT_GATEWAY_API_KEY: 'the-api-key-of-the-merchant-32-bytes-long',
      REDIRECT_GATEWAY_BASE_URL: SIMULATOR,
    }
    await start(given)
    const argv = `payments simulate redirect --data ${dir} ${PAYMENT}`
    expect((await run(argv)).out).toBe('200 ok\n')
    const warning =
      'warn config: The variables of redirect differ between the running system and this shell.'
    expect((await diagnose(`--data ${dir}`, {})).findings).toContain(warning)
    expect((await diagnose(`--data ${dir}`, given)).findings).not.toContain(warning)
  })

  it('that is a server gives the doctor the variables of its file, and a token by its secret', async () => {
    const variables = simulatedGateways(gatewaySecrets(SECRET), SIMULATOR)
    const tokens: string[] = []
    edge = await fakeEdge(variables, ({ method, headers }) => {
      if (method !== 'GET') return undefined
      tokens.push(headers.get('authorization')?.replace('Bearer ', '') ?? '')
      return Response.json({ transactions: [] })
    })
    const file = join(dir, 'variables')
    const lines = Object.entries({ ...variables, AUTH_SECRETS: SECRET })
    const text = lines.map(([name, value]) => `${name}=${value}\n`).join('')
    await writeFile(file, text, { mode: 0o600 })
    await writeLocalJson(dir, { url: edge.url, serve: { boards: [], env: file, files: {} } })
    const { findings } = await diagnose(`--data ${dir}`, {})
    expect(findings).toContain('ok redirect: It is configured (driver redirect).')
    expect(findings).toContain(`ok edge: ${edge.url} answers and accepts the token.`)
    const { payload } = await jwtVerify(tokens[0] ?? '', new TextEncoder().encode(SECRET))
    expect(payload).toMatchObject({ scope: 'payments:read payments:write' })
  })

  it('has gateways that the doctor does not ask for, though their variables are not set here', async () => {
    const file = {
      payments: {
        drivers: { acme: { ...DRIVERS.stripe, envPrefix: 'ACME_' } },
        gateways: { acme: { driver: 'acme' }, other: { driver: 'acme', env_prefix: 'OTHER_' } },
      },
    }
    await start({ ACME_SECRET_KEY: 'sk_test_acme', ACME_WEBHOOK_SECRET: 'whsec_acme' }, file)
    const { findings } = await diagnose(`--data ${dir}`, {}, file)
    const variables = 'ACME_SECRET_KEY, ACME_WEBHOOK_SECRET'
    expect(findings).toContain(
      `warn acme: The running system has it; its settings are not checked, since ${variables} is not set in this shell.`,
    )
    expect(findings).toContain(
      'ok other: It is left out: none of OTHER_SECRET_KEY, OTHER_WEBHOOK_SECRET is set.',
    )
    expect(findings.filter((it) => it.startsWith('error config'))).toEqual([])
  })

  it('is not started or changed by the doctor', async () => {
    await start()
    const empty = join(dir, 'empty')
    await mkdir(empty)
    const { code, err } = await run(`payments doctor --data ${empty}`)
    expect(code).toBe(2)
    expect(err).toContain('Signalbox is not running here: start it with signalbox.')
    expect(await readdir(empty)).toEqual([])
  })

  it('of another version is refused, and its values are not shown', async () => {
    await start()
    await writeFile(join(dir, 'local.json'), '{"tokens":{"payments":"a-token-of-somebody"')
    const { code, err } = await run(`payments doctor --data ${dir}`)
    expect([code, err.includes('a-token-of-somebody')]).toEqual([2, false])
  })
})
