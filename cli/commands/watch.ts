// Publishes boards for as long as it runs.

import { type BoardsPlan, openBoards } from '../../sidecar/boards/open-boards.ts'
import { serveHealthz } from '../../sidecar/healthz.ts'
import { watchChokidar } from '../../sidecar/watch/watch-chokidar.ts'
import { watchEnds } from '../../worker/shared/ends-node.ts'
import { errorCode } from '../../worker/shared/file-errors.ts'
import type { Log } from '../../worker/shared/log.ts'
import { Metrics } from '../../worker/shared/metrics.ts'
import { type MonitorServer, processMetrics } from '../../worker/shared/metrics-node.ts'
import { noticeProblems } from '../../worker/shared/notice-schemas.ts'
import { watchClaims } from '../claim/watch-claims.ts'
import { define } from '../command.ts'
import { type Context, loadConfig } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import { PUBLISHING, publishedBy, readPublishing } from '../publish-settings.ts'
import { addressOf } from '../request.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { HEALTHZ, NO_CONFIG, ONLY, POLL, WATCH_TIMEOUT } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, UsageError } from '../usage.ts'

const OPTIONS = [
  ...PUBLISHING,
  ONLY,
  POLL,
  WATCH_TIMEOUT,
  HEALTHZ,
  NO_CONFIG,
  new Setting('--wait', 'wait for a board while there is none'),
  new Setting('--exit-with-parent', 'end when standard input closes'),
  new Setting('--ask-parent', 'take a board only if the process that started this one allows it'),
] as const

export const command = define({
  argument: ['DIR...', 'folders of task boards, or above them'],
  usage: 'DIR... --edge URL --repo NAME [options]',
  description: `\
Watches the task boards in each DIR and below, and publishes their changes to the edge. The board of
the first DIR itself is called NAME; any other has its folder and layout as well:
NAME/packages/tea#kiro, NAME#openspec. Folders that .gitignore names and node_modules are not
entered, and no link is followed. A board that is made later is published, too.

While the edge cannot be reached, it tries again for ever and loses nothing. SIGTERM and SIGINT
publish what is pending and end with exit code 0. If two sidecars publish one repository, the later
one wins; the earlier one goes on when that has ended, or a minute after it was killed. What leaves
this machine: tasks and sessions as their files have them, the branch and commit of the main tree,
and of runs the command and the output, without what looks like a secret; the rules of
signalbox.config.ts for notices, but not their commands.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<OptionsOf<typeof OPTIONS>>, context: Context): Promise<number> {
  const { io } = context
  const { healthz: port, wait: waits, exitWithParent, askParent: asks } = input.options
  const askParent = asks ? io.askParent : undefined
  if (asks && !askParent) {
    throw new UsageError('--ask-parent needs a channel to the process that started this one.')
  }
  const { notices = [] } = await loadConfig(input.options, context)
  const [problem] = noticeProblems(notices)
  if (problem !== undefined) throw new UsageError(`${problem}.`)
  const { dirs, repo, plan, url, token, ...publishing } = readPublishing(input, context, notices)
  const { search, isPolling, watchWithinMs } = publishedBy(input.options)
  // `start` waits until the boards are published, and says when one is gone.
  const log: Log = (level, event, fields) => {
    publishing.log(level, event, fields)
    io.sendToParent?.({ event, ...fields })
  }
  // The parent holds it for as long as it runs: it may start another one of us.
  const lock: BoardsPlan['lock'] =
    askParent &&
    (async (board) => {
      const { why } = await askParent(board)
      return why ?? (() => Promise.resolve())
    })
  const end = io.shutdownSignal({ withParent: exitWithParent })
  end.addEventListener('abort', () => log('info', 'sidecar.ending', { why: end.reason }))
  const metrics = new Metrics()
  const open = await openBoards({
    ...plan,
    dirs,
    repo,
    isRepoChosen: true,
    waits,
    log,
    lock,
    metrics,
    search,
    watch: isPolling ? undefined : watchChokidar,
    watchWithinMs,
  })
  let healthz: MonitorServer | undefined
  try {
    if (port !== undefined) {
      processMetrics(metrics)
      watchEnds(metrics, { tokens: { edge: token }, url, signal: end })
      healthz = await serveHealthz(port, open.health, metrics)
    }
  } catch (error) {
    const code = errorCode(error) || String(error)
    const sentence = `Port ${port} for --healthz cannot be had (${code}).`
    if (code !== 'EADDRINUSE') throw new UsageError(sentence)
    // It may be free soon: a supervisor starts again after all but a wrong use.
    noticeTo(io, 'error')(sentence)
    return FAILED
  }
  if (healthz) log('info', 'healthz.listening', { port: healthz.port })
  const edge = { url: addressOf(url), token }
  void watchClaims({ ...edge, at: [edge.url], env: context.env, signal: end })
  const { ready, ended } = open.run(end)
  void ready.then(() => {
    const { boards } = open.health()
    const behind = boards.filter((board) => board.behind).length
    log('info', 'boards.ready', { boards: boards.length, behind })
  })
  await ended
  await healthz?.close()
  return 0
}
