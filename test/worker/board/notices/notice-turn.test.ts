import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FLAPPING_MS, type Known, turnOf } from '../../../../worker/board/notices/notice-turn.ts'

const MINUTE = 60_000
const T0 = 1_000 * MINUTE

/** Plays turns of one rule; each is told which causes hold. */
function player(afterMs = 0) {
  let known: Map<string, Known> = new Map()
  return (
    now: number,
    causes: readonly (string | { key: string; since: number })[],
    isOld = false,
  ) => {
    const all = causes.map((cause) => (typeof cause === 'string' ? { key: cause } : cause))
    const turn = turnOf(known, all, { afterMs, now, isOld })
    known = turn.known
    return { news: turn.news.map(({ key }) => key), nextAt: turn.nextAt, known }
  }
}

describe('what is news', () => {
  it('is a cause once, however often it is looked at', () => {
    const play = player()
    expect(play(T0, ['A', 'B']).news).toEqual(['A', 'B'])
    expect(play(T0 + 1, ['A', 'B']).news).toEqual([])
    expect(play(T0 + 9 * 60 * MINUTE, ['B', 'A']).news).toEqual([])
  })

  it('is not what was away for less than ten minutes, and is what was away for longer', () => {
    for (const [awayMs, news] of [
      [0, []],
      [FLAPPING_MS - 1, []],
      [FLAPPING_MS, ['A']],
      [9 * FLAPPING_MS, ['A']],
    ] as const) {
      const play = player()
      play(T0, ['A'])
      play(T0 + 1, [])
      expect([awayMs, play(T0 + 1 + awayMs, ['A']).news]).toEqual([awayMs, news])
    }
  })

  it('is what has lasted, and not what ended before that', () => {
    const play = player(5 * MINUTE)
    expect(play(T0, ['A'])).toMatchObject({ news: [], nextAt: T0 + 5 * MINUTE })
    expect(play(T0 + 4 * MINUTE, []).news).toEqual([])
    expect(play(T0 + 5 * MINUTE, ['A']).news).toEqual([])
    expect(play(T0 + 10 * MINUTE, ['A']).news).toEqual(['A'])
    expect(play(T0 + 11 * MINUTE, ['A']).nextAt).toBeUndefined()
  })

  it('counts from when it began, where that is known', () => {
    const play = player(20 * MINUTE)
    const silent = (since: number) => [{ key: 'A', since }]
    expect(play(T0, silent(T0 - 19 * MINUTE))).toMatchObject({ news: [], nextAt: T0 + MINUTE })
    // A sign of work, of which nobody was sent a message.
    expect(play(T0 + MINUTE, silent(T0)).nextAt).toBe(T0 + 20 * MINUTE)
    expect(play(T0 + 20 * MINUTE, silent(T0)).news).toEqual(['A'])
    // It worked, and is silent again: nobody looked meanwhile.
    expect(play(T0 + 60 * MINUTE, silent(T0 + 40 * MINUTE)).news).toEqual(['A'])
  })

  it('is nothing that was so before there was the rule', () => {
    const play = player()
    expect(play(T0, ['A'], true).news).toEqual([])
    expect(play(T0 + 1, ['A', 'B']).news).toEqual(['B'])
  })

  it('remembers nothing of what is over, once it can no more flap', () => {
    const play = player()
    play(T0, ['A'])
    expect(play(T0 + 1, []).known.size).toBe(1)
    expect(play(T0 + 1 + FLAPPING_MS, []).known.size).toBe(0)
  })

  it('is not told again because the clock was set back', () => {
    const play = player()
    play(T0, ['A'])
    expect(play(T0 - 90 * MINUTE, ['A']).news).toEqual([])
    play(T0 - 80 * MINUTE, [])
    expect(play(T0 - 79 * MINUTE, ['A']).news).toEqual([])
    play(T0 - 78 * MINUTE, [])
    expect(play(T0 - 60 * MINUTE, ['A']).news).toEqual(['A'])
  })

  it('is, of a state that flaps, told again only after ten minutes in which it never held', () => {
    const steps = fc.array(fc.tuple(fc.nat({ max: 15 * MINUTE }), fc.boolean()), { maxLength: 60 })
    fc.assert(
      fc.property(steps, fc.nat({ max: 3 * MINUTE }), (all, afterMs) => {
        const play = player(afterMs)
        let now = T0
        let toldAt: number | undefined
        /** Since then it is away, as the turns saw it. */
        let awaySince: number | undefined = T0
        let heldSince: number | undefined
        for (const [ms, holds] of all) {
          now += ms
          const { news } = play(now, holds ? ['A'] : [])
          if (!holds) {
            awaySince ??= now
            heldSince = undefined
            expect(news).toEqual([])
            continue
          }
          heldSince ??= now
          const isDue = now - heldSince >= afterMs
          if (!isDue) {
            expect(news).toEqual([])
            continue
          }
          const isAnew =
            toldAt === undefined || (awaySince !== undefined && now - awaySince >= FLAPPING_MS)
          expect(news).toEqual(isAnew ? ['A'] : [])
          if (isAnew) toldAt = now
          awaySince = undefined
        }
      }),
    )
  })
})
