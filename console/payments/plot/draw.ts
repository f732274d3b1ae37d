// Draws the plot with uPlot. This file is loaded when there is something to draw.

import uPlot from 'uplot'
import { minuteOf } from '../../ui/time-text.ts'
import { type Outcome, type Series, stacked } from './series.ts'

export interface PlotStyle {
  ink: string
  line: string
  font: string
  of: Readonly<Record<Outcome, string>>
}

export interface Drawing {
  show(series: Series): void
  resize(width: number): void
  destroy(): void
}

const HEIGHT = 160
const MINUTE_S = 60

/** Stacked bars: the total is drawn first, and each lower part over it. */
export function draw(box: HTMLElement, series: Series, style: PlotStyle): Drawing {
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], align: 1 })
  const tops = [...series.outcomes].reverse()
  const axis = { stroke: style.ink, font: style.font, ticks: { show: false } }
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      padding: [8, 28, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, most) => [0, Math.max(4, Math.ceil(most * 1.1))] } },
      series: [
        {},
        ...tops.map(({ outcome }) => ({
          fill: style.of[outcome],
          width: 0,
          points: { show: false },
          ...(bars && { paths: bars }),
        })),
      ],
      axes: [
        {
          ...axis,
          grid: { show: false },
          values: (_, seconds) => seconds.map((at) => minuteOf(at * 1_000)),
          space: 70,
          size: 28,
        },
        {
          ...axis,
          grid: { stroke: style.line, width: 1 },
          // Whole numbers only, since it counts webhooks.
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 10_000],
          size: 40,
        },
      ],
    },
    dataOf(series),
    box,
  )
  return {
    show: (next) => plot.setData(dataOf(next)),
    resize: (width) => plot.setSize({ width, height: HEIGHT }),
    destroy: () => plot.destroy(),
  }
}

function dataOf(series: Series): uPlot.AlignedData {
  const seconds = series.minutes.map((at) => at / 1_000)
  const end = (seconds.at(-1) ?? 0) + MINUTE_S
  // An extra minute without a bar, so that the last bar has its full width.
  return [
    [...seconds, end],
    ...stacked(series)
      .reverse()
      .map((tops) => [...tops, null]),
  ]
}
