// The page's only ticking clock. Everything that shows an age reads it.

import { signal } from '@preact/signals'

const TICK_MS = 1_000

/** In ms; moves once a second while the page is visible. */
export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, TICK_MS)
document.addEventListener('visibilitychange', () => {
  now.value = Date.now()
})
