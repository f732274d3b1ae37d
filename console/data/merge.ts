// Merges a new list into the one that is shown. Pure. An item that did not change stays the same
// object, so that its components are not rendered again.

export interface Merged<Item> {
  items: ReadonlyMap<string, Item>
  /** Ids of new and different items, without those that are gone. */
  changed: readonly string[]
}

/** In the order of `fresh`. Items are compared by their JSON. */
export function merge<Item extends { id: string }>(
  shown: ReadonlyMap<string, Item>,
  fresh: readonly Item[],
): Merged<Item> {
  const changed: string[] = []
  const items = new Map<string, Item>()
  for (const item of fresh) {
    const known = shown.get(item.id)
    const isSame = known !== undefined && JSON.stringify(known) === JSON.stringify(item)
    if (!isSame) changed.push(item.id)
    items.set(item.id, isSame ? known : item)
  }
  return { items, changed }
}
