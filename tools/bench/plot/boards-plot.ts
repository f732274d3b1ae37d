// The picture of boards.json.

import type { BoardsResult, BoardsRow } from '../boards.ts'
import { type BarPanel, barPanel, barsHeight } from './bars.ts'
import { drawing } from './svg.ts'
import { heading, LOOKS } from './systems.ts'

const WIDTH = 900
const TOP = 114

export function boardsPlot({ rows, machine, targets, tasksEach }: BoardsResult): string {
  const title = 'Many boards in one process'
  const about = [
    `From above: ${rows.map(({ boards, way }) => `${boards} in ${way}`).join('; ')}.`,
    `${tasksEach} tasks each. The memory is that of all processes, with what they share counted once.`,
    `${machine.cores} cores, Node ${machine.node}, ${machine.platform}; the edge is a process of its own.`,
  ]
  const bars = (value: (row: BoardsRow) => number) =>
    rows.map((row) => ({ color: COLORS[row.way], value: value(row) }))
  const alone = rows.find(({ way }) => way === 'a process for each')?.memoryMiB ?? 0
  const panels: BarPanel[] = [
    {
      title: 'At the edge after a restart',
      target: targets.readyMs / 1_000,
      format: (seconds) => `${Number(seconds.toFixed(2))} s`,
      bars: bars(({ readyMedianMs }) => readyMedianMs / 1_000),
    },
    {
      title: 'Memory',
      target: Math.round(alone / targets.timesMemory),
      format: (mebibytes) => `${Math.round(mebibytes)} MiB`,
      bars: bars(({ memoryMiB }) => memoryMiB),
    },
  ]
  const width = (WIDTH - 64 - 24) / 2
  return drawing(WIDTH, TOP + barsHeight(rows.length) + 16, title, [
    ...heading(title, about),
    ...panels.flatMap((panel, n) => barPanel({ x: 32 + n * (width + 24), y: TOP, width }, panel)),
  ])
}

const COLORS: Record<BoardsRow['way'], string> = {
  'one process': LOOKS.signalbox.color,
  'a process for each': LOOKS['chokidar-tuned'].color,
}
