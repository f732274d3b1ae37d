// The picture of latency.json.

import type { LatencyResult } from '../latency.ts'
import { type DotGroup, type DotRow, dotRows, dotRowsHeight } from './dot-rows.ts'
import { drawing } from './svg.ts'
import { heading, LOOKS, TUNED } from './systems.ts'

const WIDTH = 900
const TOP = 114
const FROM_MS = 0.5
const MAX_MS = 10_000

export function latencyPlot({ rows, targets, machine }: LatencyResult): string {
  const groups: DotGroup[] = targets.map(({ tasks, p99Ms }) => ({
    label: `${tasks.toLocaleString('en')} tasks`,
    target: { value: p99Ms, label: `target: p99 ${p99Ms} ms` },
    rows: rows.filter((row) => row.tasks === tasks).map(dotRowOf),
  }))
  const most = Math.max(100, ...rows.map(({ latency }) => latency.max))
  const axis = {
    from: FROM_MS,
    to: Math.min(most * 1.1, MAX_MS),
    label: 'milliseconds beyond the window, logarithmic',
    format: (ms: number) => (ms < 1_000 ? `${ms} ms` : `${ms / 1_000} s`),
  }
  const title = 'From a saved file to a client'
  const about = [
    'One dot is one save: time until the client had the message, less the 100 ms window that all wait on purpose.',
    TUNED,
    `Strokes: p50 and p99. ${machine.cores} cores, Node ${machine.node}, ${machine.platform}; load and systems on the same machine.`,
  ]
  const box = { x: 32, y: TOP, width: WIDTH - 64 }
  const height = TOP + dotRowsHeight(groups) + 20
  return drawing(WIDTH, height, title, [...heading(title, about), ...dotRows(box, axis, groups)])
}

function dotRowOf({ system, latency, lost, values, saves }: LatencyResult['rows'][number]): DotRow {
  const note = `p50 ${short(latency.p50)} · p99 ${short(latency.p99)} ms`
  return {
    ...LOOKS[system],
    values,
    marks: [latency.p50, latency.p99],
    note: lost > 0 ? `${lost} of ${saves} lost` : note,
    missing: lost,
  }
}

const short = (ms: number): string =>
  ms < 10 ? ms.toFixed(1) : Math.round(ms).toLocaleString('en')
