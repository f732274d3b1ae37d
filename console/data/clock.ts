// The page's one clock: everything that shows an age reads it, and nothing else ticks.

import { signal } from '@preact/signals'

const TICK_MS = 1_000

/** In ms; moves once a second while somebody looks. */
export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, TICK_MS)
document.addEventListener('visibilitychange', () => {
  now.value = Date.now()
})
