// One payment's story: what happened in the order of time, and beside it the facts.

import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatRoute } from '../../address.ts'
import { may } from '../../data/session.ts'
import { go, route } from '../../router.ts'
import { useKeptPlace, useKey } from '../../ui/keyboard.ts'
import { words } from '../../words.ts'
import { FreshnessLamp, Ids, isOther, Money, StatusBadge } from '../elements.tsx'
import type { Feed } from '../feed/feed.ts'
import type { StoryAnswer, TransactionStory } from '../feed/reads.ts'
import { isUnreadable } from '../feed/unreadable.ts'
import { RefundForm } from '../refund/refund-form.tsx'
import { Facts } from './facts.tsx'
import { refundable, timeline, unreadable } from './timeline.ts'
import { TimelineEntry } from './timeline-entry.tsx'

export function StoryView({ feed }: { feed: Feed }) {
  const { story: say } = words.payments
  const shown = feed.story.value
  const heading = useRef<HTMLHeadingElement>(null)
  // Whoever follows a link by keyboard or by ear goes on where it led.
  useLayoutEffect(() => heading.current?.focus(), [])
  const article = useRef<HTMLElement>(null)
  // Such as the refund's dialog, when all was given back by somebody else.
  useKeptPlace(article)
  const { query } = route.value
  useKey('Escape', () => go({ view: 'payments', query }))
  const story = shown?.name === 'found' ? shown.story : undefined
  const known = story && !isUnreadable(story) ? story : undefined
  return (
    <article ref={article} class="story">
      <header class="view-head">
        <a class="back" href={formatRoute({ view: 'payments', query })}>
          <span aria-hidden="true" class="arrow" />
          {say.back}
        </a>
        <FreshnessLamp freshness={feed.freshness.value} />
      </header>
      <div class="story-head">
        <h1 ref={heading} tabIndex={-1}>
          {known?.reference ??
            story?.id ??
            (shown?.name === 'unknown' ? say.unknown : words.loading)}
        </h1>
        {known && (
          <Standing story={known} feed={feed} onRefunded={() => heading.current?.focus()} />
        )}
      </div>
      {shown?.name === 'unknown' && <p>{say.unknownHint}</p>}
      {story && isUnreadable(story) && <p class="invalid-line">{story.invalid}</p>}
      {story && <StoryBody story={story} feed={feed} />}
    </article>
  )
}

interface StoryProps {
  story: TransactionStory
  feed: Feed
}

/** How it stands, said aloud when it moves. */
function Standing({ story, feed, onRefunded }: StoryProps & { onRefunded(): void }) {
  const { story: say } = words.payments
  const { amount, refundedAmount, currency, status, paid } = story
  const left = refundable(story)
  const gateway = feed.gateways.value?.find(({ key }) => key === story.gateway)
  return (
    <div class="standing">
      <span class="sum">
        <Money amount={amount} currency={currency} />
      </span>
      <span role="status">
        <StatusBadge key={status} status={status} />
      </span>
      {paid && isOther(story) && (
        <span class="hint mismatch">
          {say.paidAmount} <Money {...paid} />
        </span>
      )}
      {paid && refundedAmount > 0 && (
        <span class="hint">
          {say.refunded} <Money amount={refundedAmount} currency={paid.currency} />
        </span>
      )}
      {paid && left > 0 && may('payments:write') && gateway?.refunds && (
        <RefundForm
          key={story.id}
          story={story}
          left={{ amount: left, currency: paid.currency }}
          isWhole={gateway.refunds === 'full'}
          onDone={() => {
            feed.ask()
            // Its button is gone when all is given back.
            onRefunded()
          }}
        />
      )}
    </div>
  )
}

function StoryBody({ story, feed }: { story: StoryAnswer; feed: Feed }) {
  const { story: say } = words.payments
  const entries = timeline(story)
  // What stands there when it is opened is not news.
  const first = useRef<Set<string>>()
  first.current ??= new Set(entries.map(({ key }) => key))
  return (
    <div class="story-body">
      <section aria-labelledby="timeline">
        <h2 id="timeline">{say.timeline}</h2>
        <ol class="timeline">
          {entries.map((entry) => (
            <TimelineEntry
              key={entry.key}
              entry={entry}
              isNew={!first.current?.has(entry.key)}
              onDone={feed.ask}
            />
          ))}
          {unreadable(story).map(({ id, invalid }) => (
            <li key={id} class="entry">
              <div class="entry-body">
                <h3>{say.unreadableEntry}</h3>
                <p class="invalid-line">{invalid}</p>
                <Ids of={[[say.id, id]]} />
              </div>
            </li>
          ))}
        </ol>
      </section>
      {!isUnreadable(story) && <Facts story={story} />}
    </div>
  )
}
