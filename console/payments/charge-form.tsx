// A test charge: its button and form, and the return from the page where it is paid. It charges
// once, even after several presses, and then opens the payment page.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Gateway, PaymentResponse } from '../../libraries/api/types.ts'
import { ApiProblem } from '../data/http.ts'
import { may } from '../data/session.ts'
import { SessionEnd } from '../frame/session-end.tsx'
import { linkTo, replace, route } from '../router.ts'
import { Dialog, Field, Form, Select, useOnce } from '../ui/elements.tsx'
import { isWeb } from '../ui/format.ts'
import { StatusBadge } from './elements.tsx'
import { type Feed, useFeed } from './feed.ts'
import { amountProblem, exampleAmount, money } from './format.ts'
import {
  currenciesOf,
  failureText,
  isRefusal,
  keyedPost,
  NEWEST,
  type Order,
  orderOf,
} from './requests.ts'
import { isReadable } from './story.ts'

const OPEN = 'Make a test charge'

export function TestCharge() {
  const feed = useFeed()
  const [isOpen, setOpen] = useState(false)
  const local = feed.gateways.value?.gateways.filter(({ isLocal }) => isLocal) ?? []
  if (local.length === 0 || !may('payments:write')) return null
  return (
    <>
      <button type="button" class="small" onClick={() => setOpen(true)}>
        {OPEN}
      </button>
      {isOpen && (
        <Dialog title={OPEN} onClose={() => setOpen(false)}>
          <SessionEnd />
          <ChargeForm gateways={local} />
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
    // Removes what the gateway added to the URL, too.
    replace({ view: 'payments', id: newest.id, query: {} })
  }, [hasReturned, newest])
}

type State =
  /** `transactionId`: this payment may still be paid, but there is no page for it. */
  | { name: 'idle'; problem?: string; transactionId?: string | undefined }
  | { name: 'leaving' }
  | { name: 'charged'; response: PaymentResponse; sum: string }

/** `gateways`: at least one. */
function ChargeForm({ gateways }: { gateways: readonly Gateway[] }) {
  const { refresh } = useFeed()
  const [order, setOrder] = useState(() => orderFor(gateways[0]))
  const [state, setState] = useState<State>({ name: 'idle' })
  const charge = useMemo(() => keyedPost<PaymentResponse>('/charges', newKey), [])
  const reference = useRef(newReference())
  const { isWorking, run } = useOnce(async () => {
    // The browser leaves, so a second press has no effect.
    if (state.name === 'leaving') return
    const back = { page: location.origin + location.pathname, path: route.peek().path }
    const request = orderOf(order, reference.current, back)
    if (!request) {
      setState({ name: 'idle', problem: amountProblem(order.currency) })
      return
    }
    setState({ name: 'idle' })
    try {
      const response = await charge(request)
      refresh()
      const sum = money(request.amount, request.currency)
      setState(leave(response) ? { name: 'leaving' } : { name: 'charged', response, sum })
    } catch (problem) {
      if (isRefusal(problem)) reference.current = newReference()
      const { transactionId } = problem instanceof ApiProblem ? problem : {}
      if (transactionId !== undefined) refresh()
      setState({ name: 'idle', problem: failureText(problem), transactionId })
    }
  })
  if (state.name === 'charged') return <Charged response={state.response} sum={state.sum} />
  const { problem, transactionId } = state.name === 'idle' ? state : {}
  return (
    <Form onSubmit={run}>
      <p class="hint">Uses a simulated gateway: no real money moves.</p>
      <OrderFields order={order} gateways={gateways} onChange={setOrder} />
      <p role="alert" class="problem-line">
        {problem} {transactionId !== undefined && <StoryLink id={transactionId} />}
      </p>
      <button type="submit" aria-disabled={isWorking || state.name === 'leaving'}>
        {state.name === 'leaving' && 'Opening the payment page…'}
        {state.name === 'idle' && (isWorking ? 'Charging…' : 'Charge')}
      </button>
    </Form>
  )
}

/** Opens the payment page, unless there is none, or a code for the app of the bank to show. */
function leave({ redirectUrl, readableCode }: PaymentResponse): boolean {
  if (!isWeb(redirectUrl) || readableCode !== undefined) return false
  location.assign(redirectUrl)
  return true
}

interface OrderFieldsProps {
  order: Order
  gateways: readonly Gateway[]
  onChange(order: Order): void
}

function OrderFields({ order, gateways, onChange }: OrderFieldsProps) {
  const gateway = gateways.find(({ key }) => key === order.gateway)
  const choose = (key: string) => {
    const { description } = order
    onChange({ ...orderFor(gateways.find((one) => one.key === key)), description })
  }
  return (
    <>
      <Select
        label="Gateway"
        isLabelled
        value={order.gateway}
        options={gateways.map(({ key }) => [key, key])}
        onText={choose}
      />
      <span class="amount-field">
        <Field
          label="Amount"
          inputMode="decimal"
          autocomplete="off"
          required
          value={order.amount}
          onText={(amount) => onChange({ ...order, amount })}
        />
        <Select
          label="Currency"
          value={order.currency}
          options={(gateway ? currenciesOf(gateway) : []).map((code) => [code, code])}
          onText={(currency) => onChange({ ...order, currency, amount: exampleAmount(currency) })}
        />
      </span>
      <Field
        label="Description"
        required
        maxLength={500}
        value={order.description}
        onText={(description) => onChange({ ...order, description })}
      />
    </>
  )
}

const StoryLink = ({ id }: { id: string }) => (
  <a href={linkTo({ view: 'payments', id })}>Show the payment</a>
)

/** Shown instead of a payment page: how to pay in the app of the bank. */
function Charged({ response, sum }: { response: PaymentResponse; sum: string }) {
  const { transactionId, status, readableCode, deepLink, redirectUrl } = response
  const [link, text] = isWeb(deepLink)
    ? [deepLink, 'Open the app of the bank']
    : [redirectUrl, 'Open the payment page']
  return (
    <div class="charged" role="status">
      {status !== 'Pending' ? (
        <p>
          This was charged before. The status of the payment is now <StatusBadge status={status} />
        </p>
      ) : (
        <p>
          {readableCode === undefined
            ? `The charge of ${sum} was created, but there is no payment page.`
            : `The charge of ${sum} was created. Pay it in the app of the bank with this code:`}
        </p>
      )}
      {readableCode !== undefined && <p class="pay-code">{readableCode}</p>}
      <p class="row actions">
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

function orderFor(gateway: Gateway | undefined): Order {
  const [currency = ''] = gateway ? currenciesOf(gateway) : []
  const amount = exampleAmount(currency)
  return { gateway: gateway?.key ?? '', amount, currency, description: 'A lamp' }
}

const newKey = (): string => crypto.randomUUID()
const newReference = (): string => `test-${crypto.randomUUID().slice(0, 8)}`
