// What a screen reader is told of changes: many at once as one sentence. Pure.

import { words } from '../words.ts'

/** More than these are only counted. */
const MOST_NAMED = 3

/** Ids whose time of change is another one than before. */
export function changedIds(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): string[] {
  if (before === after) return []
  return [...after].filter(([id, at]) => before.get(id) !== at).map(([id]) => id)
}

/** Empty for none. */
export function announcementOf(ids: readonly string[]): string {
  const { changed } = words.board
  if (ids.length === 0) return ''
  return ids.length > MOST_NAMED ? changed.many(ids.length) : changed.named([...ids])
}
