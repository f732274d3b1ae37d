// The picture of charge.json.

import type { ChargeResult } from '../charge.ts'
import { percentile } from '../statistics.ts'
import { barPanel, barsHeight } from './bars.ts'
import { type DotGroup, dotRows, dotRowsHeight } from './dot-rows.ts'
import { drawing } from './svg.ts'
import { heading } from './systems.ts'

const WIDTH = 900
const TOP = 114
const COLOR = '#1d63d8'

export function chargePlot(result: ChargeResult): string {
  const { machine, gatewayMs, roundTrips, targets } = result
  const title = 'A charge, beside what the gateway itself takes'
  const about = [
    `One dot is one charge over HTTP: its time, less that of a gateway which answers after ${gatewayMs} ms. Strokes: p50 and p99.`,
    'Below: requests to the database for each charge. Charges that are under way together share them.',
    `${machine.cores} cores, Node ${machine.node}, ${machine.platform}; all on the same machine.`,
  ]
  const groups = groupsOf(result)
  const most = Math.max(20, ...result.times.map(({ beside }) => beside.max))
  const axis = {
    from: 0.5,
    to: most * 1.1,
    label: 'milliseconds beside the gateway, logarithmic',
    format: (ms: number) => `${ms} ms`,
  }
  const box = { x: 32, y: TOP, width: WIDTH - 64 }
  const below = TOP + dotRowsHeight(groups) + 16
  const height = below + barsHeight(roundTrips.length) + 16
  const levels = roundTrips.map(({ connections }) => connections).join(' and ')
  return drawing(WIDTH, height, title, [
    ...heading(title, about),
    ...dotRows(box, axis, groups),
    ...barPanel(
      { x: 32, y: below, width: WIDTH - 64 },
      {
        title: `Round trips to the database for a charge, ${levels} at a time`,
        target: targets.roundTrips,
        format: (count) => String(count),
        bars: roundTrips.map(({ perCharge }) => ({ color: COLOR, value: perCharge })),
      },
    ),
  ])
}

function groupsOf({ times }: ChargeResult): DotGroup[] {
  const levels = Map.groupBy(times, ({ connections }) => connections)
  return [...levels].map(([connections, runs]) => ({
    label: `${connections} at a time`,
    rows: runs.map(({ beside, values }, n) => ({
      label: `Signalbox, run ${n + 1}`,
      color: COLOR,
      values,
      marks: [percentile(values, 50), percentile(values, 99)],
      note: `p50 ${beside.p50} · p99 ${beside.p99} ms`,
      missing: 0,
    })),
  }))
}
