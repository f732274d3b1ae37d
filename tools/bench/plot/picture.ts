// The picture of a result: a heading, and below it dots and bars, from above. Pure.

import type { Machine } from '../bench.ts'
import type { System } from '../target.ts'
import { type BarPanel, barPanel, barsHeight } from './bars.ts'
import { type DotAxis, type DotGroup, dotRows, dotRowsHeight } from './dot-rows.ts'
import { drawing, element, SOFT, text } from './svg.ts'

export interface Picture {
  title: string
  /** Lines below the title. */
  about: readonly string[]
  parts: readonly Part[]
}

export type Part = {
  /** A line above it. */
  note?: string
  /** Below the note. */
  legend?: readonly System[]
} & ({ axis: DotAxis; groups: readonly DotGroup[] } | { bars: readonly BarPanel[] })

/** Colour-blind people can distinguish the colours. */
export const LOOKS: Record<System, { label: string; color: string }> = {
  signalbox: { label: 'Signalbox', color: '#1d63d8' },
  'signalbox-node': { label: 'Signalbox, one Node process', color: '#0e8a7d' },
  chokidar: { label: 'chokidar + SSE', color: '#c2570c' },
  'chokidar-tuned': { label: 'chokidar + SSE, tuned', color: '#7a8490' },
}

/** Every picture explains `tuned`, since the name does not. */
export const TUNED =
  'chokidar + SSE: one Node process. Tuned: ignores the temporary files of a save, for which it would read the folder.'

/** The last line about a run. */
export const measuredOn = ({ cores, node, platform }: Machine, what: string): string =>
  `${cores} cores, Node ${node}, ${platform}; ${what}.`

const WIDTH = 900
const MARGIN = 32
const GAP = 24
const LINE = 18

export function picture({ title, about, parts }: Picture): string {
  const drawn = [
    text(MARGIN, 42, title, { size: 19, weight: 700 }),
    ...about.map((words, n) => text(MARGIN, 64 + n * LINE, words, { fill: SOFT })),
  ]
  let y = 60 + about.length * LINE
  for (const part of parts) {
    if (part.note !== undefined) {
      drawn.push(text(MARGIN, y + 12, part.note, { weight: 600 }))
      y += 20
    }
    if (part.legend) {
      drawn.push(...legend(part.legend, y + 16))
      y += 26
    }
    if ('bars' in part) {
      const { bars } = part
      const width = (WIDTH - 2 * MARGIN - (bars.length - 1) * GAP) / bars.length
      for (const [n, panel] of bars.entries()) {
        drawn.push(...barPanel({ x: MARGIN + n * (width + GAP), y, width }, panel))
      }
      y += Math.max(...bars.map((panel) => barsHeight(panel.bars.length)))
    } else {
      drawn.push(...dotRows({ x: MARGIN, y, width: WIDTH - 2 * MARGIN }, part.axis, part.groups))
      y += dotRowsHeight(part.groups)
    }
    y += LINE
  }
  return drawing(WIDTH, y, title, drawn)
}

const legend = (systems: readonly System[], y: number): string[] =>
  systems.flatMap((system, n) => {
    const { label, color } = LOOKS[system]
    const left = MARGIN + n * 190
    return [
      element('rect', { x: left, y: y - 10, width: 12, height: 12, rx: 3, fill: color }),
      text(left + 19, y, label),
    ]
  })
