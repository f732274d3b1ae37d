// The picture of fanout.json.

import type { FanoutSystem } from '../fanout/systems.ts'
import type { FanoutResult } from '../fanout.ts'
import { percentile } from '../statistics.ts'
import { type DotGroup, dotRows, dotRowsHeight } from './dot-rows.ts'
import { drawing } from './svg.ts'
import { heading } from './systems.ts'

const WIDTH = 900
const TOP = 114

const LOOKS: Record<FanoutSystem, { label: string; color: string }> = {
  signalbox: { label: 'Signalbox', color: '#1d63d8' },
  'shared-worker': { label: 'smallest Worker', color: '#7a8490' },
  nchan: { label: 'nchan', color: '#c2570c' },
}

export function fanoutPlot(result: FanoutResult): string {
  const { machine, samples, skipped } = result
  const title = 'From publishing a message until the last stream has it'
  const about = [
    'One dot is one message; stroke: median. Memory: of the process that holds the streams, for each of them.',
    `Smallest Worker: on workerd too, one shared subscription, no access, no resuming.${skipped.length > 0 ? ' nchan was not installed.' : ''}`,
    `${machine.cores} cores, Node ${machine.node}, ${machine.platform}; load and server on the same machine.`,
  ]
  const slowest = Math.max(20, ...samples.flatMap(({ lastMs }) => lastMs))
  const axis = {
    from: 5,
    to: slowest * 1.1,
    label: 'milliseconds, logarithmic',
    format: (ms: number) => `${ms} ms`,
  }
  const groups = groupsOf(result)
  const box = { x: 32, y: TOP, width: WIDTH - 64 }
  const height = TOP + dotRowsHeight(groups) + 16
  return drawing(WIDTH, height, title, [...heading(title, about), ...dotRows(box, axis, groups)])
}

function groupsOf({ samples, streams }: FanoutResult): DotGroup[] {
  return streams.map((count) => {
    const bySystem = Map.groupBy(
      samples.filter((sample) => sample.streams === count),
      ({ system }) => system,
    )
    return {
      label: `${count.toLocaleString('en')} streams`,
      rows: [...bySystem].map(([system, of]) => {
        const values = of.flatMap(({ lastMs }) => lastMs)
        const kib = Math.round(
          percentile(
            of.map(({ kibAStream }) => kibAStream),
            50,
          ),
        )
        return {
          ...LOOKS[system],
          values,
          marks: [percentile(values, 50)],
          note: `${Math.round(percentile(values, 50))} ms · ${kib} KiB a stream`,
          missing: of.reduce((sum, { lost }) => sum + lost, 0),
        }
      }),
    }
  })
}
