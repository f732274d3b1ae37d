// Random sequences of events for one watch over a bad network, of a board whose sidecar dies and
// returns. The watch may be late, but it never claims too much: it shows every change of the folder
// before its `currentAt`.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openWatch } from '../../../libraries/client/watch-board.ts'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { FakeNetwork, refusal, statusAt } from './fake-network.ts'

/** Repeated names make an action more likely. */
// biome-ignore format: several names a line.
const STEPS = [
  'change', 'change', 'change', 'ping', 'wait', 'wait', 'slow', 'deliver', 'quick', 'cut',
  'swallow', 'fail', 'away', 'well', 'wake', 'leave', 'die', 'return', 'jump',
]
const REPORT_MS = 30_000
/** The clock of the edge, which no jump of ours moves. */
const EDGE_MS = 400_000_000
const JUMPS_MS = [3_600_000, 86_400_000, 365 * 86_400_000].flatMap((ms) => [ms, -ms])
type Step = [step: string, ms: number]

class Life {
  readonly clock = new FakeClock()
  readonly network = new FakeNetwork()
  /** When each version was made, by `elapsed`; version n at index n. */
  readonly #changedAt: number[] = []
  #shown = 0
  /** When the sidecar died. */
  #diedAt: number | undefined
  /** Its last report, since it began or returned. */
  #reportedAt = this.clock.elapsed()
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
      isVisible: () => true,
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
    this.#change()
    this.network.status = () => {
      const reportedAt = this.#lastReport()
      return statusAt(this.clock.elapsed() + EDGE_MS, reportedAt + EDGE_MS)
    }
  }

  /** Every change before `currentAt` is shown. */
  get isHonest(): boolean {
    const { state } = this.watch
    if (!('currentAt' in state)) return true
    const { clock } = this
    const currentAt = clock.elapsed() - (clock.now() - state.currentAt)
    if (currentAt > clock.elapsed()) return false
    return this.#shown >= this.#changedAt.findLastIndex((at) => at < currentAt)
  }

  get isCurrent(): boolean {
    return this.watch.state.name === 'live' && this.#shown === this.#changedAt.length - 1
  }

  async step([step, ms]: Step): Promise<void> {
    const { network, clock } = this
    // Advance the clock, so that two events never have the same time.
    await clock.advance(1)
    switch (step) {
      case 'change':
        this.#change()
        await this.#publish()
        break
      case 'die':
        this.#reportedAt = this.#lastReport()
        this.#diedAt ??= clock.elapsed()
        break
      case 'return':
        this.#diedAt = undefined
        await this.#publish()
        break
      case 'jump':
        clock.jump(JUMPS_MS[ms % JUMPS_MS.length] ?? 0)
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
        network.silence()
        break
      case 'fail':
        network.overrides.set('/tasks', () => refusal(500, 'internal'))
        break
      case 'away':
        network.overrides.set('/events', () => Promise.reject(new TypeError('nobody there')))
        break
      case 'well':
        network.overrides.clear()
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

  async recover(): Promise<void> {
    await this.step(['quick', 0])
    await this.step(['well', 0])
    await this.step(['return', 0])
    for (let i = 0; i < 8; i++) {
      await this.clock.advance(15_000)
      await this.network.ping()
    }
  }

  /** Changes the folder, of which the edge knows nothing yet. */
  #change(): void {
    this.#changedAt.push(this.clock.elapsed())
    this.#store()
  }

  #store(): void {
    if (this.#diedAt !== undefined) return
    this.#reportedAt = this.clock.elapsed()
    const title = String(this.#changedAt.length - 1)
    this.network.set('/tasks', { tasks: [{ id: 'A-1', title }] })
  }

  async #publish(): Promise<void> {
    if (this.#diedAt !== undefined) return
    this.#store()
    await this.network.publish({ type: 'tasks-changed' })
  }

  #lastReport(): number {
    const until = this.#diedAt ?? this.clock.elapsed()
    const quietMs = Math.max(0, until - this.#reportedAt)
    return this.#reportedAt + quietMs - (quietMs % REPORT_MS)
  }
}

describe('a watch, after random events', () => {
  it('never claims to be more current than it is, and is up to date at the end', async () => {
    const step = fc.tuple(fc.constantFrom(...STEPS), fc.integer({ min: 1, max: 45_000 }))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const life = new Life()
        await life.clock.advance(0)
        for (const one of steps) {
          await life.step(one)
          expect(life.isHonest, `after ${one.join()}`).toBe(true)
        }
        await life.recover()
        expect(life.isCurrent, JSON.stringify(life.watch.state)).toBe(true)
        await life.watch.close()
        expect(life.clock.pending).toBe(0)
      }),
      { numRuns: 200 },
    )
  })
})
