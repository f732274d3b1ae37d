import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { Hints, MAX_WINDOW_MS, QUIET_MS, Window } from '../../../sidecar/watch/hints.ts'
import type { Watch, WatchEvents } from '../../../sidecar/watch/watch.ts'

/** Plays hints against a window as a timer would, and returns when each window closed. */
function play(
  hints: readonly number[],
): { firstHint: number; lastHint: number; closedAt: number }[] {
  const window = new Window()
  const closed: { firstHint: number; lastHint: number; closedAt: number }[] = []
  let first: number | undefined
  let last = 0
  const closeUntil = (now: number) => {
    while (window.deadline !== undefined && window.deadline <= now) {
      const at = window.deadline
      expect(window.close(at)).toBe(true)
      closed.push({ firstHint: first ?? Number.NaN, lastHint: last, closedAt: at })
      first = undefined
    }
  }
  for (const now of hints) {
    closeUntil(now)
    first ??= now
    last = now
    window.hint(now)
  }
  closeUntil(Number.POSITIVE_INFINITY)
  return closed
}

describe('Window', () => {
  it('closes 100 ms after a lone hint and not before', () => {
    const window = new Window()
    window.hint(1_000)
    expect(window.deadline).toBe(1_100)
    expect(window.close(1_099)).toBe(false)
    expect(window.close(1_100)).toBe(true)
  })

  it('closes once, and not again without a new hint', () => {
    const window = new Window()
    window.hint(0)
    expect(window.close(100)).toBe(true)
    expect(window.close(200)).toBe(false)
    expect(window.deadline).toBeUndefined()
  })

  it('is never due before the first hint', () => {
    expect(new Window().close(Number.MAX_SAFE_INTEGER)).toBe(false)
  })

  it('moves the deadline with every hint, but not past the longest wait', () => {
    const window = new Window()
    const deadlines = [0, 90, 450, 499].map((now) => {
      window.hint(now)
      return window.deadline
    })
    expect(deadlines).toEqual([100, 190, 500, 500])
  })

  it('closes every 500 ms under a writer that saves every 50 ms for ten minutes', () => {
    const hints = Array.from({ length: (10 * 60_000) / 50 }, (_, i) => i * 50)
    const closed = play(hints)
    expect(closed.length).toBe(10 * 60 * 2)
    expect(closed.every((w) => w.closedAt - w.firstHint === MAX_WINDOW_MS)).toBe(true)
  })

  it('never closes late, and never early unless the longest wait cut it', () => {
    const gaps = fc.array(fc.oneof(fc.nat(20), fc.nat(150), fc.nat(2_000)), { minLength: 1 })
    fc.assert(
      fc.property(gaps, (steps) => {
        let now = 0
        const hints = steps.map((step) => (now += step))
        const closed = play(hints)
        expect(closed.length).toBeGreaterThan(0)
        for (const { firstHint, lastHint, closedAt } of closed) {
          expect(closedAt).toBeLessThanOrEqual(firstHint + MAX_WINDOW_MS)
          const cut = closedAt === firstHint + MAX_WINDOW_MS
          if (!cut) expect(closedAt).toBe(lastHint + QUIET_MS)
        }
      }),
    )
  })
})

