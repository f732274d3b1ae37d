// Buttons that act at the edge (acknowledge an alert, redeliver an event), with the result beside
// them.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Alert } from '../../api/types.ts'
import { problemText } from '../data/http.ts'
import { may } from '../data/session.ts'
import { acknowledge, redeliver } from './api.ts'
import { paymentWords } from './words.ts'

interface ActionButtonProps {
  /** The full label for screen readers. */
  label: string
  children: ComponentChildren
  /** Shown after success, if the success is not visible otherwise. */
  done?: string
  act(): Promise<void>
}

export function ActionButton({ label, children, done, act }: ActionButtonProps) {
  const [state, setState] = useState<{ name: 'idle' | 'working' | 'done' } | Failed>(IDLE)
  const press = async () => {
    if (state.name === 'working') return
    setState({ name: 'working' })
    try {
      await act()
      setState({ name: 'done' })
    } catch (problem) {
      setState({ name: 'failed', sentence: problemText(problem) })
    }
  }
  return (
    <span class="action">
      <button
        type="button"
        class="quiet small"
        aria-label={label}
        // Not `disabled`: a disabled button loses the focus.
        aria-disabled={state.name === 'working'}
        onClick={() => void press()}
      >
        {children}
      </button>
      <span role="status" class={state.name === 'failed' ? 'problem-line' : 'hint'}>
        {state.name === 'failed' && state.sentence}
        {state.name === 'done' && done}
      </span>
    </span>
  )
}

interface Failed {
  name: 'failed'
  sentence: string
}

const IDLE = { name: 'idle' } as const

/** A person may have paid money back by hand: the reference of that is kept. */
const BY_HAND: readonly Alert['kind'][] = [
  'late_payment',
  'double_payment',
  'amount_mismatch',
  'refund_failed',
  'dispute',
]

interface AcknowledgeProps {
  alert: Pick<Alert, 'id'> & { kind?: Alert['kind'] }
  title: string
  onDone(): void
}

export function Acknowledge({ alert, title, onDone }: AcknowledgeProps) {
  const { actions: texts } = paymentWords
  const [reference, setReference] = useState('')
  if (!may('payments:write')) return null
  return (
    <>
      {alert.kind !== undefined && BY_HAND.includes(alert.kind) && (
        <input
          type="text"
          class="small"
          maxLength={255}
          aria-label={texts.referenceOf(title)}
          placeholder={texts.reference}
          value={reference}
          onInput={(event) => setReference(event.currentTarget.value)}
        />
      )}
      <ActionButton
        label={texts.acknowledgeOf(title)}
        act={async () => {
          await acknowledge(alert.id, reference.trim())
          onDone()
        }}
      >
        {texts.acknowledge}
      </ActionButton>
    </>
  )
}

interface RedeliverProps {
  /** The id of the delivery. */
  id: string
  event: string
  endpoint: string
  onDone(): void
}

export function Redeliver({ id, event, endpoint, onDone }: RedeliverProps) {
  const { actions: texts } = paymentWords
  if (!may('payments:write')) return null
  return (
    <ActionButton
      label={texts.redeliverOf(event, endpoint)}
      done={texts.sentAgain}
      act={async () => {
        await redeliver(id)
        onDone()
      }}
    >
      {texts.redeliver}
    </ActionButton>
  )
}
