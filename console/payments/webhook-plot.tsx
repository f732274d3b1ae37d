// Webhooks per minute by outcome, for the last hour: a plot, a legend with totals, and a table.

import { useMemo } from 'preact/hooks'
import { count, minuteOf, number } from '../ui/format.ts'
import { useFeed } from './feed.ts'
import { marksOf, OUTCOMES, type Series, seriesOf, stacked } from './series.ts'

export function WebhookPlot() {
  const rates = useFeed().rates.value
  const series = useMemo(() => rates && seriesOf(rates), [rates])
  return (
    <section class="rates panel stack" aria-labelledby="rates">
      <h2 id="rates">Webhooks per minute</h2>
      {rates && rates.refusedSince > rates.from && (
        <p class="hint">
          Refused webhooks are counted in memory, and known since{' '}
          {minuteOf(Date.parse(rates.refusedSince))}.
        </p>
      )}
      {series?.total === 0 && <p class="hint">No webhooks in the last hour.</p>}
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
  return (
    <p class="legend row hint">
      <span class="visually-hidden">{count(series.total, 'webhook')} in the last hour: </span>
      {series.outcomes.map(({ outcome, total }) => (
        <span key={outcome} class={`outcome row ${outcome}`}>
          {OUTCOMES[outcome]} <b>{number(total)}</b>
        </span>
      ))}
    </p>
  )
}

/** Stacked bars. All positions are in percent of the plot, so it fits every width. */
function Plot({ series: { minutes, outcomes } }: { series: Series }) {
  const tops = stacked(outcomes)
  const highest = Math.max(4, Math.ceil(Math.max(...(tops.at(-1) ?? [])) * 1.1))
  const across = (at: number) => `${(at / minutes.length) * 100}%`
  const up = (n: number) => (n / highest) * 100
  return (
    <svg
      class="plot"
      role="img"
      aria-label="Plot of webhooks per minute in the last hour. The table below has the same data."
    >
      {marksOf(highest).map((n) => (
        <g key={n} class="count">
          <line x2="100%" y1={`${100 - up(n)}%`} y2={`${100 - up(n)}%`} />
          <text x="-8" y={`${100 - up(n)}%`} dy="0.35em">
            {number(n)}
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
  const rows = series.minutes
    .map((minute, at) => ({ minute, counts: series.outcomes.map(({ counts }) => counts[at] ?? 0) }))
    .filter(({ counts }) => counts.some((count) => count > 0))
    .reverse()
  return (
    <details>
      <summary>As a table</summary>
      <table>
        <thead class="hint">
          <tr>
            <th scope="col">Minute</th>
            {series.outcomes.map(({ outcome }) => (
              <th key={outcome} scope="col" class="number">
                {OUTCOMES[outcome]}
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
                  {number(count)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
