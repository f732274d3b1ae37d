// The picture of refetch.json.

import type { RefetchResult } from '../refetch.ts'
import { barPanel, barsHeight } from './bars.ts'
import { drawing } from './svg.ts'
import { heading, LOOKS } from './systems.ts'

const WIDTH = 900
const TOP = 96

export function refetchPlot({ rows, machine, targets }: RefetchResult): string {
  const title = 'What a viewer reads after one change'
  const sizes = rows.map(({ tasks }) => tasks.toLocaleString('en')).join(', ')
  const about = [
    `Medians on boards of ${sizes} tasks, from above. The whole list, not compressed, takes what the table says.`,
    `${machine.cores} cores, Node ${machine.node}, ${machine.platform}; one Node process.`,
  ]
  const box = { x: 32, y: TOP, width: WIDTH - 64 }
  return drawing(WIDTH, TOP + barsHeight(rows.length) + 16, title, [
    ...heading(title, about),
    ...barPanel(box, {
      title: 'Bytes of one change',
      target: targets.bytes,
      format: (bytes) => `${bytes} B`,
      bars: rows.map(({ changes }) => ({
        color: LOOKS['signalbox-node'].color,
        value: changes.bytes,
      })),
    }),
  ])
}
