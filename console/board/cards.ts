// The data of a card: a task, and what the rest of the board adds to it; and its texts. Pure. A
// card whose data did not change stays the same object, so that it is not rendered again.

import type { BoardConfig, BoardStatus, Session, Task } from '../../libraries/api/types.ts'
import { readyTasks } from '../../worker/board/tasks/free-tasks.ts'
import { compareIds } from '../../worker/board/tasks/next-task.ts'
import { agentName, placeText } from '../../worker/board/tasks/shown-names.ts'
import {
  type Moment,
  stateOf,
  type TaskState,
  workByTask,
} from '../../worker/board/tasks/task-state.ts'
import { type Statuses, statusesOf } from '../../worker/board/tasks/to-do.ts'
import { lastPart } from '../../worker/shared/repos.ts'
import { count, LANGUAGE } from '../ui/format.ts'

export interface CardData {
  task: Task
  isClosed: boolean
  /** Other tasks that block this one. */
  waitsFor: readonly Waiting[]
  parentTitle?: string
  /** Which of the counts above the board has it. */
  state?: TaskState
  /** The column of what is begun, where somebody works on it and its file does not say so. */
  column?: string
  /** Where somebody works on it, and who; and their last progress report. */
  actor?: string
  progress?: string
  /** Since when it is that, in ms. */
  since?: number
}

interface Waiting {
  id: string
  /** False: there is no such task. */
  isKnown: boolean
}

export interface Board {
  tasks: ReadonlyMap<string, Task>
  sessions: ReadonlyMap<string, Session> | undefined
  /** Undefined until it is read. Until then, no card shows what blocks it. */
  config: Omit<BoardConfig, 'layout'> | undefined
  layout?: BoardStatus['layout'] | undefined
  moment: Moment
}

/** What follows from all tasks and the configuration together. */
interface States extends Statuses {
  /** Those that anybody could begin now. */
  ready: ReadonlySet<Task>
  /** The first status of a task that is begun, and not closed. */
  begun: string | undefined
}

type Ruled = Pick<Board, 'tasks' | 'config' | 'layout'>
const known = new WeakMap<Board['tasks'], Omit<Ruled, 'tasks'> & { states: States }>()

/** Once for each state of the board: the details of a task ask again. */
function statesOf({ tasks, config, layout }: Ruled): States {
  const last = known.get(tasks)
  if (last && last.config === config && last.layout === layout) return last.states
  const ready = new Set(readyTasks(tasks, config && { ...config, layout }).tasks)
  const statuses = statusesOf(config)
  const isBegun = (status: string) => !statuses.isToDo(status) && !statuses.isClosed(status)
  const begun = config?.states.find(isBegun)
  const states = { ...statuses, ready, begun }
  known.set(tasks, { config, layout, states })
  return states
}

export type Cards = ReadonlyMap<string, CardData>

/** All assignees of the task. */
export const assigneesOf = ({ assignee, assignees }: Task): readonly string[] =>
  assignees ?? (assignee === undefined ? [] : [assignee])

/** In the tool's own order. `shown` are the previous cards. */
export function cardsOf(board: Board, shown: Cards): Cards {
  const cardOf = cardMaker(board)
  const cards: Map<string, CardData> = new Map()
  for (const task of inOrder(board.tasks, shown)) {
    const card = cardOf(task)
    const known = shown.get(task.id)
    cards.set(task.id, known && isSame(known, card) ? known : card)
  }
  return cards
}

/** Begins with those that are shown: 20,000 almost in order are sorted in a tenth of the time. */
function inOrder(tasks: Board['tasks'], shown: Cards): Task[] {
  const ordered: Task[] = []
  for (const id of shown.keys()) {
    const task = tasks.get(id)
    if (task) ordered.push(task)
  }
  for (const task of tasks.values()) if (!shown.has(task.id)) ordered.push(task)
  return ordered.sort(compareTasks)
}

