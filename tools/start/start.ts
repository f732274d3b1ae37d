// `signalbox start`: the whole system on this machine, each part in its own process.

import { statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { thisBoot } from '../../cli/claim/agent-process.ts'
import { define } from '../../cli/command.ts'
import type { Context } from '../../cli/context.ts'
import { variablesIn } from '../../cli/environment.ts'
import { greet } from '../../cli/greeting.ts'
import { appeared, boardSentences } from '../../cli/log-sentences.ts'
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
import { announce, noticeTo } from '../../cli/terminal.ts'
import { type Input, UsageError } from '../../cli/usage.ts'
import { openStore, StoreError } from '../../sidecar/layouts/registry.ts'
import signalbox from '../../signalbox.config.ts'
import { boardLocks } from '../../system/data/board-lock.ts'
import { DATA_DIR } from '../../system/data/data-folder.ts'
import type { LocalJson } from '../../system/data/local-json.ts'
import { prepareSchema } from '../../system/database/migrate.ts'
import {
  ignoredSecrets,
  machineVariables,
  sidecarVariables,
} from '../../system/local/environment.ts'
import { gatewaySecrets } from '../../system/local/gateways.ts'
import {
  describeLocal,
  type LocalSystem,
  prepareLocal,
  SWEEP_EVERY_MS,
} from '../../system/local/local-system.ts'
import { loopbackUrl } from '../../system/local/ports.ts'
import { databaseAccess, reposOf } from '../../system/local/tokens.ts'
import { aborted, type Running, runIn } from '../../system/run-in.ts'
import { StartError } from '../../system/start-error.ts'
import { until, untilAnswers } from '../../system/until.ts'
import { gatewayPrefixes } from '../../worker/payments/config/payments-config.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { hostClock } from '../../worker/shared/clock.ts'
import { pathProblem } from '../../worker/shared/repos.ts'
import { compileCache } from '../../worker/shared/user-folders-node.ts'
import { bundleConsole } from './bundle.ts'
import { spawnChild } from './child.ts'
import { prepareDeno } from './deno.ts'
import { followEvents } from './follow-events.ts'
import { FoundBoards } from './found-boards.ts'
import { HeldBoards } from './held-boards.ts'
import { libsqlServer, sidecarProcess, simulatorProcess } from './processes.ts'
import { Supervisor } from './supervisor.ts'
import { prepareWorkerd } from './workerd.ts'

const HOME = resolve(import.meta.dirname, '../..')
const EXAMPLE = join(HOME, 'examples/board')
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
  const { elapsed: now, after } = hostClock
  const supervisor = new Supervisor({ spawn: spawnChild, now, after, notice })
  const asked = io.shutdownSignal({
    npmScript: env.npm_lifecycle_event,
    onSecondSignal: () => supervisor.kill(),
  })
  const location = { dataDir, trustsData, env }
  return await runIn({ location, host, asked, notice }, async (running) => {
    const { data, defer, signal, writeLocal, rewriteLocal } = running
    defer(() => supervisor.stop())
    const isChosen = options.data !== undefined
    const locks = { env: context.env, machine: thisBoot(), dataDir, isChosen, notice }
    const held = new HeldBoards(boardLocks(locks))
    defer(() => held.close())
    const boards = new FoundBoards(
      { path: repo, dir: storeDir, layout },
      {
        onAppeared(board) {
          notice(appeared(board))
          rewriteLocal()
        },
        onLeft(name) {
          void held.letGo(name)
          rewriteLocal()
        },
      },
    )
    const asLocal = { location, file: signalbox, repos: reposOf(repo, [repo]), hasBoards: true }
    const own = await prepareLocal(running, { ...asLocal, port, share: options.share, notice })
    const plan = { data, signal, own, repo, storeDir, followsLinks, host, supervisor, notice }
    const coming = bringProcessesUp({ ...plan, held, boards })
    const up = await Promise.race([coming, supervisor.failed, aborted(signal)])
    if (!up) return 0
    if ('sentence' in up) {
      const { refused } = held
      if (refused !== undefined) throw new StoreError('runs_elsewhere', refused)
      throw await childFailed(up.sentence, data.dir)
    }

    supervisor.keepAlive()
    const localNow = (): LocalJson => ({ ...up, path: repo, boards: boards.all() })
    await writeLocal(localNow)
    const listed = boards.all().map((it) => ({ ...it, reading: boards.readingOf(it) }))
    const known = { boards: listed, local: localNow(), host, cwd, isExample: storeDir === EXAMPLE }
    await greet(io, own, { ...known, project: storeDir, repo })
    const show = (text: string) => announce(io, text, 'console', { message: text.trim() })
    void followEvents(data.logFile(host), show, signal).catch((error) => notice(String(error)))
    const failed = await Promise.race([supervisor.failed, aborted(signal)])
    if (!failed) return 0
    notice(`${failed.sentence} Everything is ended.`)
    return 1
  })
}

