// The real processes of a run, a proxy between any two of them, and the shop's endpoint. Nothing
// here knows of faults or load.

import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { edgeVariables, machineVariables } from '../../../system/environment.ts'
import { type GatewaySecrets, gatewaySecrets } from '../../../system/gateways.ts'
import { loopbackUrl } from '../../../system/ports.ts'
import { mintTokens } from '../../../system/tokens.ts'
import { until } from '../../../system/until.ts'
import { fileIn, type PaymentsDatabase, startLibsql } from '../../harness/database.ts'
import { EventReceiver } from '../../harness/event-receiver.ts'
import { freePort } from '../../harness/free-port.ts'
import { git } from '../../harness/git.ts'
import { type Host, PREPARE } from '../../harness/hosts.ts'
import { Process } from '../../harness/process.ts'
import { shopHome } from '../../harness/shop-home.ts'
import { SimulatorControl } from '../../harness/simulator-control.ts'
import { sidecarProcess, simulatorProcess } from '../../start/processes.ts'
import { NoticesReceiver } from './notices-receiver.ts'
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
/** What people are told; of `ready` and `silent` there is nothing in so short a run. */
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

interface RunDatabase extends PaymentsDatabase {
  /** Absent: it is a file. */
  server?: { process: Process; proxy: FaultyProxy }
  /** Another process holds the lock of the file until the returned function is called. */
  lock?(): Promise<() => void>
}

export interface System {
  host: Host
  /** `secondEdge`: on the same database; only the fault `two-ledgers` starts it. */
  processes: Record<'edge' | 'secondEdge' | 'simulator' | 'sidecar', Process>
  /** `webhooks`: from the gateways to the edge. `gateways`: from the edge to them. */
  proxies: Record<'gateways' | 'webhooks' | 'sidecar', FaultyProxy>
  database: RunDatabase
  /** Sets the clock of the edge, the simulator and the sidecar, in ms from the true time. */
  moveClock(ms: number): Promise<void>
  /** For good, and with tokens of that time. */
  passTime(ms: number): Promise<void>
  /** By the clock of the edge, in ms. */
  now(): number
  edgeUrl: string
  secondEdgeUrl: string
  /** Reads of the board's API. */
  askBoard(route: string, signal?: AbortSignal): Promise<Response>
  /** Folder of the board's files. */
  store: string
  /** In the main tree of the repository. */
  git(...args: readonly string[]): Promise<string>
  repo: string
  tokens: { board: string; agent: string; payments: string }
  simulator: SimulatorControl
  /** What the gateways sign with. */
  secrets: GatewaySecrets
  receiver: EventReceiver
  /** Of notices of the board. */
  people: NoticesReceiver
  close(): Promise<void>
}

