import { describe, expect, it } from 'vitest'
import {
  type BucketState,
  take,
} from '../../../../../worker/payments/gateways/guard/token-bucket.ts'

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
