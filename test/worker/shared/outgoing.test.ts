// When an event that was not delivered is tried again.

import { describe, expect, it } from 'vitest'
import { nextAttemptAt } from '../../../worker/shared/outgoing.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

describe('the next try', () => {
  it('waits twice as long each time, up to an hour, or as long as the endpoint asks', () => {
    const waits = (random: number) =>
      [0, 1, 2, 20].map((tries) => nextAttemptAt(0, tries, 0, random))
    expect(waits(1)).toEqual([5_000, 10_000, 20_000, HOUR])
    expect(waits(0)).toEqual([2_500, 5_000, 10_000, HOUR / 2])
    expect([4_000, 6_000].map((asked) => nextAttemptAt(0, 0, 7, 1, asked))).toEqual([5_007, 6_007])
  })

  it('is the last within a day, unless there were fewer than twelve', () => {
    const at = DAY - HOUR
    expect(nextAttemptAt(0, 30, at, 1)).toBe(DAY)
    expect(nextAttemptAt(0, 30, at + 1, 1)).toBeUndefined()
    expect(nextAttemptAt(9, 30, at + 9, 1)).toBe(DAY + 9)
    expect([10, 11].map((tries) => nextAttemptAt(0, tries, DAY, 1) !== undefined)).toEqual([
      true,
      false,
    ])
  })
})
