// `signalbox serve`: the edge on a server of one's own, in this process, with settings and secrets
// from the environment. Nothing is simulated.

import { join, resolve } from 'node:path'
import { edition } from '#edition'
import { aborted, DATA_DIR, databaseIn, runIn } from '../../local/data-folder.ts'
import { checkVariables, misspelt } from '../../local/environment.ts'
import { readyLine } from '../../local/greeting.ts'
import { writeLocalJson } from '../../local/local-json.ts'
import { openSystem, type System, type Variables } from '../../local/one-process.ts'
import { LOOPBACK } from '../../local/ports.ts'
import { StartError } from '../../local/start-error.ts'
import type { RunOutput } from '../../sidecar/files/file-reader.ts'
import { openStore } from '../../sidecar/layouts/registry.ts'
import { createLog, type LogFormat } from '../../sidecar/log.ts'
import { gatewayPrefixes } from '../../worker/payments/config.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { withSecretFiles } from '../../worker/shared/secret-files-node.ts'
import {
  announce,
  type Context,
  type Input,
  loadConfig,
  missing,
  noticeTo,
  readEnvFile,
  refuseNeedless,
  VERSION,
} from '../command.ts'
import { namedFolder, namesOfFiles } from '../data-folder.ts'
import { REPO } from '../setting.ts'

interface ServeOptions {
  repo?: string
  port?: number
  data?: string
  env?: string
  followLinks?: boolean
  poll?: boolean
  runOutput: RunOutput
  config: boolean
  log?: LogFormat
  verbose?: boolean
}

const OF_THE_BOARD = ['--repo', '--follow-links', '--poll', '--run-output', '--verbose']

export async function run(input: Input<ServeOptions>, context: Context): Promise<number> {
  const { options } = input
  const [argument] = input.arguments
  const { io, cwd } = context
  const { port, repo = '', runOutput, poll: isPolling = false } = options
  if (argument === undefined) refuseNeedless(input, OF_THE_BOARD, 'without DIR')
  else if (repo === '') throw missing({ [REPO.meaning]: undefined })
  const file = await loadConfig(options, context)
  const read = async () => {
    const given = options.env === undefined ? {} : await readEnvFile(options.env)
    return await withSecretFiles({ ...context.env, ...given }, gatewayPrefixes(file))
  }
  const env = await read()
  misspelt(env, file).forEach(noticeTo(io, 'warn'))
  const named = options.data ?? env.DATA_DIR
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
  checkKeys(variables, argument !== undefined)
  checkVariables(variables, file, { embeds: true })
  const dir = argument === undefined ? undefined : resolve(cwd, argument)
  const store =
    dir === undefined
      ? undefined
      : await openStore(dir, { followsLinks: options.followLinks ?? false })
  // All that is written is for its owner alone.
  process.umask(0o077)
  const notice = noticeTo(io)

  const opened = Promise.withResolvers<System>()
  const reload = async () => {
    const system = await opened.promise
    const fresh = variablesOf(await read())
    checkKeys(fresh, dir !== undefined)
    system.reload(fresh)
  }
  const format = options.log ?? (io.isTerminal ? 'pretty' : 'json')
  const log = createLog(format, io.err, options.verbose ? 'debug' : 'info')
  const reloaded = () => log('info', 'config.reloaded')
  /** The keys that it had stay in force. */
  const kept = (error: unknown) => log('error', 'config.reload_failed', { error: String(error) })
  const reloads = options.env !== undefined || context.env.AUTH_SECRETS_FILE !== undefined
  const asked = io.ended(reloads ? { onHangup: () => void reload().then(reloaded, kept) } : {})
  const place = { dataDir, trustsData: false, env }
  return await runIn({ place, host: 'node', asked, notice }, async ({ data, defer, signal }) => {
    const { CONSOLE_DIR } = variables
    const system = await openSystem({
      ...{ data, variables, file, notice, signal, version: VERSION },
      board: store && { store, repo, runOutput, isPolling },
      page: CONSOLE_DIR
        ? { dir: CONSOLE_DIR, ready: Promise.resolve() }
        : edition.consoleIn(data.edgeDir),
      log,
      sidecarLog: log,
    })
    defer(system.close)
    opened.resolve(system)
    await Promise.race([system.ready, aborted(signal)])
    if (signal.aborted) return 0
    const { url } = system.edge
    const boards = dir && store ? [{ path: repo, dir, layout: store.layout }] : []
    const env = options.env !== undefined && { env: resolve(cwd, options.env) }
    const serve = { boards, ...env, files: namesOfFiles(context.env) }
    await writeLocalJson(data.dir, { url, serve })
    announce(io, `${readyLine(url)}\n`, 'signalbox.ready', { url })
    await Promise.race([system.failed, aborted(signal)])
    return 0
  })
}

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
