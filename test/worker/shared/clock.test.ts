import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffMs, isRecent, steady } from '../../../worker/shared/clock.ts'

describe('a steady clock', () => {
  it('takes a step back of the time of day for no time', () => {
    let now = 5_000
    const elapsed = steady(() => now)
    const since = elapsed()
    now += 200
    expect(elapsed() - since).toBe(200)
    now -= 3_600_000
    expect(elapsed() - since).toBe(200)
    now += 50
    expect(elapsed() - since).toBe(250)
  })
})

describe('a stored time', () => {
  it.each([
    [-99, true],
    [-100, false],
    [99, true],
    [100, false],
  ])('%i ms ahead of now is of the last 100 ms: %s', (ahead, expected) => {
    expect(isRecent(5_000 + ahead, 100, 5_000)).toBe(expected)
  })
})

const minute = { firstMs: 1_000, maxMs: 60_000 }

describe('the wait after a failure', () => {
  it('doubles with each failure, up to the maximum', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => backoffMs(attempt, minute, 1))
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
  })

  it('is reduced by jitter to no less than half', () => {
    expect(backoffMs(3, minute, 0)).toBe(2_000)
    expect(backoffMs(3, minute, 0.5)).toBe(3_000)
    expect(backoffMs(99, minute, 0)).toBe(30_000)
  })

  it('is the maximum from the start, if the first wait is longer than that', () => {
    expect(backoffMs(1, { firstMs: 9_000, maxMs: 5_000 }, 1)).toBe(5_000)
  })

  it('is a whole number within its bounds for every attempt and every random value', () => {
    const attempt = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    const random = fc.double({ min: 0, max: 1, noNaN: true })
    const firstMs = fc.integer({ min: 0, max: 86_400_000 })
    const maxMs = fc.integer({ min: 0, max: 86_400_000 })
    fc.assert(
      fc.property(attempt, firstMs, maxMs, random, (n, first, max, dice) => {
        const wait = backoffMs(n, { firstMs: first, maxMs: max }, dice)
        expect(Number.isSafeInteger(wait)).toBe(true)
        expect(wait).toBeGreaterThanOrEqual(Math.min(first, max) / 2)
        expect(wait).toBeLessThanOrEqual(max)
      }),
    )
  })
})
