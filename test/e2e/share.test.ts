// A system on the local network, over real https, as its own process and as those of `npm start`.

import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { findSecretFile } from '../../system/data/secret.ts'
import { lanAddresses } from '../../system/local/share.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { run } from '../cli/run.ts'
import { editTask, retitle } from '../support/console-page.ts'
import { EventStream } from '../support/event-stream.ts'
import { oneProcess, type Start, type StartPlan, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { type PinnedFetch, pinnedFetch } from '../support/pinned-https.ts'

const isConnected = lanAddresses().length > 0
const whySkipped = isConnected ? '' : ' (skipped: this machine is in no local network)'

const certificateOf = async ({ dataDir }: Start): Promise<string> => {
  const env = { HOME: process.env.HOME }
  const secret = await findSecretFile({ dataDir, trustsData: false, env })
  return await readFile(join(dirname(secret ?? ''), 'certificate.pem'), 'utf8')
}

/** Opens the printed link as a phone's browser does. */
async function codeOf(fetch: PinnedFetch, link: string): Promise<string> {
  const answer = await fetch(new URL(link).pathname)
  expect(answer.status).toBe(302)
  return (answer.headers.get('location') ?? '').replace('/#/sign-in/', '')
}

const HOSTS: [name: string, plan: StartPlan][] = [
  ['signalbox', { launch: oneProcess }],
  ['npm start', {}],
]

describe.skipIf(!isConnected).each(HOSTS)(`%s --share${whySkipped}`, (name, plan) => {
  const starts = new Starts()
  let system: Start
  let origin: string
  let fetch: PinnedFetch
  beforeAll(async () => {
    system = await (await starts.start({ ...plan, args: ['--share=payments'] })).ready()
    const { shared } = await system.local()
    origin = shared?.urls[0] ?? ''
    fetch = pinnedFetch(origin, await certificateOf(system))
  })
  afterAll(() => starts.clear())

  const printedLink = (text: string) => /^ {2}(https:\S+\/sign-in\/\S+)$/m.exec(text)?.[1] ?? ''
  const signIn = (code: string, headers: Record<string, string> = {}) =>
    fetch('/api/session', {
      method: 'POST',
      headers: { origin, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ code }),
    })

  it('prints the link, a picture of it, and what the browser will ask, with the fingerprint', async () => {
    const { shared } = await system.local()
    await expect.poll(() => system.stdout).toContain(`\n  ${shared?.fingerprint}\n`)
    expect(printedLink(system.stdout)).toContain(`${origin}/sign-in/`)
    expect(system.stdout).toMatch(/^ {2}[█▀▄ ]{30,40}$/m)
    expect(system.stdout).toContain('does not know this certificate')
    expect(system.stdout).not.toContain('\x1b')
    // The signed link of this machine stays what it was.
    expect(system.stdout).toMatch(/^Open {2}http:\/\/127\.0\.0\.1:\d+\/#\/sign-in\//m)
  })

  it('signs one phone in, once; the session reads, streams and writes over https', async () => {
    const code = await codeOf(fetch, printedLink(system.stdout))
    const signedIn = await signIn(code)
    expect(signedIn.status).toBe(201)
    const [cookie = ''] = signedIn.headers.getSetCookie()
    expect(cookie).toMatch(/^__Host-signalbox=.*; Secure/)
    const again = await signIn(await codeOf(fetch, printedLink(system.stdout)))
    expect([again.status, await again.json()]).toMatchObject([401, { code: 'code_spent' }])

    const headers = { cookie: cookie.split(';')[0] ?? '' }
    expect(await (await fetch('/api/tasks', { headers })).json()).toHaveProperty('tasks')
    const stream = await new EventStream(await fetch('/api/events', { headers })).joined()
    await editTask(system, 'LAMP-4', retitle('Seen over https'))
    await stream.until(({ messages }) => messages.length > 0)
    expect(stream.messages).toEqual([{ type: 'task-changed', id: 'LAMP-4' }])
    await stream.close()

    const charge = { gateway: 'redirect', reference: 'phone-1', amount: 25_000, currency: 'IQD' }
    const body = JSON.stringify({ ...charge, description: 'A lamp' })
    const post = (from: string) =>
      fetch('/api/payments/charges', {
        method: 'POST',
        body,
        headers: { ...headers, origin: from, 'content-type': 'application/json' },
      })
    expect((await post('https://evil.example')).status).toBe(403)
    expect((await post(origin)).status).toBe(201)
  })

  it('leads payers to the payment page over https, and refuses foreign hosts there', async () => {
    const { redirectUrl = '', transactionId } = await system.charge('phone-2')
    const page = new URL(redirectUrl)
    expect(page.hostname).toBe(new URL(origin).hostname)
    const there = pinnedFetch(page.origin, await certificateOf(system))
    expect(await (await there(page.pathname)).text()).toContain('25,000 IQD')
    const press = (headers: Record<string, string>) =>
      there(page.pathname, { method: 'POST', body: 'action=pay', headers })
    const foreign: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: new URL(origin).host },
      { origin: 'https://evil.example' },
      { origin },
      { origin: page.origin.replace('https', 'http') },
      { host: '127.0.0.1' },
    ]
    for (const headers of foreign) expect((await press(headers)).status).toBeOneOf([403, 421])
    expect((await there('/_control/payments')).status).toBe(404)
    const status = async () => {
      const { status } = await system.payments<{ status: string }>(`/transactions/${transactionId}`)
      return status
    }
    expect(await status()).toBe('Pending')
    expect((await press({ origin: page.origin })).status).toBeLessThan(400)
    await expect.poll(status).toBe('Paid')
  })

  it('prints a code for another phone', async () => {
    const printed = await run(['sign-in', '--phone', '--data', system.dataDir])
    expect(printed).toMatchObject({ code: 0, err: '' })
    expect((await signIn(await codeOf(fetch, printedLink(printed.out)))).status).toBe(201)
  })

  // Both choose addresses and keep the certificate in the same way.
  const next = 'keeps its certificate and address for the next start, and is then on loopback alone'
  it.runIf(name === 'signalbox')(next, async () => {
    const { shared } = await system.local()
    system.process.kill('SIGTERM')
    expect((await system.ended).code).toBe(0)
    await expect(fetch('/')).rejects.toThrow('ECONNREFUSED')
    const { storeDir, dataDir } = system
    const again = { ...plan, storeDir, dataDir, args: ['--share=lines'] }
    const alone = await (await starts.start(again)).ready()
    const { shared: none, url, simulator } = await alone.local()
    expect(none).toBeUndefined()
    await expect.poll(() => alone.stdout).toContain(`-L ${new URL(url).port}:127.0.0.1:`)
    expect(alone.stdout).toContain(`-L ${new URL(simulator).port}:127.0.0.1:`)
    await expect(fetch('/')).rejects.toThrow('ECONNREFUSED')
    const { redirectUrl } = await alone.charge('alone')
    expect(redirectUrl).toContain(simulator)
    const refused = await run(['sign-in', '--phone', '--data', dataDir])
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain('start Signalbox with --share')
    alone.process.kill('SIGTERM')
    await alone.ended

    // Not beside a port that the system gave: it may have given the next one, too.
    const port = await freePort()
    const shares = { ...plan, storeDir, dataDir, args: ['--share', `--port=${port}`] }
    const third = await (await starts.start(shares)).ready()
    expect((await third.local()).shared).toEqual({
      fingerprint: shared?.fingerprint,
      urls: shared?.urls.map((it) => it.replace(/\d+$/, String(port + 1))),
    })
    third.process.kill('SIGTERM')
    await third.ended
  })
})

it.skipIf(!isConnected)(
  `signalbox --share counts the days of its certificate${whySkipped}`,
  async () => {
    const starts = new Starts()
    onTestFinished(() => starts.clear())
    const port = await freePort()
    const plan = { launch: oneProcess, args: ['--share'], env: { METRICS_PORT: String(port) } }
    await (await starts.start(plan)).ready()
    const name = 'signalbox_certificate_end_timestamp_seconds'
    const read = async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
      return Number(RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]) - Date.now() / 1_000
    }
    const year = 365 * 86_400
    await expect.poll(read, PATIENT).toBeGreaterThan(year - 3_600)
    expect(await read()).toBeLessThan(year + 60)
  },
)
