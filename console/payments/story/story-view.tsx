// The story of one payment: its timeline and its facts.

import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Transaction } from '../../../api/types.ts'
import { formatRoute } from '../../address.ts'
import { may } from '../../data/session.ts'
import { go, route } from '../../router.ts'
import { useFocusFallback, useKey } from '../../ui/keyboard.ts'
import { words } from '../../words.ts'
import { FreshnessLamp, Ids, isOtherAmount, Money, StatusBadge } from '../elements.tsx'
import type { Feed } from '../feed/feed.ts'
import type { Story } from '../feed/story.ts'
import { RefundForm } from '../refund/refund-form.tsx'
import { Facts } from './facts.tsx'
import { Stranded } from './stranded.tsx'
import { moneyOf, refundable, timeline } from './timeline.ts'
import { TimelineEntry } from './timeline-entry.tsx'
import { storyWords } from './words.ts'

export function StoryView({ feed }: { feed: Feed }) {
  const shown = feed.story.value
  const heading = useRef<HTMLHeadingElement>(null)
  // After a link, keyboard and screen reader continue at the heading.
  useLayoutEffect(() => heading.current?.focus(), [])
  const article = useRef<HTMLElement>(null)
  // Such as the refund dialog, when another user refunded everything.
  useFocusFallback(article)
  const { query } = route.value
  useKey('Escape', () => go({ view: 'payments', query }))
  const story = shown?.name === 'found' ? shown.story : undefined
  const transaction = story?.transaction
  return (
    <article ref={article} class="story">
      <header class="view-head">
        <a class="back" href={formatRoute({ view: 'payments', query })}>
          <span aria-hidden="true" class="arrow" />
          {storyWords.back}
        </a>
        <FreshnessLamp freshness={feed.freshness.value} />
      </header>
      <div class="story-head">
        <h1 ref={heading} tabIndex={-1}>
          {transaction?.reference ??
            (story && shown?.id) ??
            (shown?.name === 'unknown' ? storyWords.unknown : words.loading)}
        </h1>
        {story && transaction && (
          <Summary
            story={story}
            transaction={transaction}
            feed={feed}
            onRefunded={() => heading.current?.focus()}
          />
        )}
      </div>
      {shown?.name === 'unknown' && <p>{storyWords.unknownHint}</p>}
      {story?.invalid !== undefined && <p class="invalid-line">{story.invalid}</p>}
      {story?.isStranded && transaction && (
        <Stranded key={transaction.id} story={story} transaction={transaction} feed={feed} />
      )}
      {story && <StoryBody story={story} feed={feed} />}
    </article>
  )
}

interface StoryProps {
  story: Story
  feed: Feed
}

interface SummaryProps extends StoryProps {
  transaction: Transaction
  onRefunded(): void
}

/** Amount and status. Screen readers announce a new status. */
function Summary({ story, transaction, feed, onRefunded }: SummaryProps) {
  const { amount, refundedAmount, currency, status, paid } = transaction
  const money = moneyOf(story)
  const left = refundable(story)
  const gateway = feed.gateways.value?.find(({ key }) => key === transaction.gateway)
  return (
    <div class="standing">
      <span class="sum">
        <Money amount={amount} currency={currency} />
      </span>
      <span role="status">
        <StatusBadge key={status} status={status} />
      </span>
      {paid && isOtherAmount(transaction) && (
        <span class="hint mismatch">
          {storyWords.paidAmount} <Money {...paid} />
        </span>
      )}
      {paid && refundedAmount > 0 && (
        <span class="hint">
          {storyWords.refunded} <Money amount={refundedAmount} currency={paid.currency} />
        </span>
      )}
      {money && left > 0 && may('payments:write') && gateway?.refunds && (
        <RefundForm
          key={transaction.id}
          transaction={transaction}
          left={{ amount: left, currency: money.currency }}
          isWhole={gateway.refunds === 'full'}
          onDone={() => {
            feed.refresh()
            // After a full refund the button is gone, so the heading gets the focus.
            onRefunded()
          }}
        />
      )}
    </div>
  )
}

function StoryBody({ story, feed }: StoryProps) {
  const entries = timeline(story)
  // Entries that exist at the first render do not flash.
  const first = useRef<Set<string>>()
  first.current ??= new Set(entries.map(({ key }) => key))
  return (
    <div class="story-body">
      <section aria-labelledby="timeline">
        <h2 id="timeline">{storyWords.timeline}</h2>
        <ol class="timeline">
          {entries.map((entry) => (
            <TimelineEntry
              key={entry.key}
              entry={entry}
              isNew={!first.current?.has(entry.key)}
              onDone={feed.refresh}
            />
          ))}
          {story.unreadable.map(({ id, invalid }) => (
            <li key={id} class="entry">
              <div class="entry-body">
                <h3>{storyWords.unreadableEntry}</h3>
                <p class="invalid-line">{invalid}</p>
                <Ids of={[[storyWords.id, id]]} />
              </div>
            </li>
          ))}
        </ol>
      </section>
      {story.transaction && <Facts transaction={story.transaction} />}
    </div>
  )
}
