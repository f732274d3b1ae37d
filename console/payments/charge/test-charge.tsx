// "Make a test charge": only where every gateway that it offers is simulated.

import { useState } from 'preact/hooks'
import { may } from '../../data/session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { words } from '../../words.ts'
import type { Feed } from '../feed/feed.ts'
import { ChargeForm } from './charge-form.tsx'

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