/** Makes the card of a task, for as long as the board is this one. */
export function cardMaker(board: Board): (task: Task) => CardData {
  const { tasks, sessions, config, moment } = board
  const { ready, begun, isClosed, isToDo } = statesOf(board)
  const work = workByTask(sessions?.values() ?? [])
  return (task) => {
    const isDone = isClosed(task.status)
    const session = isDone ? undefined : sessions?.get(task.sessionId ?? '')
    const parentTitle = tasks.get(task.parent ?? '')?.title
    const facts = { ...moment, isClosed, isReady: ready.has(task) }
    const { state, since = state === 'ready' ? changedAtOf(task) : undefined } =
      stateOf(task, work.get(task.id) ?? [], facts) ?? {}
    const isElsewhere = begun !== undefined && isAtWork(state) && isToDo(task.status)
    return {
      task,
      isClosed: isDone,
      waitsFor: isDone || task.ready || !config ? NOTHING : waitingOf(task, board, isClosed),
      ...(parentTitle !== undefined && { parentTitle }),
      ...(state && { state }),
      ...(isElsewhere && { column: begun }),
      ...(session && { actor: workerOf(session) }),
      ...(session?.live?.progress !== undefined && { progress: session.live.progress }),
      ...(since !== undefined && { since }),
    }
  }
}

/** Nothing says when a task became ready. */
const changedAtOf = ({ updatedAt = '' }: Task): number | undefined =>
  Date.parse(updatedAt) || undefined

/** Somebody works on it, or left it. */
const isAtWork = (state: TaskState | undefined): boolean =>
  state === 'stalled' || state === 'silent' || state === 'work'

const NOTHING: readonly Waiting[] = []

function waitingOf(task: Task, { tasks }: Board, isClosed: States['isClosed']): Waiting[] {
  return (task.deps ?? []).flatMap((id) => {
    const dep = tasks.get(id)
    if (!dep) return { id, isKnown: false }
    return isClosed(dep.status) ? [] : { id, isKnown: true }
  })
}

function isSame(one: CardData, other: CardData): boolean {
  return (
    one.task === other.task &&
    one.isClosed === other.isClosed &&
    one.parentTitle === other.parentTitle &&
    one.state === other.state &&
    one.column === other.column &&
    one.actor === other.actor &&
    one.since === other.since &&
    one.progress === other.progress &&
    one.waitsFor.length === other.waitsFor.length &&
    one.waitsFor.every((waiting, at) => {
      const same = other.waitsFor[at]
      return waiting.id === same?.id && waiting.isKnown === same.isKnown
    })
  )
}

/**
 * By rank, with unranked tasks last; then by id, with numbers in numeric order: LAMP-2 before
 * LAMP-10. Runs for 20,000 cards at every change, so it avoids `Intl.Collator`, which is slow.
 */
export function compareTasks(one: Ranked, other: Ranked): number {
  const byRank = rankOf(one) - rankOf(other)
  return Number.isNaN(byRank) || byRank === 0 ? compareIds(one.id, other.id) : byRank
}

type Ranked = Pick<Task, 'id' | 'rank'>

/** For two tasks without a rank, the difference is NaN: they are equal. */
const rankOf = ({ rank = Infinity }: Ranked): number => rank

export type Execution = NonNullable<Task['executionState']>

export interface WorkState {
  /** A class of the style sheets. */
  tone: 'go' | 'caution' | 'stop' | 'accent' | 'ready' | 'blocked'
  text: string
}

export const WORK: Readonly<Record<TaskState, WorkState>> = {
  work: { tone: 'go', text: 'Working' },
  silent: { tone: 'caution', text: 'Silent' },
  stalled: { tone: 'stop', text: 'Stalled' },
  review: { tone: 'accent', text: 'To review' },
  ready: { tone: 'ready', text: 'Ready' },
}

export const EXECUTIONS: Readonly<Record<Execution, WorkState>> = {
  active: WORK.work,
  stalled: WORK.stalled,
  awaiting_review: { tone: 'accent', text: 'Awaiting review' },
}

/** Undefined: there is nothing to show. Work in progress is shown rather than readiness. */
export function workState(card: CardData): WorkState | undefined {
  const { task, state, isClosed, waitsFor } = card
  const { executionState } = task
  if (state && state !== 'ready') return withActor(WORK[state], card)
  // For a file that is partly unreadable, we do not know what blocks the task.
  if (isClosed || task.invalid !== undefined) return undefined
  if (executionState) return withActor(EXECUTIONS[executionState], card)
  if (state === 'ready') return WORK.ready
  if (waitsFor.length === 0) return undefined
  const names = waitsFor.map(({ id, isKnown }) => (isKnown ? id : `${id} (does not exist)`))
  return { tone: 'blocked', text: `Blocked by ${names.join(', ')}` }
}

