import { describe, expect, it } from 'vitest'
import { type Freshness, Poller, ROUND_MS, TIMEOUT_MS } from '../../../console/data/poller.ts'
import { FakeClock, settle } from '../../../libraries/testing/fake-clock.ts'

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
    const setup = polling()
    setup.poller.refresh()
    const asked = setup.clock.now()
    await setup.clock.advance(700)
    await setup.answer()
    expect(setup.reported).toEqual([{ name: 'current', asOf: asked }])
    await setup.clock.advance(ROUND_MS - 1)
    expect(setup.rounds).toBe(1)
    await setup.clock.advance(1)
    expect(setup.rounds).toBe(2)
  })

  it('runs one round at a time, and one more after several refreshes during a round', async () => {
    const setup = polling()
    setup.poller.refresh()
    setup.poller.refresh()
    setup.poller.refresh()
    setup.poller.wake()
    expect(setup.rounds).toBe(1)
    await setup.answer()
    expect(setup.rounds).toBe(2)
    await setup.answer()
    expect(setup.rounds).toBe(2)
  })

  it('waits longer after each failure, keeps asOf, and recovers at once on wake()', async () => {
    const setup = polling()
    setup.poller.refresh()
    const asOf = setup.clock.now()
    await setup.answer()
    const waits: (number | undefined)[] = []
    for (let failure = 0; failure < 7; failure++) {
      await setup.clock.advance(setup.clock.waits[0] ?? 0)
      await setup.fail()
      waits.push(setup.clock.waits[0])
    }
    expect(waits).toEqual([...waits].sort((a = 0, b = 0) => a - b))
    expect(waits[0]).toBe(ROUND_MS)
    expect(waits.at(-1)).toBeGreaterThan(4 * ROUND_MS)
    expect(setup.reported.at(-1)).toMatchObject({ name: 'unreachable', asOf })

    setup.poller.wake()
    await setup.answer()
    expect(setup.reported.at(-1)).toMatchObject({ name: 'current' })
    expect(setup.clock.waits).toEqual([ROUND_MS])
  })

  it('does not poll while the page is hidden, and polls at once when it is visible again', async () => {
    const setup = polling()
    setup.poller.refresh()
    await setup.answer()
    setup.setVisible(false)
    await setup.clock.advance(10 * ROUND_MS)
    setup.poller.wake()
    expect(setup.rounds).toBe(1)
    setup.setVisible(true)
    setup.poller.wake()
    expect(setup.rounds).toBe(2)
  })

  it('aborts a round without a response', async () => {
    const setup = polling()
    setup.poller.refresh()
    await setup.clock.advance(TIMEOUT_MS)
    expect(setup.reported).toMatchObject([{ name: 'unreachable' }])
  })

  it('restarts a hanging round on wake(), without reporting a failure', async () => {
    const setup = polling()
    setup.poller.refresh()
    await setup.clock.advance(4_000)
    setup.poller.wake()
    expect(setup.signal()?.aborted).toBe(true)
    await settle()
    expect(setup.rounds).toBe(2)
    expect(setup.reported).toEqual([])
  })

  it('reports nothing after stop(), not even a round in progress', async () => {
    const setup = polling()
    setup.poller.refresh()
    setup.poller.stop()
    await settle()
    setup.poller.refresh()
    setup.poller.wake()
    await setup.clock.advance(10 * ROUND_MS)
    expect(setup.reported).toEqual([])
    expect(setup.rounds).toBe(1)
    expect(setup.clock.pending).toBe(0)
  })
})
