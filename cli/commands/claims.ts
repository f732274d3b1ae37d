// Who holds what on a board, for whoever leads.

import { runningBoard, TARGET } from '../board/target.ts'
import { printAnswer } from '../claim/answer.ts'
import { claimsAt } from '../claim/claims-at-edge.ts'
import { claimsTable, heldBy } from '../claim/claims-text.ts'
import { define } from '../command.ts'
import { FAILED } from '../exit-codes.ts'
import { JSON_OUTPUT } from '../settings.ts'

const OPTIONS = [...TARGET, JSON_OUTPUT] as const

export const command = define({
  usage: '[--json] [options]',
  description: `\
Shows who holds which task, for how long, in which worktree and branch, and what they said last. The
state is work; silent, with the time since something showed that they work, where that is longer
than SILENT_AFTER of the edge (20 min); or stalled, where the claim expired and nobody took the
task. --json has all of it: actors with their process, times, and the session that the claim is. It
needs a running Signalbox: that of the project, or of --url.`,
  options: OPTIONS,
  async run(input, context) {
    const { io } = context
    const target = await runningBoard(input, context)
    if (!target) return FAILED
    return await printAnswer(io, target, async () => {
      const { sessions, tasks, silentAfterMs, now } = await claimsAt(target.edge).overview()
      const titles = new Map(tasks.map(({ id, title }) => [id, title]))
      const held = heldBy(sessions, titles, { silentAfterMs, now })
      if (input.options.json) return { line: { board: target.board, claims: held } }
      return held.length === 0
        ? { text: `Nobody holds a task of ${target.board}.\n` }
        : { text: claimsTable(held, now) }
    })
  },
})
