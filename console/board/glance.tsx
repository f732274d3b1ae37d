// What a person who leads sees first, above the board: how many work, are stuck, wait for a review
// and are ready; who is stuck; and what limits the work.

import { PAUSED } from '../../worker/shared/board-settings.ts'
import { linkTo, route } from '../router.ts'
import { number } from '../ui/format.ts'
import { Lasting } from '../ui/time.tsx'
import { Title, WorkChip } from './card.tsx'
import { type CardData, WORK } from './cards.ts'
import { type Count, STATES } from './counts.ts'

interface GlanceProps {
  counts: readonly Count[]
  stuck: readonly CardData[]
  limits: readonly string[]
}

/** More are counted: the board itself has to be on the screen, too. */
const STUCK = 3

export const Glance = ({ counts, stuck, limits }: GlanceProps) => (
  <section class="glance" aria-label="At a glance">
    <ul class="counts">
      {counts.map((count) => (
        <li key={count.state}>
          <CountLink count={count} />
        </li>
      ))}
    </ul>
    <a class="hint" href={linkTo({ view: 'happened', query: {} })}>
      What happened
    </a>
    <a class="hint" href={linkTo({ view: 'notices', query: {} })}>
      Notices
    </a>
    <p class="chips" role="status">
      {limits.map((limit) => (
        <span key={limit} class={limit === PAUSED ? 'chip caution' : 'chip'}>
          {limit}
        </span>
      ))}
    </p>
    {stuck.length > 0 && (
      <ul class="stuck" aria-label="Stuck">
        {stuck.slice(0, STUCK).map((card) => (
          <li key={card.task.id}>
            <a href={linkTo({ view: 'board', id: card.task.id })} data-open={card.task.id}>
              <WorkChip card={card} />
              <span class="id">{card.task.id}</span>
              <span dir="auto">
                <Title of={card.task.title} />
              </span>
              {card.progress !== undefined && (
                <q class="hint" dir="auto">
                  {card.progress}
                </q>
              )}
            </a>
          </li>
        ))}
      </ul>
    )}
  </section>
)

function CountLink({ count: { state, count, since, query, isOn } }: { count: Count }) {
  const { sort = '', groups = '' } = route.value.query
  return (
    <a
      class={`tally ${count === 0 ? '' : WORK[state].tone}`}
      href={linkTo({ view: 'board', query: { sort, groups, ...query } })}
      aria-current={isOn ? 'true' : undefined}
    >
      <b>{number(count)}</b> {STATES[state].text}
      {since !== undefined && (
        <span class="age">
          <span class="visually-hidden">, the oldest for </span>
          <Lasting since={since} />
        </span>
      )}
    </a>
  )
}
