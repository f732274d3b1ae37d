// Payments: what a person should look at first, then every transaction; or one payment's story.

import { useEffect, useMemo } from 'preact/hooks'
import { route } from '../router.ts'
import { may } from '../session.ts'
import { words } from '../words.ts'
import { AttentionList } from './attention/attention-list.tsx'
import { type Feed, openFeed } from './feed/feed.ts'
import { FreshnessLamp } from './feed/freshness-lamp.tsx'
import { GatewayList } from './gateways/gateway-list.tsx'
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

  return (
    <div class="payments">
      <Overview feed={feed} />
    </div>
  )
}

function Overview({ feed }: { feed: Feed }) {
  const { payments: say } = words
  return (
    <>
      <header class="view-head">
        <h1>{say.title}</h1>
        <FreshnessLamp freshness={feed.freshness.value} />
      </header>
      <AttentionList feed={feed} />
      <div class="pair">
        <GatewayList feed={feed} />
      </div>
      <TransactionTable feed={feed} />
    </>
  )
}
