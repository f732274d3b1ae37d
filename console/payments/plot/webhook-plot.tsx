// Webhooks per minute by outcome, for the last hour: a plot, a legend with totals, and a table.

import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { minuteOf } from '../../ui/time-text.ts'
import { locale } from '../../words.ts'
import type { Feed } from '../feed/feed.ts'
import { paymentWords } from '../words.ts'
import type { Drawing, PlotStyle } from './draw.ts'
import { OUTCOMES, type Outcome, type Series, seriesOf } from './series.ts'

export function WebhookPlot({ feed }: { feed: Feed }) {
  const { rates: texts } = paymentWords
  const rates = feed.rates.value
  const series = useMemo(() => rates && seriesOf(rates), [rates])
  return (
    <section class="rates panel" aria-labelledby="rates">
      <h2 id="rates">{texts.title}</h2>
      {series && (series.total === 0 ? <p class="hint">{texts.none}</p> : <Plot series={series} />)}
    </section>
  )
}

function Plot({ series }: { series: Series }) {
  const { rates: texts, outcomes } = paymentWords
  const box = useRef<HTMLDivElement>(null)
  const problem = useDrawing(box, series)
  return (
    <>
      <p class="legend">
        <span class="visually-hidden">{texts.summary(series.total)}: </span>
        {series.outcomes.map(({ outcome, total }) => (
          <span key={outcome} class={`outcome ${outcome}`}>
            {outcomes[outcome]} <b>{total.toLocaleString(locale)}</b>
          </span>
        ))}
      </p>
      <div ref={box} class="plot" role="img" aria-label={texts.plot} />
      <p class="problem-line" role="status">
        {problem && texts.failed}
      </p>
      <RatesTable series={series} />
    </>
  )
}

/** True: the plot could not be loaded. */
function useDrawing(box: RefObject<HTMLDivElement>, series: Series): boolean {
  const drawing = useRef<Drawing | undefined>(undefined)
  const newest = useRef(series)
  newest.current = series
  const [hasFailed, setFailed] = useState(false)
  // A new outcome needs a new series, so the plot is made again.
  const kinds = series.outcomes.map(({ outcome }) => outcome).join()

  useEffect(() => {
    const { current: element } = box
    if (!element) return
    let isOver = false
    const redraw = async () => {
      const { draw } = await import('./draw.ts')
      if (isOver) return
      drawing.current?.destroy()
      drawing.current = draw(element, newest.current, styleOf(element))
    }
    const start = () => void redraw().catch(() => setFailed(true))
    start()
    const sizes = new ResizeObserver(() => drawing.current?.resize(element.clientWidth))
    sizes.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', start)
    return () => {
      isOver = true
      sizes.disconnect()
      scheme.removeEventListener('change', start)
      drawing.current?.destroy()
      drawing.current = undefined
    }
  }, [box, kinds])
  useEffect(() => drawing.current?.show(series), [series])
  return hasFailed
}

/** Resolves the colours, since a canvas does not know CSS custom properties. */
function styleOf(box: HTMLElement): PlotStyle {
  const probe = document.createElement('span')
  box.append(probe)
  const colour = (className: string) => {
    probe.className = className
    return getComputedStyle(probe).color
  }
  const style = {
    ink: colour('plot-ink'),
    line: colour('plot-line'),
    font: `12px ${getComputedStyle(box).fontFamily}`,
    of: Object.fromEntries(
      OUTCOMES.map((outcome) => [outcome, colour(`outcome ink ${outcome}`)]),
    ) as Record<Outcome, string>,
  }
  probe.remove()
  return style
}

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
