// Takes an alert off the list: somebody has seen to it.

import type { AlertRecord } from '../../../worker/payments/queries/queries.ts'
import { may } from '../../data/session.ts'
import { words } from '../../words.ts'
import { ActionButton } from '../acting/action-button.tsx'
import { acknowledge } from '../acting/acts.ts'

interface AcknowledgeProps {
  alert: Pick<AlertRecord, 'id'>
  title: string
  onDone(): void
}

export function Acknowledge({ alert, title, onDone }: AcknowledgeProps) {
  const { attention: say } = words.payments
  if (!may('payments:write')) return null
  return (
    <ActionButton
      label={say.acknowledgeOf(title)}
      act={async () => {
        await acknowledge(alert.id)
        onDone()
      }}
    >
      {say.acknowledge}
    </ActionButton>
  )
}
