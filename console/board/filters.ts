// Which cards are looked at: the filters as the address names them, what they may be set to, and
// who passes. Pure.

import type { Task } from '../../worker/board/wire.ts'
import { assigneesOf, type CardData } from './cards.ts'

export interface Filters {
  /** Words that all must occur, in any order and case. */
  q: string
  assignee: string
  label: string
  priority: string
  execution: string
  /** `1`: only what can be begun. */
  ready: string
}

const NAMES = ['q', 'assignee', 'label', 'priority', 'execution', 'ready'] as const

/** What the address does not name is empty: everything passes. */
export function filtersOf(query: Readonly<Record<string, string>>): Filters {
  return Object.fromEntries(NAMES.map((name) => [name, query[name] ?? ''])) as unknown as Filters
}

export const isFiltering = (filters: Filters): boolean =>
  NAMES.some((name) => filters[name].trim() !== '')

/** Says of each card whether it passes. */
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

/** Kept per task: 20,000 of them are searched again with every key that is typed. */
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

/** What occurs on the board, sorted as people sort. */
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

/** Rises as it matters less; words that no board agrees on stand last. */
export function urgency(priority: string): number {
  const at = URGENCIES.indexOf(priority.toLowerCase())
  return at === -1 ? URGENCIES.length : at
}
