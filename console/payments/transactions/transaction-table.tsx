// Every transaction, newest first: a table, and cards where that is too wide.

import { useMemo, useRef } from 'preact/hooks'
import type { Paid, Transaction } from '../../../worker/payments/domain/transaction.ts'
import type { Listed, Unreadable } from '../../../worker/payments/queries/queries.ts'
import { formatRoute, type Route } from '../../address.ts'
import { route } from '../../router.ts'
import { useKeptPlace } from '../../ui/keyboard.ts'
import { Age } from '../../ui/time.tsx'
import { words } from '../../words.ts'
import { flashOf, isOther, Money, StatusBadge } from '../elements.tsx'
import type { Feed } from '../feed/feed.ts'
import { filtersOf, isFiltering } from '../feed/filters.ts'
import { isUnreadable } from '../feed/unreadable.ts'
import { FilterBar } from './filter-bar.tsx'

export function TransactionTable({ feed }: { feed: Feed }) {
  const { list: say } = words.payments
  const shown = feed.transactions.shown.value
  const list = useRef<HTMLElement>(null)
  // A payment that newer ones, or its own new status, took off the list; the button for more.
  useKeptPlace(list)
  return (
    <section ref={list} class="transactions" aria-labelledby="transactions">
      <div class="section-head">
        <h2 id="transactions" tabIndex={-1}>
          {say.title}
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
  const { list: say } = words.payments
  if (!shown) return words.loading
  if (shown.rows.size > 0) return say.shown(shown.rows.size, shown.hasMore)
  return isFiltering(filtersOf(route.value.query)) ? say.noneFound : say.none
}

function Rows({ feed }: { feed: Feed }) {
  const { list: say } = words.payments
  const shown = feed.transactions.shown.value
  return (
    <table>
      <thead>
        <tr>
          <th scope="col" class="head-status">
            {say.status}
          </th>
          <th scope="col">{say.reference}</th>
          <th scope="col" class="head-gateway">
            {say.gateway}
          </th>
          <th scope="col" class="head-amount number">
            {say.amount}
          </th>
          <th scope="col" class="head-age number">
            {say.age}
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
  /** How often it has been seen to change. */
  changes: number
}

/** Drawn again only when its transaction is another object. */
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
          {paid && isOther(transaction) && <PaidOther paid={paid} />}
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
        <span class="badge Failed">{words.payments.list.unreadable}</span>
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

/** What came in, where that is not what was asked for. */
const PaidOther = ({ paid }: { paid: Paid }) => (
  <span class="paid-other">
    {words.payments.list.paid} <Money {...paid} />
  </span>
)

/** The part that went back. */
function Refunded({ amount, currency }: { amount: number; currency: string }) {
  if (amount === 0) return null
  return (
    <span class="refunded">
      −<Money amount={amount} currency={currency} />
    </span>
  )
}

function LoadMore({ feed }: { feed: Feed }) {
  const { list: say } = words.payments
  const isLoading = feed.transactions.isLoadingMore.value
  return (
    <button
      type="button"
      class="quiet"
      aria-disabled={isLoading}
      onClick={() => !isLoading && feed.loadMore()}
    >
      {isLoading ? say.loadingMore : say.more}
    </button>
  )
}
