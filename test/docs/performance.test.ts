import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isReached, type Result, rowOf, table, withTable } from '../../tools/bench/bench.ts'

const ROOT = join(import.meta.dirname, '../..')
const RESULTS = join(ROOT, 'tools/bench/results')
const page = readFileSync(join(ROOT, 'docs/performance.md'), 'utf8')
const names = readdirSync(RESULTS)
  .filter((file) => file.endsWith('.json'))
  .map((file) => basename(file, '.json'))

describe('docs/performance.md', () => {
  it.each(names)('shows %s as it was measured', (name) => {
    const result = JSON.parse(readFileSync(join(RESULTS, `${name}.json`), 'utf8')) as Result
    expect(page).toContain(`<!-- bench ${name} -->`)
    expect(withTable(page, name, result)).toBe(page)
  })

  it('has no table that nothing measured', () => {
    const shown = [...page.matchAll(/<!-- bench (\w+) -->/g)].map(([, name]) => name)
    expect(new Set(shown)).toEqual(new Set(names))
    const outside = page.replaceAll(/<!-- bench .*?<!-- end -->/gs, '')
    expect(outside.split('\n').filter((line) => line.startsWith('|'))).toEqual([])
  })
})

const of = (system: string) => ({ what: 'a save', system, unit: 'ms' })

describe('a row of a benchmark', () => {
  it('has missed its aim by its values, or by what must never be', () => {
    const most = { aim: { of: 'p99', most: 20 } as const }
    expect(isReached(rowOf(of('ours'), [1, 20], most))).toBe(true)
    expect(isReached(rowOf(of('ours'), [1, 21], most))).toBe(false)
    expect(isReached(rowOf(of('ours'), [1], { ...most, faults: ['1 of 2 lost'] }))).toBe(false)
    expect(isReached(rowOf(of('ours'), [], most))).toBe(false)
    const least = { aim: { of: 'p50', least: 5 } as const }
    expect([4, 5].map((rate) => isReached(rowOf(of('ours'), [rate], least)))).toEqual([false, true])
  })

  it('stands beside its rival', () => {
    const ours = rowOf(of('ours'), [1, 2, 3], { aim: { of: 'max', most: 2 } })
    const rival = rowOf(of('a rival'), [], { faults: ['all lost'] })
    expect(table([ours, rival])).toBe(
      [
        '|  | ours | a rival |',
        '| --- | --- | --- |',
        '| a save, ms | 2 / 3 / 3 (missed: max ≤ 2) | – (all lost) |',
        '',
      ].join('\n'),
    )
  })
})
