// What happened on a board, as the running Signalbox has it, and whether an export is whole.

import { resolve } from 'node:path'
import type { ActivityRow } from '../../libraries/api/types.ts'
import { BoardError } from '../../libraries/client/types.ts'
import { activityText } from '../../libraries/mcp/activity-text.ts'
import { MARK_WORDS } from '../../worker/board/activity/mark-words.ts'
import { durationMs } from '../../worker/shared/duration.ts'
import { defined } from '../../worker/shared/json.ts'
import { readPlain } from '../../worker/shared/plain-file-node.ts'
import { jsonText } from '../../worker/shared/printable.ts'
import { findTarget, TARGET } from '../board/target.ts'
import { define } from '../command.ts'
import type { Context } from '../context.ts'
import { FAILED } from '../exit-codes.ts'
import { exportOf, pagesOf } from '../history/read-history.ts'
import { verify } from '../history/verify.ts'
import { type OptionsOf, Setting } from '../setting.ts'
import { JSON_OUTPUT } from '../settings.ts'
import { noticeTo } from '../terminal.ts'
import { type Input, UsageError } from '../usage.ts'

const OPTIONS = [
  ...TARGET,
  new Setting('--task <ID>', 'only of this task'),
  new Setting('--actor <NAME>', 'only what this one did'),
  new Setting('--since <TIME>', 'a time such as 24h, of ISO 8601, or the id of a line of wait').or(
    '24h',
  ),
  new Setting('--export', 'print all of it as lines of JSON, the oldest first'),
  new Setting('--verify <FILE>', 'compare an export, or a log with its heads, with what is here'),
  JSON_OUTPUT,
] as const

type HistoryOptions = OptionsOf<typeof OPTIONS>

export const command = define({
  usage: '[--task ID] [--actor NAME] [--export | --verify FILE] [options]',
  description: `\
Prints what happened on a board, the newest first: tasks that came, changed and went, who claimed
which and what they said, and where git switched the main tree. What stands out has a mark:
${Object.values(MARK_WORDS).join(', ')}.

--export prints everything that is kept, with a hash on each line that covers the line before.
--verify says whether such a file is whole, compares it, or the lines history.head of a log, with
this Signalbox, and prints what is marked. Exit code 0: it is whole; 1: it is not, or there is none
to compare with. It shows a file that was changed, and not a database that was forged.`,
  options: OPTIONS,
  run,
})

async function run(input: Input<HistoryOptions>, context: Context): Promise<number> {
  const { io, cwd } = context
  const { export: exports, verify: file, json } = input.options
  const notice = noticeTo(io)
  const all = exports ? '--export' : file === undefined ? undefined : '--verify'
  const narrowing = ['--task', '--actor', '--since'].find((name) => input.typed.has(name))
  if (exports && file !== undefined) throw new UsageError('Give --export or --verify, not both.')
  if (all !== undefined && narrowing !== undefined) {
    throw new UsageError(`${all} is about all of it: ${narrowing} would leave rows out.`)
  }
  const target = await findTarget(input, context, notice)
  if (!target?.edge) {
    notice('No Signalbox runs here: the history is kept by the one that runs. Name it with --url.')
    return FAILED
  }
  const { edge } = target
  try {
    if (exports) {
      for await (const line of exportOf(edge)) io.out(`${line}\n`)
      return 0
    }
    if (file !== undefined) {
      const { text } = await readPlain(resolve(cwd, file)).catch((error: unknown) => {
        throw new UsageError(`${file} cannot be read (${String(error)}).`)
      })
      const found = await verify(text, edge)
      for (const row of found.marked) io.out(`${activityText(row)}\n`)
      io.out(`${found.fault ?? found.whole}\n`)
      return found.fault === undefined ? 0 : FAILED
    }
    const { task, actor, since } = input.options
    const query = { ...defined({ task, actor }), since: timeOf(since) }
    const rows: ActivityRow[] = []
    let count = 0
    for await (const { activity } of pagesOf(edge, query)) {
      count += activity.length
      if (json) rows.push(...activity)
      else for (const row of activity) io.out(`${activityText(row)}\n`)
    }
    if (count === 0) notice(`Nothing of that happened on ${target.board} since ${query.since}.`)
    if (json) io.out(`${jsonText({ board: target.board, activity: rows })}\n`)
    return 0
  } catch (error) {
    if (!(error instanceof BoardError)) throw error
    notice(error.message)
    return FAILED
  }
}

/** A duration counts back from now. */
function timeOf(text: string): string {
  const ms = durationMs(text)
  return ms === undefined ? text : new Date(Date.now() - ms).toISOString()
}
