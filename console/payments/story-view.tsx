// The story of one payment: its status, its timeline and its facts.

import { useLayoutEffect, useRef } from 'preact/hooks'
import type {
  Gateway,
  PaymentEvents,
  PaymentResponse,
  Transaction,
} from '../../libraries/api/types.ts'
import { may } from '../data/session.ts'
import { go, linkTo, route } from '../router.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { Facts } from '../ui/elements.tsx'
import { isWeb, LOADING } from '../ui/format.ts'
import { useFocusFallback, useKey } from '../ui/keyboard.ts'
import { now, Time } from '../ui/time.tsx'
import { AskGateway, Cancel } from './actions.tsx'
import { FreshnessLamp, Ids, idFact, isOtherAmount, Money, StatusBadge } from './elements.tsx'
import { useFeed } from './feed.ts'
import { STATUSES } from './format.ts'
import { RefundForm } from './refund-form.tsx'
import { post } from './requests.ts'
import { refundable, type Story, timeline } from './story.ts'
import { TimelineEntry } from './timeline-entry.tsx'

export function StoryView() {
  const shown = useFeed().story.value
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
  const isUnknown = shown?.name === 'unknown'
  return (
    <article ref={article} class="story stack">
      <header class="view-head row">
        <a class="back row" href={linkTo({ view: 'payments', query })}>
          <span aria-hidden="true" class="arrow" />
          All payments
        </a>
        <FreshnessLamp />
      </header>
      <div class="story-head row">
        <h1 ref={heading} tabIndex={-1}>
          {transaction?.reference ??
            (story && shown?.id) ??
            (isUnknown ? 'There is no payment with this id.' : LOADING)}
        </h1>
        {story && transaction && (
          <Summary
            story={story}
            transaction={transaction}
            onRefunded={() => heading.current?.focus()}
          />
        )}
      </div>
      {isUnknown && <p>It may be in another database, or the link is incomplete.</p>}
      {story?.invalid !== undefined && <p class="problem-line">{story.invalid}</p>}
      {story?.isStranded && transaction && (
        <Stranded key={transaction.id} story={story} transaction={transaction} />
      )}
      {story && <StoryBody story={story} />}
    </article>
  )
}

interface StoryProps {
  story: Story
  transaction: Transaction
}

