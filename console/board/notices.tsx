// Notices where the board cannot be shown, or is not current.

import type { Live } from '../data/live/live.ts'
import { boardWords } from './words.ts'

/** Shown above the board. */
export function Notices({ live }: { live: Live }) {
  const texts = boardWords.notice
  const state = live.state.value
  const status = live.status.value
  if (state.name === 'stale' && state.reason === 'missing') {
    return (
      <section class="notice stop" role="status">
        <h2>{texts.missing.title}</h2>
        <p>{texts.missing.lead}</p>
      </section>
    )
  }
  const invalid = status?.config && 'invalid' in status.config ? status.config.invalid : undefined
  return invalid === undefined ? null : (
    <section class="notice caution" role="status">
      <p>{texts.config(invalid)}</p>
    </section>
  )
}

/** Shown instead of the board while there is no data. */
export function NoBoard({ live }: { live: Live }) {
  const texts = boardWords.notice
  const state = live.state.value
  switch (state.name) {
    case 'waiting':
      return (
        <section class="notice whole">
          <h2>{texts.waiting.title}</h2>
          <p>{texts.waiting.lead}</p>
          <pre>{texts.waiting.command(location.origin, live.path)}</pre>
        </section>
      )
    case 'refused':
      return (
        <section class="notice whole stop" role="alert">
          <h2>{texts.refused.title}</h2>
          <p>{state.error}</p>
          <p>{texts.refused.lead}</p>
        </section>
      )
    default:
      return <Skeleton />
  }
}

/** As large as the board will be, so that nothing jumps when it appears. */
export function Skeleton() {
  return (
    <>
      <div class="board-filters skeleton" aria-hidden="true">
        <span class="bone search" />
      </div>
      <div class="columns skeleton" role="status" aria-label={boardWords.loading}>
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
