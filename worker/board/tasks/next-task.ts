// Which of the tasks that can begin is the next one: the same rule for a claim at the edge and for
// an agent that waits. Pure.

import { type LayoutName, traitsOf } from '../../shared/layouts.ts'
import type { Task } from '../wire.ts'

/** What the order depends on. */
export type Candidate = Pick<Task, 'id' | 'priority' | 'rank' | 'parent' | 'optional' | 'tag'>

/** In any case; what is not known is as urgent as `medium`. The page has no other order. */
const PRIORITIES: readonly (readonly string[])[] = [
  ['urgent', 'critical', 'highest', 'p0'],
  ['high', 'p1'],
  ['medium', 'normal', 'none', 'p2'],
  ['low', 'lowest', 'p3'],
]
const MEDIUM = 2

/** Lower is more urgent. */
export function urgency(priority = ''): number {
  const word = priority.trim().toLowerCase()
  const at = PRIORITIES.findIndex((words) => words.includes(word))
  return at === -1 ? MEDIUM : at
}

/** What the order depends on besides the tasks themselves. */
export interface Order {
  config: { layout?: LayoutName | undefined; currentTag?: string | undefined } | undefined
  /** Whether somebody else works on another part of this parent. */
  isBusy(parent: string): boolean
}

/**
 * The most urgent, of the list that its tool works in now; then of a parent that nobody else works
 * on; then the one whose id is first. Ranks count within one parent: where that task has any, its
 * neighbour with the lowest rank comes before it.
 */
export function nextOf<Found extends Candidate>(
  candidates: readonly Found[],
  { config, isBusy }: Order,
): Found | undefined {
  const needed = preferred(candidates, ({ optional }) => !optional)
  const current = preferred(needed, ({ tag }) => tag === config?.currentTag)
  const most = current.reduce((least, { priority }) => Math.min(least, urgency(priority)), Infinity)
  const urgent = current.filter(({ priority }) => urgency(priority) === most)
  const quiet = preferred(urgent, ({ parent }) => parent === undefined || !isBusy(parent))
  const first = least(quiet, (a, b) => compareIds(a.id, b.id))
  const { hasLists } = traitsOf(config?.layout)
  const siblings = (hasLists ? current : quiet).filter(({ parent }) => parent === first?.parent)
  // Without a parent there is no list.
  const among = hasLists && first?.parent === undefined ? quiet : siblings
  return least(among, (a, b) => compareRanks(a, b) || compareIds(a.id, b.id))
}

/** Those for which it holds, where there are any. */
function preferred<Item>(items: readonly Item[], isIt: (item: Item) => boolean): readonly Item[] {
  const some = items.filter(isIt)
  return some.length === 0 ? items : some
}

/** Without a rank: last. */
function compareRanks({ rank: a = Infinity }: Candidate, { rank: b = Infinity }: Candidate) {
  return a === b ? 0 : a - b
}

const least = <Item>(items: readonly Item[], compare: (a: Item, b: Item) => number) =>
  items.reduce<Item | undefined>(
    (best, item) => (best === undefined || compare(item, best) < 0 ? item : best),
    undefined,
  )

/** With each number in numeric order, so `tea/2.10` is between `tea/2.9` and `tea/10.1`. */
export function compareIds(one: string, other: string): number {
  let at = 0
  while (at < one.length && one.charCodeAt(at) === other.charCodeAt(at)) at++
  // Back to where the number begins within which they differ.
  while (at > 0 && isDigit(one.charCodeAt(at - 1))) at--
  const a = numberEnd(one, at)
  const b = numberEnd(other, at)
  const areNumbers = a > at && b > at
  const difference = areNumbers ? Number(one.slice(at, a)) - Number(other.slice(at, b)) : 0
  return difference || (one < other ? -1 : Number(one > other))
}

/** Where the number that begins at `at` ends; `at` if none does. */
function numberEnd(text: string, at: number): number {
  let end = at
  while (isDigit(text.charCodeAt(end))) end++
  return end
}

const isDigit = (code: number) => code >= 48 && code <= 57
