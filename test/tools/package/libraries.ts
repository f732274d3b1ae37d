// The libraries of the package: type checked in its folder, and run by the hosts that they name.

import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { denoBinary } from '../../../tools/start/deno.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../../support/edge.ts'
import { LAMP, type PaymentsServer, servePayments } from '../../support/in-process-edge.ts'
import { type InstalledPackage, MACHINE, NODES, run } from '../../support/installed-package.ts'
import { PATIENT } from '../../support/patience.ts'
import { startProgram } from '../../support/program.ts'
import { type EdgeProcess, startEdge } from '../../support/start-edge.ts'

const TYPED = `import { watchBoard, type BoardState, type Run, type Session, type Task } from 'signalbox/client'
const shown = new Map<string, Task>()
const watch = watchBoard({
  url: 'https://edge.test',
  token: async () => 't',
  onTask: (task, id) => (task ? shown.set(id, task) : shown.delete(id)),
  onSessions: (sessions: readonly Session[]) => console.log(sessions.map(({ health }) => health)),
  onState: (state: BoardState) => console.log(state.name === 'refused' ? state.code : state.name),
  HOST_EVENT_SOURCE
})
const runs: Run[] | undefined = (await watch.task('A-1'))?.runs
// @ts-expect-error: no such option
watchBoard({ onTaks: () => undefined })
console.log(runs?.[0]?.exit?.toFixed())
await watch.close()
`

const TYPED_EVENTS = `import { EventsConfigError, handleEvents, type EventIds } from 'signalbox/events'
declare const ids: EventIds
const receive: (request: Request) => Promise<Response> = handleEvents({
  secrets: 'whsec_…',
  ids,
  on: {
    PaymentSucceeded({ transaction }, { id }) { console.log(id, transaction.paid?.amount.toFixed()) },
    AlertRaised: async ({ alert }) => console.log(alert.kind === 'late_payment'),
    GatewayTimeout({ durationMs }) { console.log(durationMs.toFixed()) },
    // @ts-expect-error: no such event
    PaymentSuceeded() {},
  },
  onUnknown: ({ type }) => console.log(type),
  onError: (error) => console.log(error instanceof EventsConfigError && error.code === 'no_secret'),
})
void receive
`

const TYPED_PAYMENTS = `import { createPayments, PaymentsError, type Transaction } from 'signalbox/payments'
const payments = createPayments({ url: 'https://edge.test', token: () => 't' })
const order = { gateway: 'bank', reference: '1', amount: 1, currency: 'IQD', description: 'A lamp' }
const { redirectUrl } = await payments.charges.create({ ...order, idempotencyKey: 'k', replace: true })
const story = await payments.transactions.get('1')
const paid: Transaction['paid'] = 'invalid' in story ? undefined : story.paid
// @ts-expect-error: no such field
await payments.charges.create({ ...order, ammount: 1 })
try { await payments.gateways.list() } catch (error) {
  // @ts-expect-error: no such code
  if (error instanceof PaymentsError && error.code === 'gateway_unavailible') throw error
}
console.log(redirectUrl, paid?.amount.toFixed())
`

const TYPED_WORKER = `import {
  defineConfig, InvalidArgumentException, signalbox, toMinor, type Driver, type WorkerParts,
} from 'signalbox/worker'
const acme = {
  envPrefix: 'ACME_',
  settings: { api_key: { required: true } },
  create: (key) => ({
    key, privateFields: [], echoedFields: [], currencies: ['USD'], chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
    async charge({ amount, currency }, call) {
      if (amount > (toMinor('10', currency) ?? 0)) throw new InvalidArgumentException('Too much.')
      const { status } = await call.send({
        endpoint: 'pay', method: 'POST', url: 'https://acme.example', isIdempotent: true,
      })
      return { ok: true, gatewayTransactionId: status.toFixed() }
    },
    handleWebhook: async ({ headers }) => ({ ignored: headers.get('a') ?? '' }),
  }),
} satisfies Driver
const edge: WorkerParts = signalbox(defineConfig({
  fetch: async (request, { payments }) => {
    const { redirectUrl } = (await payments?.for('order').driver('acme').amount(1, 'USD').charge()) ?? {}
    const given = { transactionId: 't', amount: 1, reason: 'Paid twice' }
    const refund = await payments?.driver('acme').refund?.(given)
    return Response.json({ redirectUrl, url: request.url, refundId: refund?.refundId })
  },
  payments: {
    drivers: { acme },
    gateways: { acme: { driver: 'acme' } },
    // @ts-expect-error: no such event
    listeners: { PaymentSucceeded({ transaction }) { transaction.id }, PaymentSuceeded() {} },
  },
}))
export const fetched: Response | Promise<Response> = edge.handler.fetch(new Request('https://a.test'), {})
`

