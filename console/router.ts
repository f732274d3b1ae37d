// The current route. It is stored in the URL only. (Not in address.ts, which needs no browser.)

import { signal } from '@preact/signals'
import { formatRoute, parseRoute, type Route } from './address.ts'

export const route = signal<Route>(parseRoute(location.hash))
addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

/** Opens a view as a new step in the history: the back button closes it. */
export function go(to: Partial<Route>): void {
  location.hash = formatRoute({ view: 'board', ...to })
}

/** Changes the current view without a new step in the history, such as a filter during typing. */
export function replace(to: Route): void {
  history.replaceState(null, '', formatRoute(to))
  route.value = to
}
