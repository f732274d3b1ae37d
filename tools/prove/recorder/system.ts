// The real processes of a run, a proxy between any two of them, and the shop's endpoint. Nothing
// here knows of faults or load.

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { edgeVariables, machineVariables } from '../../../system/local/environment.ts'
import { gatewaySecrets } from '../../../system/local/gateways.ts'
import { loopbackUrl } from '../../../system/local/ports.ts'
import { mintTokens } from '../../../system/local/tokens.ts'
import { until } from '../../../system/until.ts'
import type { PaymentEvents } from '../../../worker/payments/domain/types.ts'
import { fileIn, startLibsql } from '../../harness/database.ts'
import { freePort } from '../../harness/free-port.ts'
import { git } from '../../harness/git.ts'
import { type Host, PREPARE } from '../../harness/hosts.ts'
import { Process } from '../../harness/process.ts'
import { shopHome } from '../../harness/shop-home.ts'
import { SimulatorControl } from '../../harness/simulator-control.ts'
import { WebhookReceiver } from '../../harness/webhook-receiver.ts'
import { sidecarProcess, simulatorProcess } from '../../start/processes.ts'
import { FaultyProxy } from './proxy.ts'
import shop from './shop.config.ts'

/** The second edge runs on another machine, whose clock is behind. */
const APART_MS = '-30000'
const MOVED_CLOCK = new URL('moved-clock.mjs', import.meta.url)
/** Deno's own option: it knows none of Node's. */
const preloaded = ([run = 'run', ...args]: readonly string[]) => [
  run,
  `--preload=${fileURLToPath(MOVED_CLOCK)}`,
  ...args,
]
/** Causes of notices; `ready` and `silent` do not occur in so short a run. */
const RULES = ['stalled', 'review', 'blocked', 'offline', 'claim_taken']
const REPO = 'prove/board'
const WAIT_MS = 60_000
/** Months later these are gone, too. */
const KEYS_DAYS = 100
/** The shop of a run, and an edge whose ledger can be evicted. */
const SHOP = {
  config: "export { default } from './tools/prove/recorder/shop.config.ts'\n",
  files: ['tools/prove/recorder/shop.config.ts', 'tools/prove/recorder/evictable.ts'],
  main: 'tools/prove/recorder/evictable.ts',
}
/** The gateways' waits before they send a webhook again; after the last they give it up. */
const RETRIES_MS = '200 400 800 1600 3200'

/** What the shop reads of an event. */
export interface ShopEvent {
  type: string
  data: Partial<PaymentEvents['AlertRaised'] & PaymentEvents['RefundAmountChanged']>
}

interface Notice {
  timestamp: string
  data: { causes: object[] }
}

export type System = Awaited<ReturnType<typeof startSystem>>

