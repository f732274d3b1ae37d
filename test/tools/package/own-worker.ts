// A Worker of one's own: the package's examples/worker beside the installed package, deployed by
// wrangler as far as that goes without an account, what it would upload, run by workerd, and the same
// in `wrangler dev`.

import { createHmac } from 'node:crypto'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startLibsql } from '../../../tools/harness/database.ts'
import type { OpenedPayment } from '../../../worker/payments/domain/types.ts'
import { type Edge, publishedRepo, SECRET, taskRecord, token } from '../../support/edge.ts'
import { serve, type TestServer } from '../../support/http.ts'
import { type InstalledPackage, MACHINE, run } from '../../support/installed-package.ts'
import { jsonOf } from '../../support/json-of.ts'
import { PATIENT } from '../../support/patience.ts'
import { PaymentSystem } from '../../support/payment-system.ts'
import { startWranglerDev, wranglerEnv } from '../../support/wrangler-dev.ts'

const SIGNING_SECRET = 'acme-signing-secret'
const WRANGLER = resolve('node_modules/.bin/wrangler')

export function ownWorker(installed: () => InstalledPackage): void {
  describe('a Worker of one’s own, made with the package', () => {
    let acme: TestServer
    let system: PaymentSystem

    beforeAll(async () => {
      const { folder, dir } = installed()
      await cp(join(dir, 'examples/worker'), folder, { recursive: true })
      // What `npm install` would put there, without asking a registry.
      for (const name of ['zod', 'wrangler', '.bin/wrangler']) {
        await symlink(resolve('node_modules', name), join(folder, 'node_modules', name))
      }
      const deploy = ['run', 'deploy', '--', '--dry-run', '--outdir', 'uploaded']
      await run('npm', deploy, { cwd: folder, env: { ...MACHINE, ...wranglerEnv(folder) } })

      const page = 'https://acme.example/pay/p-1'
      acme = await serve(() => Response.json({ id: 'p-1', page }, { status: 201 }))
      const home = await uploadedHome(folder)
      system = await PaymentSystem.start({ host: 'workerd', home, variables: acmeVariables(acme) })
    })
    afterAll(async () => {
      await system?.[Symbol.asyncDispose]()
      await acme?.close()
    })

    it('charges by a driver of its own, and its listener hears of the payment', async () => {
      const transactionId = await paidAtAcme(system.edge, 'order-7')
      await expect.poll(() => system.log(), PATIENT).toContain(heard('order-7'))
      expect(await system.story(transactionId)).toMatchObject({ status: 'Paid' })
    })

    it('runs in `wrangler dev`: a board with its stream, a payment, and the listener', async () => {
      const { folder } = installed()
      const database = await startLibsql()
      onTestFinished(() => database.close())
      const variables = {
        AUTH_SECRETS: SECRET,
        ...acmeVariables(acme),
        LIBSQL_URL: database.url,
        LIBSQL_AUTH_TOKEN: database.token,
      }
      const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}\n`)
      await writeFile(join(folder, '.dev.vars'), lines.join(''), { mode: 0o600 })
      const dev = await startWranglerDev(folder, WRANGLER)
      onTestFinished(() => dev.close())

      expect(await (await dev.fetch('/')).text()).toContain('/console/main-')
      const repo = await publishedRepo(dev, [taskRecord('A-1')])
      const stream = await (await repo.stream()).joined()
      await repo.changes({ upserts: [taskRecord('A-1', { title: 'Two' })] })
      await stream.until(({ messages }) => messages.length === 1)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
      expect(await repo.json('/tasks/A-1')).toMatchObject({ title: 'Two' })
      await stream.close()

      await paidAtAcme(dev, 'order-8')
      await expect.poll(() => dev.log(), PATIENT).toContain(heard('order-8'))
    })

    it('is known to the command line there, with its driver', async () => {
      const { folder, dir } = installed()
      const doctor = [join(dir, 'node/signalbox.js'), 'payments', 'doctor']
      const variables = { ...acmeVariables(acme), LIBSQL_URL: system.database.url }
      const env = { ...MACHINE, ...variables }
      const failed = await run(process.execPath, doctor, { cwd: folder, env }).catch(
        (error: { stdout: string }) => error,
      )
      expect(failed.stdout).toMatch(/^ok +acme +It is configured \(driver acme\)/m)
    })

    it('says where it runs when it is made anywhere else', async () => {
      const { folder } = installed()
      await writeFile(join(folder, 'elsewhere.js'), ELSEWHERE)
      const { stdout } = await run(process.execPath, ['elsewhere.js'], { cwd: folder })
      expect(stdout).toContain('runs only on Cloudflare Workers')
    })
  })
}

const acmeVariables = ({ url }: TestServer) => ({
  ACME_BASE_URL: url,
  ACME_API_KEY: 'key-1',
  ACME_SIGNING_SECRET: SIGNING_SECRET,
})

/** What the listener of examples/worker prints. */
const heard = (reference: string) => `PaymentSucceeded ${reference}: 1250 USD`

/** Charges an order, and sends the webhook of its payment as Acme does. */
async function paidAtAcme(edge: Edge, reference: string): Promise<string> {
  const charge = { gateway: 'acme', reference, amount: 1_250, currency: 'USD' }
  const more = { description: 'Two lamps', returnUrl: 'https://shop.test/back' }
  const Authorization = `Bearer ${await token({ scope: 'payments:write', repos: [] })}`
  const charged = await edge.fetch('/api/payments/charges', {
    method: 'POST',
    headers: { Authorization },
    body: JSON.stringify({ ...charge, ...more }),
  })
  const made = await jsonOf<OpenedPayment>(charged, 201)
  expect(made).toMatchObject({ status: 'Pending', redirectUrl: 'https://acme.example/pay/p-1' })

  const paid = { state: 'paid', amount: 1_250, currency: 'USD', refunded: 0 }
  const payment = { id: 'p-1', order: reference, ...paid }
  const body = JSON.stringify({ event: 'e-1', payment })
  const time = String(Math.floor(Date.now() / 1_000))
  const hmac = createHmac('sha256', SIGNING_SECRET)
  const signature = hmac.update(`${time}.${body}`).digest('hex')
  const headers = { 'acme-time': time, 'acme-signature': signature }
  const webhook = { method: 'POST', headers, body }
  const answer = await edge.fetch('/payments/webhooks/acme', webhook)
  expect([answer.status, await answer.text()]).toEqual([200, 'ok'])
  return made.transactionId
}

const ELSEWHERE = `import { signalbox } from 'signalbox/worker'
try { signalbox({}) } catch (error) { console.log(error.message) }
`

/** A folder whose Worker is what wrangler would upload. */
async function uploadedHome(folder: string): Promise<string> {
  const home = join(folder, 'home')
  await mkdir(home)
  const toml = await readFile(join(folder, 'wrangler.toml'), 'utf8')
  const uploaded = toml.replace('main = "index.ts"', 'main = "../uploaded/index.js"')
  await writeFile(join(home, 'wrangler.toml'), uploaded)
  return home
}
