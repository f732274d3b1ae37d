// What stands above the board: how many tasks are worked on, stuck, to review and ready, each with
// its oldest age and the filter that shows them; and who is stuck. Pure.

import { isCountedAs, type TaskState } from '../../worker/board/tasks/task-state.ts'
import type { CardData } from './cards.ts'
import { ALL, type Filters, placed } from './filters.ts'

export interface Count {
  state: TaskState
  count: number
  /** Of the one that has been so for longest, in ms. */
  since?: number
  /** The filter that shows these tasks; of the one that is on, what shows all again. */
  query: Partial<Filters>
  isOn: boolean
}

/** What the counts and filters are called. Silent tasks are also at work. */
export const STATES: Readonly<Record<TaskState, { text: string; filter: Partial<Filters> }>> = {
  work: { text: 'work', filter: { work: 'work' } },
  silent: { text: 'silent', filter: { work: 'silent' } },
  stalled: { text: 'stalled', filter: { work: 'stalled' } },
  review: { text: 'to review', filter: { review: 'true' } },
  ready: { text: 'ready', filter: { ready: '1' } },
}

/** Of all tasks, whatever is filtered. */
export function countsOf(
  cards: Iterable<CardData>,
  filters: Filters,
  currentTag: string | undefined,
): readonly Count[] {
  const all = [...cards]
  const inFolder = new Set(placed(all, { folder: '', tag: ALL }, currentTag))
  const inTag = new Set(placed(all, { folder: ALL, tag: '' }, currentTag))
  return (Object.keys(STATES) as TaskState[]).map((state) => {
    const { filter } = STATES[state]
    const counted = all.filter((card) => isCountedAs(state, card.state))
    const isOn = Object.entries(filter).every(
      ([name, value]) => filters[name as keyof Filters] === value,
    )
    // By default, the board leaves out what is in other folders and lists of the tool.
    const isAway = (shown: ReadonlySet<CardData>) => counted.some((card) => !shown.has(card))
    const since = oldest(counted)
    return {
      state,
      count: counted.length,
      ...(since !== undefined && { since }),
      query: isOn
        ? {}
        : {
            ...filter,
            ...(isAway(inFolder) && { folder: ALL }),
            ...(isAway(inTag) && { tag: ALL }),
          },
      isOn,
    }
  })
}

const oldest = (cards: readonly CardData[]): number | undefined =>
  cards.reduce<number | undefined>(
    (least, { since }) => (least === undefined || (since ?? least) < least ? since : least),
    undefined,
  )

/** Those that somebody should look after: stalled ones, then silent ones, the longest first. */
export function stuckOf(cards: Iterable<CardData>): readonly CardData[] {
  const stuck = [...cards].filter(({ state }) => state === 'stalled' || state === 'silent')
  const rank = ({ state }: CardData) => Number(state === 'silent')
  return stuck.sort((a, b) => rank(a) - rank(b) || (a.since ?? 0) - (b.since ?? 0))
}
