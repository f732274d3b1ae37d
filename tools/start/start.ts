// `signalbox start`: the whole system on this machine, each part in its own process.

import { statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { thisBoot } from '../../cli/claim/agent-process.ts'
import { define } from '../../cli/command.ts'
import {
  announce,
  type Context,
  type Input,
  noticeTo,
  UsageError,
  variablesIn,
} from '../../cli/context.ts'
import { greeting, sharingText } from '../../cli/greeting.ts'
import { appeared, boardNotices } from '../../cli/notices.ts'
import { namedFolder } from '../../cli/running-system.ts'
import { type OptionsOf, Setting } from '../../cli/setting.ts'
import {
  FOLLOW_LINKS,
  KEPT_PORT,
  PRINTS,
  repoInsteadOf,
  SHARE,
  TRUST_DATA,
  WRITTEN,
} from '../../cli/settings.ts'
import { openStore, StoreError } from '../../sidecar/layouts/registry.ts'
import signalbox from '../../signalbox.config.ts'
import { boardLocks } from '../../system/board-lock.ts'
import { aborted, DATA_DIR, type Running, runIn } from '../../system/data-folder.ts'
import {
  checkVariables,
  edgeVariables,
  gatewaysIn,
  ignoredSecrets,
  machineVariables,
  sidecarVariables,
} from '../../system/environment.ts'
import {
  describePayments,
  type GatewayHere,
  gatewaySecrets,
  simulatedCallback,
} from '../../system/gateways.ts'
import type { LocalBoard, LocalJson, LocalTokens } from '../../system/local-json.ts'
import { prepareSchema } from '../../system/migrate.ts'
import { describeNotices } from '../../system/notices.ts'
import { claimPorts, loopbackUrl } from '../../system/ports.ts'
import { openSecret } from '../../system/secret.ts'
import { openSharing, type Sharing } from '../../system/share.ts'
import { StartError } from '../../system/start-error.ts'
import { databaseAccess, mintTokens, reposOf, startLink } from '../../system/tokens.ts'
import { until, untilAnswers } from '../../system/until.ts'
import { gatewayPrefixes } from '../../worker/payments/config/payments-config.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import { compileCache } from '../../worker/shared/user-folders-node.ts'
import { bundleConsole } from './bundle.ts'
import { spawnChild } from './child.ts'
import { prepareDeno } from './deno.ts'
import { followEvents } from './follow-events.ts'
import { HeldBoards } from './held-boards.ts'
import { libsqlServer, sidecarProcess, simulatorProcess } from './processes.ts'
import { Supervisor } from './supervisor.ts'
import { prepareWorkerd } from './workerd.ts'

const HOME = resolve(import.meta.dirname, '../..')
const EXAMPLE = join(HOME, 'examples/board')
/** A user who tries things out is waiting: more often than the minute of a deployment. */
const SWEEP_EVERY_MS = 10_000
/** Longer than a sweep takes; one that hangs must not end all that follow. */
const SWEEP_WITHIN_MS = 60_000
/** Long, since a store of 100,000 tasks is read and published before the board is there. */
const BOARD_WAIT_MS = 120_000
/** A busy machine may need long; a process that dies is reported at once, so it ends what hangs. */
const PROCESS_WAIT_MS = 60_000

const OPTIONS = [
  new Setting('--store <DIR>', 'folder of the task board [examples/board]'),
  FOLLOW_LINKS,
  repoInsteadOf("the board's absolute path"),
  KEPT_PORT,
  new Setting('--data <DIR>', `${WRITTEN} [.signalbox]`),
  TRUST_DATA,
  new Setting('--host <HOST>', 'runtime of the edge').oneOf(['workerd', 'deno']).or('workerd'),
  SHARE,
  PRINTS,
] as const

type StartOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  usage: '[options]',
  description: `\
Runs the edge, its database, a sidecar for the board in DIR and those below, and a simulator of
payment gateways. A gateway whose variables are set (such as STRIPE_*) takes the place of its
simulator; PAYMENT_* variables are passed on.

Everything is written to the data folder: local.json there tells programs how to connect, and logs/
holds the log of each process. Everything listens on 127.0.0.1 alone, unless it is shared. SIGINT
and SIGTERM end all of it with exit code 0.`,
  options: OPTIONS,
  run,
})

