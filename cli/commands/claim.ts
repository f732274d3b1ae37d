// One agent, one task: claims a task of a running Signalbox, or the next that is free, and runs a
// command that works on it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../worker/shared/json.ts'
import { jsonText } from '../../worker/shared/printable.ts'
import { LIMIT_CODES } from '../../worker/shared/problem.ts'
import { printAnswer } from '../claim/answer.ts'
import { CLAIMING, claimantOf, isPlaced, type Placed } from '../claim/claimant.ts'
import { passingOn, runCommand } from '../claim/run-command.ts'
import {
  NothingFree,
  type Taken,
  TTL_MS,
  takeTask,
  type Wanted,
  whenFree,
} from '../claim/take-task.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { FAILED, TIMED_OUT } from '../exit-codes.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { CLAIMED_FOR } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, UsageError } from '../usage.ts'

const OPTIONS = [
  new Setting('--task <ID>', 'this task [the next that is free]'),
  new Setting('--label <L>', 'only a task with this label'),
  new Setting('--parent <ID>', 'only a task with this parent'),
  new Setting('--tag <TAG>', 'only a task of this list of the tool'),
  new Setting('--assignee <NAME>', 'tasks of this person are free, too'),
  new Setting('--wait <TIME>', 'wait until there is one, at most so long').duration(),
  CLAIMED_FOR,
  new Setting('--max <N>', 'how many claims the actor may hold here, with this one').whole(1, 16),
  new Setting('--force', 'also a task that is not ready'),
  ...CLAIMING,
] as const

type ClaimOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  argument: ['COMMAND...', 'behind --: runs while the claim holds, and ends with it'],
  usage: '[--task ID] [--label L] [--parent ID] [--wait TIME] [options] [-- COMMAND …]',
  description: `\
Takes a task, so that nobody else can take it, and prints one line of JSON: type, task, title, file,
inTree, generation, expiresAt, board and claim. Without --task it is the next: the most urgent, then
by rank, then by id. Nothing is written into the board's files: mark the task there with the tool's
own means. Called again by the same actor, it prints the task that the actor already holds
("again": true).

With COMMAND the line goes to standard error, and the command runs with SIGNALBOX_TASK,
SIGNALBOX_TITLE, SIGNALBOX_FILE and SIGNALBOX_CLAIM in its environment. The claim is renewed while
it runs, and released as done where it exits with 0, else as abandoned; its exit code is ours. Where
the claim is lost, it gets SIGTERM, and the exit code is 4.

A running Signalbox of this user renews the claim while the process of --pid runs, and ends it 5 s
after that has ended: by default the nearest agent above (claude, codex, opencode, gemini, aider,
cursor-agent, and others); a shell loop says --pid $$. Else renew it before --ttl is over.

Exit code 3: no task was free in the time of --wait, or, without --wait, the lead has paused or
limited claims (${LIMIT_CODES.join(', ')}). Exit code 4: somebody else holds it.
It needs a running Signalbox: that of the project, or of --url with a token that has board:work.
--wait waits for that, too.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<ClaimOptions>, context: Context): Promise<number> {
  const { arguments: words, behindDashes: command, options, typed } = input
  const [stray] = words.slice(0, words.length - command.length)
  if (stray !== undefined) {
    throw new UsageError(`${stray} is no option: --task names a task, and a command follows --.`)
  }
  if (command.length === 0) {
    return await claim(input, context, { asked: context.io.shutdownSignal() })
  }
  // Standard output is the command's.
  const { io } = context
  const behind = { ...context, io: { ...io, out: io.err } }
  const { asked, to } = passingOn()
  let taken: Taken | undefined
  const onTaken = (it: Taken) => {
    taken = it
  }
  const code = await claim(input, behind, { asked, self: process.pid, onTaken })
  if (!taken) return code
  const tokenFile = typed.has('--token-file') ? options.tokenFile : undefined
  const ttlMs = options.ttl ?? TTL_MS
  return await runCommand(command, { ...taken, to, context: behind, ttlMs, tokenFile })
}

interface Taking {
  asked: AbortSignal
  /** Who works. */
  self?: number
  onTaken?: (taken: Taken) => void
}

async function claim(
  input: Input<ClaimOptions>,
  context: Context,
  { asked, self, onTaken }: Taking,
): Promise<number> {
  const { io, env } = context
  const { wait, ttl, task, label, parent, tag, assignee, max, force } = input.options
  const named = defined({ ttl, task, label, parent, tag, assignee, max })
  const wanted: Wanted = { ...named, ...(force && { force }) }
  const said = new Set<string>()
  const notice = (sentence: string) => {
    // While it waits for a Signalbox, it finds the board again and again.
    if (!said.has(sentence)) noticeTo(io)(sentence)
    said.add(sentence)
  }
  const find = () => claimantOf(input, context, defined({ self, notice }))
  const first = await find()
  if (!first) return FAILED
  const placed = wait === undefined && isPlaced(first, io) ? first : undefined
  if (wait === undefined && !placed) return FAILED
  const signal = wait === undefined ? asked : AbortSignal.any([asked, AbortSignal.timeout(wait)])
  const take = async (claimant: Placed) => ({
    claimant,
    given: await takeTask(wanted, claimant, env),
  })
  try {
    return await printAnswer(io, first, async () => {
      const taken = await (placed ? take(placed) : whenFree({ first, find, take, notice, signal }))
      onTaken?.(taken)
      const { task, claim, ...answer } = taken.given
      const { title, file } = task
      const inTree = isInTree(taken)
      if (inTree === false) notice(`${file} is not in this tree: merge the main branch first.`)
      return { line: { type: 'claimed', task: task.id, title, file, inTree, ...answer, claim } }
    })
  } catch (error) {
    if (!(error instanceof NothingFree || signal.aborted)) throw error
    io.out(`${jsonText({ type: 'timeout', board: first.board })}\n`)
    return TIMED_OUT
  }
}

/** Undefined: it is not known where the board is, or of which file the task. */
function isInTree({ claimant: { place }, given: { task } }: Taken): boolean | undefined {
  const { dir } = place
  return dir !== undefined && task.file !== undefined ? existsSync(join(dir, task.file)) : undefined
}
