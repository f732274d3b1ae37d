// Puts a fresh list over the one that is shown. Pure. What did not change stays the same object, so
// that nothing which shows it is drawn again.

export interface Merged<Item> {
  items: ReadonlyMap<string, Item>
  /** Ids that are new or differ; not those that are gone. */
  changed: readonly string[]
}

/** In the order of `fresh`. Items are JSON: two of the same text are the same. */
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
