import { describe, expect, it } from 'vitest'
import { type Freshness, Poller, ROUND_MS, TIMEOUT_MS } from '../../../console/data/poller.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'

/** A poller whose rounds the test completes. */
function polling() {
  const clock = new FakeClock()
  const reported: Freshness[] = []
  const open: { answer(): void; fail(problem: Error): void; signal: AbortSignal }[] = []
  let rounds = 0
  let isVisible = true
  const poller = new Poller({
    clock,
    isVisible: () => isVisible,
    round(signal) {
      rounds++
      return new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
        open.push({ answer: resolve, fail: reject, signal })
      })
    },
    onFreshness: (freshness) => reported.push(freshness),
  })
  return {
    clock,
    poller,
    reported,
    get rounds() {
      return rounds
    },
    setVisible(visible: boolean) {
      isVisible = visible
    },
    async answer() {
      open.shift()?.answer()
      await settle()
    },
    async fail(problem = new Error('no')) {
      open.shift()?.fail(problem)
      await settle()
    },
    signal: () => open[0]?.signal,
  }
}

describe('the poller', () => {
  it('polls every five seconds, and asOf is the start of the round, not its end', async () => {
    const bed = polling()
    bed.poller.refresh()
    const asked = bed.clock.now()
    await bed.clock.advance(700)
    await bed.answer()
    expect(bed.reported).toEqual([{ name: 'current', asOf: asked }])
    await bed.clock.advance(ROUND_MS - 1)
    expect(bed.rounds).toBe(1)
    await bed.clock.advance(1)
    expect(bed.rounds).toBe(2)
  })

  it('runs one round at a time, and one more after several refreshes during a round', async () => {
    const bed = polling()
    bed.poller.refresh()
    bed.poller.refresh()
    bed.poller.refresh()
    bed.poller.wake()
    expect(bed.rounds).toBe(1)
    await bed.answer()
    expect(bed.rounds).toBe(2)
    await bed.answer()
    expect(bed.rounds).toBe(2)
  })

  it('waits longer after each failure, keeps asOf, and recovers at once on wake()', async () => {
    const bed = polling()
    bed.poller.refresh()
    const asOf = bed.clock.now()
    await bed.answer()
    const waits: (number | undefined)[] = []
    for (let failure = 0; failure < 7; failure++) {
      await bed.clock.advance(bed.clock.waits[0] ?? 0)
      await bed.fail()
      waits.push(bed.clock.waits[0])
    }
    expect(waits).toEqual([...waits].sort((a = 0, b = 0) => a - b))
    expect(waits[0]).toBe(ROUND_MS)
    expect(waits.at(-1)).toBeGreaterThan(4 * ROUND_MS)
    expect(bed.reported.at(-1)).toMatchObject({ name: 'unreachable', asOf })

    bed.poller.wake()
    await bed.answer()
    expect(bed.reported.at(-1)).toMatchObject({ name: 'current' })
    expect(bed.clock.waits).toEqual([ROUND_MS])
  })

  it('does not poll while the page is hidden, and polls at once when it is visible again', async () => {
    const bed = polling()
    bed.poller.refresh()
    await bed.answer()
    bed.setVisible(false)
    await bed.clock.advance(10 * ROUND_MS)
    bed.poller.wake()
    expect(bed.rounds).toBe(1)
    bed.setVisible(true)
    bed.poller.wake()
    expect(bed.rounds).toBe(2)
  })

  it('aborts a round without a response', async () => {
    const bed = polling()
    bed.poller.refresh()
    await bed.clock.advance(TIMEOUT_MS)
    expect(bed.reported).toMatchObject([{ name: 'unreachable' }])
  })

  it('restarts a hanging round on wake(), without reporting a failure', async () => {
    const bed = polling()
    bed.poller.refresh()
    await bed.clock.advance(4_000)
    bed.poller.wake()
    expect(bed.signal()?.aborted).toBe(true)
    await settle()
    expect(bed.rounds).toBe(2)
    expect(bed.reported).toEqual([])
  })

  it('reports nothing after stop(), not even a round in progress', async () => {
    const bed = polling()
    bed.poller.refresh()
    bed.poller.stop()
    await settle()
    bed.poller.refresh()
    bed.poller.wake()
    await bed.clock.advance(10 * ROUND_MS)
    expect(bed.reported).toEqual([])
    expect(bed.rounds).toBe(1)
    expect(bed.clock.pending).toBe(0)
  })
})
