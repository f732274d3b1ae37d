// Random bursts of requests, some of which vanish: with a request go its timers and the answer to
// its call, as on workerd.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sharedCall } from '../../../../worker/payments/ledger/shared-call.ts'
import type { Clock } from '../../../../worker/shared/clock.ts'
import { FakeClock } from '../../../support/fake-clock.ts'

const MAX_ITEMS = 32
const MAX_CHARS = 1 << 20
const MAX_WAIT_MS = 10
const PATIENCE_MS = 3_000
const SLOWEST_MS = 4_000
const LONG = 'l'.repeat(400_000)

interface Burst {
  afterMs: number
  count: number
  padding: string
  /** Each third one, from the first. */
  vanishesAfterMs: number
}

const bursts: fc.Arbitrary<Burst[]> = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 0, 1, 3, 10, 60, 2_000),
    count: fc.constantFrom(1, 1, 1, 2, 7, 40),
    padding: fc.constantFrom(...Array<string>(20).fill(''), LONG),
    vanishesAfterMs: fc.constantFrom(0, 3, 10, 13, 3_005, Infinity, Infinity, Infinity),
  }),
  { maxLength: 20, size: 'max' },
)

interface Fate {
  tookMs: number
  fails: boolean
}

/** Of each call, unless its sender vanishes first. */
const fates: fc.Arbitrary<Fate[]> = fc.array(
  fc.record({
    tookMs: fc.constantFrom(2, 80, 160, 3_000, SLOWEST_MS),
    fails: fc.constantFrom(false, false, true),
  }),
  { minLength: 1 },
)

class Caller {
  sentAt = Infinity
  endedAt = Infinity
  vanishedAt = Infinity
  readonly timers: (() => void)[] = []
  readonly item: string
  readonly cameAt: number
  constructor(item: string, cameAt: number) {
    this.item = item
    this.cameAt = cameAt
  }
}

async function play(bursts: readonly Burst[], fates: readonly Fate[]) {
  const clock = new FakeClock()
  const all: Caller[] = []
  const calls: Caller[][] = []
  const failures = new Map<unknown, Caller[]>()
  /** Those that had been answered. */
  let sentAgain = 0
  /** Whose code runs. */
  let current = new Caller('', 0)
  const ofCurrent: Clock = {
    ...clock,
    after(ms, run) {
      const owner = current
      const cancel = clock.after(ms, () => {
        current = owner
        run()
      })
      owner.timers.push(cancel)
      return cancel
    },
  }

  const call = (items: readonly string[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      const sender = current
      const { tookMs, fails } = fates[calls.length % fates.length] as Fate
      const group = all.filter(({ item }) => items.includes(item))
      calls.push(group)
      for (const each of group) {
        if (each.endedAt < Infinity) sentAgain++
        each.sentAt = Math.min(each.sentAt, clock.now())
      }
      clock.after(tookMs, () => {
        if (sender.vanishedAt <= clock.now()) return
        if (!fails) return resolve(items)
        const failure = new Error('no answer')
        failures.set(failure, group)
        reject(failure)
      })
    })

  const submit = sharedCall<string>({ clock: ofCurrent, call, keepAlive: () => undefined })
  for (const { afterMs, count, padding, vanishesAfterMs } of bursts) {
    await clock.advance(afterMs)
    for (let n = 0; n < count; n++) {
      const me = new Caller(`${all.length} ${padding}`, clock.now())
      all.push(me)
      current = me
      const ended = (isRight: boolean | undefined) => {
        if (isRight) me.endedAt = clock.now()
      }
      void submit(me.item).then(
        (answer) => ended(answer === me.item),
        (error) => ended(failures.get(error)?.includes(me)),
      )
      if (n % 3 > 0 || vanishesAfterMs === Infinity) continue
      clock.after(vanishesAfterMs, () => {
        me.vanishedAt = clock.now()
        for (const cancel of me.timers) cancel()
      })
    }
  }
  await clock.advance(PATIENCE_MS + SLOWEST_MS)
  return { all, calls, sentAgain, timersLeft: clock.pending }
}

it('whoever stays is answered in time, and sent within 10 ms unless one before it vanished', async () => {
  const property = fc.asyncProperty(bursts, fates, async (...given) => {
    const { all, calls, ...left } = await play(...given)
    expect(left).toEqual({ sentAgain: 0, timersLeft: 0 })
    for (const group of calls) {
      expect(group.length).toBeLessThanOrEqual(MAX_ITEMS)
      const before = group.slice(0, -1).map(({ item }) => item)
      expect(before.join('').length).toBeLessThan(MAX_CHARS)
    }
    for (const [at, { cameAt, vanishedAt, sentAt, endedAt }] of all.entries()) {
      // Even if the timers have vanished, the next one takes with it who has waited long enough.
      const next = all.find((one) => one.cameAt >= cameAt + MAX_WAIT_MS)
      if (next) expect(sentAt).toBeLessThanOrEqual(next.cameAt)
      if (vanishedAt < Infinity) continue
      expect(endedAt - cameAt).toBeLessThanOrEqual(PATIENCE_MS + SLOWEST_MS)
      // The timer of the first one, which sends all, may have vanished with it.
      const isLeft = all
        .slice(0, at)
        .some((one) => one.sentAt >= cameAt && one.vanishedAt <= one.sentAt)
      expect(sentAt - cameAt).toBeLessThanOrEqual(isLeft ? PATIENCE_MS : MAX_WAIT_MS)
    }
  })
  await fc.assert(property, { numRuns: 40 })
})
