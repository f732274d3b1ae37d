// The chips of a card: state of the work, priority, labels. Details of a task use them, too.

import { type CardData, type WorkState, workState } from './cards.ts'
import { statusName } from './columns.ts'
import { urgency } from './filters.ts'
import { boardWords } from './words.ts'

/** Further labels are only counted. */
const MAX_LABELS = 4
const HIGH = urgency('high')

export function Chips({ card }: { card: CardData }) {
  const { priority, labels = [] } = card.task
  const state = workState(card)
  if (!state && priority === undefined && labels.length === 0) return null
  return (
    <p class="chips" aria-hidden="true">
      {state && <WorkChip workState={state} />}
      {priority !== undefined && <PriorityChip priority={priority} />}
      <LabelChips labels={labels.slice(0, MAX_LABELS)} />
      {labels.length > MAX_LABELS && <span class="chip">+{labels.length - MAX_LABELS}</span>}
    </p>
  )
}

export const WorkChip = ({ workState: { name, text } }: { workState: WorkState }) => (
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
      title={boardWords.card.priority(priority)}
    >
      {isHigh && '↑ '}
      {statusName(priority)}
    </span>
  )
}
