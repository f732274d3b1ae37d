// What `signalbox claims` shows: each claim, its holder, time, worktree and last progress.
// Pure.

import type { Session, Task } from '../../libraries/api/types.ts'
import { agentName, placeText } from '../../worker/board/tasks/shown-names.ts'
import { isSilent, type Moment } from '../../worker/board/tasks/task-state.ts'
import { defined } from '../../worker/shared/json.ts'
import { printable } from '../../worker/shared/printable.ts'

/** A claim that is valid, or that expired and nobody took. */
export interface HeldBy {
  actor: string
  task: string
  title?: string
  state: 'work' | 'silent' | 'stalled'
  since: string
  /** The last sign of work. */
  activeAt: string
  expiresAt: string
  tree?: string
  branch?: string
  /** The last that its holder reported. */
  progress?: string
  session: string
}

/** The longest held first. `titles`: by the tasks' ids. */
export function heldBy(
  sessions: readonly Session[],
  titles: ReadonlyMap<string, Task['title']>,
  moment: Moment,
): HeldBy[] {
  const held = sessions.flatMap((session): HeldBy[] => {
    const { id, task, actor, health, startedAt, activeAt, tree, branch, live, claim } = session
    if (!claim || (health !== 'active' && health !== 'stalled')) return []
    const state: HeldBy['state'] =
      health === 'stalled' ? 'stalled' : isSilent(session, moment) ? 'silent' : 'work'
    return [
      defined({
        actor,
        task,
        title: titles.get(task),
        state,
        since: startedAt,
        activeAt: activeAt ?? startedAt,
        expiresAt: claim.expiresAt,
        tree,
        branch,
        progress: live?.progress,
        session: id,
      }),
    ]
  })
  return held.sort((a, b) => (a.since < b.since ? -1 : 1))
}

const HEADS = ['WHO', 'TASK', 'FOR', 'STATE', 'TREE', 'PROGRESS']
/** The progress that an agent reports may be a page long. */
const MAX_CHARS = 60
const GAP = '  '

/** `now` in ms. */
export function claimsTable(held: readonly HeldBy[], now: number): string {
  const rows = held.map((it) => [
    agentName(it.actor, it.tree),
    it.title === undefined || it.title === it.task ? it.task : `${it.task} ${it.title}`,
    age(now - Date.parse(it.since)),
    stateOf(it, now),
    placeText(it.tree, it.branch) ?? '',
    it.progress?.split('\n', 1)[0] ?? '',
  ])
  const cells = [HEADS, ...rows.map((row) => row.map((cell) => cut(printable(cell))))]
  const widths = HEADS.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join(GAP)
      .trimEnd()
  return cells.map((row) => `${line(row)}\n`).join('')
}

const cut = (text: string): string =>
  text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text

function stateOf({ state, activeAt, expiresAt }: HeldBy, now: number): string {
  if (state === 'work') return state
  return `${state} ${age(now - Date.parse(state === 'silent' ? activeAt : expiresAt))}`
}

/** `45 s`, `12 min`, `3 h`, `2 d`. */
function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800
    ? `${Math.floor(seconds / 3_600)} h`
    : `${Math.floor(seconds / 86_400)} d`
}
