// Payments: open issues, the health of the gateways, all transactions; or the story of one payment.

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Gateway } from '../../libraries/api/types.ts'
import { ApiProblem } from '../data/http.ts'
import type { Freshness } from '../data/poller.ts'
import { may } from '../data/session.ts'
import type { LampStatus } from '../frame/lamp.ts'
import { route } from '../router.ts'
import { count, timeOf } from '../ui/format.ts'
import { now, Time } from '../ui/time.tsx'
import { AttentionList } from './attention-list.tsx'
import { TestCharge, useReturnFromPayment } from './charge-form.tsx'
import { FreshnessLamp } from './elements.tsx'
import { type Feed, FeedContext, openFeed, useFeed } from './feed.ts'
import { Find } from './find.tsx'
import { StoryView } from './story-view.tsx'
import { TransactionTable } from './transaction-table.tsx'
import { WebhookPlot } from './webhook-plot.tsx'

export function PaymentsView() {
  if (may('payments:read')) return <Payments />
  return (
    <section class="payments stack">
      <h1>Payments</h1>
      <p>Your token lacks the scope payments:read, which is needed to see payments.</p>
    </section>
  )
}

function Payments() {
  const feed = useMemo(openFeed, [])
  useEffect(() => feed.close, [feed])
  const shown = route.value
  useEffect(() => feed.show(shown), [feed, shown])
  useReturnFromPayment(feed)
  const left = useRef<string>()
  if (shown.id !== undefined) left.current = shown.id

  const problem = notConfigured(feed.freshness.value)
  if (problem) return <NotConfigured problem={problem} />
  return (
    <FeedContext.Provider value={feed}>
      <div class="payments stack">
        <Find />
        {shown.id === undefined ? <Overview left={left.current} /> : <StoryView key={shown.id} />}
      </div>
    </FeedContext.Provider>
  )
}

/** `left`: the payment whose story was open before. */
function Overview({ left }: { left: string | undefined }) {
  const feed = useFeed()
  const heading = useRef<HTMLHeadingElement>(null)
  // After closing a story, its row gets the focus again, if it is still in the list.
  useLayoutEffect(() => {
    if (left === undefined) return
    const link = document.getElementById(`payment-${left}`) ?? heading.current
    link?.focus()
  }, [left])
  return (
    <>
      <header class="view-head row">
        <h1 ref={heading} tabIndex={-1}>
          Payments
        </h1>
        <FreshnessLamp />
        <div class="end">
          <TestCharge />
        </div>
      </header>
      <PauseNote />
      <AttentionList />
      {isLaidOut(feed) && (
        <>
          <TransactionTable />
          <div class="pair">
            <GatewayList />
            <WebhookPlot />
          </div>
          <p class="hint">
            <a href="/api/payments/audit?format=csv">Who did what, as CSV</a>
          </p>
        </>
      )}
    </>
  )
}

function PauseNote() {
  const pause = useFeed().gateways.value?.pause
  return (
    <p class="hint" role="status">
      {pause && (
        <>
          Payments are paused since <Time at={pause.since} />, by {pause.by}: nothing new is
          charged, refunded or cancelled. Webhooks and checks go on.
        </>
      )}
    </p>
  )
}

/**
 * Whether everything above the transactions is loaded, or has failed for now. If the transactions
 * were shown earlier, they would jump down while the user reaches for them.
 */
function isLaidOut({ alerts, parked, gateways, rates, failing, freshness }: Feed): boolean {
  const above = [alerts, parked, gateways, rates, failing]
  return freshness.value.name !== 'loading' || above.every(({ value }) => value !== undefined)
}

/** The problem, if payments are not configured. */
function notConfigured(freshness: Freshness): ApiProblem | undefined {
  const problem = freshness.name === 'unreachable' ? freshness.problem : undefined
  const isNotConfigured = problem instanceof ApiProblem && problem.code === 'not_configured'
  return isNotConfigured ? problem : undefined
}

const NotConfigured = ({ problem }: { problem: ApiProblem }) => (
  <section class="payments stack" role="status">
    <h1>Payments are not configured</h1>
    <p>{problem.message}</p>
    <p class="hint">
      Set LIBSQL_URL and the variables of a gateway; docs/payments.md lists them. `npm start` needs
      none of them: it includes a database and simulated gateways.
    </p>
  </section>
)

function GatewayList() {
  const gateways = useFeed().gateways.value?.gateways
  return (
    <section class="gateways panel" aria-labelledby="gateways">
      <h2 id="gateways">Gateways</h2>
      {gateways?.length === 0 && <p class="hint">No gateway is configured.</p>}
      <ul>
        {gateways?.map((gateway) => (
          <GatewayItem key={gateway.key} gateway={gateway} />
        ))}
      </ul>
    </section>
  )
}

type Kind = keyof Gateway['breaker']

const KINDS: Readonly<Record<Kind, string>> = {
  charge: 'Charges',
  refund: 'Refunds',
  status: 'Checks',
}

/** A longer list of currencies would be hard to read, so it is counted. */
const MAX_LISTED = 4

function GatewayItem({ gateway }: { gateway: Gateway }) {
  const { key, driver, breaker, supportsRefund, supportsCancel, currencies, isLocal } = gateway
  const troubled = (Object.keys(KINDS) as Kind[]).filter((kind) => breaker[kind].failures > 0)
  const listed =
    currencies && currencies.length > MAX_LISTED
      ? count(currencies.length, 'currency', 'currencies')
      : currencies?.join(', ')
  const abilities = [
    driver !== key && `driver ${driver}`,
    isLocal && 'simulated',
    listed ?? 'any currency',
    supportsRefund ? 'refunds' : 'no refunds',
    supportsCancel ? 'cancels' : 'cannot cancel',
  ]
  return (
    <li>
      <h3>{key}</h3>
      {troubled.length === 0 && <span class="lamp go">No failed calls</span>}
      {troubled.map((kind) => {
        const { lamp, text, hint } = circuitLamp(breaker[kind], now.peek())
        return (
          <span key={kind} class={`lamp ${lamp}`} title={hint}>
            {KINDS[kind]}: {text}
          </span>
        )
      })}
      {troubled.map((kind) => {
        const { lastFailure } = breaker[kind]
        return (
          lastFailure !== undefined && (
            <p key={`${kind} failure`} class="hint">
              {KINDS[kind]}, last failure: {lastFailure}
            </p>
          )
        )
      })}
      <p class="hint">{abilities.filter(Boolean).join(' · ')}</p>
    </li>
  )
}

function circuitLamp(circuit: Gateway['breaker'][Kind], at: number): LampStatus {
  const { state, failures, openUntil = '' } = circuit
  switch (state) {
    case 'open':
      return {
        lamp: 'stop',
        text: `paused until ${timeOf(Date.parse(openUntil), at)}`,
        hint: `After ${count(failures, 'failed call')} the gateway is not called for these.`,
      }
    case 'probing':
      return { lamp: 'caution', text: 'paused, the next call is a test' }
    case 'closed':
      return { lamp: 'caution', text: `${count(failures, 'call')} in a row failed` }
  }
}
