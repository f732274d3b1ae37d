// The form for a test charge. It charges once, even after several presses, and then opens the
// payment page.

import { useId, useRef, useState } from 'preact/hooks'
import type { Gateway, PaymentResponse } from '../../../api/types.ts'
import { formatRoute } from '../../address.ts'
import { ApiProblem } from '../../data/http.ts'
import { charge, failureText, IdempotencyKey, isRefusal } from '../api.ts'
import { isWeb, StatusBadge } from '../elements.tsx'
import { paymentWords } from '../words.ts'
import { currenciesOf, exampleAmount, type Form, orderOf } from './test-order.ts'

interface ChargeFormProps {
  /** At least one. */
  gateways: readonly Gateway[]
  onCharged(): void
}

type State =
  /** `transactionId`: this payment may still be paid, but there is no page for it. */
  | { name: 'idle'; problem?: string; transactionId?: string | undefined }
  | { name: 'working' }
  | { name: 'leaving' }
  | { name: 'charged'; response: PaymentResponse }

export function ChargeForm({ gateways, onCharged }: ChargeFormProps) {
  const { charge: texts } = paymentWords
  const [form, setForm] = useState(() => formFor(gateways[0]))
  const [state, setState] = useState<State>({ name: 'idle' })
  const key = useRef(new IdempotencyKey(newKey))
  const reference = useRef(newReference())
  // The state changes with the next render, and a double click is faster.
  const isAsking = useRef(false)

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isAsking.current) return
    const request = orderOf(form, reference.current, location.origin + location.pathname)
    if (!request) {
      setState({ name: 'idle', problem: texts.badAmount(form.currency) })
      return
    }
    isAsking.current = true
    setState({ name: 'working' })
    try {
      const response = await charge(request, key.current.of(request))
      onCharged()
      const { redirectUrl, readableCode } = response
      // A code for the app of the bank: leaving this page would hide it.
      if (!isWeb(redirectUrl) || readableCode !== undefined) {
        setState({ name: 'charged', response })
        return
      }
      // Stays in this state while the browser leaves, so a second press has no effect.
      setState({ name: 'leaving' })
      location.assign(redirectUrl)
    } catch (problem) {
      isAsking.current = false
      if (isRefusal(problem)) {
        key.current.settle()
        reference.current = newReference()
      }
      const { transactionId } = problem instanceof ApiProblem ? problem : {}
      if (transactionId !== undefined) onCharged()
      setState({ name: 'idle', problem: failureText(problem), transactionId })
    }
  }
  if (state.name === 'charged') return <Charged response={state.response} />
  const isBusy = state.name !== 'idle'
  return (
    <form onSubmit={(event) => void submit(event)}>
      <p class="hint">{texts.lead}</p>
      <Fields form={form} gateways={gateways} onChange={setForm} />
      <p role="alert" class="problem-line">
        {state.name === 'idle' && state.problem}{' '}
        {state.name === 'idle' && state.transactionId !== undefined && (
          <StoryLink id={state.transactionId} />
        )}
      </p>
      <button type="submit" aria-disabled={isBusy}>
        {{ idle: texts.submit, working: texts.working, leaving: texts.leaving }[state.name]}
      </button>
    </form>
  )
}

interface FieldsProps {
  form: Form
  gateways: readonly Gateway[]
  onChange(form: Form): void
}

function Fields({ form, gateways, onChange }: FieldsProps) {
  const { charge: texts } = paymentWords
  const ids = { gateway: useId(), amount: useId(), currency: useId(), description: useId() }
  const gateway = gateways.find(({ key }) => key === form.gateway)
  const choose = (key: string) =>
    onChange({ ...formFor(gateways.find((one) => one.key === key)), description: form.description })
  const setCurrency = (currency: string) =>
    onChange({ ...form, currency, amount: exampleAmount(currency) })
  return (
    <>
      <label for={ids.gateway}>{texts.gateway}</label>
      <select
        id={ids.gateway}
        value={form.gateway}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {gateways.map(({ key }) => (
          <option key={key} value={key}>
            {key}
          </option>
        ))}
      </select>
      <label for={ids.amount}>{texts.amount}</label>
      <span class="amount-field">
        <input
          id={ids.amount}
          inputMode="decimal"
          autocomplete="off"
          required
          value={form.amount}
          onInput={(event) => onChange({ ...form, amount: event.currentTarget.value })}
        />
        <label class="visually-hidden" for={ids.currency}>
          {texts.currency}
        </label>
        <select
          id={ids.currency}
          value={form.currency}
          onChange={(event) => setCurrency(event.currentTarget.value)}
        >
          {gateway &&
            currenciesOf(gateway).map((currency) => <option key={currency}>{currency}</option>)}
        </select>
      </span>
      <label for={ids.description}>{texts.description}</label>
      <input
        id={ids.description}
        required
        maxLength={500}
        value={form.description}
        onInput={(event) => onChange({ ...form, description: event.currentTarget.value })}
      />
    </>
  )
}

const StoryLink = ({ id }: { id: string }) => (
  <a href={formatRoute({ view: 'payments', id, query: {} })}>{paymentWords.charge.see}</a>
)

/** Shown instead of a payment page: how to pay in the app of the bank. */
function Charged({ response }: { response: PaymentResponse }) {
  const { charge: texts } = paymentWords
  const { transactionId, status, readableCode, deepLink, redirectUrl } = response
  const [link, text] = isWeb(deepLink) ? [deepLink, texts.deepLink] : [redirectUrl, texts.page]
  return (
    <div class="charged" role="status">
      {status === 'Pending' ? (
        <p>{readableCode === undefined ? texts.doneWithoutPage : texts.done}</p>
      ) : (
        <p>
          {texts.doneBefore} <StatusBadge status={status} />
        </p>
      )}
      {readableCode !== undefined && <p class="pay-code">{readableCode}</p>}
      <p class="actions">
        {isWeb(link) && (
          <a href={link} target="_blank" rel="noopener noreferrer">
            {text}
          </a>
        )}
        <StoryLink id={transactionId} />
      </p>
    </div>
  )
}

function formFor(gateway: Gateway | undefined): Form {
  const [currency = ''] = gateway ? currenciesOf(gateway) : []
  return {
    gateway: gateway?.key ?? '',
    amount: exampleAmount(currency),
    currency,
    description: paymentWords.charge.example,
  }
}

const newKey = (): string => crypto.randomUUID()
const newReference = (): string => `test-${crypto.randomUUID().slice(0, 8)}`
