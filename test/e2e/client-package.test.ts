// The package as other people get it: packed, installed in an empty folder, type checked there, and
// run by the hosts that it says it runs on.

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildClient } from '../../client/build.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { type EdgeProcess, startEdge } from '../support/edge-process.ts'
import { PATIENT } from '../support/patience.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const BIN = join(ROOT, 'node_modules/.bin')

/** Without ours in front of the machine's own Node and npm. */
const env: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((dir) => !dir.includes('node_modules'))
    .join(delimiter),
}

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
console.log(runs?.[0]?.exit.toFixed())
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

/** Says what it sees, and ends by itself once it saw a change. */
const PROGRAM = `import { watchBoard } from 'signalbox/client'
const { url, path, token } = JSON.parse(globalThis.Deno ? Deno.args[0] : process.argv[2])
const watch = watchBoard({
  url, path, token,
  onState: ({ name }) => console.log(name),
  onTask: (task) => { console.log(task.title); watch.close().then(() => console.log(watch.state.name)) },
})
`

const WORKER = `import { watchBoard } from './client.js'
export default {
  async fetch(request) {
    const where = await request.json()
    const states = []
    const { promise, resolve } = Promise.withResolvers()
    const watch = watchBoard({ ...where, onState: ({ name }) => states.push(name), onTask: resolve })
    const { title } = await promise
    await watch.close()
    return Response.json([...states, title, watch.state.name])
  },
}
`

describe('the package signalbox', () => {
  let folder: string
  let installed: string
  let edge: EdgeProcess

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-client-'))
    const built = join(folder, 'built')
    await buildClient(built)
    await run('npm', ['pack', '--pack-destination', folder], { cwd: built, env })
    const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? ''
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    const quiet = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts']
    await run('npm', ['install', ...quiet, join(folder, tarball)], { cwd: folder, env })
    installed = join(folder, 'node_modules/signalbox')
    edge = await startEdge('workerd')
  }, 120_000)
  afterAll(async () => {
    await edge?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const whereOf = async (repo: Repo) =>
    JSON.stringify({
      url: edge.origin,
      path: repo.path,
      token: await token({ repos: [repo.path], scope: 'board:read' }),
    })
  const hasStream = (repo: Repo) =>
    expect
      .poll(async () => (await repo.json<{ streams: number }>('/status')).streams, PATIENT)
      .toBe(1)

  it('is a client under 8 KiB compressed and a receiver, needs nothing, and brings its types and its page', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
    expect(manifest).not.toHaveProperty('dependencies')
    const script = await readFile(join(installed, 'client.js'))
    expect(gzipSync(script).length).toBeLessThan(8 << 10)
    expect(script.toString()).not.toMatch(/\bimport\b\s*[({"']|from\s*["']/)
    const receiver = await readFile(join(installed, 'events.js'), 'utf8')
    expect(receiver).not.toMatch(/\bimport\b\s*[({"']|from\s*["']/)
    const names = await readdir(installed)
    expect(names).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'types']))
  })

  it.each([
    { host: 'browsers', lib: ['es2022', 'dom'], module: 'nodenext', source: 'EventSource,' },
    { host: 'bundlers', lib: ['es2022', 'dom'], module: 'bundler', source: '' },
  ])('is typed for $host, strictly', async ({ lib, module, source }) => {
    const file = join(folder, `typed-${module}.ts`)
    await writeFile(file, TYPED.replace('HOST_EVENT_SOURCE', source))
    const events = join(folder, `events-${module}.ts`)
    await writeFile(events, TYPED_EVENTS)
    const payments = join(folder, `payments-${module}.ts`)
    await writeFile(payments, TYPED_PAYMENTS)
    const compilerOptions = {
      ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: 'es2022', lib },
      ...{ types: [], skipLibCheck: false },
      module: module === 'bundler' ? 'preserve' : module,
      moduleResolution: module,
    }
    const settings = join(folder, `tsconfig-${module}.json`)
    await writeFile(settings, JSON.stringify({ compilerOptions, files: [file, events, payments] }))
    await run(join(BIN, 'tsc'), ['-p', settings], { cwd: folder }).catch(({ stdout }) => {
      throw new Error(stdout)
    })
  })

  it.each([
    { host: 'the machine’s own Node', command: () => ['node'], env },
    { host: 'our Node', command: () => [process.execPath], env },
    {
      host: 'Deno',
      command: () => [join(BIN, 'deno'), 'run', '--allow-net', '--node-modules-dir=manual'],
      env: { ...env, DENO_NO_UPDATE_CHECK: '1' },
    },
  ])('runs on $host, which ends by itself', async ({ command, env }) => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const file = join(folder, 'program.js')
    await writeFile(file, PROGRAM)
    const [program = '', ...args] = command()
    const child = spawn(program, [...args, file, await whereOf(repo)], { cwd: folder, env })
    let said = ''
    for (const output of [child.stdout, child.stderr]) {
      output.on('data', (text) => {
        said += text
      })
    }
    const ended = once(child, 'exit')
    await expect.poll(() => said, PATIENT).toBe('live\n')
    await repo.changes({ upserts: [taskRecord('A-1', { title: 'Two' })] })
    expect(await ended).toEqual([0, null])
    expect(said).toBe('live\nTwo\nclosed\n')
  })

  it.each(['2024-01-01', '2026-07-01'])('runs in a Worker of %s', async (compatibilityDate) => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const client = await readFile(join(installed, 'client.js'), 'utf8')
    const worker = new Miniflare({
      compatibilityDate,
      modules: [
        { type: 'ESModule', path: 'main.js', contents: WORKER },
        { type: 'ESModule', path: 'client.js', contents: client },
      ],
    })
    const body = await whereOf(repo)
    const answer = worker.dispatchFetch('https://worker.test/', { method: 'POST', body })
    await hasStream(repo)
    await repo.changes({ upserts: [taskRecord('A-1', { title: 'Two' })] })
    expect(await (await answer).json()).toEqual(['live', 'Two', 'closed'])
    await worker.dispose()
  })
})
