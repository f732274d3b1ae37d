import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../libraries/testing/fake-clock.ts'
import { Outages } from '../../../../worker/payments/outbox/waiting.ts'

const MINUTE = 60_000

describe('what waits for an endpoint that accepts an event', () => {
  /** Each step is a minute: `ok` and `no` of an endpoint. Since when events are due, in minutes. */
  const played = async (steps: readonly ('ok' | 'no')[]) => {
    const clock = new FakeClock()
    const startedAt = clock.now()
    const outages = new Outages(clock)
    const due: (number | undefined)[] = []
    for (const step of steps) {
      if (step === 'no') outages.failed('a')
      const since = step === 'ok' ? outages.accepted('a') : undefined
      if (step === 'ok') due.push(since && (since - startedAt) / MINUTE)
      await clock.advance(MINUTE)
    }
    return due
  }

  it.each([
    ['is all of it at the first, since an outage may be older than the process', ['ok'], [0]],
    ['is nothing while it accepts each', ['ok', 'ok'], [0, undefined]],
    ['is what was made since, after a failure', ['ok', 'ok', 'no', 'ok'], [0, undefined, 1]],
    [
      'is all of it again after a longer outage, once for all that fail',
      ['ok', 'no', 'no', 'no', 'no', 'no', 'ok', 'no', 'ok', 'ok'],
      [0, 0, 6, undefined],
    ],
  ] as const)('%s', async (_what, steps, due) => {
    expect(await played(steps)).toEqual(due)
  })

  it('is that of the endpoint alone', () => {
    const outages = new Outages(new FakeClock())
    outages.accepted('a')
    outages.failed('b')
    expect(outages.accepted('a')).toBeUndefined()
    expect(outages.accepted('b')).toBe(0)
  })
})
