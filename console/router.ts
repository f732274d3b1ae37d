// The current route. It is stored in the URL only. (Not in address.ts, which needs no browser.)

import { signal } from '@preact/signals'
import { formatRoute, type Link, parseRoute, type Route } from './address.ts'

export const route = signal<Route>(parseRoute(location.hash))
addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

/** The URL of a view: of the board of this tab, unless it names another one. */
export const linkTo = (to: Link): string =>
  formatRoute({ ...to, path: to.path ?? route.peek().path })

/** Opens a view as a new step in the history: the back button closes it. */
export function go(to: Partial<Route>): void {
  location.hash = linkTo({ view: 'board', ...to })
}

/** Changes the current view without a new step in the history, such as a filter during typing. */
export function replace(to: Route): void {
  const shown = { ...to, path: to.path ?? route.peek().path }
  // Without the query of the page's own URL: a gateway may have added a token to it.
  history.replaceState(null, '', location.pathname + formatRoute(shown))
  route.value = shown
}
