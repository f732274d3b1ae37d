// The story of one payment: its status, its timeline and its facts.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type {
  Alert,
  PaymentEvents,
  PaymentResponse,
  Transaction,
  TransactionsPage,
} from '../../libraries/api/types.ts'
import { request } from '../data/http.ts'
import { may } from '../data/session.ts'
import { go, linkTo, route } from '../router.ts'
import { ActionButton } from '../ui/action-button.tsx'
import { Facts } from '../ui/elements.tsx'
import { isWeb, LOADING } from '../ui/format.ts'
import { useFocusFallback, useKey } from '../ui/keyboard.ts'
import { DatedAge, Time } from '../ui/time.tsx'
import { AskGateway, Cancel, NoteForm } from './actions.tsx'
import { NeedsYou } from './attention-list.tsx'
import { FreshnessLamp, Ids, idFact, isOtherAmount, Money, StandingBadge } from './elements.tsx'
import { useFeed } from './feed.ts'
import { STATUSES } from './format.ts'
import { customerOf } from './found.ts'
import { RefundForm } from './refund-form.tsx'
import { post } from './requests.ts'
import { isReadable, type Story, timeline } from './story.ts'
import { TimelineEntry } from './timeline-entry.tsx'
import { pathOf } from './transactions-read.ts'

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
      {story && transaction?.status === 'Pending' && (
        <Waiting story={story} transaction={transaction} />
      )}
      {transaction && <Whose transaction={transaction} />}
      {story && <NeedsYou alerts={story.alerts.filter(isOpen)} />}
      {isUnknown && <p>It may be in another database, or the link is incomplete.</p>}
      {story?.invalid !== undefined && <p class="problem-line">{story.invalid}</p>}
      {story?.isStranded && transaction && (
        <Stranded key={transaction.id} story={story} transaction={transaction} />
      )}
      {transaction && <SameOrder transaction={transaction} />}
      {story && <StoryBody story={story} />}
    </article>
  )
}

/** The way to all payments of its customer. */
function Whose({ transaction }: { transaction: Transaction }) {
  const customer = customerOf(transaction)
  if (customer === undefined) return null
  return (
    <p class="whose">
      <a href={linkTo({ view: 'payments', query: { q: customer } })}>
        <bdi>{customer}</bdi>
      </a>{' '}
      <span class="hint">all payments of this name</span>
    </p>
  )
}

/** Further payments of its order. */
function SameOrder({ transaction }: { transaction: Transaction }) {
  const { id, reference, updatedAt } = transaction
  const [others, setOthers] = useState<Transaction[]>([])
  useEffect(() => {
    const asking = new AbortController()
    request<TransactionsPage>(pathOf({ reference }, MOST_OTHERS), asking).then(
      ({ transactions }) => setOthers(transactions.filter(isReadable)),
      // The lamp says that the edge does not answer.
      () => undefined,
    )
    return () => asking.abort()
  }, [reference, updatedAt])
  const shown = others.filter((other) => other.id !== id)
  if (shown.length === 0) return null
  return (
    <section class="same-order panel" aria-labelledby="same-order">
      <h2 id="same-order">Other payments of this order</h2>
      <ul>
        {shown.map((other) => (
          <li key={other.id} class="row">
            <StandingBadge of={other} />
            {other.alert && <span class="needs">Needs you</span>}
            <Money amount={other.amount} currency={other.currency} />
            <a href={linkTo({ view: 'payments', id: other.id })}>{other.gateway}</a>
            <span class="hint">
              <DatedAge at={other.createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const MOST_OTHERS = 20

const isOpen = ({ acknowledgedAt }: Alert): boolean => acknowledgedAt === undefined

interface StoryProps {
  story: Story
  transaction: Transaction
}

/** Amount and status. Screen readers announce a new status. */
function Summary({ story, transaction, onRefunded }: StoryProps & { onRefunded(): void }) {
  const feed = useFeed()
  const { amount, refundedAmount, currency, paid } = transaction
  const money = story.transaction?.paid
  const { can } = story
  const gateways = feed.gateways.value?.gateways
  const gateway = gateways?.find(({ key }) => key === transaction.gateway)
  return (
    <div class="standing row">
      <span class="sum">
        <Money amount={amount} currency={currency} />
      </span>
      <span role="status">
        <StandingBadge key={status} of={transaction} />
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
      {can.check && may('payments:write') && (
        <AskGateway key={transaction.id} id={transaction.id} gateway={transaction.gateway} />
      )}
      {can.cancel && may('payments:write') && <Cancel key={transaction.id} id={transaction.id} />}
      {money && can.refund > 0 && may('payments:write') && (
        <RefundForm
          key={transaction.id}
          transaction={transaction}
          left={{ amount: can.refund, currency: money.currency }}
          isWhole={gateway?.refunds === 'full'}
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

/** Of an open payment: what its gateway said, and how long it can be paid. */
function Waiting({ story: { check }, transaction }: StoryProps) {
  const { expiresAt } = transaction
  const { lastAt, lastStatus, nextAt } = check
  return (
    <p class="hint">
      {lastAt && lastStatus && (
        <>
          {transaction.gateway} said {CHECKED[lastStatus]} at <Time at={lastAt} />
          {nextAt && (
            <>
              ; it is asked again at <Time at={nextAt} />
            </>
          )}
          .{' '}
        </>
      )}
      {expiresAt && (
        <>
          Can be paid until <Time at={expiresAt} />.
        </>
      )}
    </p>
  )
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
        {story.transaction && <NoteForm id={story.transaction.id} />}
      </section>
      {story.transaction && <PaymentFacts transaction={story.transaction} />}
    </div>
  )
}

const CHECKED: Readonly<Record<NonNullable<Story['check']['lastStatus']>, string>> = {
  ...STATUSES,
  unknown: 'that it does not have this payment',
  unreachable: 'nothing',
}

function PaymentFacts({ transaction }: { transaction: Transaction }) {
  const { gateway, attempt, description, createdAt, updatedAt, paidAt } = transaction
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
          ...Object.entries(metadata).map(([name, value]) => [name, String(value)] as const),
        ]}
      />
      {isOpen && isWeb(redirectUrl) && <a href={redirectUrl}>Open the payment page</a>}
    </section>
  )
}
