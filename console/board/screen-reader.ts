// Texts for screen readers: the name of a card, and the announcement of changes. Pure.

import { assigneesOf, type CardData, workState } from './cards.ts'
import { statusName } from './columns.ts'
import { boardWords } from './words.ts'

export function nameOf(card: CardData): string {
  const { id, title, status, priority, labels, parent, invalid } = card.task
  const assignees = assigneesOf(card.task)
  const texts = boardWords.card
  return [
    id,
    title,
    statusName(status),
    workState(card)?.text,
    priority !== undefined && texts.priority(priority),
    assignees.length > 0 && texts.assignedTo(assignees),
    labels && labels.length > 0 && texts.labels(labels),
    parent !== undefined && texts.partOf(parent),
    invalid !== undefined && texts.invalid(invalid),
  ]
    .filter(Boolean)
    .join(', ')
}

/** More changes than these are only counted. */
const MAX_NAMED = 3

/** Ids whose time of change differs. */
export function changedIds(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): string[] {
  if (before === after) return []
  return [...after].filter(([id, at]) => before.get(id) !== at).map(([id]) => id)
}

/** Empty if nothing changed. */
export function announcementOf(ids: readonly string[]): string {
  const { changed } = boardWords
  if (ids.length === 0) return ''
  return ids.length > MAX_NAMED ? changed.many(ids.length) : changed.named([...ids])
}
