// Work with a limit of how much of it is done at the same time.

/** Works through the items, `limit` at a time. The results are in the order of the items. */
export async function atATime<Item, Result>(
  limit: number,
  items: readonly Item[],
  work: (item: Item, at: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = items.entries()
  const worker = async () => {
    for (const [at, item] of left) results[at] = await work(item, at)
  }
  await Promise.all(Array.from({ length: limit }, worker))
  return results
}
