import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../../../worker/payments/acts/store.ts'
import {
  BEHIND_MS,
  hasCome,
  isTime,
  possibleTime,
  staleness,
  startOfMinute,
} from '../../../../worker/payments/domain/time.ts'

const NOW = Date.parse('2026-03-01T10:00:00Z')
const DAY = 86_400_000

describe('a time', () => {
  it.each([0, NOW, Date.parse('9999-12-31T23:59:59.999Z')])('can be %s', (ms) => {
    expect(isTime(ms)).toBe(true)
    expect(possibleTime(ms)).toBe(ms)
  })

  it.each(
    // biome-ignore format: several values a line.
    [
      Number.NaN, Number.POSITIVE_INFINITY, 8.9e15, 2 ** 60, 8.64e15, -1, 0.5,
      Date.parse('+010000-01-01T00:00:00Z'),
    ],
  )('cannot be %s', (ms) => {
    expect(isTime(ms)).toBe(false)
    expect(possibleTime(ms)).toBeUndefined()
  })
})

describe('an event', () => {
  it.each([
    ['of now', NOW, undefined],
    ['as old as the tolerance', NOW - 300_000, undefined],
    ['older than the tolerance', NOW - 300_001, 'too_old'],
    ['a day ahead', NOW + DAY, undefined],
    ['more than a day ahead', NOW + DAY + 1, 'too_far_ahead'],
    ['of a time that no date can have', 8.9e15, 'impossible'],
    ['of no time', Number.NaN, 'impossible'],
  ] as const)('%s is stale only if it should be', (_, occurredAt, why) => {
    expect(staleness(occurredAt, NOW, 300_000)).toBe(why)
  })
})

describe('a stored time', () => {
  it('has come, also if it is further ahead than anything waits: the clock was set back', () => {
    const longest = 60 + BEHIND_MS
    const has = [0, 1, longest, longest + 1].map((ahead) => hasCome(NOW + ahead, NOW, 60))
    expect(has).toEqual([true, false, false, true])
  })

  it('has not come for who waited 25 s for a turn by a clock 30 s behind that of a lease', () => {
    const leased = (behind: number) => !hasCome(NOW + behind + LEASE_MS, NOW, LEASE_MS)
    expect([leased(25_000), leased(30_000), leased(55_000)]).toEqual([true, true, true])
  })

  it('is of the minute that began before it', () => {
    expect([NOW, NOW + 59_999, NOW + 60_000].map(startOfMinute)).toEqual([NOW, NOW, NOW + 60_000])
  })
})
