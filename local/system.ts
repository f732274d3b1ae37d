// The order in which a local system starts. Each step needs the ones before it.

import { join } from 'node:path'
import { buildConsole } from '../console/build.ts'
import { compileCache } from '../sidecar/user-folders.ts'
import signalbox from '../signalbox.config.ts'
import { routePath, routePrefixOf } from '../worker/payments/webhooks/route-names.ts'
import { bundling } from './bundling.ts'
import type { DataFolder } from './data-folder.ts'
import { prepareDeno } from './deno.ts'
import { checkVariables, edgeReady, edgeUrl } from './edge.ts'
import { edgeVariables, machineVariables, sidecarVariables } from './environment.ts'
import { describePayments, gatewaySecrets } from './gateways.ts'
import { databaseReady, databaseUrl, libsqlServer, prepareDatabase } from './libsql-server.ts'
import type { LocalJson } from './local-json.ts'
import type { StartOptions } from './options.ts'
import { claimPort, freePorts } from './ports.ts'
import { boardReady, sidecarProcess } from './sidecar-process.ts'
import { simulatorProcess, simulatorReady, simulatorUrl } from './simulator-process.ts'
import type { Supervisor } from './supervisor.ts'
import { startSweeping, unrefAfter } from './sweeping.ts'
import { databaseAccess, mintTokens } from './tokens.ts'
import { prepareWorkerd } from './workerd.ts'

export interface SystemPlan {
  options: StartOptions
  /** Folder that holds worker/, sidecar/, schema.sql and migrations/. */
  home: string
  data: DataFolder
  /** Of the data folder. */
  secret: string
  env: Readonly<Record<string, string | undefined>>
  supervisor: Supervisor
  /** Prints a sentence for the person at the terminal. */
  notice: (sentence: string) => void
  /** Aborted when the start is to end. */
  signal: AbortSignal
}

/** Long, since a store of 100,000 tasks is read and published before the board is there. */
const BOARD_WAIT_MS = 120_000
/** A busy machine may need long; a process that dies is reported at once, so it ends what hangs. */
const PROCESS_WAIT_MS = 60_000

/** Resolves when all processes are ready. Throws StartError; what was started still runs then. */
export async function bringUp(plan: SystemPlan): Promise<LocalJson> {
  const { options, home, data, secret, env, supervisor, notice, signal } = plan
  const { repo, storeDir, followsLinks } = options
  const compiled = compileCache(env)
  const machine = {
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    ...machineVariables(env),
  }
  const ports = await claimPorts(plan)
  const edge = edgeUrl(ports.edge)
  const database = databaseUrl(ports.database)
  const simulator = simulatorUrl(ports.simulator)
  const { publicKey, token: databaseToken } = await databaseAccess(secret)
  const places = { edge, database, simulator }
  const variables = edgeVariables(env, signalbox, { secret, ...places, databaseToken })
  checkVariables(variables, signalbox)
  const tokens = await mintTokens(secret, repo, Date.now())

  const bringDatabaseUp = async () => {
    const place = { dir: data.databaseDir, port: ports.database, publicKey }
    supervisor.start(libsqlServer(place, { env: machine, logFile: data.logFile('sqld') }))
    await databaseReady(database, { what: 'The database', waitMs: PROCESS_WAIT_MS, signal })
    await prepareDatabase({ url: database, token: databaseToken }, home, { notice, signal })
  }
  const bringSimulatorUp = async () => {
    const { logsDir } = data
    const secrets = gatewaySecrets(secret)
    const callbackOf = (key: string) =>
      `${edge}${routePath('payments.webhook', routePrefixOf(signalbox), key)}`
    const settings = { port: ports.simulator, callbackOf, secrets, logsDir, env: machine }
    const logFile = data.logFile('simulator')
    supervisor.start(simulatorProcess({ home, ...settings, logFile }))
    await simulatorReady(simulator, { what: 'The simulator', waitMs: PROCESS_WAIT_MS, signal })
  }
  const bringEdgeUp = async () => {
    const prepare = options.host === 'deno' ? prepareDeno : prepareWorkerd
    const logFile = data.logFile(options.host)
    const dir = data.edgeDir
    const consoleDir = join(dir, 'console')
    const settings = { port: ports.edge, dir, consoleDir, home, variables, env: machine, logFile }
    const [spec] = await Promise.all([
      prepare(settings),
      bundling('The console', () => buildConsole(consoleDir)),
    ])
    supervisor.start(spec)
    await edgeReady(edge, { what: 'The edge', waitMs: PROCESS_WAIT_MS, signal })
  }
  const bringBoardUp = async () => {
    const logFile = data.logFile('sidecar')
    const { cacheDir } = data
    const sidecarEnv = { ...machine, ...sidecarVariables(env) }
    const settings = { edge, repo, token: tokens.sidecar, env: sidecarEnv, logFile }
    supervisor.start(sidecarProcess({ home, storeDir, followsLinks, cacheDir, ...settings }))
    const question = { edge, repo, token: tokens.board, sidecarLog: logFile }
    await boardReady(question, { what: 'The board', waitMs: BOARD_WAIT_MS, signal })
  }

  await Promise.all([bringDatabaseUp(), bringSimulatorUp(), bringEdgeUp().then(bringBoardUp)])
  startSweeping({ edge, token: tokens.payments, fetch, after: unrefAfter, signal })
  const at = { url: edge, path: repo, database, databaseToken, simulator }
  return { ...at, tokens, ...describePayments(variables) }
}

/** The edge gets the other ports when it starts, so all are found before anything is started. */
async function claimPorts({ options, data, signal }: SystemPlan) {
  const edge = await claimPort({ port: options.port, inherited: data.inherited, signal })
  const [database = 0, simulator = 0] = await freePorts(2, edge)
  return { edge, database, simulator }
}
