import { describe, expect, it } from 'vitest'
import { PATIENCE_MS, Poller, ROUND_MS } from '../../../console/data/poller.ts'
import type { Freshness } from '../../../console/payments/feed/freshness.ts'
import { FakeClock, settle } from '../../support/fake-clock.ts'

/** Rounds that are answered by hand. */
function bed() {
  const clock = new FakeClock()
  const said: Freshness[] = []
  const open: { answer(): void; fail(problem: Error): void; signal: AbortSignal }[] = []
  let rounds = 0
  let isSeen = true
  const poller = new Poller({
    clock,
    isSeen: () => isSeen,
    round(signal) {
      rounds++
      return new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('aborted')))
        open.push({ answer: resolve, fail: reject, signal })
      })
    },
    on: (freshness) => said.push(freshness),
  })
  return {
    clock,
    poller,
    said,
    get rounds() {
      return rounds
    },
    see(now: boolean) {
      isSeen = now
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

describe('asking again and again', () => {
  it('asks every five seconds, and says as of when it was asked, not answered', async () => {
    const on = bed()
    on.poller.ask()
    const asked = on.clock.now()
    await on.clock.advance(700)
    await on.answer()
    expect(on.said).toEqual([{ name: 'current', asOf: asked }])
    await on.clock.advance(ROUND_MS - 1)
    expect(on.rounds).toBe(1)
    await on.clock.advance(1)
    expect(on.rounds).toBe(2)
  })

  it('never has two rounds under way, and asks once more for all that was done meanwhile', async () => {
    const on = bed()
    on.poller.ask()
    on.poller.ask()
    on.poller.ask()
    on.poller.wake()
    expect(on.rounds).toBe(1)
    await on.answer()
    expect(on.rounds).toBe(2)
    await on.answer()
    expect(on.rounds).toBe(2)
  })

  it('asks later and later while it fails, keeps since when, and recovers at once', async () => {
    const on = bed()
    on.poller.ask()
    const asOf = on.clock.now()
    await on.answer()
    const waits: (number | undefined)[] = []
    for (let failure = 0; failure < 7; failure++) {
      await on.clock.advance(on.clock.waits[0] ?? 0)
      await on.fail()
      waits.push(on.clock.waits[0])
    }
    expect(waits).toEqual([...waits].sort((a = 0, b = 0) => a - b))
    expect(waits[0]).toBe(ROUND_MS)
    expect(waits.at(-1)).toBeGreaterThan(4 * ROUND_MS)
    expect(on.said.at(-1)).toMatchObject({ name: 'unreached', asOf })

    on.poller.wake()
    await on.answer()
    expect(on.said.at(-1)).toMatchObject({ name: 'current' })
    expect(on.clock.waits).toEqual([ROUND_MS])
  })

  it('asks nothing while nobody looks, and at once when somebody does', async () => {
    const on = bed()
    on.poller.ask()
    await on.answer()
    on.see(false)
    await on.clock.advance(10 * ROUND_MS)
    on.poller.wake()
    expect(on.rounds).toBe(1)
    on.see(true)
    on.poller.wake()
    expect(on.rounds).toBe(2)
  })

  it('gives up an answer that never comes', async () => {
    const on = bed()
    on.poller.ask()
    await on.clock.advance(PATIENCE_MS)
    expect(on.said).toMatchObject([{ name: 'unreached' }])
  })

  it('does not wait for a hanging answer when the network is back, nor calls that a failure', async () => {
    const on = bed()
    on.poller.ask()
    await on.clock.advance(4_000)
    on.poller.wake()
    expect(on.signal()?.aborted).toBe(true)
    await settle()
    expect(on.rounds).toBe(2)
    expect(on.said).toEqual([])
  })

  it('is silent once it is stopped, also about what was under way', async () => {
    const on = bed()
    on.poller.ask()
    on.poller.stop()
    await settle()
    on.poller.ask()
    on.poller.wake()
    await on.clock.advance(10 * ROUND_MS)
    expect(on.said).toEqual([])
    expect(on.rounds).toBe(1)
    expect(on.clock.pending).toBe(0)
  })
})