describe('a watcher that is stuck', () => {
  const WITHIN_MS = 10_000
  const store = { classify: () => 'task' } as unknown as Parameters<Watch>[0]

  function open(watch: Watch) {
    const clock = new FakeClock()
    const logged: string[] = []
    const hinted: unknown[] = []
    const hints = new Hints({
      store: store as never,
      watch,
      patience: { clock, withinMs: WITHIN_MS },
      clock,
      log(_level, event, fields) {
        logged.push(`${event} ${fields?.why ?? ''}`.trim())
        if (fields?.hint !== undefined) hinted.push(fields.hint)
      },
      onOpen: () => undefined,
    })
    return { clock, logged, hinted, hints }
  }
  /** As a scan asks it, after the pause. */
  const askAgain = async (clock: FakeClock, hints: Hints) => {
    await clock.advance(30_000)
    hints.armAgain()
    await clock.advance(0)
  }
  const never = () => new Promise<never>(() => undefined)

  it('while it starts is left behind in time, and replaced later', async () => {
    let starts = 0
    const working: Watch = async () => ({ close: async () => undefined })
    const { clock, logged, hints } = open((...plan) =>
      starts++ === 0 ? never() : working(...plan),
    )
    void hints.arm()
    await clock.advance(WITHIN_MS - 1)
    expect([hints.isArmed, hints.hasFailed]).toEqual([false, false])
    await clock.advance(1)
    expect([hints.isArmed, hints.hasFailed]).toEqual([false, true])
    expect(logged).toContain('watch.failed it was not ready within 10 s')

    await askAgain(clock, hints)
    expect([hints.isArmed, hints.hasFailed]).toEqual([true, false])
    expect(logged).toContain('watch.gap the watcher was started at last')
  })

  it('and is ready too late is closed, and its hints count no more', async () => {
    const late = Promise.withResolvers<Awaited<ReturnType<Watch>>>()
    let events: WatchEvents | undefined
    const { clock, hints } = open((_store, given) => {
      events = given
      return late.promise
    })
    void hints.arm()
    await clock.advance(WITHIN_MS + MAX_WINDOW_MS)
    hints.take(clock.elapsed())
    let isClosed = false
    late.resolve({
      async close() {
        isClosed = true
      },
    })
    await clock.advance(0)
    events?.onHint('/a.md')
    expect([isClosed, hints.isOpen, hints.isArmed]).toEqual([true, false, false])
  })

  it('that fails soon after each start is started again less and less often', async () => {
    let events: WatchEvents | undefined
    const { clock, logged, hints } = open(async (_store, given) => {
      events = given
      return { close: async () => undefined }
    })
    const starts = () => logged.filter((line) => line === 'watch.armed').length
    const failsFor = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10_000) {
        await clock.advance(10_000)
        hints.armAgain()
        await clock.advance(0)
        if (hints.isArmed) events?.onFailed('no watches are left for a worktree')
      }
    }
    void hints.arm()
    await clock.advance(0)
    events?.onFailed('no watches are left for a worktree')
    await failsFor(30_000)
    expect(starts()).toBe(2)
    await failsFor(24 * 3_600_000)
    expect(starts()).toBeLessThan(40)

    // One that lasts is started again soon.
    await clock.advance(3_600_000)
    hints.armAgain()
    await clock.advance(3_600_000)
    events?.onFailed('its events come faster than they can be read')
    await askAgain(clock, hints)
    expect(hints.isArmed).toBe(true)
  })

  it.each([
    ['ENOSPC: System limit for number of file watchers reached', 'fs.inotify.max_user_watches'],
    ['EMFILE: too many open files, watch', 'fs.inotify.max_user_instances'],
  ])('names the limit of the system that is to be raised: %s', async (why, limit) => {
    const { hints, clock, hinted } = open(() => Promise.reject(new Error(why)))
    void hints.arm()
    await clock.advance(0)
    expect(hinted).toEqual([
      `Changes are found by scanning only. Raise it with sysctl: ${limit}. signalbox doctor says how many are needed.`,
    ])
  })

  it('while it ends holds up neither the one that follows nor the end', async () => {
    let events: WatchEvents | undefined
    const { clock, hints } = open(async (_store, given) => {
      events = given
      return { close: never }
    })
    void hints.arm()
    await clock.advance(0)
    events?.onFailed('no watches are left')
    await askAgain(clock, hints)
    expect(hints.isArmed).toBe(true)
    const closed = hints.close()
    await clock.advance(1_000)
    expect([...(await closed)]).toEqual([])
  })
})
