import { describe, expect, it } from 'vitest'
import { ago, count, timeOf } from '../../../console/ui/format.ts'

const NOW = Date.parse('2026-03-02T10:00:00')

describe('an age', () => {
  it('is shown in the largest full unit', () => {
    expect(ago(NOW - 59_999, NOW)).toBe('just now')
    expect(ago(NOW - 119_000, NOW)).toBe('1 min. ago')
    expect(ago(NOW - 3 * 3_600_000, NOW)).toBe('3 hr. ago')
    expect(ago(NOW - 49 * 3_600_000, NOW)).toBe('2 days ago')
  })

  it('is `just now` for a time in the future, since clocks differ', () => {
    expect(ago(NOW + 5_000, NOW)).toBe('just now')
  })
})

describe('a time', () => {
  it('has a date only on another day', () => {
    expect(timeOf(NOW - 1_000, NOW)).not.toContain('2026')
    expect(timeOf(NOW - 86_400_000, NOW)).toContain('2026')
  })
})

describe('a number of things', () => {
  it('is in the singular or the plural, with separators', () => {
    expect(count(1, 'task')).toBe('1 task')
    expect(count(1_200, 'task')).toBe('1,200 tasks')
    expect(count(0, 'currency', 'currencies')).toBe('0 currencies')
  })
})