async function run(
  { options }: Input<StartOptions>,
  { io, cwd, ...context }: Context,
): Promise<number> {
  const env = await variablesIn(undefined, context.env, gatewayPrefixes(signalbox))
  const { host, port, followLinks: followsLinks = false, trustData: trustsData = false } = options
  const storeDir = options.store === undefined ? EXAMPLE : resolve(cwd, options.store)
  const repo = options.repo ?? storeDir
  const problem = pathProblem(repo)
  if (problem !== undefined) throw new UsageError(`--repo is needed for ${storeDir}: ${problem}`)
  const dataDir = options.data === undefined ? join(cwd, DATA_DIR) : namedFolder(cwd, options.data)
  const { layout } = await openStore(storeDir, { followsLinks })
  const notice = noticeTo(io)
  ignoredSecrets(env).forEach(noticeTo(io, 'warn'))
  // All that is written, by our children too, is for its owner alone.
  process.umask(0o077)
  const supervisor = new Supervisor({
    spawn: spawnChild,
    now: () => performance.now(),
    after(ms, call) {
      const timer = setTimeout(call, ms)
      return () => clearTimeout(timer)
    },
    notice,
  })
  const asked = io.shutdownSignal({
    npmScript: env.npm_lifecycle_event,
    onSecondSignal: () => supervisor.kill(),
  })
  const location = { dataDir, trustsData, env }
  return await runIn({ location, host, asked, notice }, async (running) => {
    const { data, defer, signal, writeLocal, rewriteLocal } = running
    const secret = await openSecret(location, notice)
    defer(() => supervisor.stop())
    // The edge gets the other ports when it starts, so all are found before anything is started.
    const ports = await claimPorts({ data, port, notice, signal })
    const isChosen = options.data !== undefined
    const locks = { env: context.env, machine: thisBoot(), dataDir, isChosen, notice }
    const held = new HeldBoards(boardLocks(locks))
    defer(() => held.close())
    const boards: LocalBoard[] = [{ path: repo, dir: storeDir, layout }]
    let local: LocalJson | undefined
    const onFound = (found: LocalBoard) => {
      // A sidecar that was started again finds all of them again.
      if (boards.some(({ path }) => path === found.path)) return
      boards.push(found)
      if (local) notice(appeared(found))
      rewriteLocal()
    }
    const onLeft = (name: string) => {
      void held.letGo(name)
      boards.splice(0, boards.length, ...boards.filter(({ path }) => path !== name))
      rewriteLocal()
    }
    const reading = new Map<string, number>()
    const tokens = await mintTokens(secret, reposOf(repo, [repo]), Date.now())
    const sharePlan = { location, secret, tokens, ports }
    const sharing = options.share && (await openSharing({ ...sharePlan, what: options.share }))
    if (sharing) defer(sharing.close)
    const gateways = gatewaysIn(env, signalbox)
    const ofBoards = { path: repo, boards, held, reading, onFound, onLeft }
    const own = { ...ofBoards, tokens, secret, ports, gateways, sharing }
    const plan = { ...running, ...own, storeDir, followsLinks, host, env, supervisor, notice }
    const up = await Promise.race([bringUp(plan), supervisor.failed, aborted(signal)])
    if (!up) return 0
    if ('sentence' in up) {
      const { refused } = held
      if (refused !== undefined) throw new StoreError('runs_elsewhere', refused)
      throw await childFailed(up.sentence, data.dir)
    }
    local = up

    supervisor.keepAlive()
    await writeLocal(() => up)
    const isShared = options.share !== undefined
    const link = await startLink(secret, local, { isShared, now: Date.now() })
    const greets = greeting({
      boards: boards.map((board) => ({ ...board, reading: reading.get(board.path) })),
      isExample: storeDir === EXAMPLE,
      dataDir,
      trustsData,
      host,
      local,
      link,
      gateways,
      cwd,
    })
    const text = sharing ? `${greets}${sharingText(sharing, ports, io.isTerminal)}` : greets
    announce(io, text, 'signalbox.ready', { url: local.url, repo, project: storeDir, dataDir })
    const show = (text: string) => announce(io, text, 'console', { message: text.trim() })
    void followEvents(data.logFile(host), show, signal).catch((error) => notice(String(error)))
    const failed = await Promise.race([supervisor.failed, aborted(signal)])
    if (!failed) return 0
    notice(`${failed.sentence} Everything is ended.`)
    return 1
  })
}

interface StartPlan extends Pick<Running, 'data' | 'signal'> {
  storeDir: string
  followsLinks: boolean
  /** The repository's name. */
  path: string
  /** All that were found so far. */
  boards: readonly LocalBoard[]
  /** Those that no other Signalbox may have. */
  held: HeldBoards
  /** Files of those that are being read for the first time, by their names. */
  reading: Map<string, number>
  onFound(board: LocalBoard): void
  /** Its name. */
  onLeft(board: string): void
  tokens: Required<LocalTokens>
  host: StartOptions['host']
  ports: Record<'edge' | 'simulator' | 'database', number>
  gateways: readonly GatewayHere[]
  sharing: Sharing | undefined
  /** The data folder's. */
  secret: string
  env: Context['env']
  supervisor: Supervisor
  notice: (sentence: string) => void
}

/** Resolves when all processes are ready. Throws StartError; what was started still runs then. */
/** A child says only to its own log that it found the disk full. */
const FULL_BYTES = 64 << 10

