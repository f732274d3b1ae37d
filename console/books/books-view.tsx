// The books: what was paid and given back, by month and day, and a gateway's file beside them.

import type { ComponentChildren } from 'preact'
import type { MovementDays, MovementSum } from '../../libraries/api/types.ts'
import { may } from '../data/session.ts'
import { useRead } from '../data/use-read.ts'
import { Money } from '../payments/elements.tsx'
import { Find } from '../payments/find.tsx'
import { linkTo, replace, route } from '../router.ts'
import { Field } from '../ui/elements.tsx'
import { isDay, LOADING } from '../ui/format.ts'
import { Day, Files } from './day.tsx'
import { dayAfter, isMonth, monthAfter, monthOf, monthSums, spanOf } from './months.ts'
import { Reconcile } from './reconcile.tsx'
import { Table } from './table.tsx'

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
  const { month: asked, from, to, day } = route.value.query
  const month = isMonth(asked) ? asked : monthOf(from ?? day ?? new Date().toISOString())
  const isOwn = isDay(from) && isDay(to)
  const span = isOwn ? { after: from, before: dayAfter(to) } : spanOf(month)
  const name = isOwn ? `${from} to ${to}` : month
  return (
    <div class="payments stack">
      <Find />
      <header class="view-head row">
        <h1>Books</h1>
        <nav class="end row" aria-label="Months">
          <MonthLink month={monthAfter(month, -1)} />
          <strong>{month}</strong>
          <MonthLink month={monthAfter(month, 1)} />
        </nav>
      </header>
      {isDay(day) ? (
        <Day key={day} day={day} zone={ZONE} />
      ) : (
        <>
          <OwnSpan from={from ?? span.after} to={to ?? ''} />
          <Days key={name} span={span} name={name} />
        </>
      )}
      <Reconcile zone={ZONE} />
    </div>
  )
}

const MonthLink = ({ month }: { month: string }) => (
  <a href={linkTo({ view: 'books', query: { month } })}>{month}</a>
)

/** Any days, of 100 at most. */
function OwnSpan({ from, to }: { from: string; to: string }) {
  const show = (days: { from: string; to: string }) =>
    replace({ ...route.peek(), view: 'books', query: days })
  return (
    <div class="filters row">
      <Field label="From" type="date" value={from} onText={(text) => show({ from: text, to })} />
      <Field label="To" type="date" value={to} onText={(text) => show({ from, to: text })} />
    </div>
  )
}

const COLUMNS = [
  ['Day'],
  ['Gateway'],
  ['Paid', 'number'],
  ['Given back', 'number'],
  ['Sum', 'number'],
] as const

function Days({ span, name }: { span: { after: string; before: string }; name: string }) {
  const query = new URLSearchParams({ ...span, zone: ZONE })
  const shown = useRead<MovementDays>(`/api/payments/movements/days?${query}`, [])
  if (shown === undefined) return <p role="status">{LOADING}</p>
  if (typeof shown === 'string') return <p class="problem-line">{shown}</p>
  const { days } = shown
  if (days.length === 0) return <p role="status">Nothing was paid or given back in {name}.</p>
  return (
    <section class="panel" aria-labelledby="month">
      <h2 id="month">Sums of {name}</h2>
      <Table
        name={`Days of ${name}`}
        columns={COLUMNS}
        foot={monthSums(days).map((sum) => (
          <SumRow key={`${sum.gateway} ${sum.currency}`} label={name} sum={sum} />
        ))}
      >
        {days.flatMap(({ day, sums }) =>
          sums.map((sum) => (
            <SumRow
              key={`${day} ${sum.gateway} ${sum.currency}`}
              label={<a href={linkTo({ view: 'books', query: { day } })}>{day}</a>}
              sum={sum}
            />
          )),
        )}
      </Table>
      <p class="hint">
        Days begin at midnight in {ZONE}. A day is complete a minute after its end. Its link is its
        movements.
      </p>
      <Files span={span} zone={ZONE} />
    </section>
  )
}

function SumRow({ label, sum }: { label: ComponentChildren; sum: MovementSum }) {
  const { gateway, currency, amountMinor, kinds } = sum
  const of = (...names: (keyof MovementSum['kinds'])[]) =>
    names.reduce((total, name) => total + (kinds[name]?.amountMinor ?? 0), 0)
  return (
    <tr>
      <th scope="row">{label}</th>
      <td>{gateway}</td>
      <td class="number">
        <Money amount={of('paid', 'late_paid')} currency={currency} />
      </td>
      <td class="number">
        <Money amount={of('refunded', 'refund_failed')} currency={currency} />
      </td>
      <td class="number">
        <Money amount={amountMinor} currency={currency} />
      </td>
    </tr>
  )
}
