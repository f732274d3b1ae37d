// The README with the installed package, as a person does what it says: `npx signalbox` in a folder
// with a board, the charge by curl, and the shop in ten lines.

import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../tools/harness/free-port.ts'
import { CURRENT, type InstalledPackage, run } from '../support/installed-package.ts'
import { PATIENT } from '../support/patience.ts'
import { type Program, startProgram } from '../support/program.ts'
import { listening } from '../support/shop-folder.ts'

export function packageReadme(installed: () => InstalledPackage): void {
  describe('the README', () => {
    let folder: string
    let charge: string
    let system: Program
    let shop: Program
    let shopUrl: string

    const inShell = (command: string) =>
      startProgram(['/bin/sh', '-c', command], { cwd: folder, env: CURRENT })
    const prints = (program: Program, text: string | RegExp) =>
      vi.waitFor(() => expect(program.output).toMatch(text), PATIENT)

    beforeAll(async () => {
      const { dir } = installed()
      folder = join(installed().folder, 'shop')
      await mkdir(folder)
      await cp(join(dir, 'examples/board/.cairn'), join(folder, '.cairn'), { recursive: true })
      await symlink(
        resolve('node_modules/express'),
        join(installed().folder, 'node_modules/express'),
      )

      // Each test run has ports of its own; all else is as it stands there.
      const [edge, own] = [await freePort(), await freePort()]
      shopUrl = `http://127.0.0.1:${own}`
      const readme = (await readFile(join(dir, 'README.md'), 'utf8'))
        .replaceAll('http://127.0.0.1:8787', `http://127.0.0.1:${edge}`)
        .replaceAll('http://127.0.0.1:3000', shopUrl)
        .replaceAll('shop.listen(3000)', `shop.listen(${own})`)
      const code = Array.from(readme.matchAll(/^```(?:sh|js)\n(.*?)\n```$/gms), ([, it = '']) => it)
      const blockOf = (part: string) => code.find((block) => block.includes(part)) ?? ''
      charge = blockOf('curl')
      await writeFile(join(folder, 'shop.mjs'), blockOf('handleEvents'))
      // npx looks the command up in node_modules/.bin.
      const bin = join(installed().folder, 'node_modules/.bin/signalbox')
      const start = blockOf('PAYMENT_EVENTS_URL').replace('npx signalbox', `exec ${bin}`)
      system = inShell(`${start} --port ${edge}`)
      await prints(system, 'Ctrl-C ends')
      const [, startShop = ''] = blockOf('node shop.mjs').split('&&')
      shop = inShell(`exec ${startShop}`)
      await listening(shop, String(own))
    })
    afterAll(async () => {
      await shop?.stop()
      await system?.stop('SIGINT')
    })

    /** Presses Pay on the page of the simulated gateway. */
    const pay = (page: string) =>
      fetch(page, { method: 'POST', body: 'action=pay', redirect: 'manual' })

    it('has a shop that charges on a visit and has the event of a payment, once', async () => {
      const visit = await fetch(shopUrl, { redirect: 'manual' })
      const payPage = visit.headers.get('location') ?? ''
      expect(await (await fetch(payPage)).text()).toContain('25,000')
      await pay(payPage)
      await prints(shop, /^paid: [\da-f-]{36}\n$/)
      const [, reference] = /^paid: (\S+)/.exec(shop.output) ?? []
      await prints(system, `PaymentSucceeded ${reference}: 25000 IQD`)
    })

    it('has the command that the terminal prints, whose payment is paid by a press', async () => {
      expect(system.output.replaceAll(/^ {2}/gm, '')).toContain(charge)
      const { stdout } = await run('/bin/sh', ['-c', charge], { cwd: folder, env: CURRENT })
      const { redirectUrl } = JSON.parse(stdout) as { redirectUrl: string }
      await pay(redirectUrl)
      await prints(system, 'PaymentSucceeded order-1: 25000 IQD')
      await prints(shop, /^paid: order-1$/m)
      expect(shop.output.match(/^paid: /gm)).toHaveLength(2)
    })
  })
}
