// What a store of event ids keeps, whoever made it.

import { describe, expect, it } from 'vitest'
import type { EventIds } from '../../libraries/events/event-ids.ts'

export function eventIdsContract(name: string, make: (now: () => number) => EventIds): void {
  describe(`the ids of events ${name}`, () => {
    const made = () => {
      const clock = { now: 1_000 }
      return { clock, ids: make(() => clock.now) }
    }

    it('are claimed by one of many at once', async () => {
      const { ids } = made()
      const claims = await Promise.all([1, 2, 3].map(() => ids.claim('a', 2_000)))
      expect(claims.sort()).toEqual(['busy', 'busy', 'new'])
      expect(await ids.claim('b', 2_000)).toBe('new')
    })

    it('are handled for good once they were completed', async () => {
      const { ids, clock } = made()
      await ids.claim('a', 2_000)
      await ids.complete('a')
      await ids.release('a')
      clock.now = 86_400_000
      expect(await ids.claim('a', 90_000_000)).toBe('handled')
    })

    it('are new again after a release, and when a claim is over', async () => {
      const { ids, clock } = made()
      await ids.claim('a', 2_000)
      await ids.release('a')
      expect(await ids.claim('a', 2_000)).toBe('new')
      clock.now = 1_999
      expect(await ids.claim('a', 3_000)).toBe('busy')
      clock.now = 2_000
      expect(await ids.claim('a', 3_000)).toBe('new')
      clock.now = 2_999
      expect(await ids.claim('a', 4_000)).toBe('busy')
    })
  })
}
