import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redirect } from '../../simulator/redirect.ts'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import type { Transaction } from '../../worker/payments/domain/types.ts'
import { run } from '../cli/run.ts'
import { BREAKING_ORDER } from '../fixtures/thread-that-breaks.ts'
import {
  fromSources,
  MADE,
  oneProcess,
  type Start,
  type StartPlan,
  Starts,
} from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { tempFolder } from '../support/temp-folder.ts'

const THREAD_THAT_BREAKS = new URL('../fixtures/thread-that-breaks.ts', import.meta.url).href

const starts = new Starts()
/** As the package has it: the first is from the sources, and builds its page. */
const start = (plan: StartPlan = {}) => starts.start({ launch: oneProcess, ...plan })

async function saveTitle({ storeDir }: Start, id: string, title: string): Promise<void> {
  const tasks = join(storeDir, '.cairn/tasks')
  const text = await readFile(join(tasks, `${id}.md`), 'utf8')
  await writeFile(join(tasks, `.tmp-${id}`), text.replace(/^title: .*$/m, `title: ${title}`))
  await rename(join(tasks, `.tmp-${id}`), join(tasks, `${id}.md`))
}

const statusOf = async (system: Start, id: string): Promise<string> =>
  (await system.payments<Transaction>(`/transactions/${id}`)).status

/** Variables of gateways without their credentials. */
const OPTIONAL = {
  REDIRECT_GATEWAY_FAILURE_URL: 'https://shop.example/not-paid',
  STRIPE_CANCEL_URL: 'https://shop.example/cart',
  FIB_EXPIRES_IN: 'PT10M',
}