/** Amount and status. Screen readers announce a new status. */
function Summary({ story, transaction, onRefunded }: StoryProps & { onRefunded(): void }) {
  const feed = useFeed()
  const { amount, refundedAmount, currency, status, paid } = transaction
  const money = story.transaction?.paid
  const left = refundable(story)
  const gateways = feed.gateways.value?.gateways
  const gateway = gateways?.find(({ key }) => key === transaction.gateway)
  const { refunds } = gateway ?? {}
  return (
    <div class="standing row">
      <span class="sum">
        <Money amount={amount} currency={currency} />
      </span>
      <span role="status">
        <StatusBadge key={status} status={status} />
      </span>
      {paid && isOtherAmount(transaction) && (
        <span class="hint mismatch">
          Paid <Money {...paid} />
        </span>
      )}
      {paid && refundedAmount > 0 && (
        <span class="hint">
          Refunded <Money amount={refundedAmount} currency={paid.currency} />
        </span>
      )}
      {gateway && canBeAsked(gateway, transaction) && may('payments:write') && (
        <AskGateway key={transaction.id} id={transaction.id} gateway={transaction.gateway} />
      )}
      {status === 'Pending' && gateway?.supportsCancel && may('payments:write') && (
        <Cancel key={transaction.id} id={transaction.id} />
      )}
      {money && left > 0 && may('payments:write') && refunds && (
        <RefundForm
          key={transaction.id}
          transaction={transaction}
          left={{ amount: left, currency: money.currency }}
          isWhole={refunds === 'full'}
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

/** By the gateway's id, or by ours while it still knows that. */
function canBeAsked(gateway: Gateway, transaction: Transaction): boolean {
  const { supportsStatusCheck, findsLostForS } = gateway
  const { gatewayTransactionId, status, createdAt } = transaction
  const ageS = (now.peek() - Date.parse(createdAt)) / 1_000
  const isFound = status === 'Pending' && ageS < findsLostForS
  return supportsStatusCheck && (gatewayTransactionId !== undefined || isFound)
}

/** For a payment that is open but cannot be paid: replaces it, and explains that before. */
function Stranded({ story, transaction }: StoryProps) {
  const { refresh } = useFeed()
  const initiated = story.events.find(({ type }) => type === 'PaymentInitiated')?.payload
  const { request } = (initiated ?? {}) as Partial<PaymentEvents['PaymentInitiated']>
  const replace = async () => {
    // Without a key: it means the open payment of this order, whose own key goes over to the new
    // one. Repeating it is safe: what was replaced is not stranded any more.
    const { transactionId } = await post<PaymentResponse>('/charges', { ...request, replace: true })
    refresh()
    const { query } = route.value
    if (transactionId !== transaction.id) go({ view: 'payments', id: transactionId, query })
  }
  return (
    <section class="stranded panel stack" aria-labelledby="stranded">
      <h2 id="stranded">This payment has no payment link</h2>
      <p>The payment page or code of this charge never came back, or it has expired.</p>
      {request && may('payments:write') && (
        <>
          <p class="hint">
            {transaction.gateway} is asked once more. Only if this payment is certainly not paid, it
            is cancelled, and the order gets a new payment. Money that comes for the old one after
            that is shown as a late payment.
          </p>
          <ActionButton label={REPLACE} act={replace}>
            {REPLACE}
          </ActionButton>
        </>
      )}
    </section>
  )
}

const REPLACE = 'Replace this payment'

function StoryBody({ story }: { story: Story }) {
  const entries = timeline(story)
  // Entries that exist at the first render do not flash.
  const first = useRef<Set<string>>()
  first.current ??= new Set(entries.map(({ key }) => key))
  return (
    <div class="story-body">
      <section aria-labelledby="timeline">
        <h2 id="timeline">What happened</h2>
        <ol class="timeline">
          {entries.map((entry) => (
            <TimelineEntry key={entry.key} entry={entry} isNew={!first.current?.has(entry.key)} />
          ))}
          {story.unreadable.map(({ id, invalid }) => (
            <li key={id} class="entry">
              <div class="entry-body">
                <h3>This entry cannot be read</h3>
                <p class="problem-line">{invalid}</p>
                <Ids of={[['Our id', id]]} />
              </div>
            </li>
          ))}
        </ol>
      </section>
      {story.transaction && <PaymentFacts transaction={story.transaction} check={story.check} />}
    </div>
  )
}

function LastCheck({ check: { lastAt = '', lastStatus } }: Pick<Story, 'check'>) {
  return (
    <>
      <Time at={lastAt} />
      {lastStatus && `: ${CHECKED[lastStatus]}`}
    </>
  )
}

const CHECKED: Readonly<Record<NonNullable<Story['check']['lastStatus']>, string>> = {
  ...STATUSES,
  unknown: 'it does not have this payment',
  unreachable: 'no answer',
}

function PaymentFacts({ transaction, check }: { transaction: Transaction; check: Story['check'] }) {
  const { gateway, attempt, description, createdAt, updatedAt, paidAt, expiresAt } = transaction
  const { status, redirectUrl, metadata = {}, paid, isRepeat } = transaction
  const isOpen = status === 'Pending'
  return (
    <section class="facts panel" aria-labelledby="facts">
      <h2 id="facts">Facts</h2>
      <Facts
        class="payment-facts"
        of={[
          ['Description', description],
          ['Gateway', gateway],
          idFact('Our id', transaction.id),
          idFact('The gateway’s id', transaction.gatewayTransactionId),
          idFact('External reference', transaction.externalReferenceId),
          idFact('Correlation id', transaction.correlationId),
          ['Attempt', attempt > 1 && attempt],
          ['Charged again', isRepeat && 'on purpose (repeat)'],
          ['Created', <Time at={createdAt} />],
          ['Paid at', paidAt && <Time at={paidAt} />],
          ['Paid', paid && <Money {...paid} />],
          ['Last change', updatedAt !== createdAt && <Time at={updatedAt} />],
          ['Expires', isOpen && expiresAt && <Time at={expiresAt} />],
          ['Gateway asked', check.lastAt && <LastCheck key="check" check={check} />],
          ['Asked again', check.nextAt && <Time at={check.nextAt} />],
          ...Object.entries(metadata).map(([name, value]) => [name, String(value)] as const),
        ]}
      />
      {isOpen && isWeb(redirectUrl) && <a href={redirectUrl}>Open the payment page</a>}
    </section>
  )
}
