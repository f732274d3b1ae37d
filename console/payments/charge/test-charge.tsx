// The button for a test charge, and the return from the page where it is paid.

import { useEffect, useState } from 'preact/hooks'
import { formatRoute, type Route } from '../../address.ts'
import { may } from '../../data/session.ts'
import { route } from '../../router.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { words } from '../../words.ts'
import type { Feed } from '../feed/feed.ts'
import { isReadable } from '../feed/unreadable.ts'
import { ChargeForm } from './charge-form.tsx'
import { NEWEST } from './test-order.ts'

export function TestCharge({ feed }: { feed: Feed }) {
  const [isOpen, setOpen] = useState(false)
  const local = feed.gateways.value?.filter(({ isLocal }) => isLocal) ?? []
  if (local.length === 0 || !may('payments:write')) return null
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        {words.payments.charge.open}
      </button>
      {isOpen && (
        <Dialog title={words.payments.charge.open} onClose={() => setOpen(false)}>
          <ChargeForm gateways={local} onCharged={feed.ask} />
        </Dialog>
      )}
    </>
  )
}

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
