// The books: what was paid and given back, by month and day, and a gateway's file beside them.

import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { MovementDays, MovementSum } from '../../libraries/api/types.ts'
import { problemText, request } from '../data/http.ts'
import { may } from '../data/session.ts'
import { Money } from '../payments/elements.tsx'
import { linkTo, route } from '../router.ts'
import { LOADING } from '../ui/format.ts'
import { dayAfter, isMonth, monthAfter, monthOf, monthSums, spanOf } from './months.ts'
import { Reconcile } from './reconcile.tsx'

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

export function BooksView() {
  if (may('payments:read')) return <Books />
  return (
    <section class="payments stack">
      <h1>Books</h1>
      <p>Your token lacks the scope payments:read, which is needed to see the books.</p>
    </section>
  )
}

function Books() {
  const { month: asked } = route.value.query
  const month = isMonth(asked) ? asked : monthOf(new Date().toISOString())
  return (
    <div class="payments stack">
      <header class="view-head row">
        <h1>Books</h1>
        <nav class="end row" aria-label="Months">
          <MonthLink month={monthAfter(month, -1)} />
          <strong>{month}</strong>
          <MonthLink month={monthAfter(month, 1)} />
        </nav>
      </header>
      <Month key={month} month={month} />
      <Reconcile zone={ZONE} />
    </div>
  )
}

const MonthLink = ({ month }: { month: string }) => (
  <a href={linkTo({ view: 'books', query: { month } })}>{month}</a>
)

function Month({ month }: { month: string }) {
  const [shown, setShown] = useState<MovementDays | string>()
  useEffect(() => {
    const asking = new AbortController()
    const query = new URLSearchParams({ ...spanOf(month), zone: ZONE })
    request<MovementDays>(`/api/payments/movements/days?${query}`, asking).then(
      setShown,
      (problem: unknown) => {
        if (!asking.signal.aborted) setShown(problemText(problem))
      },
    )
    return () => asking.abort()
  }, [month])
  if (shown === undefined) return <p role="status">{LOADING}</p>
  if (typeof shown === 'string') return <p class="problem-line">{shown}</p>
  const { days } = shown
  if (days.length === 0) return <p role="status">Nothing was paid or given back in {month}.</p>
  const { after, before } = spanOf(month)
  return (
    <section class="panel" aria-labelledby="month">
      <h2 id="month">Sums of {month}</h2>
      <div class="table-scroll">
        <table class="books">
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Gateway</th>
              <th scope="col">Paid</th>
              <th scope="col">Given back</th>
              <th scope="col">Sum</th>
            </tr>
          </thead>
          <tbody>
            {days.flatMap(({ day, sums }) =>
              sums.map((sum) => (
                <SumRow
                  key={`${day} ${sum.gateway} ${sum.currency}`}
                  label={<a href={csvOf(day, dayAfter(day))}>{day}</a>}
                  sum={sum}
                />
              )),
            )}
          </tbody>
          <tfoot>
            {monthSums(days).map((sum) => (
              <SumRow
                key={`${sum.gateway} ${sum.currency}`}
                label={<a href={csvOf(after, before)}>{month}</a>}
                sum={sum}
              />
            ))}
          </tfoot>
        </table>
      </div>
      <p class="hint">
        Days begin at midnight in {ZONE}. A day is complete a minute after its end. Its link is its
        movements, as CSV.
      </p>
    </section>
  )
}

const csvOf = (after: string, before: string): string =>
  `/api/payments/movements?${new URLSearchParams({ after, before, zone: ZONE, format: 'csv' })}`

function SumRow({ label, sum }: { label: ComponentChildren; sum: MovementSum }) {
  const { gateway, currency, amountMinor, kinds } = sum
  const of = (...names: (keyof MovementSum['kinds'])[]) =>
    names.reduce((total, name) => total + (kinds[name]?.amountMinor ?? 0), 0)
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>{gateway}</td>
      <td>
        <Money amount={of('paid', 'late_paid')} currency={currency} />
      </td>
      <td>
        <Money amount={of('refunded', 'refund_failed')} currency={currency} />
      </td>
      <td>
        <Money amount={amountMinor} currency={currency} />
      </td>
    </tr>
  )
}
