import { describe, expect, it } from 'vitest'
import {
  admit,
  type BreakerState,
  CLOSED,
  health,
  OPEN_MS,
  PROBE_TIMEOUT_MS,
  report,
  type Verdict,
} from '../../../../worker/payments/gateways/guard.ts'

/** Reports the results of admitted calls, one after the other. */
const play = (state: BreakerState, now: number, ...verdicts: Verdict[]) =>
  verdicts.map((verdict) => {
    const reported = report(state, verdict, now)
    state = reported.state
    return reported
  })
const last = (...args: Parameters<typeof play>): BreakerState =>
  play(...args).at(-1)?.state ?? CLOSED
const FIVE: Verdict[] = ['failure', 'failure', 'failure', 'failure', 'failure']
const OPEN = last(CLOSED, 0, ...FIVE)

/** A state in which a probe runs since `now`. */
function probing(now = OPEN_MS): BreakerState {
  const decision = admit(OPEN, now)
  if (!decision.ok) throw new Error('No probe was let through')
  return decision.state
}
/** The probe of `probing` ends. */
const probed = (verdict: Verdict, now: number) => {
  const state = probing()
  return report(state, verdict, now, undefined, state.probeUntil)
}

describe('the circuit breaker', () => {
  it('opens at the fifth failure in a row, and reports that once', () => {
    const opened = play(CLOSED, 0, ...FIVE, 'failure', 'failure').map((each) => each.opened)
    expect(opened).toEqual([false, false, false, false, true, false, false])
  })

  it('is open, or waits for its probe, no longer than its maximum after the clock was set back', () => {
    const hour = 3_600_000
    const open = last(CLOSED, hour, ...FIVE)
    expect(admit(open, 0).ok).toBe(true)
    expect(health(open, 0)).toMatchObject({ state: 'probing' })
    expect(admit(probing(hour), OPEN_MS).ok).toBe(true)
  })

  it('stays closed when a success comes between', () => {
    const state = last(CLOSED, 0, 'failure', 'failure', 'failure', 'failure', 'success', 'failure')
    expect(state).toEqual({ failures: 1 })
    expect(admit(state, 0).ok).toBe(true)
  })

  it('counts a neutral end neither as a failure nor as a success', () => {
    const reported = play(CLOSED, 0, 'failure', 'failure', 'failure', 'failure', 'neutral')
    expect(reported.at(-1)).toEqual({ state: { failures: 4 }, opened: false })
  })

  it('admits no call for 30 seconds, and returns the remaining time', () => {
    expect(admit(OPEN, 0)).toEqual({ ok: false, retryAfterMs: 30_000 })
    expect(admit(OPEN, 29_999)).toEqual({ ok: false, retryAfterMs: 1 })
    expect(admit(OPEN, 30_000).ok).toBe(true)
  })

  it('admits one probe, and no other call while it runs', () => {
    expect(admit(probing(), OPEN_MS)).toEqual({ ok: false, retryAfterMs: 30_000 })
    expect(admit(probing(), OPEN_MS + 15_000).ok).toBe(false)
  })

  it('closes when the probe succeeds', () => {
    expect(probed('success', 40_000)).toEqual({ state: CLOSED, opened: false })
  })

  it('stays open for the same time when the probe fails, which is not a new opening', () => {
    const { state, opened } = probed('failure', 40_000)
    expect(opened).toBe(false)
    expect(admit(state, 69_999).ok).toBe(false)
    expect(admit(state, 70_000).ok).toBe(true)
  })

  it('admits a new probe after a neutral one', () => {
    const { state } = probed('neutral', 40_000)
    expect(admit(state, 40_000).ok).toBe(true)
  })

  it('admits a new probe if one never reports', () => {
    const state = probing()
    expect(admit(state, OPEN_MS + PROBE_TIMEOUT_MS - 1).ok).toBe(false)
    expect(admit(state, OPEN_MS + PROBE_TIMEOUT_MS).ok).toBe(true)
  })

  it('is not kept open by late failures of calls that began before it opened', () => {
    const { state } = report(OPEN, 'failure', 29_000)
    expect(admit(state, 30_000).ok).toBe(true)
  })

  it('is not decided by a call that was admitted before it opened while a probe runs', () => {
    const state = probing()
    for (const verdict of ['neutral', 'failure'] as const) {
      expect(report(state, verdict, 40_000)).toEqual({ state, opened: false })
    }
    expect(report(state, 'success', 40_000).state).toEqual(CLOSED)
  })

  it('is not decided by a probe whose time was over when the next one began', () => {
    const first = probing()
    const next = admit(first, OPEN_MS + PROBE_TIMEOUT_MS)
    if (!next.ok) throw new Error('No probe was let through')
    for (const verdict of ['neutral', 'failure'] as const) {
      const late = report(next.state, verdict, 200_000, undefined, first.probeUntil)
      expect(late).toEqual({ state: next.state, opened: false })
    }
  })

  it('opens again, and reports it, after it was closed', () => {
    const closed = probed('success', 40_000).state
    expect(play(closed, 50_000, ...FIVE).at(-1)?.opened).toBe(true)
  })

  it('is shown as open while no call is admitted, and then as probing until a call decides', () => {
    expect(health(last(CLOSED, 0, 'failure'), 0)).toEqual({ state: 'closed', failures: 1 })
    const openUntil = new Date(OPEN_MS).toISOString()
    expect(health(OPEN, OPEN_MS - 1)).toEqual({ state: 'open', failures: 5, openUntil })
    expect(health(OPEN, OPEN_MS)).toEqual({ state: 'probing', failures: 5 })
    expect(health(probing(), OPEN_MS)).toEqual({ state: 'probing', failures: 5 })
    const again = probed('failure', OPEN_MS).state
    expect(health(again, OPEN_MS)).toMatchObject({ state: 'open', failures: 6 })
    expect(health(last(again, 0, 'success'), 0)).toEqual({ state: 'closed', failures: 0 })
  })

  it('keeps a state that survives being stored as JSON', () => {
    for (const state of [CLOSED, OPEN, probing()]) {
      expect(JSON.parse(JSON.stringify(state))).toEqual(state)
    }
  })
})
