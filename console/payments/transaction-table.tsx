// All transactions, newest first, with their filters: a table, or cards on a narrow screen.

import { useMemo, useRef } from 'preact/hooks'
import type { Paid, PaymentStatus, Transaction, Unreadable } from '../../libraries/api/types.ts'
import type { Route } from '../address.ts'
import { linkTo, route } from '../router.ts'
import { TableHead } from '../ui/elements.tsx'
import { Choice, FilterBar, filterBy } from '../ui/filter-bar.tsx'
import { count, LOADING } from '../ui/format.ts'
import { useFocusFallback } from '../ui/keyboard.ts'
import { DatedAge } from '../ui/time.tsx'
import { flashOf, isOtherAmount, Money, StandingBadge } from './elements.tsx'
import { useFeed } from './feed.ts'
import { moveInRows } from './find.tsx'
import { STATUSES } from './format.ts'
import { customerOf, whyFound } from './found.ts'
import { currenciesOf } from './requests.ts'
import { isUnreadable } from './story.ts'
import { filePathOf, filtersOf, isFiltering, type TransactionsShown } from './transactions-read.ts'

export function TransactionTable() {
  const shown = useFeed().transactions.shown.value
  const list = useRef<HTMLElement>(null)
  // A row disappears when newer payments or a filter remove it, and so does the button for more.
  useFocusFallback(list)
  return (
    <section ref={list} class="transactions stack" aria-labelledby="transactions">
      <div class="section-head row">
        <h2 id="transactions" tabIndex={-1}>
          Transactions
        </h2>
        <Filters />
      </div>
      {shown && shown.rows.size > 0 && <Rows shown={shown} />}
      <p class="hint" role="status">
        {textOf(shown)}
      </p>
      {shown?.hasMore && <LoadMore />}
      {shown && shown.rows.size > 0 && (
        <p class="hint">
          <a href={filePathOf(filtersOf(route.value.query))}>All of these payments, as CSV</a>
        </p>
      )}
    </section>
  )
}

function textOf(shown: TransactionsShown | undefined): string {
  if (!shown) return LOADING
  if (shown.rows.size > 0) {
    return `${count(shown.rows.size, 'payment')}${shown.hasMore ? ', and more' : ''}`
  }
  const { query } = route.value
  if (!isFiltering(filtersOf(query))) return 'No payments yet.'
  return `No payment matches. ${query.q?.trim() ? TRY_LESS : TRY_OTHERS}`
}

const TRY_LESS =
  'Try a part of it, such as the last four digits or letters, or one word; or the amount.'
const TRY_OTHERS = 'Try without one of the filters.'

function Filters() {
  const gateways = useFeed().gateways.value?.gateways ?? []
  const { query } = route.value
  const filters = filtersOf(query)
  const currencies = [...new Set(gateways.flatMap(currenciesOf))]
  return (
    <FilterBar label="Filters" isFiltering={isFiltering(filters)} clear="Show all">
      <button
        type="button"
        class="quiet small"
        aria-pressed={filters.needs !== undefined}
        onClick={() => filterBy({ needs: filters.needs ? '' : 'you' })}
      >
        Needs you
      </button>
      <Choice
        name="status"
        label="Status"
        isLabelled
        chosen={filters.status ?? ''}
        any="all"
        values={Object.keys(STATUSES)}
        textOf={(status) => STATUSES[status as PaymentStatus]}
      />
      <Choice
        name="gateway"
        label="Gateway"
        isLabelled
        chosen={filters.gateway ?? ''}
        any="all"
        values={gateways.map(({ key }) => key)}
      />
      <Choice
        name="currency"
        label="Currency"
        isLabelled
        chosen={filters.currency ?? ''}
        any="all"
        values={currencies}
      />
      <Day name="from" label="From" value={query.from} />
      <Day name="to" label="To" value={query.to} />
      {filters.reference && <span class="only">Only {filters.reference}</span>}
    </FilterBar>
  )
}

interface DayProps {
  /** The filter's name in the URL. */
  name: string
  label: string
  value: string | undefined
}

const Day = ({ name, label, value = '' }: DayProps) => (
  <span class="choice">
    <label for={name}>{label}</label>
    <input
      id={name}
      type="date"
      value={value}
      onInput={({ currentTarget }) => filterBy({ [name]: currentTarget.value })}
    />
  </span>
)

const COLUMNS = [
  ['Status', 'head-status'],
  ['Reference'],
  ['Gateway', 'head-gateway'],
  ['Amount', 'head-amount number'],
  ['Created', 'head-age number'],
] as const

const Rows = ({ shown }: { shown: TransactionsShown }) => (
  <table class="panel">
    <TableHead class="hint" of={COLUMNS} />
    <tbody onKeyDown={moveInRows}>
      {[...shown.rows.values()].map((row) => (
        <Row key={row.id} row={row} changes={shown.changes.get(row.id) ?? 0} />
      ))}
    </tbody>
  </table>
)

interface RowProps {
  row: Transaction | Unreadable
  /** How often the row has changed while it was shown. */
  changes: number
}

/** Rendered again only when its transaction is another object. */
function Row({ row, changes }: RowProps) {
  const { query } = route.value
  return useMemo(() => {
    if (isUnreadable(row)) return <UnreadableRow row={row} query={query} />
    const { id, reference, gateway, description, amount, currency } = row
    const { refundedAmount, createdAt, paid } = row
    const customer = customerOf(row)
    const why = whyFound(row, query.q ?? '')
    return (
      <tr class={flashOf(changes)}>
        <td class="cell-status">
          <StandingBadge of={row} />
          {row.alert && <span class="needs">Needs you</span>}
        </td>
        <th scope="row" class="cell-reference">
          <a id={`payment-${id}`} href={linkTo({ view: 'payments', id, query })} dir="auto">
            {reference}
          </a>
          {customer && <bdi class="customer">{customer}</bdi>}{' '}
          <span class="hint" dir="auto">
            {description}
          </span>
          {why && <span class="why hint">Found by: {why}</span>}
        </th>
        <td class="cell-gateway">{gateway}</td>
        <td class="cell-amount number">
          <Money amount={amount} currency={currency} />
          {paid && isOtherAmount(row) && <PaidOther paid={paid} />}
          {paid && refundedAmount > 0 && (
            <span class="hint">
              −<Money amount={refundedAmount} currency={paid.currency} />
            </span>
          )}
        </td>
        <td class="cell-age number">
          <DatedAge at={createdAt} />
        </td>
      </tr>
    )
  }, [row, changes, query])
}

interface UnreadableRowProps {
  row: Unreadable
  query: Route['query']
}

function UnreadableRow({ row: { id, invalid }, query }: UnreadableRowProps) {
  return (
    <tr>
      <td class="cell-status">
        <span class="badge Failed">Unreadable</span>
      </td>
      <th scope="row" class="cell-reference" colSpan={4}>
        <a id={`payment-${id}`} href={linkTo({ view: 'payments', id, query })}>
          {id}
        </a>
        <span class="hint">{invalid}</span>
      </th>
    </tr>
  )
}

/** The paid amount, if it differs from the requested one. */
const PaidOther = ({ paid }: { paid: Paid }) => (
  <span class="hint">
    paid <Money {...paid} />
  </span>
)

function LoadMore() {
  const feed = useFeed()
  const isLoading = feed.transactions.isLoadingMore.value
  return (
    <button
      type="button"
      class="quiet"
      aria-disabled={isLoading}
      onClick={() => !isLoading && feed.loadMore()}
    >
      {isLoading ? 'Loading more…' : 'Load more'}
    </button>
  )
}
