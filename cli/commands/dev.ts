// `signalbox`: all of it for the board of a project, or payments alone, in this process, on
// loopback, with simulated gateways.

import { spawn } from 'node:child_process'
import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { nameBoards } from '../../sidecar/boards/names.ts'
import { locationOf } from '../../sidecar/git/worktrees.ts'
import { type Search, StoreError } from '../../sidecar/layouts/registry.ts'
import { openSimulator } from '../../simulator/open-simulator.ts'
import { DATA_DIR, databaseIn } from '../../system/data/data-folder.ts'
import { type LocalJson, localBoard } from '../../system/data/local-json.ts'
import { openLogFile } from '../../system/data/log-file.ts'
import { findProjects, makeExample, type Projects } from '../../system/find-board.ts'
import { ignoredSecrets, misspelt } from '../../system/local/environment.ts'
import { gatewaySecrets, simulatorVariables } from '../../system/local/gateways.ts'
import { describeLocal, prepareLocal, SWEEP_EVERY_MS } from '../../system/local/local-system.ts'
import { noticesOf } from '../../system/local/notices.ts'
import { LOOPBACK } from '../../system/local/ports.ts'
import { reposOf } from '../../system/local/tokens.ts'
import type { BoardsHere, System } from '../../system/one-process.ts'
import { aborted, runIn } from '../../system/run-in.ts'
import { gatewayPrefixes } from '../../worker/payments/config/payments-config.ts'
import { createLog } from '../../worker/shared/log.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import { bringUp } from '../bring-up.ts'
import { define } from '../command.ts'
import { type Context, loadConfig } from '../context.ts'
import { stopWithinMs, variablesIn } from '../environment.ts'
import { greet } from '../greeting.ts'
import { appeared, boardSentences, deliverySentences } from '../log-sentences.ts'
import { publishedBy } from '../publish-settings.ts'
import { alsoRunning, boardElsewhere, namedFolder } from '../running-system.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import {
  KEPT_PORT,
  NO_CONFIG,
  NOTIFY,
  OPTION_VARIABLES,
  PRINTS,
  PUBLISHES,
  repoInsteadOf,
  SHARE,
  TRUST_DATA,
  WRITTEN,
} from '../settings.ts'
import { announce, noticeTo, saying } from '../terminal.ts'
import { type Input, refuseNeedless, UsageError } from '../usage.ts'

const OPTIONS = [
  new Setting('--no-board', 'payments alone: DIR needs no board'),
  new Setting('--example', 'make an example board in DIR, in signalbox-example, and start on it'),
  new Setting('--open', 'open the console in the browser'),
  SHARE,
  KEPT_PORT,
  NOTIFY,
  new Setting('--data <DIR>', `${WRITTEN} [.signalbox in the project; with --example in DIR]`),
  TRUST_DATA,
  repoInsteadOf("the project's absolute path"),
  ...PUBLISHES,
  NO_CONFIG,
  PRINTS,
] as const

type DevOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['DIR...', 'folder of the project [this folder, or one above it]'],
  usage: '[DIR...] [--example | --no-board] [options]',
  description: `\
Runs all of Signalbox for the boards of the project in one process: the edge with its console, the
payments and their database, the sidecars of the boards, and a simulator of payment gateways. The
boards are that of the project and all below, each package of a monorepo and each tool of a folder;
one that is made later appears. Several DIR are several projects. Without a board: --example makes
one, --no-board runs payments alone. Prints the address, and a link that signs in one browser. A
gateway whose variables are set (such as STRIPE_*) takes the place of its simulator; PAYMENT_*
variables are used, too.

Everything is written to the data folder, which git ignores: local.json there tells programs how to
connect, and logs/ holds the log. The next start finds all of it there, and has the same address. It
listens on 127.0.0.1 alone, unless it is shared. SIGINT and SIGTERM end it with exit code 0.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<DevOptions>, context: Context): Promise<number> {
  const { options } = input
  const { io, cwd } = context
  const { trustData: trustsData = false, example: isExample = false } = options
  if (!options.board) refuseNeedless(input, ['--example', NOTIFY, ...PUBLISHES], 'with --no-board')
  const find = () => findHere(input, cwd)
  const { here, project, repo, repos, boards } = await saying('Looking for boards …', { io }, find)
  const leading = boards && (await boardElsewhere(here))
  if (leading !== undefined) noticeTo(io)(leading)
  const file = await loadConfig(options, context)
  const env = await variablesIn(undefined, context.env, gatewayPrefixes(file))
  // All that is written from here on is for its owner alone.
  process.umask(0o077)
  const notice = noticeTo(io)
  const stopMs = stopWithinMs(context.env)
  const sentences = [...misspelt(env, file, OPTION_VARIABLES), ...ignoredSecrets(env)]
  sentences.forEach(noticeTo(io, 'warn'))
  // Who makes an example, and then follows a document, looks in the folder where it was typed.
  const usual = join(isExample ? here : project, DATA_DIR)
  const dataDir = options.data === undefined ? usual : namedFolder(cwd, options.data)
  const location = { dataDir, trustsData, env }
  const also = await alsoRunning(project, dataDir)
  if (also !== undefined) notice(also)

  const asked = io.shutdownSignal()
  const code = await runIn({ location, host: 'node', asked, notice }, async (running) => {
    const { data, defer, signal } = running
    const { port, share } = options
    const plan = { location, file, repos, hasBoards: boards !== undefined, port, share, notice }
    const own = await prepareLocal(running, plan)
    const logFile = openLogFile(data.logFile('signalbox'))
    defer(logFile.close)
    const write = createLog('json', logFile.write)
    const simulator = simulatorVariables(gatewaySecrets(own.secret), own.simulator)
    defer((await openSimulator(simulator)).close)
    const database = { database: databaseIn(data.dir), databaseToken: '' }
    const { variables, local } = describeLocal(own, database, { embeds: true })
    const localNow = (system: System): LocalJson => {
      const here = system.boards().map(localBoard)
      return { ...local, path: here[0]?.path ?? repo, boards: here }
    }
    const onBoard = boardSentences(notice)
    const onDelivery = deliverySentences(local.eventsUrl ?? '', notice)
    const terminal = io.isTerminal && !io.logsJson && { terminal: io.err }
    const { agent } = own.tokens
    const system = await bringUp(running, context, {
      location,
      isChosen: options.data !== undefined,
      variables: { ...variables, HOST: LOOPBACK, PORT: String(own.ports.edge) },
      file,
      sharedUrl: own.sharing?.shared?.urls[0],
      boards: boards && {
        ...boards,
        ...terminal,
        notices: noticesOf(file, options),
        onFound: (board) => notice(appeared(localBoard(board))),
      },
      local: localNow,
      agentToken: agent === undefined ? undefined : async () => agent,
      sweepEveryMs: SWEEP_EVERY_MS,
      stopWithinMs: stopMs,
      log(...line) {
        write(...line)
        onDelivery(...line)
      },
      sidecarLog(level, event, fields = {}) {
        write(level, event, fields)
        onBoard(event, fields)
      },
    })
    if (!system) return 0
    const listed = system
      .boards()
      .map((it) => ({ ...localBoard(it), tasks: it.tasks(), reading: it.reading }))
    const known = { boards: listed, local: localNow(system), host: 'node', cwd, isExample }
    const link = await greet(io, own, { ...known, project, repo })
    if (options.open) openBrowser(link, (why) => notice(`No browser could be opened (${why}).`))
    await aborted(signal)
    return 0
  })
  if (asked.aborted) announce(io, 'Ended.\n', 'signalbox.ended')
  return code
}

interface Here {
  /** The first folder that was named. */
  here: string
  /** The folder of its project. */
  project: string
  /** What boards are called after. */
  repo: string
  /** What tokens cover. */
  repos: readonly string[]
  /** Undefined: payments alone. */
  boards?: Omit<BoardsHere, 'notices' | 'lock' | 'onFound' | 'onLeft'>
}

async function findHere(
  { options, arguments: named }: Input<DevOptions>,
  cwd: string,
): Promise<Here> {
  const { example: isExample = false } = options
  const folders = named.length === 0 ? [cwd] : named.map((dir) => resolve(cwd, dir))
  const [here = cwd] = folders
  if (folders.length > 1 && (isExample || !options.board)) {
    throw new UsageError(`${isExample ? '--example' : '--no-board'} takes one DIR, not several.`)
  }
  const published = publishedBy(options)
  const { dirs, below } = options.board
    ? await projectsIn(isExample ? [await makeExample(here)] : folders, published.search)
    : { dirs: folders, below: [] }
  const [project = here, ...others] = dirs
  const repo = options.repo ?? (await locationOf(project))
  if (pathProblem(repo) !== undefined) {
    throw new UsageError(`${project} cannot name the repository: choose one with --repo.`)
  }
  if (!options.board) return { here, project, repo, repos: [repo] }
  const isRepoChosen = options.repo !== undefined
  const located = async (dir: string) => await locationOf(await realpath(dir))
  const elsewhere = isRepoChosen ? [] : await Promise.all(others.map(located))
  const {
    named: [first],
  } = nameBoards(below, { repo, project: await located(project), only: options.only })
  const covered = reposOf(first?.name ?? repo, [repo, ...elsewhere])
  // The project may yet get a board of its own, and nobody else publishes to this edge.
  const repos = first === undefined ? covered : [...covered, `${repo}*`]
  if (JSON.stringify(repos).length > MAX_REPOS_CHARS) {
    throw new UsageError('So many DIR do not fit in a token: name them all with --repo NAME.')
  }
  return { here, project, repo, repos, boards: { ...published, dirs, repo, isRepoChosen } }
}

/** A session has them in its cookie, and browsers drop one of 4 KiB. */
const MAX_REPOS_CHARS = 2_400

const projectsIn = (folders: readonly string[], search: Search): Promise<Projects> =>
  findProjects(folders, search).catch((error: unknown) => {
    if (!(error instanceof StoreError && error.code === 'no_board')) throw error
    const ways = ' signalbox --example makes one, signalbox --no-board runs payments alone.'
    throw new UsageError(`${error.message}${search.only ? '' : ways}`)
  })

/** Does not wait for it. `failed` gets the reason if it could not be opened. */
function openBrowser(url: string, failed: (why: string) => void): void {
  const [program, ...args] = browserCommand(process.platform, url)
  const child = spawn(program, args, { detached: true, stdio: 'ignore' })
  child.once('error', (error) => failed(`${program}: ${error.message}`))
  child.once('exit', (code) => code !== 0 && failed(`${program} ended with exit code ${code}`))
  // It may live for as long as the browser does.
  child.unref()
}

function browserCommand(platform: NodeJS.Platform, url: string): [string, ...string[]] {
  if (platform === 'darwin') return ['open', url]
  // The first text in quotes would be the window's title.
  if (platform === 'win32') return ['cmd', '/c', 'start', '""', url]
  return ['xdg-open', url]
}
