// Webhooks per minute by outcome, for the last hour: a plot, a legend with totals, and a table.

import { useMemo } from 'preact/hooks'
import { minuteOf } from '../../ui/time-text.ts'
import { locale } from '../../words.ts'
import type { Feed } from '../feed/feed.ts'
import { paymentWords } from '../words.ts'
import { marksOf, type Series, seriesOf, stacked } from './series.ts'

export function WebhookPlot({ feed }: { feed: Feed }) {
  const { rates: texts } = paymentWords
  const rates = feed.rates.value
  const series = useMemo(() => rates && seriesOf(rates), [rates])
  return (
    <section class="rates panel" aria-labelledby="rates">
      <h2 id="rates">{texts.title}</h2>
      {series?.total === 0 && <p class="hint">{texts.none}</p>}
      {series && series.total > 0 && (
        <>
          <Legend series={series} />
          <Plot series={series} />
          <RatesTable series={series} />
        </>
      )}
    </section>
  )
}

function Legend({ series }: { series: Series }) {
  const { rates: texts, outcomes } = paymentWords
  return (
    <p class="legend">
      <span class="visually-hidden">{texts.summary(series.total)}: </span>
      {series.outcomes.map(({ outcome, total }) => (
        <span key={outcome} class={`outcome ${outcome}`}>
          {outcomes[outcome]} <b>{total.toLocaleString(locale)}</b>
        </span>
      ))}
    </p>
  )
}

/** Stacked bars. All places are in percent of the plot, so it fits every width. */
function Plot({ series: { minutes, outcomes } }: { series: Series }) {
  const tops = stacked(outcomes)
  const highest = Math.max(4, Math.ceil(Math.max(...(tops.at(-1) ?? [])) * 1.1))
  const across = (at: number) => `${(at / minutes.length) * 100}%`
  const up = (n: number) => (n / highest) * 100
  return (
    <svg class="plot" role="img" aria-label={paymentWords.rates.plot}>
      {marksOf(highest).map((n) => (
        <g key={n} class="count">
          <line x2="100%" y1={`${100 - up(n)}%`} y2={`${100 - up(n)}%`} />
          <text x="-8" y={`${100 - up(n)}%`} dy="0.35em">
            {n.toLocaleString(locale)}
          </text>
        </g>
      ))}
      {minutes.map(
        (minute, at) =>
          new Date(minute).getMinutes() % MARK_EVERY === 0 && (
            <text key={minute} x={across(at)} y="100%" dy="1.4em">
              {minuteOf(minute)}
            </text>
          ),
      )}
      {outcomes.map(({ outcome, counts }, layer) => (
        <g key={outcome} class={`outcome ${outcome}`}>
          {counts.map(
            (count, at) =>
              count > 0 && (
                <rect
                  key={minutes[at]}
                  x={across(at)}
                  width={across(0.8)}
                  y={`${100 - up(tops[layer]?.[at] ?? 0)}%`}
                  height={`${up(count)}%`}
                />
              ),
          )}
        </g>
      ))}
    </svg>
  )
}

/** Minutes between two times below the plot: as many as fit on a phone. */
const MARK_EVERY = 15

function RatesTable({ series }: { series: Series }) {
  const { rates: texts, outcomes } = paymentWords
  const rows = series.minutes
    .map((minute, at) => ({ minute, counts: series.outcomes.map(({ counts }) => counts[at] ?? 0) }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .reverse()
  return (
    <details>
      <summary>{texts.table}</summary>
      <table class="rates-table">
        <thead>
          <tr>
            <th scope="col">{texts.minute}</th>
            {series.outcomes.map(({ outcome }) => (
              <th key={outcome} scope="col" class="number">
                {outcomes[outcome]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ minute, counts }) => (
            <tr key={minute}>
              <th scope="row">{minuteOf(minute)}</th>
              {counts.map((count, at) => (
                <td key={series.outcomes[at]?.outcome} class="number">
                  {count.toLocaleString(locale)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
