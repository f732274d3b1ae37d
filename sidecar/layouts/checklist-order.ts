// What waits for what in a checklist: for the tasks that a task itself names, and for those that
// come before it in the order of the list. No I/O.

import type { Item } from './checklist-items.ts'

/** What each task comes after. Lists that many tasks wait for are shared between them. */
export type Order = ReadonlyMap<Item, readonly (readonly Item[])[]>

/** Of a list. Those of persons have some thousand; one of 10,000 tasks could have millions. */
export const MAX_WAITS = 50_000

/**
 * The tasks that each one waits for. A part waits for what its whole waits for, if the order does
 * not have it, and never for that whole. Where a task names one below it, those between them wait
 * for that alone: each could wait for the other otherwise, and nobody would begin either.
 */
export function waitsOf(
  items: readonly Item[],
  named: (item: Item) => readonly Item[],
  order: Order,
): Map<Item, ReadonlySet<Item>> {
  const waits = new Map<Item, ReadonlySet<Item>>()
  const places = new Map(items.map((item, at) => [item, at]))
  let namedBelow = -1
  let count = 0
  for (const [at, item] of items.entries()) {
    const own = new Set<Item>()
    const add = (others: Iterable<Item>, but?: Item): void => {
      for (const other of others) {
        if (other === item || isPartOf(item, other) || (but && isPartOf(other, but))) continue
        if (count >= MAX_WAITS) return
        if (own.size < own.add(other).size) count++
      }
    }
    const others = named(item)
    add(others)
    if (at > namedBelow) for (const list of order.get(item) ?? []) add(list)
    const { whole } = item
    if (whole && !order.has(item)) add(waits.get(whole) ?? [], whole)
    for (const other of others) namedBelow = Math.max(namedBelow, places.get(other) ?? -1)
    waits.set(item, own)
  }
  return waits
}

function isPartOf({ whole }: Item, other: Item): boolean {
  for (let above = whole; above; above = above.whole) if (above === other) return true
  return false
}
