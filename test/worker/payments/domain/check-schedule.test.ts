import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextCheckAt } from '../../../../worker/payments/domain/check.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Minutes after creation at which a payment that never settles is checked. */
function checks(expiresAt?: number): number[] {
  const times: number[] = []
  let next: number | undefined = nextCheckAt(0, 0, expiresAt)
  while (next !== undefined) {
    times.push(next / MINUTE)
    next = nextCheckAt(0, next, expiresAt)
  }
  return times
}

describe('the times of checks', () => {
  it('double from five minutes to a day, and end after about four days', () => {
    const days = [2_560, 4_000, 5_440]
    expect(checks()).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 1_280, ...days])
  })

  it('come once more, a minute after the payment expires', () => {
    expect(checks(15 * MINUTE).slice(0, 5)).toEqual([5, 10, 16, 32, 64])
  })

  it('do not wait for an expiry that is later than the next check', () => {
    expect(nextCheckAt(0, 0, HOUR)).toBe(5 * MINUTE)
  })

  it('ignore an expiry that is past', () => {
    expect(nextCheckAt(0, 2 * HOUR, HOUR)).toBe(4 * HOUR)
  })

  it('go on until a day after the expiry of a payment that can be paid for a week', () => {
    const last = checks(7 * DAY).at(-1) ?? 0
    expect(last).toBeGreaterThan((7 * DAY) / MINUTE)
    expect(last).toBeLessThanOrEqual((8 * DAY) / MINUTE)
  })

  it('are always in the future, at most a day ahead, and always end', () => {
    const times = fc.integer({ min: 0, max: 30 * DAY })
    fc.assert(
      fc.property(times, fc.option(times, { nil: undefined }), (now, expiresAt) => {
        const next = nextCheckAt(0, now, expiresAt)
        if (next === undefined) return
        expect(next).toBeGreaterThan(now)
        expect(next - now).toBeLessThanOrEqual(DAY)
        expect(now).toBeLessThan(Math.max(4 * DAY, (expiresAt ?? 0) + DAY))
      }),
    )
  })
})
