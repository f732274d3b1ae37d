import { describe, expect, it } from 'vitest'
import { ago, timeOf } from '../../../console/ui/time-text.ts'

const NOW = Date.parse('2026-03-02T10:00:00')

describe('an age', () => {
  it('is told in the largest unit that it fills', () => {
    expect(ago(NOW - 59_999, NOW)).toBe('just now')
    expect(ago(NOW - 119_000, NOW)).toBe('1 min. ago')
    expect(ago(NOW - 3 * 3_600_000, NOW)).toBe('3 hr. ago')
    expect(ago(NOW - 49 * 3_600_000, NOW)).toBe('2 days ago')
  })

  it('is not told of a time to come, as a clock that runs ahead would have it', () => {
    expect(ago(NOW + 5_000, NOW)).toBe('just now')
  })
})

describe('a time', () => {
  it('has its date only on another day', () => {
    expect(timeOf(NOW - 1_000, NOW)).not.toContain('2026')
    expect(timeOf(NOW - 86_400_000, NOW)).toContain('2026')
  })
})
