import { describe, expect, it } from 'vitest'
import { percentile, randomFrom, rounded, summarize } from '../../bench/statistics.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, n) => count - n)

describe('percentile', () => {
  it('is a value that was measured, never one between two', () => {
    expect(percentile([1, 100], 50)).toBe(1)
    expect(percentile([1, 100], 51)).toBe(100)
  })

  it('does not depend on the order, and leaves the list as it was', () => {
    const values = [3, 1, 2]
    expect(percentile(values, 100)).toBe(3)
    expect(values).toEqual([3, 1, 2])
  })

  it('leaves two of 200 values above the p99', () => {
    expect(percentile(upTo(200), 99)).toBe(198)
  })

  it('orders numbers as numbers, not as words', () => {
    expect(percentile([10, 9, 100], 100)).toBe(100)
  })

  it('says of no values that there is no number, not 0', () => {
    expect(percentile([], 50)).toBeNaN()
    expect(JSON.stringify(summarize([]))).toContain('"p99":null')
  })
})

describe('summarize', () => {
  it('names the usual four', () => {
    expect(summarize(upTo(100))).toEqual({ count: 100, p50: 50, p90: 90, p99: 99, max: 100 })
  })
})

describe('rounded', () => {
  it('keeps two digits after the point, below zero too', () => {
    expect(rounded(1.005_1)).toBe(1.01)
    expect(rounded(-0.126)).toBe(-0.13)
  })
})

describe('randomFrom', () => {
  it('gives the same row for the same seed, and another for another', () => {
    const row = (seed: number) => Array.from({ length: 5 }, randomFrom(seed))
    expect(row(7)).toEqual(row(7))
    expect(row(7)).not.toEqual(row(8))
  })

  it('fills 0 to 1 evenly and never reaches 1', () => {
    const random = randomFrom(1)
    const tenths = new Array<number>(10).fill(0)
    for (let n = 0; n < 10_000; n++) {
      const tenth = Math.floor(random() * 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    expect(tenths).toHaveLength(10)
    expect(Math.min(...tenths)).toBeGreaterThan(850)
  })
})