interface StartPlan extends Pick<Running, 'data' | 'signal'> {
  own: LocalSystem
  storeDir: string
  followsLinks: boolean
  /** The first board's name. */
  repo: string
  boards: FoundBoards
  /** Those that no other Signalbox may have. */
  held: HeldBoards
  host: StartOptions['host']
  supervisor: Supervisor
  notice: (sentence: string) => void
}

/** That a child found the disk full is only in its own log. */
const FULL_BYTES = 64 << 10

async function childFailed(sentence: string, dir: string): Promise<StartError> {
  const { bavail, bsize } = await statfs(dir)
  if (bavail * bsize >= FULL_BYTES) return new StartError('child_failed', sentence)
  const cause = Object.assign(new Error('there is no space'), { code: 'ENOSPC' })
  return new StartError('child_failed', `${sentence} The disk of ${dir} is full.`, { cause })
}

/** Resolves when all processes are ready. Throws StartError; what was started still runs then. */
async function bringProcessesUp(plan: StartPlan): Promise<Omit<LocalJson, 'path' | 'boards'>> {
  const { data, own, host, repo, boards, held, supervisor, notice, signal } = plan
  const { secret, url: edge, ports, tokens, simulator } = own
  const { env } = own.location
  const compiled = compileCache(env)
  const machine = {
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    ...machineVariables(env),
  }
  const database = loopbackUrl(ports.database)
  const { publicKey, token: databaseToken } = await databaseAccess(secret)
  const { variables, local } = describeLocal(own, { database, databaseToken })
  const inTime = (what: string) => ({ what, waitMs: PROCESS_WAIT_MS, signal })

  const bringDatabaseUp = async () => {
    const settings = { dir: data.databaseDir, port: ports.database, publicKey }
    supervisor.start(libsqlServer(settings, { env: machine, logFile: data.logFile('sqld') }))
    await untilAnswers(`${database}/health`, inTime('The database'))
    const opened = libsqlDatabase({ url: database, authToken: databaseToken }, Date.now)
    await prepareSchema(opened, { notice, signal })
  }
  const bringSimulatorUp = async () => {
    const logs = { logsDir: data.logsDir, logFile: data.logFile('simulator') }
    const secrets = gatewaySecrets(secret)
    supervisor.start(simulatorProcess({ ...simulator, ...logs, secrets, env: machine }))
    await untilAnswers(`${simulator.url}/health`, inTime('The simulator'))
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
    const onBoard = boardSentences(notice)
    supervisor.start(
      sidecarProcess({
        storeDir,
        followsLinks,
        cacheDir: data.cacheDir,
        edge,
        repo,
        token: tokens.sidecar ?? '',
        env: { ...machine, ...sidecarVariables(env) },
        logFile: data.logFile('sidecar'),
        onAsked: (board) => held.ask(board),
        onEvent(event, fields) {
          onBoard(event, fields)
          boards.onEvent(event, fields)
        },
      }),
    )
    await until(() => boards.isReady, { what: 'The board', waitMs: BOARD_WAIT_MS, signal })
  }

  await Promise.all([bringDatabaseUp(), bringSimulatorUp(), bringEdgeUp().then(bringBoardUp)])
  void sweepAgainAndAgain(edge, tokens.payments, signal)
  return local
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
