// What is said where the board cannot be shown, or not as it is.

import type { Live } from '../data/live/live.ts'
import { words } from '../words.ts'

/** Above a board that is shown all the same. */
export function Notices({ live }: { live: Live }) {
  const say = words.board.notice
  const status = live.status.value
  if (status?.store === 'missing') {
    return (
      <section class="notice stop" role="status">
        <h2>{say.missing.title}</h2>
        <p>{say.missing.lead}</p>
      </section>
    )
  }
  const invalid = status?.config && 'invalid' in status.config ? status.config.invalid : undefined
  return invalid === undefined ? null : (
    <section class="notice caution" role="status">
      <p>{say.config(invalid)}</p>
    </section>
  )
}

/** In place of a board of which nothing is known yet. */
export function Nothing({ live }: { live: Live }) {
  const say = words.board.notice
  const state = live.state.value
  switch (state.name) {
    case 'waiting':
      return (
        <section class="notice whole">
          <h2>{say.waiting.title}</h2>
          <p>{say.waiting.lead}</p>
          <pre>{say.waiting.command(location.origin, live.path)}</pre>
        </section>
      )
    case 'refused':
      return (
        <section class="notice whole stop" role="alert">
          <h2>{say.refused.title}</h2>
          <p>{state.error}</p>
          <p>{say.refused.lead}</p>
        </section>
      )
    default:
      return <Skeleton />
  }
}

/** As high and wide as what will stand there, so that nothing jumps when it does. */
export function Skeleton() {
  return (
    <>
      <div class="board-filters skeleton" aria-hidden="true">
        <span class="bone search" />
      </div>
      <div class="columns skeleton" role="status" aria-label={words.board.loading}>
        {[5, 3, 2, 4].map((cards, column) => (
          <div class="column" key={column} aria-hidden="true">
            <header>
              <span class="bone name" />
            </header>
            <div class="scroller">
              {Array.from({ length: cards }, (_, at) => (
                <div class="card" key={at}>
                  <span class="bone" />
                  <span class="bone short" />
                </div>
              ))}
            </div>
          </div>
        ))}
      </div>
    </>
  )
}
