// A limit over a sliding window.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createRateLimit } from '../../../worker/shared/rate-limit.ts'

it('never admits more than its maximum in any span, and counts all others', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 200 }), (gaps) => {
      const limit = createRateLimit(5, 100)
      const admitted: number[] = []
      let now = 0
      let missed = 0
      for (const gap of gaps) {
        now += gap
        missed += limit.takeMissed(now)
        if (limit.admits(now)) admitted.push(now)
      }
      for (const at of admitted) {
        expect(admitted.filter((other) => other >= at && other < at + 100).length).toBeLessThan(6)
      }
      missed += limit.takeMissed(now + 100)
      expect(missed + admitted.length).toBe(gaps.length)
    }),
  )
})
