// All transactions, newest first: a table, or cards on a narrow screen.

import { useMemo, useRef } from 'preact/hooks'
import type { Paid, Transaction, Unreadable } from '../../../api/types.ts'
import { formatRoute, type Route } from '../../address.ts'
import { route } from '../../router.ts'
import { useFocusFallback } from '../../ui/keyboard.ts'
import { Age } from '../../ui/time.tsx'
import { words } from '../../words.ts'
import { flashOf, isOtherAmount, Money, StatusBadge } from '../elements.tsx'
import type { Feed } from '../feed/feed.ts'
import { filtersOf, isFiltering } from '../feed/filters.ts'
import { isUnreadable, type Listed } from '../feed/story.ts'
import { paymentWords } from '../words.ts'
import { FilterBar } from './filter-bar.tsx'

export function TransactionTable({ feed }: { feed: Feed }) {
  const { list: texts } = paymentWords
  const shown = feed.transactions.shown.value
  const list = useRef<HTMLElement>(null)
  // A row disappears when newer payments or a filter remove it, and so does the button for more.
  useFocusFallback(list)
  return (
    <section ref={list} class="transactions" aria-labelledby="transactions">
      <div class="section-head">
        <h2 id="transactions" tabIndex={-1}>
          {texts.title}
        </h2>
        <FilterBar feed={feed} />
      </div>
      {shown && shown.rows.size > 0 && <Rows feed={feed} />}
      <p class="quiet-line" role="status">
        {textOf(shown)}
      </p>
      {shown?.hasMore && <LoadMore feed={feed} />}
    </section>
  )
}

function textOf(shown: Feed['transactions']['shown']['value']): string {
  const { list: texts } = paymentWords
  if (!shown) return words.loading
  if (shown.rows.size > 0) return texts.shown(shown.rows.size, shown.hasMore)
  return isFiltering(filtersOf(route.value.query)) ? texts.noneFound : texts.none
}

function Rows({ feed }: { feed: Feed }) {
  const { list: texts } = paymentWords
  const shown = feed.transactions.shown.value
  return (
    <table>
      <thead>
        <tr>
          <th scope="col" class="head-status">
            {texts.status}
          </th>
          <th scope="col">{texts.reference}</th>
          <th scope="col" class="head-gateway">
            {texts.gateway}
          </th>
          <th scope="col" class="head-amount number">
            {texts.amount}
          </th>
          <th scope="col" class="head-age number">
            {texts.age}
          </th>
        </tr>
      </thead>
      <tbody>
        {[...(shown?.rows.values() ?? [])].map((transaction) => (
          <Row
            key={transaction.id}
            transaction={transaction}
            changes={shown?.changes.get(transaction.id) ?? 0}
          />
        ))}
      </tbody>
    </table>
  )
}

interface RowProps {
  transaction: Listed<Transaction>
  /** How often the row has changed while it was shown. */
  changes: number
}

/** Rendered again only when its transaction is another object. */
function Row({ transaction, changes }: RowProps) {
  const { query } = route.value
  return useMemo(() => {
    if (isUnreadable(transaction)) return <UnreadableRow row={transaction} query={query} />
    const { id, status, reference, gateway, description, amount, currency } = transaction
    const { refundedAmount, createdAt, paid } = transaction
    return (
      <tr class={flashOf(changes)}>
        <td class="cell-status">
          <StatusBadge status={status} />
        </td>
        <th scope="row" class="cell-reference">
          <a id={`payment-${id}`} href={formatRoute({ view: 'payments', id, query })} dir="auto">
            {reference}
          </a>
          <span class="hint" dir="auto">
            {description}
          </span>
        </th>
        <td class="cell-gateway">{gateway}</td>
        <td class="cell-amount number">
          <Money amount={amount} currency={currency} />
          {paid && isOtherAmount(transaction) && <PaidOther paid={paid} />}
          {paid && <Refunded amount={refundedAmount} currency={paid.currency} />}
        </td>
        <td class="cell-age number">
          <Age at={createdAt} />
        </td>
      </tr>
    )
  }, [transaction, changes, query])
}

interface UnreadableRowProps {
  row: Unreadable
  query: Route['query']
}

function UnreadableRow({ row: { id, invalid }, query }: UnreadableRowProps) {
  return (
    <tr>
      <td class="cell-status">
        <span class="badge Failed">{paymentWords.list.unreadable}</span>
      </td>
      <th scope="row" class="cell-reference" colSpan={4}>
        <a id={`payment-${id}`} href={formatRoute({ view: 'payments', id, query })}>
          {id}
        </a>
        <span class="hint">{invalid}</span>
      </th>
    </tr>
  )
}

/** The paid amount, if it differs from the requested one. */
const PaidOther = ({ paid }: { paid: Paid }) => (
  <span class="paid-other">
    {paymentWords.list.paid} <Money {...paid} />
  </span>
)

/** The refunded amount. */
function Refunded({ amount, currency }: { amount: number; currency: string }) {
  if (amount === 0) return null
  return (
    <span class="refunded">
      −<Money amount={amount} currency={currency} />
    </span>
  )
}

function LoadMore({ feed }: { feed: Feed }) {
  const { list: texts } = paymentWords
  const isLoading = feed.transactions.isLoadingMore.value
  return (
    <button
      type="button"
      class="quiet"
      aria-disabled={isLoading}
      onClick={() => !isLoading && feed.loadMore()}
    >
      {isLoading ? texts.loadingMore : texts.more}
    </button>
  )
}
