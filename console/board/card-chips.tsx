// How the work on a task stands, its priority, its labels: the last line of a card, and each alone.

import { words } from '../words.ts'
import { type CardData, type Standing, standing } from './cards.ts'
import { statusName } from './columns.ts'
import { urgency } from './filters.ts'

/** A task with more labels says how many more. */
const MOST_LABELS = 4
const HIGH = urgency('high')

export function Chips({ card }: { card: CardData }) {
  const { priority, labels = [] } = card.task
  const state = standing(card)
  if (!state && priority === undefined && labels.length === 0) return null
  return (
    <p class="chips" aria-hidden="true">
      {state && <StandingChip standing={state} />}
      {priority !== undefined && <PriorityChip priority={priority} />}
      <LabelChips labels={labels.slice(0, MOST_LABELS)} />
      {labels.length > MOST_LABELS && <span class="chip">+{labels.length - MOST_LABELS}</span>}
    </p>
  )
}

export const StandingChip = ({ standing: { name, text } }: { standing: Standing }) => (
  <span class={`chip work ${name}`}>{text}</span>
)

export const LabelChips = ({ labels }: { labels: readonly string[] }) => (
  <>
    {labels.map((label) => (
      <span class="chip" key={label} dir="auto">
        {label}
      </span>
    ))}
  </>
)

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
