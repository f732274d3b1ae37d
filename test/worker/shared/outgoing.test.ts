// When what was not delivered is tried again, and what its failure says.

import { describe, expect, it } from 'vitest'
import { hostClock } from '../../../worker/shared/clock.ts'
import { nextAttemptAt, postOnce } from '../../../worker/shared/outgoing.ts'

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

describe('a failure', () => {
  it.each([
    ['as it is', 'https://hooks.test/very-secret'],
    ['in other letters', 'https://Hooks.TEST/very-secret ä'],
    ['with a fragment', 'https://hooks.test/very-secret#part'],
    ['longer than a reason', `https://hooks.test/very-secret${'-and-long'.repeat(100)}`],
  ])('names nothing of an address but its host: %s', async (_, url) => {
    const sent = await postOnce(
      { url, headers: {}, body: '', patienceMs: 1_000, shownAs: 'hooks.test' },
      {
        clock: hostClock,
        // As Deno does.
        fetch(input) {
          const { origin, pathname } = new URL(String(input))
          const why = `error sending request for url (${origin}${pathname})`
          return Promise.reject(new TypeError(why))
        },
      },
    )
    const error = 'TypeError: error sending request for url (hooks.test)'
    expect(sent).toEqual({ ok: false, error })
  })
})
