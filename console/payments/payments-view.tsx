// Payments: what a person should look at first, then every transaction; or one payment's story.

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { ApiProblem } from '../data/http.ts'
import { may } from '../data/session.ts'
import { route } from '../router.ts'
import { words } from '../words.ts'
import { AttentionList } from './attention/attention-list.tsx'
import { TestCharge, useWayBack } from './charge/test-charge.tsx'
import { FreshnessLamp } from './elements.tsx'
import { type Feed, openFeed } from './feed/feed.ts'
import type { Freshness } from './feed/freshness.ts'
import { GatewayList } from './gateways/gateway-list.tsx'
import { WebhookPlot } from './plot/webhook-plot.tsx'
import { StoryView } from './story/story-view.tsx'
import { TransactionTable } from './transactions/transaction-table.tsx'

export function PaymentsView() {
  const { payments: say } = words
  if (may('payments:read')) return <Payments />
  return (
    <section class="payments">
      <h1>{say.title}</h1>
      <p>{say.missingScope}</p>
    </section>
  )
}

function Payments() {
  const feed = useMemo(openFeed, [])
  useEffect(() => feed.close, [feed])
  const shown = route.value
  useEffect(() => feed.look(shown), [feed, shown])
  useWayBack(feed)
  const left = useRef<string>()
  if (shown.id !== undefined) left.current = shown.id

  const problem = refusalOf(feed.freshness.value)
  if (problem) return <NotConfigured problem={problem} />
  return (
    <div class="payments">
      {shown.id === undefined ? (
        <Overview feed={feed} left={left.current} />
      ) : (
        <StoryView key={shown.id} feed={feed} />
      )}
    </div>
  )
}

interface OverviewProps {
  feed: Feed
  /** The payment whose story was open before. */
  left: string | undefined
}

function Overview({ feed, left }: OverviewProps) {
  const { payments: say } = words
  const heading = useRef<HTMLHeadingElement>(null)
  // Back from a story: on where it was opened, which the newest list may no longer hold.
  useLayoutEffect(() => {
    if (left === undefined) return
    const link = document.getElementById(`payment-${left}`) ?? heading.current
    link?.focus()
  }, [left])
  return (
    <>
      <header class="view-head">
        <h1 ref={heading} tabIndex={-1}>
          {say.title}
        </h1>
        <FreshnessLamp freshness={feed.freshness.value} />
        <div class="end">
          <TestCharge feed={feed} />
        </div>
      </header>
      <AttentionList feed={feed} />
      {hasRoom(feed) && (
        <>
          <div class="pair">
            <GatewayList feed={feed} />
            <WebhookPlot feed={feed} />
          </div>
          <TransactionTable feed={feed} />
        </>
      )}
    </>
  )
}

/**
 * Whether all that stands above the transactions has taken its room, or will not for now: they
 * would jump under the reader's finger.
 */
function hasRoom({ alerts, parked, gateways, rates, freshness }: Feed): boolean {
  const above = [alerts, parked, gateways, rates]
  return freshness.value.name !== 'first' || above.every(({ value }) => value !== undefined)
}

/** That there are no payments here at all. */
function refusalOf(freshness: Freshness): ApiProblem | undefined {
  const problem = freshness.name === 'unreached' ? freshness.problem : undefined
  const isThat = problem instanceof ApiProblem && problem.code === 'not_configured'
  return isThat ? problem : undefined
}

function NotConfigured({ problem }: { problem: ApiProblem }) {
  const { notConfigured: say } = words.payments
  return (
    <section class="payments" role="status">
      <h1>{say.title}</h1>
      <p>{problem.message}</p>
      <p class="hint">{say.lead}</p>
    </section>
  )
}
