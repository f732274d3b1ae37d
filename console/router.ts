// Which view is shown. The address bar is the one store of it.

import { signal } from '@preact/signals'
import { formatRoute, parseRoute, type Route } from './address.ts'

export const route = signal<Route>(parseRoute(location.hash))
addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

/** Opens something: the back button closes it again. */
export function go(to: Partial<Route>): void {
  location.hash = formatRoute({ view: 'board', query: {}, ...to })
}

/** Changes what is shown of the same view, such as a filter while it is typed: no step back. */
export function replace(to: Route): void {
  history.replaceState(null, '', formatRoute(to))
  route.value = to
}
