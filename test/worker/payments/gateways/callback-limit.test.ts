import { describe, expect, it } from 'vitest'
import {
  type BucketState,
  callbackLimit,
  type Purpose,
  take,
} from '../../../../worker/payments/gateways/callbacks.ts'

const NOW = 1_700_000_000_000

function opened() {
  const limit = callbackLimit()
  /** How many of so many are let through. */
  const through = (purpose: Exclude<Purpose, 'call'>, times: number, now = NOW, gateway = 'fib') =>
    Array.from({ length: times }, () => limit.take(gateway, purpose, now)).filter(({ ok }) => ok)
      .length
  return { limit, through }
}

describe('callbacks without a proof', () => {
  it('cause ten calls at once and then one per second, for all of a gateway together', () => {
    const { limit, through } = opened()
    expect(through('unproven', 1_000)).toBe(10)
    const refused = { ok: false, reason: 'rate_limited', retryAfterMs: 1_000 }
    expect(limit.take('fib', 'unproven', NOW)).toEqual(refused)
    expect(limit.take('fib', 'call', NOW)).toEqual({ ok: true })
    expect(through('unproven', 1_000, NOW + 1_000)).toBe(1)
    expect(through('unproven', 1_000, NOW + 1_000, 'another')).toBe(10)
  })

  it('do not use up the limit of those with a proof', () => {
    const { through } = opened()
    through('unproven', 1_000)
    for (let payment = 0; payment < 100; payment++) {
      expect(through({ proven: `payment-${payment}` }, 1)).toBe(1)
    }
  })
})

describe('callbacks with the proof of a payment', () => {
  it('cause ten calls and then one in five seconds, for any number of repetitions', () => {
    const { through } = opened()
    expect(through({ proven: 'a' }, 1_000)).toBe(10)
    expect(through({ proven: 'a' }, 1_000, NOW + 4_999)).toBe(0)
    expect(through({ proven: 'a' }, 1_000, NOW + 10_000)).toBe(2)
  })

  it('of other payments and gateways have their own limits', () => {
    const { through } = opened()
    through({ proven: 'a' }, 1_000)
    expect(through({ proven: 'b' }, 1_000)).toBe(10)
    expect(through({ proven: 'a' }, 1_000, NOW, 'another')).toBe(10)
  })

  it('are still counted after those of many other payments', () => {
    const { through } = opened()
    through({ proven: 'a' }, 1_000)
    for (let other = 0; other < 1_000; other++) through({ proven: `b-${other}` }, 1, NOW + other)
    expect(through({ proven: 'a' }, 1_000, NOW + 1_000)).toBe(0)
    expect(through({ proven: 'a' }, 1_000, NOW + 60_000)).toBe(10)
  })
})

const RULE = { burst: 3, perSecond: 2 }

/** How many of `times` are allowed at `now`, and the state after them. */
function drain(state: BucketState | undefined, times: number, now: number) {
  let through = 0
  for (let time = 0; time < times; time++) {
    const taken = take(state, RULE, now)
    if (!taken.ok) continue
    state = taken.state
    through++
  }
  return { through, state }
}

describe('the token bucket', () => {
  it('allows a burst and then nothing', () => {
    expect(drain(undefined, 10, 0).through).toBe(3)
  })

  it('returns when the next one is allowed, and allows it then', () => {
    const { state } = drain(undefined, 3, 0)
    expect(take(state, RULE, 0)).toEqual({ ok: false, retryAfterMs: 500 })
    expect(take(state, RULE, 499).ok).toBe(false)
    expect(take(state, RULE, 500).ok).toBe(true)
  })

  it('allows as many as its rate, for any number of requests', () => {
    let { state } = drain(undefined, 3, 0)
    let through = 0
    for (let now = 10; now <= 10_000; now += 10) {
      const drained = drain(state, 1, now)
      through += drained.through
      state = drained.state
    }
    expect(through).toBe(20)
  })

  it('never holds more than a burst', () => {
    const { state } = drain(undefined, 1, 0)
    expect(drain(state, 10, 1_000_000).through).toBe(3)
  })

  it('adds nothing when the clock is set back', () => {
    const { state } = drain(undefined, 3, 1_000)
    expect(take(state, RULE, 0).ok).toBe(false)
  })
})
