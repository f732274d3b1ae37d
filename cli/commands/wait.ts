// Waits for a change of a board, or for a task, and prints one line of JSON: for agents, which
// would look again and again.

import { BoardError } from '../../libraries/client/types.ts'
import { noBoardIn } from '../../sidecar/layouts/registry.ts'
import { jsonText } from '../../worker/shared/printable.ts'
import { findTarget, isDataFolder, signalboxes, TARGET, type Target } from '../board/target.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { FAILED, TIMED_OUT } from '../exit-codes.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, UsageError } from '../usage.ts'
import { doubtAbout, type Outcome, type Until, type Wait, waitFor } from '../wait/wait-for.ts'

/** The longest that a timer can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1
/** An event id, or a cursor of files. */
const CURSOR = /^[0-9a-z]{1,32}-[0-9a-f]{1,32}$/

const OPTIONS = [
  ...TARGET,
  new Setting('--task <ID>', 'only this task'),
  new Setting('--until <WHAT>', 'any, ready, review or status=X').or('any'),
  new Setting('--since <ID>', 'the id of an earlier line'),
  new Setting('--timeout <TIME>', 'how long; the shells of agents are cut at ten minutes')
    .duration()
    .or(480_000, '480s'),
] as const

export const command = define({
  usage: '[--task ID] [--until any|ready|review|status=X] [--since ID] [options]',
  description: `\
Waits until it is so, and prints one line of JSON: id, type, task, status, title and board. What is
so already ends it at once. any: a task changed, whatever of it; sessions and their heartbeats do
not count. ready: the task, or one of the board, can be begun. review: it is done in a worktree, or
was released as done, and is open in the main tree. status=X: it has this status. Without
a task in the line, several changed: read the board. The id of a line is where the next wait goes on
with --since: it then also has what changed meanwhile, and nothing twice.

It asks the Signalbox of --url, else the one that runs in the project or above it, else it reads and
watches the files. Of several boards it waits for that of this folder, or of the nearest above it.
One that ends meanwhile is waited for, too. Exit code 3 and type timeout: the time is over; the line
has the id to go on from. Exit code 1: the Signalbox that was named cannot be reached, or there is
no board.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<OptionsOf<typeof OPTIONS>>, context: Context): Promise<number> {
  const { io } = context
  const { task, since, timeout } = input.options
  const until = readUntil(input.options.until)
  if (since !== undefined && !CURSOR.test(since)) {
    throw new UsageError(`--since must be the id of a line before, not "${since}".`)
  }
  const notice = noticeTo(io)
  const target = await findTarget(input, context, notice)
  if (!target) {
    notice(noBoardIn(context.cwd, 'above or below').message)
    return FAILED
  }
  const { board } = target
  const asked = io.shutdownSignal()
  const end = new AbortController()
  const signal = AbortSignal.any([asked, end.signal])
  let isOver = false
  const timer = setTimeout(
    () => {
      isOver = true
      end.abort()
    },
    Math.min(timeout, MAX_TIMER_MS),
  )
  const print = (line: object) => io.out(`${jsonText(line)}\n`)
  const progress: Progress = { reached: undefined }
  const find = () => findTarget(input, context, () => undefined)
  try {
    const { row, ...outcome } = await waitThrough(target, {
      wait: { task, until, since },
      find,
      notice,
      signal,
      progress,
    })
    print({ ...outcome, status: row?.status, title: row?.title, board })
    return 0
  } catch (error) {
    const { reached: id } = progress
    if (isOver && id !== undefined) {
      print({ id, type: 'timeout', ...(task !== undefined && { task }), board })
      return TIMED_OUT
    }
    const why = isOver
      ? 'The board could not be read in the time of --timeout.'
      : asked.aborted
        ? `It was ended by ${asked.reason}.`
        : error instanceof BoardError && error.message
    if (!why) throw error
    notice(why)
    return FAILED
  } finally {
    clearTimeout(timer)
    end.abort()
  }
}

interface Progress {
  /** The place up to which it had not happened. */
  reached: string | undefined
}

interface WaitThrough {
  wait: Wait
  find: () => Promise<Target | undefined>
  notice: (sentence: string) => void
  signal: AbortSignal
  progress: Progress
}

/** Waits there and, where that goes away and runs again at another address, there. */
async function waitThrough(
  first: Target,
  { wait: { since, ...wait }, find, notice, signal, progress }: WaitThrough,
): Promise<Outcome> {
  const onDoubt = (sentence: string | undefined) => {
    if (sentence !== undefined && !signal.aborted) notice(sentence)
  }
  const isHere = first.edge !== undefined && isDataFolder(first.edge.at)
  // A URL stays what it is: nothing is read or asked again for it.
  const look = isHere ? find : async () => undefined
  const again = signalboxes(first.board, look, notice, signal)
  for (let target = first; ; ) {
    const moved = new AbortController()
    let next: Target | undefined
    const onAway = async () => {
      let found: Target | undefined
      do found = (await again.next()).value
      while (!found?.edge && isHere && !signal.aborted)
      // At the same address, its stream comes back by itself.
      if (!found?.edge || found.edge.url === target.edge?.url) return
      next = found
      moved.abort()
    }
    const from = { ...wait, since: progress.reached ?? since }
    const watched = target.open(from.since, AbortSignal.any([signal, moved.signal]), onAway)
    try {
      const found = await waitFor(watched, from, (id) => {
        // A failure is ignored here: the wait hits the same error and reports it.
        if (progress.reached === undefined) {
          doubtAbout(watched, from).then(onDoubt, () => undefined)
        }
        progress.reached = id
      })
      // Nothing of it was said yet, and of a folder that is gone a task may look ready.
      const isAtOnce = progress.reached === undefined && wait.until.kind !== 'any'
      if (isAtOnce) onDoubt(await doubtAbout(watched, from).catch(() => undefined))
      return found
    } catch (error) {
      if (!next || signal.aborted) throw error
      target = next
    }
  }
}

function readUntil(text: string): Until {
  if (text === 'any' || text === 'ready' || text === 'review') return { kind: text }
  const [, status] = /^status=(.*\S)/.exec(text) ?? []
  if (status !== undefined) return { kind: 'status', status }
  throw new UsageError(`--until must be any, ready, review or status=X, not "${text}".`)
}
