import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs } from '../../../worker/shared/backoff.ts'

const minute = { firstMs: 1_000, mostMs: 60_000 }

describe('the wait after a failure', () => {
  it('doubles with each, up to the most', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => backoffMs(attempt, minute, 1))
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  })

  it('is jittered down to its half, and no further', () => {
    expect(backoffMs(3, minute, 0)).toBe(2_000)
    expect(backoffMs(3, minute, 0.5)).toBe(3_000)
    expect(backoffMs(99, minute, 0)).toBe(30_000)
  })

  it('is the most from the start where the first would be longer', () => {
    expect(backoffMs(1, { firstMs: 9_000, mostMs: 5_000 }, 1)).toBe(5_000)
  })

  it('stays a whole number within its bounds, however often and whatever the dice', () => {
    const attempt = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    const random = fc.double({ min: 0, max: 1, noNaN: true })
    const firstMs = fc.integer({ min: 0, max: 86_400_000 })
    const mostMs = fc.integer({ min: 0, max: 86_400_000 })
    fc.assert(
      fc.property(attempt, firstMs, mostMs, random, (n, first, most, dice) => {
        const wait = backoffMs(n, { firstMs: first, mostMs: most }, dice)
        expect(Number.isSafeInteger(wait)).toBe(true)
        expect(wait).toBeGreaterThanOrEqual(Math.min(first, most) / 2)
        expect(wait).toBeLessThanOrEqual(most)
      }),
    )
  })
})
