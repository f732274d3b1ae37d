// Merges a new list into the one that is shown. Pure. An item that did not change stays the same
// object, so that its components are not rendered again.

/**
 * `items`: in the order of `fresh`. `changed`: the ids of new and different items, without those
 * that are gone. Items are compared by their JSON.
 */
export function merge<Item extends { id: string }>(
  shown: ReadonlyMap<string, Item> | undefined,
  fresh: readonly Item[],
): { items: ReadonlyMap<string, Item>; changed: readonly string[] } {
  const changed: string[] = []
  const items = new Map<string, Item>()
  for (const item of fresh) {
    const known = shown?.get(item.id)
    const isSame = known !== undefined && JSON.stringify(known) === JSON.stringify(item)
    if (!isSame) changed.push(item.id)
    items.set(item.id, isSame ? known : item)
  }
  return { items, changed }
}
