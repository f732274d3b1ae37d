// Bars with one number per system, and the target that it must not exceed. Pure.

import type { Box } from './dot-rows.ts'
import { ALARM, element, FAINT, line, SOFT, text } from './svg.ts'

export interface Bar {
  color: string
  value: number
}

export interface BarPanel {
  title: string
  target: number
  format: (value: number) => string
  bars: readonly Bar[]
}

const BAR = 16
const STEP = 26
const HEAD = 34
const FOOT = 26
/** Space for the number after the longest bar. */
const NUMBER = 74

export const barsHeight = (bars: number): number => HEAD + bars * STEP + FOOT

export function barPanel(box: Box, { title, target, format, bars }: BarPanel): string[] {
  const most = Math.max(target, ...bars.map(({ value }) => value))
  const at = (value: number) => box.x + ((box.width - NUMBER) * value) / most
  const bottom = box.y + HEAD + bars.length * STEP
  const drawn = [
    text(box.x, box.y + 16, title, { weight: 600 }),
    line(box.x, box.y + HEAD - 6, box.x, bottom, { stroke: FAINT }),
  ]
  for (const [n, { color, value }] of bars.entries()) {
    const y = box.y + HEAD + n * STEP
    const width = Math.max(at(value) - box.x, 1)
    drawn.push(element('rect', { x: box.x, y, width, height: BAR, rx: 2, fill: color }))
  }
  const style = { stroke: ALARM, 'stroke-width': 1.5, 'stroke-dasharray': '5 4' }
  drawn.push(line(at(target), box.y + HEAD - 8, at(target), bottom, style))
  // Above the line of the target, with a background, since the two are often close.
  for (const [n, { value }] of bars.entries()) {
    const y = box.y + HEAD + n * STEP
    const words = format(value)
    const width = words.length * 7 + 2
    drawn.push(element('rect', { x: at(value) + 4, y, width, height: BAR, fill: '#ffffff' }))
    drawn.push(text(at(value) + 7, y + 12.5, words, { size: 12, fill: SOFT }))
  }
  const label = {
    size: 12,
    fill: ALARM,
    anchor: at(target) > box.x + 40 ? 'middle' : 'start',
  } as const
  drawn.push(text(at(target), bottom + 16, `target ${format(target)}`, label))
  return drawn
}
