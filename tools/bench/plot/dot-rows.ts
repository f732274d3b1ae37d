// A row of dots per system, one dot per measurement, in groups with a common target. Shows all
// values, also those that a p99 hides. Pure.

import { randomFrom } from '../statistics.ts'
import { ALARM, element, FAINT, INK, line, SOFT, text } from './svg.ts'

export interface DotRow {
  label: string
  color: string
  values: readonly number[]
  /** Values drawn as long strokes over the dots. */
  marks: readonly number[]
  /** The text at the right end of the row. */
  note: string
  /** The number of measurements without a value: crosses at the right edge. */
  missing: number
}

export interface DotGroup {
  label: string
  target?: { value: number; label: string }
  rows: readonly DotRow[]
}

export interface DotAxis {
  from: number
  to: number
  label: string
  format: (value: number) => string
}

export interface Box {
  x: number
  y: number
  width: number
}

const LABELS = 200
const NOTES = 220
const ROW = 34
const HEAD = 34
const GAP = 10
const JITTER = 9
const AXIS = 46

export const dotRowsHeight = (groups: readonly DotGroup[]): number =>
  groups.reduce((sum, { rows }) => sum + HEAD + rows.length * ROW + GAP, 0) + AXIS

export function dotRows(box: Box, axis: DotAxis, groups: readonly DotGroup[]): string[] {
  const left = box.x + LABELS
  const right = box.x + box.width - NOTES
  const scale = logScale(axis.from, axis.to, left, right)
  const bottom = box.y + dotRowsHeight(groups) - AXIS
  const drawn = axisOf(scale, axis, { top: box.y + 8, bottom, middle: (left + right) / 2 })
  let y = box.y
  for (const { label, target, rows } of groups) {
    const end = y + HEAD + rows.length * ROW
    drawn.push(text(box.x, y + 22, label, { weight: 600, size: 14 }))
    if (target) drawn.push(...targetLine(scale.at(target.value), y, end, target.label))
    for (const [n, row] of rows.entries()) {
      drawn.push(...rowOf(row, scale, { x: box.x, right, y: y + HEAD + (n + 0.5) * ROW }))
    }
    y = end + GAP
  }
  return drawn
}

function axisOf(
  scale: LogScale,
  { label, format }: DotAxis,
  { top, bottom, middle }: { top: number; bottom: number; middle: number },
): string[] {
  const drawn: string[] = []
  for (const tick of scale.ticks) {
    const x = scale.at(tick)
    drawn.push(line(x, top, x, bottom, { stroke: FAINT }))
    drawn.push(text(x, bottom + 18, format(tick), { anchor: 'middle', size: 12, fill: SOFT }))
  }
  drawn.push(text(middle, bottom + 40, label, { anchor: 'middle', size: 12, fill: SOFT }))
  return drawn
}

function targetLine(x: number, top: number, bottom: number, label: string): string[] {
  const style = { stroke: ALARM, 'stroke-width': 1.5, 'stroke-dasharray': '5 4' }
  return [
    line(x, top + 28, x, bottom, style),
    text(x, top + 22, label, { fill: ALARM, size: 12, anchor: 'middle' }),
  ]
}

function rowOf(
  row: DotRow,
  scale: LogScale,
  { x, right, y }: { x: number; right: number; y: number },
): string[] {
  const drawn = [text(x, y + 4, row.label, { fill: row.color, weight: 500 })]
  // Deterministic: the same values make the same picture.
  const random = randomFrom(row.values.length)
  const dots = row.values.map((value) =>
    element('circle', { cx: scale.at(value), cy: y + (random() * 2 - 1) * JITTER, r: 2.5 }),
  )
  drawn.push(
    element('g', { fill: row.color, 'fill-opacity': row.values.length > 50 ? 0.3 : 0.6 }, dots),
  )
  for (const mark of row.marks) {
    const at = scale.at(mark)
    drawn.push(line(at, y - 13, at, y + 13, { stroke: INK, 'stroke-width': 2 }))
  }
  for (let n = 0; n < row.missing; n++) drawn.push(cross(right - 5 - n * 14, y, row.color))
  drawn.push(text(right + 16, y + 4, row.note, { size: 12, fill: row.missing > 0 ? ALARM : SOFT }))
  return drawn
}

const cross = (x: number, y: number, stroke: string): string =>
  element('path', {
    d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8`,
    stroke,
    'stroke-width': 2,
    fill: 'none',
  })

interface LogScale {
  /** Values outside of the range are at its edge. */
  at(value: number): number
  readonly ticks: readonly number[]
}

/** `from` and `to` are values, both above 0; `left` and `right` pixels. */
function logScale(from: number, to: number, left: number, right: number): LogScale {
  const span = Math.log(to / from)
  return {
    at(value) {
      const inside = Math.min(Math.max(value, from), to)
      return left + ((right - left) * Math.log(inside / from)) / span
    },
    ticks: ticksBetween(from, to),
  }
}

/** 1, 2 and 5 of every decade; only 1 if there are many decades. */
function ticksBetween(from: number, to: number): number[] {
  const first = Math.floor(Math.log10(from))
  const last = Math.ceil(Math.log10(to))
  const steps = last - first > 3 ? [1] : [1, 2, 5]
  const ticks: number[] = []
  for (let decade = first; decade <= last; decade++) {
    for (const step of steps) ticks.push(Number((step * 10 ** decade).toPrecision(1)))
  }
  return ticks.filter((tick) => tick >= from && tick <= to)
}
