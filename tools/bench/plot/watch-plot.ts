// The picture of watch.json.

import type { BurstRow } from '../burst.ts'
import { percentile } from '../statistics.ts'
import type { WatchResult } from '../watch.ts'
import { type BarPanel, barPanel, barsHeight } from './bars.ts'
import { type DotGroup, type DotRow, dotRows, dotRowsHeight } from './dot-rows.ts'
import { drawing, text } from './svg.ts'
import { heading, LOOKS, legend, TUNED } from './systems.ts'

const WIDTH = 900
const TOP = 114

export function watchPlot({ bursts, idle, targets, machine }: WatchResult): string {
  const places = Map.groupBy(
    bursts,
    ({ tasks, place }) => `${countOf(tasks)}, ${place === 'memory' ? 'in memory' : 'on a disk'}`,
  )
  const goal = { value: targets.burstMs / 1_000, label: `target ${targets.burstMs / 1_000} s` }
  const groups: DotGroup[] = [...places].map(([label, rows]) => ({
    label,
    target: goal,
    rows: rows.map(dotRowOf),
  }))
  const most = Math.max(...bursts.flatMap(({ runs }) => runs.map(({ ms }) => ms ?? 0)))
  const axis = {
    from: 0.2,
    to: Math.max(10, (most / 1_000) * 1.2),
    label: 'seconds from the order to replace, logarithmic',
    format: (seconds: number) => `${seconds} s`,
  }
  const files = bursts[0]?.files.toLocaleString('en')
  const title = `${files} files replaced at once, and a huge board at rest`
  const about = [
    'One dot is one run: time until every id was right in what clients read, the writing itself included.',
    TUNED,
    `A cross: some were still wrong when time was up. Stroke: median. ${machine.cores} cores, Node ${machine.node}, ${machine.platform}.`,
  ]
  const box = { x: 32, y: TOP, width: WIDTH - 64 }
  const below = TOP + dotRowsHeight(groups) + 30
  const panels = panelsOf(idle, targets)
  const height = below + 54 + barsHeight(idle.length) + 16
  const width = (WIDTH - 64 - 2 * 24) / 3
  const rest = `${countOf(idle[0]?.tasks ?? 0)}, nothing changes: the process that watches`
  return drawing(WIDTH, height, title, [
    ...heading(title, about),
    ...dotRows(box, axis, groups),
    text(32, below, rest, { weight: 600, size: 14 }),
    ...legend(
      idle.map(({ system }) => system),
      32,
      below + 26,
    ),
    ...panels.flatMap((panel, n) =>
      barPanel({ x: 32 + n * (width + 24), y: below + 46, width }, panel),
    ),
  ])
}

function dotRowOf({ system, runs, withinMs }: BurstRow): DotRow {
  const values = runs.flatMap(({ ms }) => (ms === null ? [] : [ms / 1_000]))
  const missing = runs.length - values.length
  const median = percentile(values, 50)
  const writing = percentile(
    runs.map(({ writtenMs }) => writtenMs / 1_000),
    50,
  )
  const good = `${seconds(median)} s, worst ${seconds(percentile(values, 100))} (writing ${seconds(writing)})`
  return {
    ...LOOKS[system],
    values,
    marks: values.length > 0 ? [median] : [],
    note: missing > 0 ? `${missing} of ${runs.length} not right in ${withinMs / 1_000} s` : good,
    missing,
  }
}

const countOf = (tasks: number): string => `${tasks.toLocaleString('en')} tasks`
const seconds = (value: number): string => value.toFixed(2)

function panelsOf(idle: WatchResult['idle'], targets: WatchResult['targets']): BarPanel[] {
  const bars = (value: (row: WatchResult['idle'][number]) => number) =>
    idle.map((row) => ({ color: LOOKS[row.system].color, value: value(row) }))
  return [
    {
      title: 'Ready after a restart',
      target: targets.readyMs / 1_000,
      format: (seconds) => `${Number(seconds.toFixed(2))} s`,
      bars: bars(({ readyMedianMs }) => readyMedianMs / 1_000),
    },
    {
      title: 'Memory (resident)',
      target: targets.rssMiB,
      format: (mebibytes) => `${Math.round(mebibytes)} MiB`,
      bars: bars(({ rssMiB }) => rssMiB),
    },
    {
      title: 'CPU while idle, of one core',
      target: targets.cpuPercent,
      format: (percent) => `${Number(percent.toFixed(2))} %`,
      bars: bars(({ cpuPercent }) => cpuPercent),
    },
  ]
}
