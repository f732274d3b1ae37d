// Sends an event to an endpoint once more.

import { may } from '../../data/session.ts'
import { words } from '../../words.ts'
import { ActionButton } from '../acting/action-button.tsx'
import { redeliver } from '../acting/acts.ts'

interface RedeliverProps {
  /** Of the delivery. */
  id: string
  event: string
  endpoint: string
  onDone(): void
}

export function Redeliver({ id, event, endpoint, onDone }: RedeliverProps) {
  const { attention: say } = words.payments
  if (!may('payments:write')) return null
  return (
    <ActionButton
      label={say.redeliverOf(event, endpoint)}
      done={say.sentAgain}
      act={async () => {
        await redeliver(id)
        onDone()
      }}
    >
      {say.redeliver}
    </ActionButton>
  )
}
