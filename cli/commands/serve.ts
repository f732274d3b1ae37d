// `signalbox serve`: the edge on a server of one's own, in this process, with settings and secrets
// from the environment. Nothing is simulated.

import { join, resolve } from 'node:path'
import type { FoundBoard } from '../../sidecar/boards/discover.ts'
import { leadingFolder } from '../../sidecar/git/worktrees.ts'
import { findStore, projectOf, type Search } from '../../sidecar/layouts/registry.ts'
import { DATA_DIR, databaseIn } from '../../system/data/data-folder.ts'
import { localBoard } from '../../system/data/local-json.ts'
import { openSecret } from '../../system/data/secret.ts'
import { findProjects } from '../../system/find-board.ts'
import { checkVariables, misspelt } from '../../system/local/environment.ts'
import { describeNotices, noticeSecret, noticesOf } from '../../system/local/notices.ts'
import { LOOPBACK } from '../../system/local/ports.ts'
import { mintTokens } from '../../system/local/tokens.ts'
import type { System, Variables } from '../../system/one-process.ts'
import { aborted, runIn } from '../../system/run-in.ts'
import { StartError } from '../../system/start-error.ts'
import { gatewayPrefixes } from '../../worker/payments/config/payments-config.ts'
import { readAuth } from '../../worker/shared/auth-config.ts'
import { withSecretFiles } from '../../worker/shared/secret-files-node.ts'
import { bringUp } from '../bring-up.ts'
import { define } from '../command.ts'
import { type Context, loadConfig } from '../context.ts'
import { readEnvFile, stopWithinMs } from '../environment.ts'
import { readyLine } from '../greeting.ts'
import { logOf, publishedBy } from '../publish-settings.ts'
import { namedFolder, namesOfFiles } from '../running-system.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import {
  LOG,
  NO_CONFIG,
  NOTIFY,
  OPTION_VARIABLES,
  PUBLISHES,
  REPO,
  VERBOSE,
  WRITTEN,
} from '../settings.ts'
import { announce, noticeTo } from '../terminal.ts'
import { type Input, missing, refuseNeedless } from '../usage.ts'

const OPTIONS = [
  REPO,
  new Setting('--port <N>', 'port of the edge; 0 takes any free port (or PORT) [8787]').port(),
  new Setting('--data <DIR>', `${WRITTEN} (or DATA_DIR) [.signalbox]`),
  new Setting('--env <FILE>', 'file of variables, read again at SIGHUP'),
  NOTIFY,
  ...PUBLISHES,
  NO_CONFIG,
  LOG,
  VERBOSE,
] as const