export async function startSystem(host: Host): Promise<System> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'signalbox-prove-')))
  const [edgePort, secondEdgePort] = [await freePort(), await freePort()]
  const simulatorPort = await freePort()
  const proxies = {
    gateways: await FaultyProxy.before(simulatorPort),
    webhooks: await FaultyProxy.before(edgePort),
    sidecar: await FaultyProxy.before(edgePort),
  }
  const eventsSecret = `whsec_${randomBytes(32).toString('base64')}`
  const receiver = new EventReceiver(eventsSecret)
  await receiver.listen()
  const noticeSecret = `whsec_${randomBytes(32).toString('base64')}`
  const people = new NoticesReceiver(noticeSecret)
  await people.listen()
  const secret = randomBytes(32).toString('base64url')
  const secrets = gatewaySecrets(secret)
  const tokens = await mintTokens(secret, [REPO], Date.now())
  const home = await shopHome(join(dir, 'shop'), SHOP)
  const compiled = join(dir, 'compiled')
  // Where Deno's edge may read it, too.
  const clockFile = join(dir, 'edge', 'clock')
  const env = {
    NODE_COMPILE_CACHE: compiled,
    ...machineVariables(process.env),
    HOME: dir,
    NODE_OPTIONS: `--import=${MOVED_CLOCK.href}`,
    MOVED_CLOCK_FILE: clockFile,
  }
  let movedMs = 0
  const setClock = async (ms: number) => {
    movedMs = ms
    await writeFile(clockFile, String(ms))
  }
  const store = join(dir, 'project')
  await mkdir(join(store, '.cairn/tasks'), { recursive: true })
  await mkdir(join(store, '.cairn/sessions'))
  await writeFile(join(store, '.cairn/config.yaml'), CONFIG)
  await git(store, env, 'init', '-q', '-b', 'main')
  await git(store, env, 'commit', '-q', '--allow-empty', '-m', 'begin')

  const rules = join(dir, 'rules')
  await mkdir(rules)
  const notices = RULES.map((on) => ({ on, minutes: 0, to: { webhook: people.url } }))
  await writeFile(
    join(rules, 'signalbox.config.mjs'),
    `export default ${JSON.stringify({ notices })}`,
  )

  const database = host === 'node' ? fileIn(dir) : await proxiedServer(dir)
  const given = {
    PAYMENT_EVENTS_URL: receiver.url,
    PAYMENT_EVENTS_SECRET: eventsSecret,
    PAYMENT_EVENT_KEYS_DAYS: String(KEYS_DAYS),
    NOTICE_SECRET: noticeSecret,
  }
  const variables = edgeVariables({ ...env, ...given }, shop, {
    secret,
    edge: proxies.webhooks.url,
    database: database.url,
    simulator: proxies.gateways.url,
    databaseToken: database.token,
  })
  const edge = async (name: string, port: number) => {
    const own = join(dir, name)
    // `serve` takes no data folder that others may read.
    await mkdir(own, { mode: 0o700 })
    const its = name === 'secondEdge' ? { ...env, MOVED_CLOCK_APART_MS: APART_MS } : env
    const plan = { port, dir: own, home, variables, env: its, logFile: join(own, 'edge.log') }
    const spec = await PREPARE[host](plan)
    const args = host === 'deno' ? preloaded(spec.args) : spec.args
    return new Process({ ...spec, args }, loopbackUrl(port))
  }
  const simulator = loopbackUrl(simulatorPort)
  const cacheDir = join(dir, 'cache')
  const logFile = (name: string) => join(dir, `${name}.log`)
  let isBoardThere = false
  const processes = {
    simulator: new Process(
      simulatorProcess({
        port: simulatorPort,
        callbackOf: (gateway) => `${proxies.webhooks.url}/payments/webhooks/${gateway}`,
        secrets,
        logsDir: dir,
        env: { ...env, SIMULATOR_RETRIES_MS: RETRIES_MS, SIMULATOR_REFUND_MS: '300' },
        logFile: logFile('simulator'),
      }),
      `${simulator}/health`,
    ),
    edge: await edge('edge', edgePort),
    secondEdge: await edge('secondEdge', secondEdgePort),
    sidecar: new Process({
      ...sidecarProcess({
        storeDir: store,
        cacheDir,
        edge: proxies.sidecar.url,
        repo: REPO,
        token: tokens.sidecar,
        env,
        logFile: logFile('sidecar'),
        onEvent: (event) => {
          isBoardThere ||= event === 'sidecar.ready'
        },
      }),
      // Its configuration is that of this folder.
      cwd: rules,
    }),
  }
  await processes.simulator.start()
  await processes.edge.start()
  await processes.sidecar.start()
  const signal = AbortSignal.timeout(2 * WAIT_MS)
  await until(() => isBoardThere, { what: 'the board', waitMs: WAIT_MS, signal })

  return {
    host,
    processes,
    proxies,
    database,
    moveClock: setClock,
    now: () => Date.now() + movedMs,
    async passTime(ms) {
      await setClock(ms)
      // workerd reads no file.
      const moved = { method: 'POST', body: String(ms) }
      if (host === 'workerd') await fetch(`${loopbackUrl(edgePort)}/move-clock`, moved)
      Object.assign(tokens, await mintTokens(secret, [REPO], Date.now() + ms))
    },
    edgeUrl: loopbackUrl(edgePort),
    async askBoard(route, signal) {
      const url = new URL(`${loopbackUrl(edgePort)}/api${route}`)
      url.searchParams.set('path', REPO)
      const headers = { authorization: `Bearer ${tokens.board}` }
      return await fetch(url, { headers, ...(signal && { signal }) })
    },
    secondEdgeUrl: loopbackUrl(secondEdgePort),
    store: join(store, '.cairn'),
    git: (...args) => git(store, env, ...args),
    repo: REPO,
    tokens,
    simulator: new SimulatorControl(simulator),
    secrets,
    receiver,
    people,
    async close() {
      const { sidecar, edge, secondEdge, simulator } = processes
      for (const each of [sidecar, edge, secondEdge, simulator]) await each.stop()
      await database.close()
      receiver.close()
      people.close()
      for (const proxy of Object.values(proxies)) await proxy.close()
      await rm(dir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function proxiedServer(dir: string): Promise<RunDatabase> {
  const server = await startLibsql({ dir })
  const proxy = await FaultyProxy.before(server.port)
  return {
    ...server,
    url: proxy.url,
    server: { process: server.process, proxy },
    async close() {
      await server.close()
      await proxy.close()
    },
  }
}

const CONFIG = 'prefix: T\nstates: [open, doing, done]\nclosed: [done]\ninitial: open\n'
