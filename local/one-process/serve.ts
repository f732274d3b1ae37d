// What `signalbox serve` does on a server of one's own: all of it in this process, with settings
// and secrets from the environment. Nothing is simulated.

import type { Log } from '../../sidecar/log.ts'
import type { SignalboxFile } from '../../worker/payments/define-config.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { consoleLog } from '../../worker/shared/log.ts'
import { openDataFolder } from '../data-folder.ts'
import { checkVariables } from '../edge.ts'
import { aborted, type Closing, closeAll, listenForEnd } from '../end-requests.ts'
import type { Environment } from '../environment.ts'
import { readyLine } from '../greeting.ts'
import type { Home } from '../home.ts'
import { LOOPBACK } from '../ports.ts'
import { StartError } from '../start-error.ts'
import type { BoardPlan } from './publish.ts'
import { databaseIn, type OpenSystem, openSystem, type Variables } from './system.ts'

export interface ServePlan {
  /** Absent: sidecars elsewhere publish. */
  board: BoardPlan | undefined
  /** The folder of all written files; absolute. */
  dataDir: string
  env: Environment
  /** Reads the environment again. Absent: it cannot change while this process runs. */
  reread?: () => Promise<Environment>
  home: Home
  /** signalbox.config.ts */
  file: SignalboxFile
  /** Of this program. */
  version: string
  /** Of the sidecar. */
  log: Log
  out(text: string): void
  /** Tells the operator one sentence. */
  notice(sentence: string): void
}

/** Resolves with the exit code. Throws StartError; all of it has ended then. */
export async function serve(plan: ServePlan): Promise<number> {
  const { dataDir, env, file, board, reread, notice } = plan
  const variables = readVariables(env, plan)
  checkVariables(variables, file, { embeds: true })
  const data = await openDataFolder({ dataDir, trustsData: false, env }, 'node', notice)
  const closing: Closing = [data.release]
  const asked = new AbortController()
  const { signal } = asked
  const opened = Promise.withResolvers<OpenSystem>()
  const reload = async () => {
    const system = await opened.promise
    system.reload(readVariables((await reread?.()) ?? {}, plan))
  }
  listenForEnd({
    ask: () => asked.abort(),
    insist: () => process.exit(1),
    ...(reread && { reload: () => void reload().then(reloaded, notReloaded) }),
  })
  try {
    const { home, version, log: sidecarLog } = plan
    const parts = { data, home, variables, file, board, version, sidecarLog }
    const system = await openSystem({ ...parts, log: consoleLog, notice, signal })
    closing.push(system.close)
    opened.resolve(system)
    await Promise.race([system.ready, aborted(signal)])
    if (!signal.aborted) plan.out(`${readyLine(system.edge.url)}\n`)
    await Promise.race([system.failed, aborted(signal)])
    return 0
  } catch (error) {
    if (signal.aborted) return 0
    throw error
  } finally {
    asked.abort()
    await closeAll(closing)
  }
}

const reloaded = () => consoleLog('info', 'config.reloaded', {})
/** The keys that it had stay in force. */
const notReloaded = (error: unknown) =>
  consoleLog('error', 'config.reload_failed', { error: String(error) })

/** The variables of the edge. An empty one counts as absent. Throws StartError. */
function readVariables(env: Environment, { dataDir, board }: ServePlan): Variables {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '')
  const variables = {
    HOST: LOOPBACK,
    PORT: '8787',
    LIBSQL_URL: databaseIn(dataDir),
    ...(Object.fromEntries(given) as Variables),
  }
  const { secrets, issuer } = readAuth(variables)
  const refused = (why: string) => new StartError('bad_configuration', why)
  if (secrets.length === 0 && issuer === undefined) {
    throw refused('No way to verify tokens is configured: set AUTH_SECRETS, or AUTH_JWKS_URL.')
  }
  if (board && secrets.length === 0) {
    throw refused('DIR needs AUTH_SECRETS: they sign what the board here publishes.')
  }
  return variables
}
