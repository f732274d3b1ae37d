// What a screen reader calls a card: all that it shows, in one breath. Pure.

import { words } from '../words.ts'
import { assigneesOf, type CardData } from './cards.ts'
import { statusName } from './columns.ts'
import { standing } from './status.ts'

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
