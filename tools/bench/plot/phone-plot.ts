// The picture of phone.json.

import type { PhoneResult, PhoneRow, Reading } from '../phone.ts'
import { type DotGroup, dotRows, dotRowsHeight } from './dot-rows.ts'
import { drawing } from './svg.ts'
import { heading, LOOKS } from './systems.ts'

const WIDTH = 1000
const TOP = 116

const COLORS: Record<Reading, string> = {
  changes: LOOKS['signalbox-node'].color,
  whole: LOOKS['chokidar-tuned'].color,
  'whole, not compressed': LOOKS.chokidar.color,
}

export function phonePlot({ rows, machine, phone, targets }: PhoneResult): string {
  const title = 'From a saved file to the text on the screen'
  const { kbitPerS, latencyMs } = phone.line ?? { kbitPerS: 0, latencyMs: 0 }
  const about = [
    `Phone: ${kbitPerS} kbit/s, ${latencyMs} ms latency, a processor ${phone.cpu} times slower. One dot per edit, strokes are p50 and p95.`,
    'Whole: the page reads its list again after each message, as before there was ?since=.',
    `${machine.cores} cores, Node ${machine.node}, ${machine.platform}; one Node process.`,
  ]
  const groups: DotGroup[] = (['phone', 'desktop'] as const).map((device) => ({
    label: device,
    target: { value: targets.maxMs, label: '1 s' },
    rows: rows.filter((row) => row.device === device).map(rowOf),
  }))
  const axis = { from: 100, to: 200_000, label: 'milliseconds', format: (ms: number) => `${ms}` }
  const box = { x: 32, y: TOP, width: WIDTH - 64 }
  const drawn = [...heading(title, about), ...dotRows(box, axis, groups)]
  return drawing(WIDTH, TOP + dotRowsHeight(groups) + 12, title, drawn)
}

const rowOf = ({ reading, ms, values, bytes }: PhoneRow) => ({
  label: reading,
  color: COLORS[reading],
  values,
  marks: [ms.p50, ms.p95],
  note: `at most ${ms.max} ms, ${bytes.toLocaleString('en')} bytes`,
  missing: 0,
})
