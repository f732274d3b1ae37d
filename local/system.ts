// The order in which a local system comes up. Each step trusts that those before it are done.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DataFolder } from './data-folder.ts'
import { prepareDeno } from './deno.ts'
import { checkVariables, edgeReady, edgeUrl } from './edge.ts'
import { machineVariables, sidecarVariables, workerVariables } from './environment.ts'
import { databaseReady, databaseUrl, libsqlServer, migrate } from './libsql-server.ts'
import type { LocalJson } from './local-json.ts'
import type { StartOptions } from './options.ts'
import { findPort, LOOPBACK } from './ports.ts'
import { boardReady, sidecarProcess } from './sidecar-process.ts'
import { StartError } from './start-error.ts'
import type { Supervisor } from './supervisor.ts'
import { mintTokens, readSecret } from './tokens.ts'
import { until } from './until.ts'
import { prepareWorkerd } from './workerd.ts'

export interface SystemPlan {
  options: StartOptions
  /** Folder that holds worker/, sidecar/ and schema.sql. */
  home: string
  data: DataFolder
  env: Readonly<Record<string, string | undefined>>
  supervisor: Supervisor
  /** Aborted when it is not wanted any more. */
  signal: AbortSignal
}

/** Generous: a store of 100,000 tasks is read and published before the board is there. */
const BOARD_WAIT_MS = 120_000
const PROCESS_WAIT_MS = 20_000
/** What a run that was killed leaves behind has ended by itself after this. */
const INHERITED_WAIT_MS = 5_000

/** Resolves when all of it is up. Throws StartError; what was started then still runs. */
export async function bringUp(plan: SystemPlan): Promise<LocalJson> {
  const { options, home, data, env, supervisor, signal } = plan
  const { repo, storeDir } = options
  const machine = machineVariables(env)
  const [secret, port] = await Promise.all([readSecret(data.secretFile), claimPort(plan)])
  const variables = { ...workerVariables(env), AUTH_SECRETS: secret }
  checkVariables(variables)
  const tokens = await mintTokens(secret, repo, Date.now())

  const bringDatabaseUp = async () => {
    const dbPort = await freePort()
    const url = databaseUrl(dbPort)
    const place = { dir: data.databaseDir, port: dbPort }
    supervisor.start(libsqlServer(place, { env: machine, logFile: data.logFile('sqld') }))
    await databaseReady(url, { what: 'The database', waitMs: PROCESS_WAIT_MS, signal })
    await migrate(url, await readFile(join(home, 'schema.sql'), 'utf8'), signal)
    return url
  }
  const edge = edgeUrl(port)
  const bringEdgeUp = async () => {
    const prepare = options.host === 'deno' ? prepareDeno : prepareWorkerd
    const logFile = data.logFile(options.host)
    const dir = data.edgeDir
    supervisor.start(await prepare({ port, dir, home, variables, env: machine, logFile }))
    await edgeReady(edge, { what: 'The edge', waitMs: PROCESS_WAIT_MS, signal })
  }
  const bringBoardUp = async () => {
    const logFile = data.logFile('sidecar')
    const { cacheDir } = data
    const sidecarEnv = { ...machine, ...sidecarVariables(env) }
    const told = { edge, repo, token: tokens.sidecar, env: sidecarEnv, logFile }
    supervisor.start(sidecarProcess({ home, storeDir, cacheDir, ...told }))
    const question = { edge, repo, token: tokens.board, sidecarLog: logFile }
    await boardReady(question, { what: 'The board', waitMs: BOARD_WAIT_MS, signal })
  }

  const [database] = await Promise.all([bringDatabaseUp(), bringEdgeUp().then(bringBoardUp)])
  return { url: edge, path: repo, database, tokens }
}

async function claimPort({ options, data, signal }: SystemPlan): Promise<number> {
  let claim = await findPort(options.port)
  if (!claim.ok && data.inherited) {
    const patience = { what: 'The port', waitMs: INHERITED_WAIT_MS, signal }
    await until(async () => {
      claim = await findPort(options.port)
      return claim.ok
    }, patience).catch(() => signal.throwIfAborted())
  }
  if (claim.ok) return claim.port
  const where = `Port ${options.port} of ${LOOPBACK}`
  const why = claim.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${claim.code})`
  throw new StartError('port_taken', `${where} ${why}; choose another with --port.`)
}

async function freePort(): Promise<number> {
  const claim = await findPort(0)
  if (claim.ok) return claim.port
  throw new StartError('port_taken', `No free port on ${LOOPBACK} was found (${claim.code}).`)
}
