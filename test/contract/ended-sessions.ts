// The list of ended sessions, for every adapter.

import { describe, expect, it } from 'vitest'
import type { EndedSessions } from '../../worker/shared/ended-sessions.ts'

/** `open`: an empty list, or one that is shared with other tests. */
export function endedSessionsContract(name: string, open: () => Promise<EndedSessions>): void {
  const sid = () => crypto.randomUUID()
  const NOW = Date.parse('2026-01-05T10:00:00Z')

  describe(`the list of ended sessions in ${name}`, () => {
    it('has a session from its end on, and no other', async () => {
      const list = await open()
      const [ended, other] = [sid(), sid()]
      expect(await list.has(ended)).toBe(false)
      await list.end(ended, NOW + 60_000, NOW)
      expect([await list.has(ended), await list.has(other)]).toEqual([true, false])
    })

    it('takes the end of the same session again', async () => {
      const list = await open()
      const one = sid()
      await list.end(one, NOW + 60_000, NOW)
      await list.end(one, NOW + 60_000, NOW + 1)
      expect(await list.has(one)).toBe(true)
    })

    it('forgets what has expired when the next one ends, and nothing else', async () => {
      const list = await open()
      const [expired, valid, next] = [sid(), sid(), sid()]
      await list.end(expired, NOW + 1_000, NOW)
      await list.end(valid, NOW + 60_000, NOW)
      await list.end(next, NOW + 60_000, NOW + 1_000)
      const has = [await list.has(expired), await list.has(valid), await list.has(next)]
      expect(has).toEqual([false, true, true])
    })
  })
}