export const command = define({
  argument: ['DIR...', 'folders of task boards to publish, those below too [none]'],
  usage: '[DIR... --repo NAME] [options]',
  description: `\
Runs the edge with its console, the payments and their database in one process and, with DIR, the
sidecars of the boards in each DIR and below, named as signalbox watch names them. Sidecars
elsewhere can publish to it as well. Settings are variables of the environment or of --env, whose
values take precedence: HOST [127.0.0.1], PORT, DATA_DIR, AUTH_SECRETS or AUTH_JWKS_URL,
ALLOWED_ORIGINS, NOTICE_SECRET, and those of payments. LIBSQL_URL may name a database elsewhere;
without it, the database is a file in the data folder.

GET /healthz answers 200 when the database can be used. With METRICS_PORT, GET /metrics on that port
of 127.0.0.1 has the numbers for Prometheus. SIGTERM and SIGINT publish what is pending, answer what
is under way, end all streams, and end with exit code 0. SIGHUP reads --env again and takes
over the AUTH_ variables.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<OptionsOf<typeof OPTIONS>>, context: Context): Promise<number> {
  const { options } = input
  const isWithBoards = input.arguments.length > 0
  const { io, cwd } = context
  const { port, repo = '' } = options
  if (!isWithBoards) refuseNeedless(input, [REPO, NOTIFY, ...PUBLISHES, VERBOSE], 'without DIR')
  else if (repo === '') throw missing({ [REPO.meaning]: undefined })
  const file = await loadConfig(options, context)
  const read = async () => {
    const given = options.env === undefined ? {} : await readEnvFile(options.env)
    return await withSecretFiles({ ...context.env, ...given }, gatewayPrefixes(file))
  }
  const env = await read()
  misspelt(env, file, OPTION_VARIABLES).forEach(noticeTo(io, 'warn'))
  const named = options.data ?? env.DATA_DIR
  const dataDir = named ? namedFolder(cwd, named) : join(cwd, DATA_DIR)
  const place = { dataDir, port }
  const variables = variablesOf(env, place)
  checkKeys(variables, isWithBoards)
  checkVariables(variables, file, { embeds: true })
  const rules = noticesOf(file, options)
  const folders = input.arguments.map((dir) => resolve(cwd, dir))
  const published = publishedBy(options)
  const { dirs } = await findProjects(folders, published.search, boardIn)
  // All that is written is for its owner alone.
  process.umask(0o077)
  const notice = noticeTo(io)
  const stopMs = stopWithinMs(context.env)

  const opened = Promise.withResolvers<System>()
  const log = logOf(options, io)
  const reload = async () => {
    try {
      const system = await opened.promise
      const fresh = variablesOf(await read(), place)
      checkKeys(fresh, isWithBoards)
      system.reload(fresh)
      const changed = changedNames(variables, fresh)
      const needsRestart = changed.filter((name) => !name.startsWith('AUTH_'))
      if (needsRestart.length === 0) log('info', 'config.reloaded', {})
      else log('warn', 'config.reloaded', { needsRestart })
    } catch (error) {
      // The keys that it had stay in force.
      log('error', 'config.reload_failed', { error: String(error) })
    }
  }
  const reloads = options.env !== undefined || context.env.AUTH_SECRETS_FILE !== undefined
  const asked = io.shutdownSignal(reloads ? { onHangup: () => void reload() } : {})
  const location = { dataDir, trustsData: false, env }
  return await runIn({ location, host: 'node', asked, notice }, async (running) => {
    const { CONSOLE_DIR } = variables
    // One that was set is where it was set, and in no file of ours.
    const made =
      variables.NOTICE_SECRET === undefined && rules.some(({ to }) => 'webhook' in to)
        ? { NOTICE_SECRET: noticeSecret(await openSecret(location, notice)) }
        : {}
    const boards = { ...published, dirs, repo, isRepoChosen: true, notices: rules }
    const given = {
      ...(isWithBoards && { repo }),
      ...(options.env !== undefined && { env: resolve(cwd, options.env) }),
      files: namesOfFiles(context.env),
    }
    const system = await bringUp(running, context, {
      location,
      isChosen: Boolean(named),
      variables: { ...variables, ...made },
      file,
      page: CONSOLE_DIR ? { dir: CONSOLE_DIR, ready: Promise.resolve() } : undefined,
      boards: isWithBoards ? boards : undefined,
      local: ({ edge, boards }) => ({
        url: edge.url,
        serve: { boards: boards().map(localBoard), ...given },
        ...describeNotices(made),
      }),
      async agentToken() {
        const { secrets, audience } = readAuth(variablesOf(await read(), place))
        const [secret] = secrets
        if (secret === undefined) throw new Error('no secret signs here')
        return (await mintTokens(secret, ['*'], Date.now(), { audience })).agent
      },
      onOpen: opened.resolve,
      log,
      sidecarLog: log,
      stopWithinMs: stopMs,
    })
    if (!system) return 0
    const { url } = system.edge
    announce(io, `${readyLine(url)}\n`, 'signalbox.ready', { url })
    await aborted(running.signal)
    return 0
  })
}

/** As findBoard finds it, but in this folder alone: a server publishes what was named. */
async function boardIn(named: string, search?: Search): Promise<FoundBoard | undefined> {
  const dir = await leadingFolder(named)
  const store = await findStore(dir, search)
  return store && { store, dir: await projectOf(dir, store) }
}

/** An empty one counts as absent. */
function variablesOf(
  env: Context['env'],
  { dataDir, port }: { dataDir: string; port: number | undefined },
): Variables {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '')
  return {
    HOST: LOOPBACK,
    PORT: '8787',
    LIBSQL_URL: databaseIn(dataDir),
    ...(Object.fromEntries(given) as Variables),
    ...(port !== undefined && { PORT: String(port) }),
  }
}

const changedNames = (before: Variables, after: Variables): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  )

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
