// What happened on a board, short enough to read: one line for all that an agent did to a task.
// Pure.

import type { ActivityRow } from '../../../libraries/api/types.ts'
import { switchOf } from '../../../worker/board/tasks/shown-names.ts'
import { count, LANGUAGE } from '../../ui/format.ts'
import { statusName, workerText } from '../cards.ts'

/** All that one agent, or everybody, did to a task. */
export interface Line {
  task: string
  title: string
  /** What became of it, in order, and in the end. */
  text: string
  outcome: string
  /** What was said last. */
  said?: string
  /** Of the last change (ISO 8601). */
  at: string
  marks: NonNullable<ActivityRow['marks']>
  /** The agents; empty: no claim says who. */
  who: readonly string[]
}

export interface Group {
  /** An agent; empty: no claim says who. */
  who: string
  lines: readonly Line[]
  /** How many lines have which outcome, most first. */
  sums: readonly (readonly [outcome: string, count: number])[]
}

export interface Digest {
  /** What somebody should look at: lines with marks, and only what is marked of them. */
  marked: readonly Line[]
  /** What happened to the board as a whole, the newest first. */
  board: readonly { at: string; text: string }[]
  byAgent: readonly Group[]
  byTask: readonly Line[]
  changes: number
}

/** `rows`: the newest first, as the edge answers. */
export function digestOf(rows: readonly ActivityRow[]): Digest {
  const oldestFirst = rows.toReversed()
  const nameOf = agentNames(rows)
  // What a switch of the main tree did to tasks, nobody did: it is counted with the switch.
  const own = oldestFirst.filter(({ task, by }) => task !== undefined && by !== 'switch')
  const agents = Map.groupBy(own, nameOf)
  const lineOf = (of: readonly ActivityRow[]) => linesOf(of, nameOf)
  return {
    marked: lineOf(own.filter(({ marks }) => marks !== undefined)),
    board: boardLines(oldestFirst).reverse(),
    byAgent: [...agents]
      .map(([who, of]) => groupOf(who, lineOf(of)))
      // Who is not known last.
      .sort(
        (a, b) => Number(a.who === '') - Number(b.who === '') || b.lines.length - a.lines.length,
      ),
    byTask: lineOf(own),
    changes: rows.length,
  }
}

function groupOf(who: string, lines: readonly Line[]): Group {
  const sums = [...Map.groupBy(lines, ({ outcome }) => outcome)].map(
    ([outcome, of]) => [outcome, of.length] as const,
  )
  return { who, lines, sums: sums.sort(([, a], [, b]) => b - a) }
}

/** An agent keeps its name while its process changes; the rows of its claims say its worktree. */
function agentNames(rows: readonly ActivityRow[]): (row: ActivityRow) => string {
  const trees = new Map<string, string>()
  for (const { actor, tree } of rows) {
    if (actor !== undefined && tree !== undefined) trees.set(actor, tree)
  }
  return ({ actor }) => (actor === undefined ? '' : workerText(actor, trees.get(actor)))
}

/** One for each task, the last changed first. */
function linesOf(rows: readonly ActivityRow[], nameOf: (row: ActivityRow) => string): Line[] {
  const tasks = Map.groupBy(rows, ({ task = '' }) => task)
  const lines = [...tasks].map(([task, of]): Line => {
    const last = of.at(-1)
    const texts = textsOf(of)
    const said = of.findLast(({ summary }) => summary !== undefined)?.summary
    return {
      task,
      title: last?.title ?? task,
      text: texts.join(' · '),
      outcome: texts.at(-1) ?? '',
      ...(said !== undefined && { said }),
      at: last?.at ?? '',
      marks: [...new Set(of.flatMap(({ marks = [] }) => marks))],
      who: [...new Set(of.map(nameOf))].filter((who) => who !== ''),
    }
  })
  return lines.sort((a, b) => (a.at < b.at ? 1 : -1))
}

/** Each kind once, in the order in which it first occurred, without what its end says anyway. */
function textsOf(rows: readonly ActivityRow[]): string[] {
  const ends = new Set(rows.map(({ kind }) => kind))
  const isOver = ends.has('released') || ends.has('expired') || ends.has('ended')
  const isClosed = rows.some(({ changes }) => changes?.closed?.[1] === true)
  const isNews = (row: ActivityRow) => {
    switch (row.kind) {
      case 'claimed':
        return !isOver
      case 'progress':
        return rows.length === 1
      case 'released':
        return !(isClosed && row.by === undefined)
      default:
        return row.kind !== 'ended' || !isClosed
    }
  }
  const kinds = Map.groupBy(rows.filter(isNews), (row) =>
    row.changes?.status ? 'status' : textOf(row),
  )
  return [...kinds].map(([text, of]) => (text === 'status' ? statusText(of) : text))
}

/** From what it was before the first of these to what it is after the last. */
function statusText(rows: readonly ActivityRow[]): string {
  const [from] = rows[0]?.changes?.status ?? []
  const to = rows.at(-1)?.changes?.status?.[1]
  if (to === null) return 'deleted'
  const isNew = from === null || from === undefined
  const between = from === to ? '→ … →' : '→'
  return isNew ? `new: ${named(to)}` : `${named(from)} ${between} ${named(to)}`
}

const named = (status: unknown): string => statusName(String(status ?? ''))

const list = new Intl.ListFormat(LANGUAGE, { type: 'conjunction' })
const items = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/** What a row says, without who, when, and to which task. */
export function textOf(row: ActivityRow): string {
  const { kind, changes = {}, by } = row
  const [, health] = changes.health ?? []
  switch (kind) {
    case 'created':
    case 'deleted':
    case 'status':
      return statusText([row])
    case 'title':
      return 'renamed'
    case 'assignee':
      return changes.assignee?.[1] ? `assigned to ${changes.assignee[1]}` : 'assigned to nobody'
    case 'deps': {
      const deps = items(changes.deps?.[1])
      return deps.length === 0 ? 'depends on nothing' : `depends on ${list.format(deps)}`
    }
    case 'checks':
      return `${count(items(changes.checks?.[1]).length, 'check')} changed`
    case 'claimed':
      return 'claimed'
    case 'progress':
      return 'worked on'
    case 'released':
      if (by === 'other') return 'claim ended by a person'
      return health === 'finished' ? 'done' : 'given back'
    case 'expired':
      return 'claim expired'
    case 'ended':
      return 'claim ended with the task'
    case 'review':
      return 'to review'
    case 'merged':
      return 'merged'
    case 'published':
      return `first published, with ${count(Number(changes.tasks?.[1] ?? 0), 'task')}`
    case 'switched':
      return switchText(row)
    case 'sidecar':
      return `sidecar ${changes.state?.[1] ?? 'changed'}`
  }
}

/** Another branch, or another commit of the same one. */
function switchText(row: Pick<ActivityRow, 'changes'>): string {
  const [from, to] = switchOf(row)
  return `main tree switched from ${from} to ${to}`
}

/** In the given order, with how many tasks each switch changed. */
function boardLines(rows: readonly ActivityRow[]): { at: string; text: string }[] {
  const lines: { at: string; text: string; tasks: number }[] = []
  for (const row of rows) {
    if (row.task === undefined) lines.push({ at: row.at, text: textOf(row), tasks: 0 })
    const last = lines.at(-1)
    if (row.by === 'switch' && last) last.tasks++
  }
  return lines.map(({ at, text, tasks }) => ({
    at,
    text: tasks === 0 ? text : `${text}, which changed ${count(tasks, 'task')}`,
  }))
}