const TYPED_TESTING = `import { GatewaySetup, gatewayContract, json, type GatewayFixtures } from 'signalbox/testing'
import type { AnyGateway, GatewayCharge } from 'signalbox/worker'
declare const fixtures: GatewayFixtures, gateway: AnyGateway, charge: GatewayCharge
for (const { name, run } of gatewayContract(fixtures)) console.log(name.trim(), await run())
// @ts-expect-error: no such fixture
gatewayContract({ ...fixtures, isSinged: true })
const setup = new GatewaySetup(gateway, ({ url }) => json({ url }))
const answer = await setup.end(gateway.charge(charge, setup.call()))
await setup.clock.advance(15_000)
console.log(answer.ok && answer.redirectUrl?.trim(), setup.sent[0]?.path.trim(), setup.clock.now().toFixed())
// @ts-expect-error: not for users
setup.guard
`

/** Charges, says what it sees of a board, and ends by itself once it saw a change. */
const PROGRAM = `import { watchBoard } from 'signalbox/client'
import 'signalbox/events'
import { createPayments } from 'signalbox/payments'
import 'signalbox/worker'
const { url, path, token, shop, order } = JSON.parse(globalThis.Deno ? Deno.args[0] : process.argv[2])
console.log((await createPayments(shop).charges.create(order)).status)
const watch = watchBoard({
  url, path, token,
  onState: ({ name }) => console.log(name),
  onTask: (task) => { console.log(task.title); watch.close().then(() => console.log(watch.state.name)) },
})
`

const WORKER = `import { watchBoard } from './client.js'
import { createPayments } from './payments.js'
export default {
  async fetch(request) {
    const { shop, order, ...where } = await request.json()
    const { status } = await createPayments(shop).charges.create(order)
    const states = [status]
    const { promise, resolve } = Promise.withResolvers()
    const watch = watchBoard({ ...where, onState: ({ name }) => states.push(name), onTask: resolve })
    const { title } = await promise
    await watch.close()
    return Response.json([...states, title, watch.state.name])
  },
}
`