describe('signalbox in a project', () => {
  let system: Start
  let opened: string
  beforeAll(async () => {
    const bin = tempFolder()
    opened = join(bin, 'opened')
    const browser = `#!/bin/sh\necho "$1" > '${opened}'\n`
    for (const name of ['xdg-open', 'open'])
      await writeFile(join(bin, name), browser, { mode: 0o755 })
    const env = { PATH: `${bin}${delimiter}${process.env.PATH}`, ...OPTIONAL }
    system = await (await start({ launch: fromSources, args: ['--open'], env })).ready()
  })
  afterAll(() => starts.clear())

  it('says what it found, opens the browser, and everything answers in one process', async () => {
    const { url, simulator } = await system.local()
    expect(system.stdout).toContain(`board       ${system.storeDir} (cairn, 7 tasks)`)
    expect(system.readyLines).toEqual([`signalbox ready ${url}`])
    const [, link] = /^Open {2}(\S+#\/sign-in\/\S+)$/m.exec(system.stdout) ?? []
    expect(link).toContain(`${url}/#/sign-in/`)
    const browserGot = () => readFile(opened, 'utf8').catch(() => '')
    await expect.poll(browserGot, PATIENT).toBe(`${link}\n`)
    expect(await (await fetch(url)).text()).toContain('/console/main-')
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: 'ok' })
    expect(await (await fetch(`${simulator}/health`)).text()).toBe('ok')
    expect(await system.children()).toEqual([])
    expect(system.stderr).toMatch(new RegExp(`^${MADE}$`))
  })

  it('sends a saved task to a client', async () => {
    const stream = await (await system.stream()).joined()
    await saveTitle(system, 'LAMP-4', 'Wake up to a lamp')
    await stream.until(({ messages }) => messages.length === 1)
    expect(stream.messages).toEqual([{ type: 'task-changed', id: 'LAMP-4' }])
    expect(await system.json('/tasks/LAMP-4')).toMatchObject({ title: 'Wake up to a lamp' })
    await stream.close()
  })

  it('takes a charge to the simulated gateway, whose webhook makes it Paid', async () => {
    const { transactionId, gatewayTransactionId } = await system.charge('order-1')
    const simulator = new SimulatorControl((await system.local()).simulator)
    await simulator.act(gatewayTransactionId ?? '', 'pay')
    expect(await statusOf(system, transactionId)).toBe('Paid')
    // The listener of signalbox.config.ts prints to the terminal.
    await expect.poll(() => system.stdout, PATIENT).toContain('PaymentSucceeded order-1: 25000 IQD')
  })

  it('warns in /healthz, which stays 200, while every webhook is refused as stale', async () => {
    const { url, simulator, gateways } = await system.local()
    const key = gateways?.redirect?.api_key ?? ''
    const amount = { currency: 'IQD', value: 1_000 }
    const data = { transactionId: 'gt-old', currentStatus: 'SUCCESS', orderId: 'old', amount }
    const timestamp = new Date(Date.now() - 3_600_000).toISOString()
    for (const eventId of ['old-1', 'old-2', 'old-3']) {
      const content = { eventType: 'STATUS_CHANGED', eventId, timestamp, data }
      const sent = await redirect.webhooks.encode({ content }, key)
      const answer = await fetch(`${url}/payments/webhooks/redirect`, { method: 'POST', ...sent })
      expect([answer.status, await answer.text()]).toEqual([400, 'stale'])
    }
    const healthz = async () => {
      const answer = await fetch(`${url}/healthz`)
      return [answer.status, await answer.json()]
    }
    const warnings = [expect.stringMatching(/^The last 3 webhooks were refused as stale/)]
    expect(await healthz()).toEqual([200, { status: 'ok', warnings }])
    const { gatewayTransactionId } = await system.charge('card-fresh')
    await new SimulatorControl(simulator).act(gatewayTransactionId ?? '', 'pay')
    expect(await healthz()).toEqual([200, { status: 'ok' }])
  })

  it('prints how payments end, refunds and alerts', async () => {
    const simulator = new SimulatorControl((await system.local()).simulator)
    const act = async (reference: string, ...actions: Parameters<typeof simulator.act>[1][]) => {
      const { gatewayTransactionId = '' } = await system.charge(reference)
      for (const action of actions) await simulator.act(gatewayTransactionId, action)
    }
    await act('failed', 'fail', 'pay_late')
    await act('expired', 'expire')
    await act('refunded', 'pay', 'refund')
    for (const line of [
      'PaymentFailed failed: Insufficient balance.',
      'AlertRaised failed: late_payment',
      'PaymentCancelled expired: Expired',
      'PaymentRefunded refunded: 25000 IQD',
    ]) {
      await expect.poll(() => system.stdout, PATIENT).toContain(`\n${line}\n`)
    }
  })

  it('leads a payer who does not pay back, as the optional variables of the gateways say', async () => {
    const { simulator } = await system.local()
    for (const key of ['redirect', 'fib', 'stripe']) {
      expect(system.stdout).toContain(` ${key}: simulated (${simulator})\n`)
    }
    const returnUrl = 'https://shop.example/orders/1'
    const back = async (page: string | undefined, action: string) => {
      const init = {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams({ action }),
      } as const
      return (await fetch(page ?? '', init)).headers.get('location')?.replace(/\?token=.*/, '')
    }
    for (const action of ['fail', 'cancel', 'expire']) {
      const { redirectUrl } = await system.charge(`unpaid-${action}`, { returnUrl })
      expect(await back(redirectUrl, action)).toBe('https://shop.example/not-paid')
      const bank = await system.charge(`bank-${action}`, { gateway: 'fib', returnUrl })
      expect(await back(bank.deepLink, action)).toBe(returnUrl)
      expect(Date.parse(bank.expiresAt ?? '') - Date.now()).toBeLessThan(11 * 60_000)
    }
    const dollars = { gateway: 'stripe', amount: 1_250, currency: 'USD', returnUrl }
    for (const action of ['cancel', 'expire']) {
      const { redirectUrl } = await system.charge(`card-${action}`, dollars)
      expect(await back(redirectUrl, action)).toBe('https://shop.example/cart')
    }
  })

  it('is found by the other commands through its data folder', async () => {
    const data = ['--data', system.dataDir]
    expect(await run(['sign-in', ...data])).toMatchObject({ code: 0, err: '' })
    expect(await run(['doctor', system.storeDir, ...data])).toMatchObject({ code: 0 })
    const checked = await run(['payments', 'doctor', ...data, '--json'])
    const { findings } = JSON.parse(checked.out) as { findings: object[] }
    expect(findings).toContainEqual(expect.objectContaining({ about: 'schema', level: 'ok' }))
  })

  it('keeps a second process off its data folder, and git away from it', async () => {
    const second = await start({ dataDir: system.dataDir })
    expect(await second.ended).toEqual({ code: 2, signal: null })
    expect(second.stderr).toBe(
      `signalbox: Signalbox already runs here at ${(await system.local()).url} ` +
        `(pid ${system.process.pid}): ` +
        `signalbox sign-in prints a link to it. The data folder is ${system.dataDir}.\n`,
    )
    expect(await readFile(join(system.dataDir, '.gitignore'), 'utf8')).toBe('*\n')
  })

  it('has lost nothing when it is killed and started again', async () => {
    const stream = await (await system.stream()).joined()
    const { transactionId } = await system.charge('order-2')
    const { url, simulator } = await system.local()
    system.process.kill('SIGKILL')
    await system.ended
    await saveTitle(system, 'LAMP-5', 'Saved in between')
    const { storeDir, dataDir } = system
    const env = { NODE_OPTIONS: `--import=${THREAD_THAT_BREAKS}` }
    system = await (await start({ storeDir, dataDir, env, port: 'last' })).ready()
    expect(await system.local()).toMatchObject({ url, simulator })
    expect(await statusOf(system, transactionId)).toBe('Pending')
    const resumed = await system.stream(stream.lastId)
    await resumed.until(({ messages }) => messages.length > 0)
    expect(resumed.messages).toEqual([{ type: 'task-changed', id: 'LAMP-5' }])
    await resumed.close()
  })

  it('ends with exit code 1 when the thread of its database breaks, and goes on with all rows', async () => {
    await system.charge('order-3')
    // It is stored, and nobody can say so any more.
    await expect(system.charge(BREAKING_ORDER)).rejects.toThrow('fetch failed')
    expect(await system.ended).toEqual({ code: 1, signal: null })
    expect(system.stderr).toContain('The thread broke')
    const { storeDir, dataDir } = system
    system = await (await start({ storeDir, dataDir })).ready()
    await system.charge('order-4')
    const { transactions } = await system.payments<{ transactions: Transaction[] }>('/transactions')
    const shown = transactions.filter(({ reference }) => !/^(unpaid|bank|card)-/.test(reference))
    // biome-ignore format: several rows a line.
    expect(shown).toMatchObject([
      { reference: 'order-4' }, { reference: BREAKING_ORDER, status: 'Pending' },
      { reference: 'order-3' }, { reference: 'order-2' }, { reference: 'refunded' },
      { reference: 'expired' }, { reference: 'failed' }, { reference: 'order-1', status: 'Paid' },
    ])
  })

  it('ends by SIGTERM with exit code 0: what was saved is published, streams end', async () => {
    const stream = await (await system.stream()).joined()
    await saveTitle(system, 'LAMP-6', 'Saved at the end')
    system.process.kill('SIGTERM')
    expect(await system.ended).toEqual({ code: 0, signal: null })
    await expect.poll(() => system.stdout, PATIENT).toMatch(/Ended\.\n$/)
    await expect.poll(() => stream.ended, PATIENT).toBe(true)
    expect(stream.messages).toEqual([{ type: 'task-changed', id: 'LAMP-6' }])
    await expect(system.local()).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('signalbox without a board', () => {
  let folder: string
  beforeAll(() => {
    folder = tempFolder()
  })
  afterEach(() => starts.clear())

  it('names the layouts that it knows, and both ways without one, with exit code 2', async () => {
    const refused = await start({ storeDir: folder })
    expect(await refused.ended).toEqual({ code: 2, signal: null })
    expect(refused.stderr).toMatch(/^signalbox: There is no task board in [^\n]+\n$/)
    for (const name of ['cairn', 'Backlog.md', 'Task Master', '--example', '--no-board']) {
      expect(refused.stderr).toContain(name)
    }
    expect(await readdir(folder)).toEqual([])
  })

  it('runs payments alone with --no-board, and its tokens are for payments only', async () => {
    const system = await (await start({ storeDir: folder, args: ['--no-board'] })).ready()
    expect(system.stdout).toContain('board       none, payments alone\n')
    expect(system.stdout).not.toContain('/api/events')
    const { path, tokens, simulator } = await system.local()
    expect(path).toBe(folder)
    expect(Object.keys(tokens)).toEqual(['payments'])
    expect(decodeJwt(tokens.payments)).toMatchObject({ repos: [folder] })
    const { transactionId, gatewayTransactionId } = await system.charge('order-1')
    await new SimulatorControl(simulator).act(gatewayTransactionId ?? '', 'pay')
    expect(await statusOf(system, transactionId)).toBe('Paid')
    const data = ['--data', system.dataDir]
    expect(await run(['sign-in', ...data])).toMatchObject({ code: 0, err: '' })
    const checked = await run(['doctor', ...data])
    expect(checked).toMatchObject({ code: 0, err: '' })
    expect(checked.out).toMatch(/^ok {5}board .*None: the running signalbox has payments alone\.$/m)
    expect(await readdir(folder)).toEqual([])
  })

  it('makes the example once, and starts on it', async () => {
    const args = ['--example']
    const first = await (await start({ storeDir: folder, args })).ready()
    expect(first.stdout).toContain('signalbox-example (cairn, 7 tasks)')
    const task = join(folder, 'signalbox-example/.cairn/tasks/LAMP-4.md')
    await writeFile(task, '---\ntitle: Mine\nstatus: todo\n---\n')
    first.process.kill('SIGTERM')
    await first.ended
    const second = await (await start({ storeDir: folder, args })).ready()
    expect(await second.json('/tasks/LAMP-4')).toMatchObject({ title: 'Mine' })
  })
})
