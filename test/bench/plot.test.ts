import { describe, expect, it } from 'vitest'
import { dotRows, dotRowsHeight } from '../../bench/plot/dot-rows.ts'
import { logScale } from '../../bench/plot/scale.ts'
import { drawing, element, text } from '../../bench/plot/svg.ts'

describe('logScale', () => {
  it('puts the ends at the ends and a decade at an equal share', () => {
    const scale = logScale(1, 1_000, 100, 400)
    expect([1, 10, 100, 1_000].map(scale.at).map(Math.round)).toEqual([100, 200, 300, 400])
  })

  it('keeps a value outside at the edge, zero and below included, never past it', () => {
    const scale = logScale(1, 100, 0, 200)
    expect([-3, 0, 0.5].map(scale.at)).toEqual([0, 0, 0])
    expect(scale.at(5_000)).toBe(200)
  })

  it('marks 1, 2 and 5 of few decades, and of many only 1', () => {
    expect(logScale(0.2, 10, 0, 1).ticks).toEqual([0.2, 0.5, 1, 2, 5, 10])
    expect(logScale(0.5, 5_000, 0, 1).ticks).toEqual([1, 10, 100, 1_000])
  })
})

describe('svg', () => {
  it('escapes what would end an attribute or a text', () => {
    expect(element('a', { title: '"<&' })).toBe('<a title="&quot;&lt;&amp;"/>')
    expect(text(0, 0, '<script>')).toContain('&lt;script&gt;</text>')
  })

  it('is one element with a title that names it', () => {
    const svg = drawing(10, 20, 'A & B', [])
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" viewBox="0 0 10 20"/)
    expect(svg).toContain('<title>A &amp; B</title>')
    expect(svg.trimEnd()).toMatch(/<\/svg>$/)
  })
})

describe('dotRows', () => {
  const axis = { from: 1, to: 100, label: 'ms', format: String }
  const row = {
    label: 'one',
    color: '#123456',
    values: [2, 3, 50],
    marks: [3],
    note: '',
    missing: 2,
  }
  const groups = [{ label: 'all', target: { value: 10, label: 'target' }, rows: [row] }]
  const drawn = dotRows({ x: 0, y: 0, width: 900 }, axis, groups).join('')

  it('draws a dot for every value and a cross for every one that is missing', () => {
    expect(drawn.match(/<circle/g)).toHaveLength(3)
    expect(drawn.match(/<path/g)).toHaveLength(2)
  })

  it('makes the same picture of the same values', () => {
    expect(dotRows({ x: 0, y: 0, width: 900 }, axis, groups).join('')).toBe(drawn)
  })

  it('draws nothing beneath the height that it asks for', () => {
    const ys = [...drawn.matchAll(/ (?:y|y1|y2|cy)="([\d.]+)"/g)].map(([, y]) => Number(y))
    expect(Math.max(...ys)).toBeLessThanOrEqual(dotRowsHeight(groups))
  })
})
