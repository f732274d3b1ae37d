// What `npm start` promises and its runtime of the edge has a part in. What is the same with each is
// in test/e2e/supervision.test.ts.

import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findSecretFile } from '../../system/data/secret.ts'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import type { Task } from '../../worker/board/wire.ts'
import { editTask, retitle } from '../support/console-page.ts'
import { alone, type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import { signIn } from './console-session.ts'

const STRIPE = { STRIPE_SECRET_KEY: 'sk_test_hidden', STRIPE_WEBHOOK_SECRET: 'whsec_hidden' }
const EXAMPLE = ['LAMP-1', 'LAMP-2', 'LAMP-3', 'LAMP-4', 'LAMP-5', 'LAMP-6', 'LAMP-7']

export function localSystemContract(host: 'workerd' | 'deno'): void {
  describe(`a running system (${host})`, () => {
    const starts = new Starts()
    let start: Start
    beforeAll(async () => {
      const plan = { launch: alone, args: [`--host=${host}`], env: STRIPE }
      start = await (await starts.start(plan)).ready()
    })
    afterAll(() => starts.clear())

    it('prints one line when it is ready, and then everything answers', async () => {
      const { url, path, simulator, tokens } = await start.local()
      expect(start.readyLines).toEqual([`signalbox ready ${url}`])
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
      expect(path).toBe(start.storeDir)
      expect(Object.keys(tokens)).toEqual(['board', 'sidecar', 'agent', 'payments'])
      expect(await start.payments('/transactions')).toEqual({ transactions: [] })
      expect(await (await fetch(`${simulator}/health`)).text()).toBe('ok')
      const { tasks } = await start.json<{ tasks: Task[] }>('/tasks')
      expect(tasks.map(({ id }) => id)).toEqual(EXAMPLE)
      expect(start.stderr).toBe('')
    })

    it('serves the page, and the link that it prints signs a browser in, once', async () => {
      const { url, path } = await start.local()
      const [, link, code] = /^Open {2}(\S+#\/sign-in\/(\S+))$/m.exec(start.stdout) ?? []
      expect(link).toBe(`${url}/#/sign-in/${code}`)
      const page = await (await fetch(url)).text()
      const files = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, it]) => it)
      expect(files.length).toBeGreaterThan(1)
      for (const file of files) {
        const answer = await fetch(`${url}${file}`)
        expect(answer.status, file).toBe(200)
        expect((await answer.text()).length, file).toBeGreaterThan(0)
      }
      const edge = {
        origin: url,
        fetch: (route: string, init?: RequestInit) => fetch(`${url}${route}`, init),
      }
      const repos = [path, `${path}/*`, `${path}#*`]
      expect(await signIn(edge, { code })).toMatchObject({ status: 201, json: { repos } })
      expect(await signIn(edge, { code })).toMatchObject({ status: 401 })
    })

    it('writes files that only their owner can read', async () => {
      const names = await readdir(start.dataDir, { recursive: true })
      expect(names).toContain('local.json')
      const open = await Promise.all(
        ['', ...names].map(async (name) => {
          // Some files of a database come and go.
          const mode = (await stat(join(start.dataDir, name)).catch(() => undefined))?.mode ?? 0
          return (mode & 0o077) === 0 ? [] : [name]
        }),
      )
      expect(open.flat()).toEqual([])
    })

    it('shows no secret in the list of processes', async () => {
      const env = { HOME: process.env.HOME }
      const file = await findSecretFile({ dataDir: start.dataDir, trustsData: false, env })
      const secret = (await readFile(file ?? '', 'utf8')).trim()
      const { tokens, gateways, databaseToken } = await start.local()
      const commands = (await start.children()).map(({ command }) => command).join('\n')
      const shown = [
        databaseToken,
        ...Object.values(tokens),
        gateways.redirect?.api_key ?? 'no key',
      ]
      for (const hidden of [secret, ...shown, ...Object.values(STRIPE)]) {
        expect(commands).not.toContain(hidden)
      }
    })

    it('prints what its gateways are, and what became of a payment', async () => {
      const { simulator } = await start.local()
      expect(start.stdout).toContain(`
gateways    redirect: simulated (${simulator})
            fib: simulated (${simulator})
            stripe: real (https://api.stripe.com)
            mollie: simulated (${simulator})
`)
      const { gatewayTransactionId = '' } = await start.charge('order-1')
      await new SimulatorControl(simulator).act(gatewayTransactionId, 'expire')
      const line = '\nPaymentCancelled order-1: Expired\n'
      await expect.poll(() => start.stdout, PATIENT).toContain(line)
    })

    it('has books, compares a settlement file with them, and finds a payment', async () => {
      const { simulator } = await start.local()
      const { gatewayTransactionId: id } = await start.charge('order-booked')
      await new SimulatorControl(simulator).act(id, 'pay')
      const booked = () => start.payments<{ movements: object[] }>('/movements')
      const paid = { kind: 'paid', reference: 'order-booked', amountMinor: 25_000 }
      await expect
        .poll(async () => (await booked()).movements, PATIENT)
        .toEqual([expect.objectContaining(paid)])
      const row = { type: 'payment', currency: 'IQD' }
      const rows = [
        { ...row, id, amount: 25_000 },
        { ...row, id: 'nobody', amount: 1 },
      ]
      expect(await start.payments('/reconcile', { gateway: 'redirect', rows })).toMatchObject({
        rows: [{ as: 'same' }, { as: 'not_ours' }],
      })
      expect(await start.payments('/transactions?q=%23DER%20BOOK&amount=25000')).toMatchObject({
        transactions: [{ reference: 'order-booked' }],
      })
    })

    it('sends a saved task to a client', async () => {
      const stream = await (await start.stream()).joined()
      await editTask(start, 'LAMP-4', retitle('Wake up to a lamp'))
      await stream.until(({ messages }) => messages.length === 1)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'LAMP-4' }])
      expect(await start.title('LAMP-4')).toBe('Wake up to a lamp')
      await stream.close()
    })

    it('loses no change while the edge is dead, and a client catches up by id', async () => {
      const { url } = await start.local()
      // The change may be told before the edge dies, and is after this id all the same.
      const { lastId } = await (await start.stream()).joined()
      const back = start.killAndWait(host)
      await editTask(start, 'LAMP-6', retitle('Saved without an edge'))
      await back
      await expect.poll(() => start.title('LAMP-6'), PATIENT).toBe('Saved without an edge')
      expect((await start.local()).url).toBe(url)
      const resumed = await start.stream(lastId)
      await resumed.until(({ messages }) => messages.length > 0)
      expect(resumed.messages).toEqual([{ type: 'task-changed', id: 'LAMP-6' }])
      await resumed.close()
    })

    it('ends by SIGTERM with exit code 0, even under open streams; no process and no local.json stays', async () => {
      const stream = await (await start.stream()).joined()
      const names = (await start.children()).map(({ name }) => name).filter((it) => it !== 'tie')
      expect(names.toSorted((a, b) => a.localeCompare(b))).toEqual(
        [host, 'sidecar', 'simulator', 'sqld'].toSorted((a, b) => a.localeCompare(b)),
      )
      start.process.kill('SIGTERM')
      expect(await start.ended).toEqual({ code: 0, signal: null })
      expect(await start.survivors()).toEqual([])
      await expect(start.local()).rejects.toMatchObject({ code: 'ENOENT' })
      await stream.close()
    })
  })
}
