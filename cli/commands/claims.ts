// The claims of a board, for its lead.

import { TARGET } from '../board/target.ts'
import { askBoard } from '../claim/answer.ts'
import { claimsAt } from '../claim/claims-at-edge.ts'
import { claimsTable, heldBy } from '../claim/claims-text.ts'
import { define } from '../command.ts'
import { JSON_OUTPUT } from '../settings.ts'

export const command = define({
  usage: '[--json] [options]',
  description: `\
Shows the holder of each claimed task, how long it has been claimed, its worktree and branch, and
the last progress. The state is work; silent, with the time since the last sign of work, if that is
longer than SILENT_AFTER of the edge (20 min); or stalled, if the claim has expired and nobody else
has taken the task. --json has all of it: actors with their process, times, and the session of each
claim. It needs a running Signalbox: that of the project, or of --url.`,
  options: [...TARGET, JSON_OUTPUT],
  run: (input, context) =>
    askBoard(input, context, async ({ board, edge }) => {
      const { sessions, tasks, silentAfterMs, now } = await claimsAt(edge).overview()
      const titles = new Map(tasks.map(({ id, title }) => [id, title]))
      const held = heldBy(sessions, titles, { silentAfterMs, now })
      if (input.options.json) return { line: { board, claims: held } }
      return held.length === 0
        ? { text: `Nobody holds a task of ${board}.\n` }
        : { text: claimsTable(held, now) }
    }),
})
