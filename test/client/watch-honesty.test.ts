// Random lives of one watch over a bad network. It may be late, but it never says that it is current
// when it is not: whatever `currentAt` it gives, it shows all that had changed by then.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openWatch } from '../../client/open-watch.ts'
import type { Task } from '../../worker/board/wire.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { FakeNetwork, refusal } from './fake-network.ts'

/** Named as often as they should come. */
const STEPS = [
  ...['change', 'change', 'change', 'ping', 'wait', 'wait', 'slow', 'deliver', 'quick'],
  ...['cut', 'swallow', 'fail', 'away', 'well', 'wake', 'leave'],
]
type Step = [step: string, ms: number]

class Life {
  readonly clock = new FakeClock()
  readonly network = new FakeNetwork()
  /** When each version came to be; version n at n. */
  readonly #changedAt: number[] = []
  #shown = 0
  #page: { wake(): void; sleep(): void } | undefined
  readonly watch = openWatch(
    {
      url: 'https://edge.test',
      token: 't',
      fetch: this.network.fetch,
      onTasks: ([task]) => {
        this.#shown = Number((task as Task).title)
      },
    },
    {
      clock: this.clock,
      tabs: () => undefined,
      report: (error) => {
        throw error
      },
      followLifecycle: (on) => {
        this.#page = on
        return () => undefined
      },
    },
  )

  constructor() {
    this.#set()
  }

  /** Everything that had changed before the time that it gives is shown. */
  get isHonest(): boolean {
    const { state } = this.watch
    if (!('currentAt' in state)) return true
    const { currentAt } = state
    return this.#shown >= this.#changedAt.findLastIndex((at) => at < currentAt)
  }

  get isCurrent(): boolean {
    return this.watch.state.name === 'live' && this.#shown === this.#changedAt.length - 1
  }

  async step([step, ms]: Step): Promise<void> {
    const { network, clock } = this
    // Time goes on, or two things at one time could not be told apart.
    await clock.advance(1)
    switch (step) {
      case 'change':
        this.#set()
        await network.tell({ type: 'tasks-changed' })
        break
      case 'ping':
        await network.ping()
        break
      case 'wait':
        await clock.advance(ms)
        break
      case 'slow':
        network.isSlow = true
        break
      case 'quick':
        network.isSlow = false
        network.deliver()
        break
      case 'deliver':
        network.deliver()
        break
      case 'cut':
        await network.cut()
        break
      case 'swallow':
        network.swallow()
        break
      case 'fail':
        network.instead.set('/tasks', () => refusal(500, 'internal'))
        break
      case 'away':
        network.instead.set('/events', () => Promise.reject(new TypeError('nobody there')))
        break
      case 'well':
        network.instead.clear()
        break
      case 'wake':
        this.#page?.wake()
        break
      case 'leave':
        this.#page?.sleep()
        await clock.advance(ms)
        this.#page?.wake()
    }
    await clock.advance(0)
  }

  async rest(): Promise<void> {
    await this.step(['quick', 0])
    await this.step(['well', 0])
    for (let i = 0; i < 8; i++) {
      await this.clock.advance(15_000)
      await this.network.ping()
    }
  }

  #set(): void {
    const version = this.#changedAt.push(this.clock.now()) - 1
    this.network.set('/tasks', { tasks: [{ id: 'A-1', title: String(version) }] })
  }
}

describe('random lives of a watch', () => {
  it('never claim more than what is shown, and end current', async () => {
    const step = fc.tuple(fc.constantFrom(...STEPS), fc.integer({ min: 1, max: 45_000 }))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const life = new Life()
        await life.clock.advance(0)
        for (const one of steps) {
          await life.step(one)
          expect(life.isHonest, `after ${one.join()}`).toBe(true)
        }
        await life.rest()
        expect(life.isCurrent, JSON.stringify(life.watch.state)).toBe(true)
        await life.watch.close()
        expect(life.clock.pending).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})
