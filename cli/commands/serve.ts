// `signalbox serve`: the edge on a server of one's own, in this process, with settings and secrets
// from the environment. Nothing is simulated.

import { join, resolve } from 'node:path'
import { edition } from '#edition'
import { aborted, DATA_DIR, databaseIn, runIn } from '../../local/data-folder.ts'
import { checkVariables } from '../../local/environment.ts'
import { readyLine } from '../../local/greeting.ts'
import { openSystem, type System, type Variables } from '../../local/one-process.ts'
import { LOOPBACK } from '../../local/ports.ts'
import { StartError } from '../../local/start-error.ts'
import { RUN_OUTPUTS } from '../../sidecar/files/file-reader.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import { createLog } from '../../sidecar/log.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { consoleLog } from '../../worker/shared/log.ts'
import { loadConfig, noticeTo, type World } from '../command.ts'
import { namedFolder } from '../data-folder.ts'
import { type Settings, VERSION } from '../settings.ts'
import { LOG_FORMATS } from './publish-settings.ts'

export async function run(settings: Settings, world: World): Promise<number> {
  const { io, cwd } = world
  const options = readBoard(settings, cwd)
  const format = settings.choice('log', LOG_FORMATS) ?? (io.isTerminal ? 'pretty' : 'json')
  const port = settings.port('port')
  settings.check()
  const read = async () => ({ ...world.env, ...(await settings.variables()) })
  const env = await read()
  const named = settings.given('data') || env.DATA_DIR
  const dataDir = named ? namedFolder(cwd, named) : join(cwd, DATA_DIR)
  const variablesOf = (env: Readonly<Record<string, string | undefined>>): Variables => {
    // An empty one counts as absent.
    const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '')
    return {
      ...{ HOST: LOOPBACK, PORT: '8787', LIBSQL_URL: databaseIn(dataDir) },
      ...(Object.fromEntries(given) as Variables),
      ...(port !== undefined && { PORT: String(port) }),
    }
  }
  const variables = variablesOf(env)
  checkKeys(variables, options !== undefined)
  const file = await loadConfig(settings, world)
  checkVariables(variables, file, { embeds: true })
  const board = options && {
    ...options,
    store: await openStore(options.dir, options.followsLinks),
  }
  // All that is written is for its owner alone.
  process.umask(0o077)
  const notice = noticeTo(io)

  const opened = Promise.withResolvers<System>()
  const reload = async () => {
    const system = await opened.promise
    const fresh = variablesOf(await read())
    checkKeys(fresh, board !== undefined)
    system.reload(fresh)
  }
  const reloads = settings.given('env') !== undefined
  const asked = io.ended(reloads ? { onHangup: () => void reload().then(reloaded, kept) } : {})
  const place = { dataDir, trustsData: false, env }
  return await runIn({ place, host: 'node', asked, notice }, async ({ data, defer, signal }) => {
    const { CONSOLE_DIR } = variables
    const system = await openSystem({
      ...{ data, variables, file, board, notice, signal, version: VERSION },
      page: CONSOLE_DIR
        ? { dir: CONSOLE_DIR, ready: Promise.resolve() }
        : edition.consoleIn(data.edgeDir),
      log: consoleLog,
      sidecarLog: createLog(format, io.err, settings.has('verbose') ? 'debug' : 'info'),
    })
    defer(system.close)
    opened.resolve(system)
    await Promise.race([system.ready, aborted(signal)])
    if (!signal.aborted) io.out(`${readyLine(system.edge.url)}\n`)
    await Promise.race([system.failed, aborted(signal)])
    return 0
  })
}

const reloaded = () => consoleLog('info', 'config.reloaded', {})
/** The keys that it had stay in force. */
const kept = (error: unknown) =>
  consoleLog('error', 'config.reload_failed', { error: String(error) })

function checkKeys(variables: Variables, isWithBoard: boolean): void {
  const { secrets, issuer } = readAuth(variables)
  const refused = (why: string) => new StartError('bad_configuration', why)
  if (secrets.length === 0 && issuer === undefined) {
    throw refused('No way to verify tokens is configured: set AUTH_SECRETS, or AUTH_JWKS_URL.')
  }
  if (isWithBoard && secrets.length === 0) {
    throw refused('DIR needs AUTH_SECRETS: they sign what the board here publishes.')
  }
}

/** Undefined: sidecars elsewhere publish. */
function readBoard(settings: Settings, cwd: string) {
  const dir = settings.optionalPositional('serve')
  const runOutput = settings.choice('run-output', RUN_OUTPUTS) ?? 'masked'
  if (dir === undefined) {
    const ofTheBoard = ['repo', 'follow-links', 'poll', 'run-output', 'log', 'verbose'] as const
    settings.needless(ofTheBoard, 'without DIR')
    return undefined
  }
  const repo = settings.required('repo')
  settings.checkRepo(repo || undefined)
  const followsLinks = settings.has('follow-links')
  return { dir: resolve(cwd, dir), followsLinks, repo, runOutput, isPolling: settings.has('poll') }
}
