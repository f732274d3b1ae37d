// The button for a test charge, and the return from the page where it is paid.

import { useEffect, useState } from 'preact/hooks'
import { formatRoute, type Route } from '../../address.ts'
import { may } from '../../data/session.ts'
import { route } from '../../router.ts'
import { Dialog } from '../../ui/dialog.tsx'
import type { Feed } from '../feed/feed.ts'
import { isReadable } from '../feed/story.ts'
import { paymentWords } from '../words.ts'
import { ChargeForm } from './charge-form.tsx'
import { NEWEST } from './test-order.ts'

export function TestCharge({ feed }: { feed: Feed }) {
  const [isOpen, setOpen] = useState(false)
  const local = feed.gateways.value?.filter(({ isLocal }) => isLocal) ?? []
  if (local.length === 0 || !may('payments:write')) return null
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        {paymentWords.charge.open}
      </button>
      {isOpen && (
        <Dialog title={paymentWords.charge.open} onClose={() => setOpen(false)}>
          <ChargeForm gateways={local} onCharged={feed.refresh} />
        </Dialog>
      )}
    </>
  )
}

/** Opens the newest payment with the reference in the return URL, as soon as it is read. */
export function useReturnFromPayment(feed: Feed): void {
  const shown = feed.transactions.shown.value
  const { query, id } = route.value
  const hasReturned = query.open === NEWEST && id === undefined
  const newest =
    shown &&
    [...shown.rows.values()].filter(isReadable).find((row) => row.reference === query.reference)
  useEffect(() => {
    if (!hasReturned || !newest) return
    const to: Route = { view: 'payments', id: newest.id, query: {} }
    // Removes what the gateway added to the URL, such as a token.
    history.replaceState(null, '', location.pathname + formatRoute(to))
    route.value = to
  }, [hasReturned, newest])
}
