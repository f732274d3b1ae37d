// How current the view is, with the lamp of the connection.

import { now } from '../../data/clock.ts'
import { type Freshness, readFreshness } from './freshness.ts'

export function FreshnessLamp({ freshness }: { freshness: Freshness }) {
  const { lamp, text, hint } = readFreshness(freshness, now.value)
  return (
    <div class={`lamp freshness ${lamp}`} title={hint}>
      <span>
        {text} {freshness.name === 'unreached' && <span class="why">{hint}</span>}
      </span>
      {/* A time every five seconds would be a nuisance to hear; that it is lost is not. */}
      <span role="status" class="visually-hidden">
        {freshness.name === 'unreached' && `${text}. ${hint ?? ''}`}
      </span>
    </div>
  )
}
