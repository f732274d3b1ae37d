// The list of ended sessions in this process and in the database, and the copy that an isolate
// keeps of it.

import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { libsqlEndedSessions } from '../../../worker/ended-sessions-libsql.ts'
import { sqliteEndedSessions } from '../../../worker/session/ended-sessions-sqlite.ts'
import { cachedEndedSessions } from '../../../worker/shared/ended-sessions.ts'
import { openSql } from '../../../worker/shared/sql-node.ts'
import { endedSessionsContract } from '../../contract/ended-sessions.ts'
import { sqliteDatabase } from '../../support/sqlite-database.ts'

endedSessionsContract('SQLite of the process', async () => sqliteEndedSessions(openSql(':memory:')))
endedSessionsContract('the database of payments', async () => libsqlEndedSessions(sqliteDatabase()))

/** A list that another isolate writes, and that may fail or hang. */
function setUp() {
  const clock = new FakeClock()
  const list = { ended: new Set<string>(), asked: 0, mood: 'well' as 'well' | 'fails' | 'hangs' }
  const cached = cachedEndedSessions(
    {
      async end(sid) {
        if (list.mood === 'fails') throw new Error('away')
        list.ended.add(sid)
      },
      async has(sid) {
        list.asked++
        if (list.mood === 'hangs') await new Promise(() => undefined)
        if (list.mood === 'fails') throw new Error('away')
        return list.ended.has(sid)
      },
    },
    clock,
  )
  return { clock, list, cached }
}

describe('the copy that an isolate keeps', () => {
  it('asks once in 30 s for each session', async () => {
    const { clock, list, cached } = setUp()
    for (let i = 0; i < 3; i++) expect(await cached.has('a')).toBe(false)
    expect(await cached.has('b')).toBe(false)
    expect(list.asked).toBe(2)
    list.ended.add('a')
    await clock.advance(29_999)
    expect(await cached.has('a')).toBe(false)
    await clock.advance(1)
    expect(await cached.has('a')).toBe(true)
  })

  it('knows at once what was ended here, and asks no more about it', async () => {
    const { clock, list, cached } = setUp()
    expect(await cached.has('a')).toBe(false)
    await cached.end('a', clock.now() + 60_000, clock.now())
    expect(await cached.has('a')).toBe(true)
    await clock.advance(3_600_000)
    list.mood = 'fails'
    expect(await cached.has('a')).toBe(true)
    expect(list.asked).toBe(1)
  })

  it('does not take a session for open that ended here while the list was read', async () => {
    const { clock, list, cached } = setUp()
    const reading = cached.has('a')
    await cached.end('a', clock.now() + 60_000, clock.now())
    list.ended.delete('a')
    expect(await reading).toBe(true)
    expect(await cached.has('a')).toBe(true)
  })

  it('is not sure while the list fails or hangs, and asks it once in 5 s', async () => {
    for (const mood of ['fails', 'hangs'] as const) {
      const { clock, list, cached } = setUp()
      list.mood = mood
      const first = expect(cached.has('a')).rejects.toThrow()
      await clock.advance(2_000)
      await first
      await expect(cached.has('a')).rejects.toThrow()
      await expect(cached.has('b')).rejects.toThrow()
      expect(list.asked).toBe(1)
      list.mood = 'well'
      await clock.advance(5_000)
      expect(await cached.has('a')).toBe(false)
      expect(list.asked).toBe(2)
    }
  })

  it('has not ended a session that the list did not take', async () => {
    const { clock, list, cached } = setUp()
    list.mood = 'fails'
    await expect(cached.end('a', clock.now() + 60_000, clock.now())).rejects.toThrow('away')
    list.mood = 'well'
    expect(await cached.has('a')).toBe(false)
  })
})
