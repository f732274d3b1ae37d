// Texts for screen readers: the name of a card, and the announcement of changes. Pure.

import { words } from '../words.ts'
import { assigneesOf, type CardData, standing } from './cards.ts'
import { statusName } from './columns.ts'

export function nameOf(card: CardData): string {
  const { id, title, status, priority, labels, parent, invalid } = card.task
  const assignees = assigneesOf(card.task)
  const say = words.board.card
  return [
    id,
    title,
    statusName(status),
    standing(card)?.text,
    priority !== undefined && say.priority(priority),
    assignees.length > 0 && say.assignedTo(assignees),
    labels && labels.length > 0 && say.labels(labels),
    parent !== undefined && say.partOf(parent),
    invalid !== undefined && say.invalid(invalid),
  ]
    .filter(Boolean)
    .join(', ')
}

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
