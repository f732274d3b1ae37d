// For people who may: ends the claim that an agent has on the task.

import type { Session } from '../../../libraries/api/types.ts'
import { request } from '../../data/http.ts'
import { may } from '../../data/session.ts'
import { ActionButton } from '../../ui/action-button.tsx'

export function EndClaim({ session, path }: { session: Session; path: string }) {
  const isHeld = session.claim !== undefined && session.endedAt === undefined
  if (!isHeld || !may('board:work')) return null
  const end = () =>
    request(`/api/claims/release?path=${encodeURIComponent(path)}`, {
      method: 'POST',
      body: { session: session.id, outcome: 'abandoned' },
    })
  return (
    <details class="end-claim">
      <summary>End this claim …</summary>
      <p>
        {session.actor} may still work on the task, and learns of it at its next command. Another
        agent may begin the task at once.
      </p>
      <ActionButton label={`End the claim of ${session.actor}`} act={end}>
        End the claim
      </ActionButton>
    </details>
  )
}