export function packageLibraries(installed: () => InstalledPackage): void {
  describe('the libraries of the package', () => {
    let edge: EdgeProcess
    let payments: PaymentsServer
    beforeAll(async () => {
      edge = await startEdge('workerd')
      payments = await servePayments()
    })
    afterAll(async () => {
      await payments?.close()
      await edge?.close()
    })

    /** What the programs here are given. The order has the name of the repository. */
    const whereOf = async ({ path }: Repo) =>
      JSON.stringify({
        url: edge.origin,
        path,
        token: await token({ repos: [path], scope: 'board:read' }),
        shop: payments.place,
        order: { ...LAMP, reference: path },
      })
    const expectCharged = ({ path }: Repo) =>
      expect(payments.setup.charged).toContainEqual(
        expect.objectContaining({ reference: path, amount: LAMP.amount }),
      )
    const hasStream = (repo: Repo) =>
      expect
        .poll(async () => (await repo.json<{ streams: number }>('/status')).streams, PATIENT)
        .toBe(1)

    it('are one file each, of which the client is under 8.25 KiB compressed', async () => {
      const { dir } = installed()
      const script = await readFile(join(dir, 'client.js'))
      expect(gzipSync(script).length).toBeLessThan(8.25 * 1_024)
      for (const name of ['client.js', 'events.js', 'payments.js']) {
        const text = await readFile(join(dir, name), 'utf8')
        expect(text).not.toMatch(/\bimport\b\s*[({"']|from\s*["']/)
      }
    })

    it('show readable lines where an error is thrown, on servers', async () => {
      const { dir } = installed()
      for (const [name, line] of [
        ['events.js', /^ {4}throw new EventsConfigError\("no_secret", NO_SECRET\);$/m],
        [
          'payments.js',
          /^ {4}throw new PaymentsError\("invalid_options", url \? NO_TOKEN : NO_URL\);$/m,
        ],
      ] as const) {
        expect(await readFile(join(dir, name), 'utf8')).toMatch(line)
      }
    })

    it.each([
      { host: 'browsers', module: 'nodenext', source: 'EventSource,' },
      { host: 'bundlers', module: 'bundler', source: '' },
    ])('are typed for $host, strictly', async ({ module, source }) => {
      const { folder } = installed()
      const texts = {
        client: TYPED.replace('HOST_EVENT_SOURCE', source),
        events: TYPED_EVENTS,
        payments: TYPED_PAYMENTS,
        worker: TYPED_WORKER,
        testing: TYPED_TESTING,
      }
      const files = Object.keys(texts).map((name) => join(folder, `${name}-${module}.ts`))
      await Promise.all(Object.values(texts).map((text, at) => writeFile(files[at] ?? '', text)))
      const compilerOptions = {
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        target: 'es2022',
        lib: ['es2022', 'dom'],
        types: [],
        skipLibCheck: false,
        module: module === 'bundler' ? 'preserve' : module,
        moduleResolution: module,
      }
      const settings = join(folder, `tsconfig-${module}.json`)
      await writeFile(settings, JSON.stringify({ compilerOptions, files }))
      const tsc = resolve('node_modules/.bin/tsc')
      await run(tsc, ['-p', settings], { cwd: folder }).catch(({ stdout }) => {
        throw new Error(stdout)
      })
    })

    it.each([
      ...NODES.map(({ name, node }) => ({ host: name, command: [node] })),
      { host: 'Deno', command: [denoBinary(), 'run', '--allow-net', '--node-modules-dir=manual'] },
    ])('run on $host: one charges, and the client ends by itself', async ({ command }) => {
      const { folder } = installed()
      const repo = await publishedRepo(edge, [taskRecord('A-1')])
      const file = join(folder, 'program.js')
      await writeFile(file, PROGRAM)
      const place = { cwd: folder, env: MACHINE }
      const program = startProgram([...command, file, await whereOf(repo)], place)
      await expect.poll(() => program.output, PATIENT).toBe('Pending\nlive\n')
      await repo.changes({ upserts: [taskRecord('A-1', { title: 'Two' })] })
      expect(await program.ended).toEqual({ code: 0, signal: null })
      expect(program.output).toBe('Pending\nlive\nTwo\nclosed\n')
      expectCharged(repo)
    })

    it.each(['2024-01-01', '2026-07-01'])('run in a Worker of %s', async (compatibilityDate) => {
      const repo = await publishedRepo(edge, [taskRecord('A-1')])
      const libraries = ['client.js', 'payments.js'].map(async (path) => {
        const contents = await readFile(join(installed().dir, path), 'utf8')
        return { type: 'ESModule' as const, path, contents }
      })
      const worker = new Miniflare({
        compatibilityDate,
        modules: [
          { type: 'ESModule', path: 'main.js', contents: WORKER },
          ...(await Promise.all(libraries)),
        ],
      })
      const body = await whereOf(repo)
      const answer = worker.dispatchFetch('https://worker.test/', { method: 'POST', body })
      await hasStream(repo)
      await repo.changes({ upserts: [taskRecord('A-1', { title: 'Two' })] })
      expect(await (await answer).json()).toEqual(['Pending', 'live', 'Two', 'closed'])
      expectCharged(repo)
      await worker.dispose()
    })
  })
}