async function childFailed(sentence: string, dir: string): Promise<StartError> {
  const { bavail, bsize } = await statfs(dir)
  if (bavail * bsize >= FULL_BYTES) return new StartError('child_failed', sentence)
  const cause = Object.assign(new Error('there is no space'), { code: 'ENOSPC' })
  return new StartError('child_failed', `${sentence} The disk of ${dir} is full.`, { cause })
}

async function bringUp(plan: StartPlan): Promise<LocalJson> {
  const { data, secret, env, host, path, boards, tokens, ports } = plan
  const { supervisor, notice, signal } = plan
  const compiled = compileCache(env)
  const machine = {
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    ...machineVariables(env),
  }
  const edge = loopbackUrl(ports.edge)
  const database = loopbackUrl(ports.database)
  const simulator = loopbackUrl(ports.simulator)
  const { publicKey, token: databaseToken } = await databaseAccess(secret)
  const addresses = { database, simulator, databaseToken }
  const variables = edgeVariables(env, signalbox, { secret, edge, ...addresses })
  checkVariables(variables, signalbox)
  const inTime = (what: string) => ({ what, waitMs: PROCESS_WAIT_MS, signal })

  const bringDatabaseUp = async () => {
    const location = { dir: data.databaseDir, port: ports.database, publicKey }
    supervisor.start(libsqlServer(location, { env: machine, logFile: data.logFile('sqld') }))
    await untilAnswers(`${database}/health`, inTime('The database'))
    const opened = libsqlDatabase({ url: database, authToken: databaseToken }, Date.now)
    await prepareSchema(opened, { notice, signal })
  }
  const bringSimulatorUp = async () => {
    supervisor.start(
      simulatorProcess({
        port: ports.simulator,
        dataDir: data.dir,
        sharedUrl: plan.sharing?.simulator,
        callbackOf: simulatedCallback(edge, signalbox, plan.gateways),
        secrets: gatewaySecrets(secret),
        env: machine,
        logsDir: data.logsDir,
        logFile: data.logFile('simulator'),
      }),
    )
    await untilAnswers(`${simulator}/health`, inTime('The simulator'))
  }
  const bringEdgeUp = async () => {
    const prepare = host === 'deno' ? prepareDeno : prepareWorkerd
    const consoleDir = join(data.edgeDir, 'console')
    const settings = { port: ports.edge, dir: data.edgeDir, consoleDir, home: HOME, variables }
    const [spec] = await Promise.all([
      prepare({ ...settings, env: machine, logFile: data.logFile(host) }),
      bundleConsole(consoleDir),
    ])
    supervisor.start(spec)
    await untilAnswers(edge, inTime('The edge'))
  }
  const bringBoardUp = async () => {
    const { storeDir, followsLinks } = plan
    const onBoard = boardNotices(notice)
    let isReady = false
    supervisor.start(
      sidecarProcess({
        storeDir,
        followsLinks,
        cacheDir: data.cacheDir,
        edge,
        repo: path,
        token: tokens.sidecar,
        env: { ...machine, ...sidecarVariables(env) },
        logFile: data.logFile('sidecar'),
        onAsked: (board) => plan.held.ask(board),
        onEvent(event, fields) {
          isReady ||= event === 'boards.ready'
          onBoard(event, fields)
          const { board, dir, layout, files } = fields as Record<string, unknown> & LocalBoard
          if (event === 'board.found') plan.onFound({ path: String(board), dir, layout })
          if (event === 'sidecar.reading') plan.reading.set(String(board), Number(files))
          if (event === 'sidecar.ready') plan.reading.delete(String(board))
          if (event === 'board.left') plan.onLeft(String(board))
        },
      }),
    )
    await until(() => isReady, { what: 'The board', waitMs: BOARD_WAIT_MS, signal })
  }

  await Promise.all([bringDatabaseUp(), bringSimulatorUp(), bringEdgeUp().then(bringBoardUp)])
  void sweepAgainAndAgain(edge, tokens.payments, signal)
  const { shared } = plan.sharing ?? {}
  const described = {
    ...describePayments(variables),
    ...describeNotices(variables),
    ...(shared && { shared }),
  }
  return { url: edge, path, boards, ...addresses, tokens, ...described }
}

/**
 * The cron of the system: it calls the edge as Cloudflare does every minute. Quiet: an edge that is
 * away is reported by the supervisor, and what a sweep found is in the edge's own log.
 */
async function sweepAgainAndAgain(edge: string, token: string, end: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${token}` }
  while (!end.aborted) {
    await sleep(SWEEP_EVERY_MS, undefined, { signal: end, ref: false }).catch(() => undefined)
    const signal = AbortSignal.any([end, AbortSignal.timeout(SWEEP_WITHIN_MS)])
    await fetch(`${edge}/api/payments/sweep`, { method: 'POST', headers, signal }).then(
      (answer) => answer.body?.cancel(),
      () => undefined,
    )
  }
}
