// The filters of the board: read from the URL, their possible values, and which cards pass. Pure.

import type { Task } from '../../libraries/api/types.ts'
import { urgency } from '../../worker/board/tasks/next-task.ts'
import { isCountedAs } from '../../worker/board/tasks/task-state.ts'
import { assigneesOf, type CardData } from './cards.ts'

/** The filters of the URL. An empty one lets everything pass. */
const NONE = {
  /** All these words must occur, in any order and case. */
  q: '',
  assignee: '',
  label: '',
  priority: '',
  execution: '',
  /** Who works on it. */
  actor: '',
  /** `work` (with silent ones), `silent` or `stalled`: as the counts above the board have it. */
  work: '',
  /** `true`: only what waits for a review. */
  review: '',
  /** `1`: only tasks that are ready. */
  ready: '',
  /** An id: only its subtasks. */
  parent: '',
  /** Empty: tasks that the tool keeps on its board. `all`: those of each folder. */
  folder: '',
  /** Empty: the tag that the tool works in now. `all`: those of each tag. */
  tag: '',
  /** The name of a linked worktree: only tasks that it changed. */
  tree: '',
}

export type Filters = Readonly<typeof NONE>

/** The value of `folder` and `tag` that leaves nothing out. */
export const ALL = 'all'

export const filtersOf = (query: Readonly<Record<string, string>>): Filters => ({
  ...NONE,
  ...query,
})

/** The columns that are not sorted as by default. No status holds a line break. */
export const turnedOf = ({ sort = '' }: Readonly<Record<string, string>>): ReadonlySet<string> =>
  new Set(sort.split('\n').filter((status) => status !== ''))

export const isFiltering = (filters: Filters): boolean =>
  (Object.keys(NONE) as (keyof Filters)[]).some((name) => filters[name].trim() !== '')

/** The tasks of the chosen folder and tag: the rest is as if it were not on the board. */
export function placed(
  cards: Iterable<CardData>,
  { folder, tag }: Pick<Filters, 'folder' | 'tag'>,
  currentTag: string | undefined,
): readonly CardData[] {
  const all = [...cards]
  const isKnown = all.some(({ task }) => task.tag === currentTag)
  const wanted = tag || (isKnown && currentTag) || ALL
  return all.filter(
    ({ task }) =>
      (folder === ALL || (task.folder ?? '') === folder) && (wanted === ALL || task.tag === wanted),
  )
}

export function passes(filters: Filters): (card: CardData) => boolean {
  const { assignee, label, priority, execution, actor, ready, parent, tree, work } = filters
  const words = filters.q.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  return (card) => {
    const { task, actor: worker } = card
    if (ready !== '' && !isCountedAs('ready', card.state)) return false
    if (work !== '' && !isCountedAs(work, card.state)) return false
    if (filters.review !== '' && !isCountedAs('review', card.state)) return false
    if (assignee !== '' && !assigneesOf(task).includes(assignee)) return false
    if (parent !== '' && task.parent !== parent) return false
    if (label !== '' && !task.labels?.includes(label)) return false
    if (priority !== '' && task.priority !== priority) return false
    if (execution !== '' && task.executionState !== execution) return false
    if (tree !== '' && !treesOf(task).includes(tree)) return false
    if (actor !== '' && worker !== actor) return false
    if (words.length === 0) return true
    const text = textOf(task)
    return words.every((word) => text.includes(word))
  }
}

const treesOf = ({ trees = [] }: Task): readonly string[] => trees.map(({ tree }) => tree)

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

/** The counts above the board choose the others. */
export type Choices = Readonly<
  Record<Exclude<keyof Filters, 'q' | 'work' | 'review' | 'ready'>, readonly string[]>
>

/** The values that occur on the board; of folders and tags, all that there are. */
export function choicesOf(shown: readonly CardData[], all: readonly CardData[]): Choices {
  const tags = valuesOf(all, ({ tag = '' }) => [tag])
  return {
    assignee: valuesOf(shown, assigneesOf),
    label: valuesOf(shown, ({ labels = [] }) => labels),
    priority: valuesOf(shown, ({ priority = '' }) => [priority]).sort(
      (a, b) => urgency(a) - urgency(b),
    ),
    execution: valuesOf(shown, ({ executionState = '' }) => [executionState]),
    actor: sorted(shown.map(({ actor = '' }) => actor)),
    parent: valuesOf(shown, ({ parent = '' }) => [parent]),
    folder: valuesOf(all, ({ folder = '' }) => [folder]),
    // A board with one tag needs no choice.
    tag: tags.length > 1 ? tags : [],
    tree: valuesOf(shown, treesOf),
  }
}

const collator = new Intl.Collator(undefined, { numeric: true })

/** Each value once, sorted for people. */
function valuesOf(cards: readonly CardData[], pick: (task: Task) => readonly string[]): string[] {
  const values = new Set<string>()
  for (const { task } of cards) for (const value of pick(task)) values.add(value)
  return sorted(values)
}

const sorted = (values: Iterable<string>): string[] =>
  [...new Set(values)].filter((value) => value !== '').sort(collator.compare)
