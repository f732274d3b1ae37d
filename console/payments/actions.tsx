// Buttons that act at the edge (acknowledge an alert, redeliver an event), with the result beside
// them.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Alert, AlertKind } from '../../libraries/api/types.ts'
import { problemText } from '../data/http.ts'
import { may } from '../data/session.ts'
import { useOnce } from '../ui/elements.tsx'
import { ALERTS } from './attention.ts'
import { useFeed } from './feed.ts'
import { post } from './requests.ts'

interface ActionButtonProps {
  /** The full label for screen readers. */
  label: string
  children: ComponentChildren
  /** Shown after success, for as long as it is given: while nothing else shows the success. */
  done?: string | undefined
  act(): Promise<unknown>
}

export function ActionButton({ label, children, done, act }: ActionButtonProps) {
  const [result, setResult] = useState<{ problem?: string }>()
  const { isWorking, run } = useOnce(async () => {
    setResult(undefined)
    await act().then(
      () => setResult({}),
      (problem: unknown) => setResult({ problem: problemText(problem) }),
    )
  })
  const hasFailed = result?.problem !== undefined
  return (
    <span class="action">
      <button
        type="button"
        class="quiet small"
        aria-label={label}
        // Not `disabled`: a disabled button loses the focus.
        aria-disabled={isWorking}
        onClick={run}
      >
        {children}
      </button>
      <span role="status" class={hasFailed ? 'problem-line' : 'hint'}>
        {hasFailed ? result.problem : result && done}
      </span>
    </span>
  )
}

interface AcknowledgeProps {
  alert: Pick<Alert, 'id'> & { kind?: AlertKind }
  title: string
}

export function Acknowledge({ alert: { id, kind }, title }: AcknowledgeProps) {
  const { refresh } = useFeed()
  const [typed, setTyped] = useState('')
  if (!may('payments:write')) return null
  const gatewayReference = typed.trim()
  return (
    <>
      {kind !== undefined && ALERTS[kind].hasReference && (
        <input
          type="text"
          class="small"
          maxLength={255}
          aria-label={`Reference at the gateway: ${title}`}
          placeholder="Reference at the gateway"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <ActionButton
        label={`Acknowledge: ${title}`}
        act={() =>
          post(
            `/alerts/${encodeURIComponent(id)}/acknowledge`,
            gatewayReference === '' ? {} : { gatewayReference },
          ).then(refresh)
        }
      >
        Acknowledge
      </ActionButton>
    </>
  )
}

interface RedeliverProps {
  /** The id of the delivery. */
  id: string
  event: string
  endpoint: string
  /** Once it was asked for. */
  done: string | undefined
}

export function Redeliver({ id, event, endpoint, done }: RedeliverProps) {
  const { refresh } = useFeed()
  if (!may('payments:write')) return null
  return (
    <ActionButton
      label={`Send again: ${event} to ${endpoint}`}
      done={done}
      act={() => post(`/deliveries/${encodeURIComponent(id)}/redeliver`).then(refresh)}
    >
      Send again
    </ActionButton>
  )
}
