import { describe, expect, it } from 'vitest'
import { RestartPolicy } from '../../local/restart-policy.ts'

describe('the restart policy', () => {
  it('waits twice as long after each death, and gives up at the fifth within a minute', () => {
    const policy = new RestartPolicy()
    const delays = [0, 1_000, 2_000, 3_000].map((now) => policy.onDeath(now))
    expect(delays).toEqual([250, 500, 1_000, 2_000].map((delayMs) => ({ again: true, delayMs })))
    expect(policy.onDeath(4_000)).toEqual({ again: false, deaths: 5 })
  })

  it('does not give up on a process that dies now and then', () => {
    const policy = new RestartPolicy()
    for (let minute = 0; minute < 1_000; minute++) {
      expect(policy.onDeath(minute * 60_000)).toEqual({ again: true, delayMs: 250 })
    }
  })

  it('never waits longer than the longest delay', () => {
    const limits = { firstDelayMs: 250, longestDelayMs: 5_000, maxDeaths: 100, windowMs: 60_000 }
    const policy = new RestartPolicy(limits)
    for (let death = 0; death < 50; death++) policy.onDeath(death)
    expect(policy.onDeath(50)).toEqual({ again: true, delayMs: 5_000 })
  })
})
