// The last line of a card: how its work stands, its priority, its labels.

import { words } from '../words.ts'
import type { CardData } from './cards.ts'
import { statusName } from './columns.ts'
import { urgency } from './filters.ts'
import { standing } from './standing.ts'

/** A task with more labels says how many more. */
const MOST_LABELS = 4
const HIGH = urgency('high')

export function Chips({ card }: { card: CardData }) {
  const { priority, labels = [] } = card.task
  const state = standing(card)
  if (!state && priority === undefined && labels.length === 0) return null
  return (
    <p class="chips" aria-hidden="true">
      {state && <span class={`chip work ${state.tone}`}>{state.text}</span>}
      {priority !== undefined && <PriorityChip priority={priority} />}
      {labels.slice(0, MOST_LABELS).map((label) => (
        <span class="chip" key={label} dir="auto">
          {label}
        </span>
      ))}
      {labels.length > MOST_LABELS && <span class="chip">+{labels.length - MOST_LABELS}</span>}
    </p>
  )
}

export function PriorityChip({ priority }: { priority: string }) {
  const isHigh = urgency(priority) <= HIGH
  return (
    <span
      class={isHigh ? 'chip priority high' : 'chip priority'}
      title={words.board.card.priority(priority)}
    >
      {isHigh && '↑ '}
      {statusName(priority)}
    </span>
  )
}
