// Back from the page where something was paid: on to the story of what was paid there.

import { useEffect } from 'preact/hooks'
import { formatRoute, type Route } from '../../address.ts'
import { route } from '../../router.ts'
import type { Feed } from '../feed/feed.ts'
import { isReadable } from '../feed/unreadable.ts'
import { NEWEST } from './test-order.ts'

/** Opens the newest payment of the reference that the way back names, as soon as it is read. */
export function useWayBack(feed: Feed): void {
  const shown = feed.transactions.shown.value
  const { query, id } = route.value
  const isBack = query.open === NEWEST && id === undefined
  const newest =
    shown &&
    [...shown.rows.values()].filter(isReadable).find((row) => row.reference === query.reference)
  useEffect(() => {
    if (!isBack || !newest) return
    const to: Route = { view: 'payments', id: newest.id, query: {} }
    // What the gateway has put beside the way back, such as its token, is of no use any more.
    history.replaceState(null, '', location.pathname + formatRoute(to))
    route.value = to
  }, [isBack, newest])
}
