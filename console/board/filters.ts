// The filters of the board: read from the URL, their possible values, and which cards pass. Pure.

import type { Task } from '../../worker/board/wire.ts'
import { assigneesOf, type CardData } from './cards.ts'

export interface Filters {
  /** All these words must occur, in any order and case. */
  q: string
  assignee: string
  label: string
  priority: string
  execution: string
  /** `1`: only tasks that are ready. */
  ready: string
}

const NAMES = ['q', 'assignee', 'label', 'priority', 'execution', 'ready'] as const

/** A filter that is not in the URL is empty: everything passes. */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  return Object.fromEntries(NAMES.map((name) => [name, query[name] ?? ''])) as unknown as Filters
}

export const isFiltering = (filters: Filters): boolean =>
  NAMES.some((name) => filters[name].trim() !== '')

export function passes(filters: Filters): (card: CardData) => boolean {
  const { assignee, label, priority, execution, ready } = filters
  const words = filters.q.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  return ({ task }) => {
    if (ready !== '' && !task.ready) return false
    if (assignee !== '' && !assigneesOf(task).includes(assignee)) return false
    if (label !== '' && !task.labels?.includes(label)) return false
    if (priority !== '' && task.priority !== priority) return false
    if (execution !== '' && task.executionState !== execution) return false
    if (words.length === 0) return true
    const text = textOf(task)
    return words.every((word) => text.includes(word))
  }
}

const texts = new WeakMap<Task, string>()

/** Cached per task: each key press searches up to 20,000 tasks. */
function textOf(task: Task): string {
  const known = texts.get(task)
  if (known !== undefined) return known
  const { id, title, labels = [], priority = '' } = task
  const text = [id, title, ...assigneesOf(task), priority, ...labels].join('\n').toLocaleLowerCase()
  texts.set(task, text)
  return text
}

export interface Choices {
  assignee: readonly string[]
  label: readonly string[]
  priority: readonly string[]
}

/** The values that occur on the board, sorted for people. */
export function choicesOf(tasks: Iterable<Task>): Choices {
  const assignees = new Set<string>()
  const labels = new Set<string>()
  const priorities = new Set<string>()
  for (const task of tasks) {
    for (const assignee of assigneesOf(task)) assignees.add(assignee)
    if (task.priority) priorities.add(task.priority)
    for (const label of task.labels ?? []) labels.add(label)
  }
  return {
    assignee: sorted(assignees),
    label: sorted(labels),
    priority: [...priorities].sort((a, b) => urgency(a) - urgency(b) || collator.compare(a, b)),
  }
}

const collator = new Intl.Collator(undefined, { numeric: true })
const sorted = (values: Iterable<string>) => [...values].sort(collator.compare)

const URGENCIES = ['critical', 'urgent', 'highest', 'high', 'medium', 'normal', 'low', 'lowest']

/** Lower is more urgent. Unknown priorities are last. */
export function urgency(priority: string): number {
  const at = URGENCIES.indexOf(priority.toLowerCase())
  return at === -1 ? URGENCIES.length : at
}