export async function startSystem(host: Host) {
  await using started = new AsyncDisposableStack()
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'signalbox-prove-')))
  started.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }))
  const proxyBefore = async (port: number) => {
    const proxy = await FaultyProxy.before(port)
    started.defer(() => proxy.close())
    return proxy
  }
  const [edgePort, secondEdgePort] = [await freePort(), await freePort()]
  const [edgeUrl, secondEdgeUrl] = [loopbackUrl(edgePort), loopbackUrl(secondEdgePort)]
  const simulatorPort = await freePort()
  const simulatorUrl = loopbackUrl(simulatorPort)
  /** `webhooks`: from the gateways to the edge. `gateways`: from the edge to them. */
  const proxies = {
    gateways: await proxyBefore(simulatorPort),
    webhooks: await proxyBefore(edgePort),
    sidecar: await proxyBefore(edgePort),
  }
  const [eventsSecret, noticeSecret] = [newSecret(), newSecret()]
  const receiver = new WebhookReceiver<ShopEvent>(eventsSecret)
  const people = new WebhookReceiver<Notice>(noticeSecret)
  for (const each of [receiver, people]) {
    await each.listen()
    started.defer(() => each.close())
  }
  const secret = randomBytes(32).toString('base64url')
  const secrets = gatewaySecrets(secret)
  const tokens = await mintTokens(secret, [REPO], Date.now())
  const home = await shopHome(join(dir, 'shop'), SHOP)
  // Where Deno's edge may read it, too.
  const clockFile = join(dir, 'edge', 'clock')
  const env = {
    NODE_COMPILE_CACHE: join(dir, 'compiled'),
    ...machineVariables(process.env),
    HOME: dir,
    NODE_OPTIONS: `--import=${MOVED_CLOCK.href}`,
    MOVED_CLOCK_FILE: clockFile,
  }
  let movedMs = 0
  const moveClock = async (ms: number) => {
    movedMs = ms
    await writeFile(clockFile, String(ms))
  }
  const project = join(dir, 'project')
  await mkdir(join(project, '.cairn/tasks'), { recursive: true })
  await mkdir(join(project, '.cairn/sessions'))
  await writeFile(join(project, '.cairn/config.yaml'), CONFIG)
  await git(project, env, 'init', '-q', '-b', 'main')
  await git(project, env, 'commit', '-q', '--allow-empty', '-m', 'begin')

  const rules = join(dir, 'rules')
  await mkdir(rules)
  const notices = RULES.map((on) => ({ on, minutes: 0, to: { webhook: people.url } }))
  const settings = `export default ${JSON.stringify({ notices })}`
  await writeFile(join(rules, 'signalbox.config.mjs'), settings)

  const file = fileIn(dir)
  const server = host === 'node' ? undefined : await startLibsql({ dir })
  const database = server ?? file
  if (server) started.defer(() => server.close())
  const way = server && (await proxyBefore(server.port))
  const given = {
    PAYMENT_EVENTS_URL: receiver.url,
    PAYMENT_EVENTS_SECRET: eventsSecret,
    PAYMENT_EVENT_KEYS_DAYS: String(KEYS_DAYS),
    NOTICE_SECRET: noticeSecret,
  }
  const variables = edgeVariables({ ...env, ...given }, shop, {
    secret,
    edge: proxies.webhooks.url,
    database: way?.url ?? database.url,
    simulator: proxies.gateways.url,
    databaseToken: database.token,
  })
  const edge = async (name: string, port: number, more: Record<string, string> = {}) => {
    const own = join(dir, name)
    // `serve` takes no data folder that others may read.
    await mkdir(own, { mode: 0o700 })
    const place = { port, dir: own, home, logFile: join(own, 'edge.log') }
    const spec = await PREPARE[host]({ ...place, variables, env: { ...env, ...more } })
    const args = host === 'deno' ? preloaded(spec.args) : spec.args
    return started.use(new Process({ ...spec, args }, loopbackUrl(port)))
  }
  const logFile = (name: string) => join(dir, `${name}.log`)
  const gateways = simulatorProcess({
    port: simulatorPort,
    callbackOf: (gateway) => `${proxies.webhooks.url}/payments/webhooks/${gateway}`,
    secrets,
    logsDir: dir,
    env: { ...env, SIMULATOR_RETRIES_MS: RETRIES_MS, SIMULATOR_REFUND_MS: '300' },
    logFile: logFile('simulator'),
  })
  let isBoardThere = false
  const publishing = sidecarProcess({
    storeDir: project,
    cacheDir: join(dir, 'cache'),
    edge: proxies.sidecar.url,
    repo: REPO,
    token: tokens.sidecar,
    env,
    logFile: logFile('sidecar'),
    onEvent: (event) => {
      isBoardThere ||= event === 'sidecar.ready'
    },
  })
  const processes = {
    simulator: started.use(new Process(gateways, `${simulatorUrl}/health`)),
    edge: await edge('edge', edgePort),
    /** On the same database; only the fault `two-ledgers` starts it. */
    secondEdge: await edge('secondEdge', secondEdgePort, { MOVED_CLOCK_APART_MS: APART_MS }),
    // Its configuration is that of this folder.
    sidecar: started.use(new Process({ ...publishing, cwd: rules })),
  }
  await processes.simulator.start()
  await processes.edge.start()
  await processes.sidecar.start()
  await processes.sidecar.ready((wait) => until(() => isBoardThere, wait), WAIT_MS)

  const all = started.move()
  return {
    processes,
    proxies,
    /** The rows of one statement, which may also write. */
    query: database.query,
    /** Absent where the database is a file. */
    server: server && way && { process: server.process, proxy: way },
    /** Another process holds the lock of the file until the returned function is called. */
    lock: file.lock,
    /** Sets the clock of the edge, the simulator and the sidecar, in ms from the true time. */
    moveClock,
    /** The same for good, and with tokens of that time. */
    async passTime(ms: number): Promise<void> {
      await moveClock(ms)
      // workerd reads no file.
      const moved = { method: 'POST', body: String(ms) }
      if (host === 'workerd') await fetch(`${edgeUrl}/move-clock`, moved)
      Object.assign(tokens, await mintTokens(secret, [REPO], Date.now() + ms))
    },
    /** By the clock of the edge, in ms. */
    now: () => Date.now() + movedMs,
    edgeUrl,
    secondEdgeUrl,
    /** Reads of the board's API. */
    askBoard(route: string, init: RequestInit = {}): Promise<Response> {
      const url = new URL(`${edgeUrl}/api${route}`)
      url.searchParams.set('path', REPO)
      const headers = new Headers(init.headers)
      headers.set('authorization', `Bearer ${tokens.board}`)
      return fetch(url, { ...init, headers })
    },
    /** What the API of payments answers. A refusal is an error. */
    async askPayments<Answer>(path: string, init: RequestInit = {}): Promise<Answer> {
      const headers = { authorization: `Bearer ${tokens.payments}` }
      return await bodyOf(await fetch(`${edgeUrl}/api/payments${path}`, { ...init, headers }))
    },
    /** Folder of the board's files. */
    store: join(project, '.cairn'),
    /** In the main tree of the repository. */
    git: (...args: readonly string[]) => git(project, env, ...args),
    repo: REPO,
    tokens,
    simulator: new SimulatorControl(simulatorUrl),
    /** What the gateways sign with. */
    secrets,
    receiver,
    /** Where notices of the board go. */
    people,
    close: () => all.disposeAsync(),
  }
}

/** Of an answer that is one. */
export async function bodyOf<Body>(answer: Response): Promise<Body> {
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Body
}

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

const CONFIG = 'prefix: T\nstates: [open, doing, done]\nclosed: [done]\ninitial: open\n'
