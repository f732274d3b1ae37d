// What README.md and docs/shop.md say of a shop, with the installed package, as a person does it: line
// by line, from the one that installs it to an empty folder. Changed are only ports, and where the
// packed file and Express come from.

import { readFile, writeFile } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../../tools/harness/free-port.ts'
import { CURRENT, type InstalledPackage, run } from '../../support/installed-package.ts'
import { PATIENT } from '../../support/patience.ts'
import { type Program, startProgram } from '../../support/program.ts'
import { listening } from '../../support/shop-folder.ts'
import { tempFolder } from '../../support/temp-folder.ts'

/** Neither asks the network for what is there. */
const QUIET = { npm_config_prefer_offline: 'true', npm_config_audit: 'false' }

/** The environment of a machine whose global packages are in this folder, and nowhere else. */
const machineIn = (folder: string): NodeJS.ProcessEnv => ({
  ...CURRENT,
  ...QUIET,
  npm_config_prefix: folder,
  PATH: `${join(folder, 'bin')}${delimiter}${CURRENT.PATH}`,
})

/** A document in the hands of its reader. */
class Reader {
  readonly folder: string
  readonly shopUrl: string
  readonly #port: number
  readonly #shopPort: number
  readonly #env: NodeJS.ProcessEnv
  readonly #blocks: readonly string[]
  readonly #programs: Program[] = []

  private constructor(
    folder: string,
    env: NodeJS.ProcessEnv,
    ports: [edge: number, shop: number],
    text: string,
  ) {
    this.folder = folder
    this.#env = env
    ;[this.#port, this.#shopPort] = ports
    this.shopUrl = `http://127.0.0.1:${this.#shopPort}`
    const own = text
      .replaceAll(/http:\/\/127\.0\.0\.1:8787\b/g, `http://127.0.0.1:${this.#port}`)
      .replaceAll(/http:\/\/127\.0\.0\.1:3000\b/g, this.shopUrl)
      .replaceAll('shop.listen(3000)', `shop.listen(${this.#shopPort})`)
    this.#blocks = Array.from(own.matchAll(/^```(?:sh|js)\n(.*?)\n```$/gms), ([, it = '']) => it)
  }

  /** In an empty folder. */
  static async of(page: string, { dir, folder }: InstalledPackage): Promise<Reader> {
    const text = (await readFile(join(dir, page), 'utf8'))
      // A signal for the shell is one for its last command.
      .replaceAll(/\b(signalbox --no-board|node shop[./])/g, 'exec $1')
      .replaceAll('/signalbox" express', `/signalbox" ${EXPRESS}`)
    const ports: [number, number] = [await freePort(), await freePort()]
    const empty = tempFolder()
    return new Reader(empty, machineIn(join(folder, 'global')), ports, text)
  }

  /** The block of code that contains this. */
  block(part: string | RegExp): string {
    const isIt = (it: string) => (typeof part === 'string' ? it.includes(part) : part.test(it))
    const found = this.#blocks.find(isIt)
    if (found === undefined) throw new Error(`There is no block with ${part}.`)
    return found
  }

  run(lines: string): Program {
    const env = { ...this.#env, PORT: String(this.#shopPort) }
    const program = startProgram(['/bin/sh', '-ec', lines], { cwd: this.folder, env })
    this.#programs.push(program)
    return program
  }

  /** Signalbox, by these lines. The first start is at a port of this reader. */
  async start(lines: string): Promise<Program> {
    const system = this.run(this.#programs.length === 0 ? `${lines} --port ${this.#port}` : lines)
    await prints(system, 'Ctrl-C ends')
    return system
  }

  async shop(lines: string): Promise<Program> {
    const shop = this.run(lines)
    await listening(shop, String(this.#shopPort))
    return shop
  }

  async done(): Promise<void> {
    for (const program of this.#programs) await program.stop('SIGINT')
  }
}

const EXPRESS = resolve('node_modules/express')

const prints = (program: Program, text: string | RegExp) =>
  vi.waitFor(() => expect(program.output).toMatch(text), PATIENT)

/** Presses Pay on the page of the simulated gateway. */
const pay = (page: string) =>
  fetch(page, { method: 'POST', body: 'action=pay', redirect: 'manual' })

export function packageReadme(installed: () => InstalledPackage): void {
  beforeAll(async () => {
    const { dir, folder, tarball } = installed()
    const readme = await readFile(join(dir, 'README.md'), 'utf8')
    const [, line = ''] =
      /^npm ci && npm run build:package && (npm install .*)$/m.exec(readme) ?? []
    const install = line.replace('./dist/signalbox.tgz', tarball)
    await run('/bin/sh', ['-c', install], { cwd: folder, env: machineIn(join(folder, 'global')) })
  })

  describe('the README, from an empty folder', () => {
    let reader: Reader
    let system: Program
    beforeAll(async () => {
      reader = await Reader.of('README.md', installed())
    })
    afterAll(() => reader?.done())

    it('has a start without a board, and the charge that it prints, paid by a press', async () => {
      system = await reader.start(reader.block(/signalbox --no-board$/))
      const charge = reader.block('curl')
      // It names another order each time.
      const printed = system.output.replaceAll(/^ {2}/gm, '').replace("'$(date +%s)'", '1')
      expect(printed).toContain(charge)
      const charging = reader.run(charge)
      await charging.ended
      const { redirectUrl } = JSON.parse(charging.output) as { redirectUrl: string }
      await pay(redirectUrl)
      await prints(system, 'PaymentSucceeded order-1: 25000 IQD')
    })

    it('has a shop that charges on a visit and has the event of a payment, once', async () => {
      await system.stop('SIGINT')
      await writeFile(join(reader.folder, 'shop.mjs'), reader.block('handleEvents'))
      system = await reader.start(reader.block('PAYMENT_EVENTS_URL'))
      const shop = await reader.shop(reader.block('node shop.mjs'))
      const visit = await fetch(reader.shopUrl, { redirect: 'manual' })
      const payPage = visit.headers.get('location') ?? ''
      expect(await (await fetch(payPage)).text()).toContain('25,000')
      await pay(payPage)
      await prints(shop, /^paid: [\da-f-]{36}$/m)
      const [, reference] = /^paid: (\S+)/m.exec(shop.output) ?? []
      await prints(system, `PaymentSucceeded ${reference}: 25000 IQD`)
      expect(shop.output.match(/^paid: /gm)).toHaveLength(1)
    })
  })

  it('the README has a charge that is made with the example’s board, too', async () => {
    const reader = await Reader.of('README.md', installed())
    try {
      const system = await reader.start(reader.block(/--no-board$/).replace('no-board', 'example'))
      expect(system.output).toContain('signalbox-example (cairn, 7 tasks)')
      const charging = reader.run(reader.block('curl'))
      await charging.ended
      expect(JSON.parse(charging.output)).toMatchObject({ status: 'Pending' })
    } finally {
      await reader.done()
    }
  })

  it('docs/shop.md has lines that sell a lamp, from an empty folder', async () => {
    const reader = await Reader.of('docs/shop.md', installed())
    try {
      await reader.start(reader.block('PAYMENT_EVENTS_URL='))
      await reader.shop(reader.block('node shop/express.mts'))
      const { url: order } = await fetch(reader.shopUrl, { method: 'POST' })
      const chosen = await fetch(`${order}/redirect`, { method: 'POST', redirect: 'manual' })
      await pay(chosen.headers.get('location') ?? '')
      const read = async () => (await fetch(order)).text()
      await expect.poll(read, PATIENT).toContain('Your order is paid.')
    } finally {
      await reader.done()
    }
  })
}