const withActor = ({ tone, text }: WorkState, { actor }: CardData): WorkState => ({
  tone,
  text: actor === undefined ? text : `${text}: ${actor}`,
})

interface TitlePart {
  text: string
  isCode: boolean
}

/** The parts of a title with pieces of code in backticks, as checklists have them. */
export function titleParts(title: string): readonly TitlePart[] {
  const parts: TitlePart[] = []
  let end = 0
  for (const { index, 0: marked, 2: code = '' } of title.matchAll(CODE)) {
    parts.push({ text: title.slice(end, index), isCode: false }, { text: code, isCode: true })
    end = index + marked.length
  }
  return [...parts, { text: title.slice(end), isCode: false }].filter(({ text }) => text !== '')
}

/** As in Markdown: it ends with as many backticks as it begins with. */
const CODE = /(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)/g

/** Without the marks of its code. */
export const plainTitle = (title: string): string =>
  titleParts(title).reduce((text, part) => text + part.text, '')

/**
 * Where an id may be cut: before the number in `add-scope/1.2` or `master:4.1`, which tells it from
 * its neighbours.
 */
export const idEnd = (id: string): number => {
  const at = Math.max(id.lastIndexOf('/'), id.lastIndexOf(':'))
  return at === -1 ? id.length : at
}

export const partOf = (parent: string): string => `Part of ${parent}`
export const unreadable = (sentence: string): string => `Cannot be read: ${sentence}`

/** `in_progress` becomes `In progress`. Capital letters stay. */
export function statusName(status: string): string {
  const spaced = status.replaceAll(/[_-]+/g, ' ').trim()
  // A file that is partly unreadable may have no status.
  if (spaced === '') return 'No status'
  return spaced.charAt(0).toLocaleUpperCase() + spaced.slice(1)
}

export type TreeMark = NonNullable<Task['trees']>[number]

function workerOf({ actor, tree, branch, live }: Session): string {
  return workerText(actor, tree ?? (live?.worktree && lastPart(live.worktree)), branch)
}

/** `feat-x (agent/dim) · root@vm`: where somebody works, then who. */
export const workerText = (actor: string, tree: string | undefined, branch?: string): string =>
  [placeText(tree, branch), agentName(actor, tree)].filter(Boolean).join(' · ')

/** What a linked worktree made of a task, in a few words. */
export function treeText({ tree, status = '', gone, invalid }: TreeMark, task: Task): string {
  if (gone) return `${tree}: removed`
  if (invalid) return `${tree}: unreadable`
  const isSaid = status !== '' && (status !== task.status || task.inMain === false)
  return `${tree}: ${isSaid ? statusName(status) : 'edited'}`
}

/** The mark of a task that the main tree has not got. */
export const ONLY_IN_TREES = 'Only in worktrees'

/** The mark of a task that is shown in another column than its file says. */
export const inFile = (status: string): string => `${statusName(status)} in its file`

/** The name of the card for screen readers: all that it shows. */
export function nameOf(card: CardData): string {
  const { id, title, status, priority, labels = [], parent, trees = [], invalid } = card.task
  const assignees = assigneesOf(card.task)
  return [
    title !== id && id,
    plainTitle(title),
    statusName(status),
    workState(card)?.text,
    priority !== undefined && `priority ${priority}`,
    assignees.length > 0 && `assigned to ${assignees.join(', ')}`,
    labels.length > 0 && `labels ${labels.join(', ')}`,
    parent !== undefined && partOf(parent),
    card.task.inMain === false && ONLY_IN_TREES,
    ...trees.map((mark) => treeText(mark, card.task)),
    invalid !== undefined && unreadable(invalid),
  ]
    .filter(Boolean)
    .join(', ')
}

/** Ids whose time of change differs. */
export function changedIds(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): string[] {
  if (before === after) return []
  return [...after].filter(([id, at]) => before.get(id) !== at).map(([id]) => id)
}

/** More changes than these are only counted. */
const MAX_NAMED = 3

const list = new Intl.ListFormat(LANGUAGE, { type: 'conjunction' })

/** What screen readers announce of changes. Empty if nothing changed. */
export function announcementOf(ids: readonly string[]): string {
  if (ids.length === 0) return ''
  return `${ids.length > MAX_NAMED ? count(ids.length, 'task') : list.format(ids)} changed.`
}
