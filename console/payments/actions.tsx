// Buttons that act at the edge (acknowledge an alert, redeliver an event, ask about a payment and
// cancel it), with the result beside them.

import { signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import type { Alert, AlertKind } from '../../libraries/api/types.ts'
import { problemText, request } from '../data/http.ts'
import { may } from '../data/session.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { Field, Form, useOnce } from '../ui/elements.tsx'
import { now } from '../ui/time.tsx'
import { ALERTS } from './attention.ts'
import { useFeed } from './feed.ts'
import { post } from './requests.ts'

/** What was acknowledged here last: for a minute, that can be undone. */
const acknowledged = signal<{ path: string; title: string; at: number } | undefined>(undefined)
const UNDO_MS = 60_000

export function Undo() {
  const { refresh } = useFeed()
  const { path, title, at } = acknowledged.value ?? { path: '', title: '', at: 0 }
  if (now.value - at >= UNDO_MS) return null
  const undo = async () => {
    await request(path, { method: 'DELETE' })
    acknowledged.value = undefined
    refresh()
  }
  return (
    <p class="row hint">
      Acknowledged: {title}.
      <ActionButton label={`Undo: ${title}`} act={undo}>
        Undo
      </ActionButton>
    </p>
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
  const path = `/alerts/${encodeURIComponent(id)}/acknowledge`
  const acknowledge = async () => {
    await post(path, gatewayReference === '' ? {} : { gatewayReference })
    acknowledged.value = { path: `/api/payments${path}`, title, at: Date.now() }
    refresh()
  }
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
      <ActionButton label={`Acknowledge: ${title}`} act={acknowledge}>
        Acknowledge
      </ActionButton>
    </>
  )
}

/** Cancels an open payment, by our id. What becomes of it is shown by its status. */
export function Cancel({ id }: { id: string }) {
  const { refresh } = useFeed()
  return (
    <ActionButton
      label={CANCEL}
      act={() => post(`/transactions/${encodeURIComponent(id)}/cancel`).finally(refresh)}
    >
      {CANCEL}
    </ActionButton>
  )
}

const CANCEL = 'Cancel this payment'

/** Asks about a payment, by our id. What is new is in its story; nothing may be. */
export function AskGateway({ id, gateway }: { id: string; gateway: string }) {
  const { refresh } = useFeed()
  return (
    <ActionButton
      label={`Ask the gateway now: ${gateway}`}
      done={`${gateway} has answered: what is shown is what it says.`}
      act={() => post(`/transactions/${encodeURIComponent(id)}/check`).finally(refresh)}
    >
      Ask the gateway now
    </ActionButton>
  )
}

export function SendAll({ endpoint }: { endpoint: string }) {
  const { refresh } = useFeed()
  if (!may('payments:write')) return null
  return (
    <ActionButton
      label={`Send all that wait for ${endpoint}`}
      done="They are being sent."
      act={() => post('/failing-endpoints/send-all', { endpoint }).then(refresh)}
    >
      Send all
    </ActionButton>
  )
}

/** A note for those who look at this payment next. */
export function NoteForm({ id }: { id: string }) {
  const { refresh } = useFeed()
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string>()
  const { isWorking, run } = useOnce(async () => {
    if (text.trim() === '') return
    try {
      await post(`/transactions/${encodeURIComponent(id)}/notes`, { text: text.trim() })
      setText('')
      setProblem(undefined)
      refresh()
    } catch (problem) {
      setProblem(problemText(problem))
    }
  })
  if (!may('payments:write')) return null
  return (
    <Form class="note-form row" onSubmit={run}>
      <Field label="Note" maxLength={2_000} dir="auto" value={text} onText={setText} />
      <button type="submit" class="quiet small" aria-disabled={isWorking}>
        Add
      </button>
      <p role="alert" class="problem-line">
        {problem}
      </p>
    </Form>
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
