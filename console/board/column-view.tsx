// One column: its name, how many tasks it holds, and their cards.

import { useId } from 'preact/hooks'
import { locale, words } from '../words.ts'
import { Card } from './card.tsx'
import { type Column, statusName } from './columns.ts'

interface ColumnProps {
  column: Column
  /** How many cards are shown at most. */
  limit: number
  changedAt: ReadonlyMap<string, number>
  /** The card that is in the tab order. */
  active: string | undefined
  isFiltered: boolean
  onMore(column: Column): void
}

export function ColumnView({ column, limit, changedAt, active, isFiltered, onMore }: ColumnProps) {
  const { status, isClosed, cards, total } = column
  const heading = useId()
  const say = words.board.column
  const left = cards.length - limit
  return (
    <section class={isClosed ? 'column closed' : 'column'} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{statusName(status)}</h2>
        <span class="count">
          {isFiltered ? say.some(cards.length, total) : total.toLocaleString(locale)}
          <span class="visually-hidden"> {isFiltered ? '' : say.tasks(total)}</span>
        </span>
      </header>
      <div class="scroller">
        {cards.length === 0 && <p class="nothing">{total === 0 ? say.empty : say.noneMatch}</p>}
        <ul>
          {cards.slice(0, limit).map((card) => (
            <Card
              key={card.task.id}
              card={card}
              changedAt={changedAt.get(card.task.id)}
              isActive={card.task.id === active}
            />
          ))}
        </ul>
        {left > 0 && (
          <button type="button" class="quiet more" onClick={() => onMore(column)}>
            {say.more(Math.min(left, limit))} <span class="left">{say.left(left)}</span>
          </button>
        )}
      </div>
    </section>
  )
}
