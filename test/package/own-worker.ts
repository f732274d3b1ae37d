// A Worker of one's own: the package's examples/worker beside the installed package, deployed by
// wrangler as far as that goes without an account, and what it would upload, run by workerd.

import { createHmac } from 'node:crypto'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeServer, serve } from '../../local/simulator/node-server.ts'
import type { OpenedPayment } from '../../worker/payments/domain/transaction.ts'
import { type InstalledPackage, MACHINE, run } from '../support/installed-package.ts'
import { jsonOf } from '../support/json-of.ts'
import { PATIENT } from '../support/patience.ts'
import { PaymentSystem } from '../support/payment-system.ts'

const SECRET = 'acme-signing-secret'

export function ownWorker(installed: () => InstalledPackage): void {
  describe('a Worker of one’s own, made with the package', () => {
    let acme: NodeServer
    let system: PaymentSystem

    beforeAll(async () => {
      const { folder, dir } = installed()
      await cp(join(dir, 'examples/worker'), folder, { recursive: true })
      await symlink(resolve('node_modules/zod'), join(folder, 'node_modules/zod'))
      const deploy = ['deploy', '--dry-run', '--outdir', 'uploaded']
      const env = { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false' }
      await run(resolve('node_modules/.bin/wrangler'), deploy, { cwd: folder, env })

      const page = 'https://acme.example/pay/p-1'
      acme = await serve(0, () => Response.json({ id: 'p-1', page }, { status: 201 }))
      const home = await uploadedHome(folder)
      system = await PaymentSystem.start('workerd', home, acmeVariables(acme))
    })
    afterAll(async () => {
      await system?.[Symbol.asyncDispose]()
      await acme?.close()
    })

    it('charges by a driver of its own, and its listener hears of the payment', async () => {
      const reference = 'order-7'
      const charge = { gateway: 'acme', reference, amount: 1_250, currency: 'USD' }
      const more = { description: 'Two lamps', returnUrl: 'https://shop.test/back' }
      const made = await jsonOf<OpenedPayment>(
        await system.post('/charges', { ...charge, ...more }),
        201,
      )
      expect(made).toMatchObject({ status: 'Pending', redirectUrl: 'https://acme.example/pay/p-1' })

      const payment = { id: 'p-1', order: reference, state: 'paid', amount: 1_250, currency: 'USD' }
      const body = JSON.stringify({ event: 'e-1', payment })
      const time = String(Math.floor(Date.now() / 1_000))
      const signature = createHmac('sha256', SECRET).update(`${time}.${body}`).digest('hex')
      const headers = { 'acme-time': time, 'acme-signature': signature }
      const answer = await system.edge.fetch('/payments/webhooks/acme', {
        method: 'POST',
        headers,
        body,
      })
      expect([answer.status, await answer.text()]).toEqual([200, 'ok'])
      await expect
        .poll(() => system.log(), PATIENT)
        .toContain(`PaymentSucceeded ${reference}: 1250 USD`)
      expect(await system.story(made.transactionId)).toMatchObject({ status: 'Paid' })
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

const acmeVariables = ({ url }: NodeServer) => ({
  ACME_BASE_URL: url,
  ACME_API_KEY: 'key-1',
  ACME_SIGNING_SECRET: SECRET,
})

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
