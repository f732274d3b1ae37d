// Random sequences of events for tabs: opened, closed, frozen, woken, while the edge fails and
// recovers. At the end, every open tab knows every change, and exactly one stream is open.

import fc from 'fast-check'
import { describe, it } from 'vitest'
import { Connection } from '../../client/connection.ts'
import { SharedLink } from '../../client/link-shared.ts'
import { settle } from '../support/fake-clock.ts'
import { FakeStreams } from './fake-streams.ts'
import { FakeBrowser, type FakeTab } from './fake-tabs.ts'

/** Repeated names make an action more likely. */
const STEPS = [
  ...['open', 'open', 'close', 'freeze', 'freeze', 'thaw', 'wake'],
  ...['tell', 'tell', 'tell', 'wait', 'wait', 'cut', 'away', 'back'],
]
type Step = [step: string, tab: number]

class Life {
  readonly browser = new FakeBrowser()
  readonly edge = new FakeStreams()
  readonly tabs: { tab: FakeTab; link: SharedLink; stale: Set<string>; isOpen: boolean }[] = []
  #changes = 0

  async step([step, which]: Step): Promise<void> {
    const one = this.tabs[which % Math.max(1, this.tabs.length)]
    switch (step) {
      case 'open':
        if (this.tabs.length < 4) this.#open()
        break
      case 'close':
        if (!one) break
        this.tabs.splice(this.tabs.indexOf(one), 1)
        // A frozen tab that is closed cannot run any code.
        void one.link.close()
        this.browser.tabs.delete(one.tab)
        break
      case 'freeze':
        one?.tab.freeze()
        break
      case 'thaw':
        await one?.tab.thaw()
        break
      case 'wake':
        one?.tab.run(() => one.link.wake())
        break
      case 'tell': {
        const id = `A-${++this.#changes}`
        for (const { stale } of this.tabs) stale.add(id)
        this.edge.publish(id)
        break
      }
      case 'cut':
        this.edge.cut()
        break
      case 'away':
        this.edge.end = { reason: 'unreachable' }
        this.edge.cut()
        break
      case 'back':
        this.edge.end = undefined
        break
      case 'wait':
        await this.live(5_000 * (1 + (which % 10)))
    }
    await settle()
  }

  async live(ms: number): Promise<void> {
    for (let gone = 0; gone < ms; gone += 5_000) {
      if (gone % 15_000 === 0) this.edge.ping()
      await this.browser.clock.advance(5_000)
    }
  }

  /** Everything works again for a while. */
  async recover(): Promise<void> {
    this.edge.end = undefined
    for (const { tab } of this.tabs) await tab.thaw()
    await this.live(180_000)
  }

  #open(): void {
    const tab = this.browser.open()
    const source = this.edge.source((task) => tab.run(task))
    const one = {
      tab,
      /** Changes that this tab has not read yet. */
      stale: new Set<string>(),
      isOpen: false,
      link: new SharedLink({
        tabs: tab,
        clock: tab.clock,
        connect: (on, lastEventId) =>
          new Connection({ streams: source, clock: tab.clock, on, lastEventId }),
        on: {
          opened: () => {
            one.isOpen = true
            // The tab reads everything.
            one.stale.clear()
          },
          alive: () => undefined,
          message: (data) => one.stale.delete((JSON.parse(data) as { id: string }).id),
          lost: () => {
            one.isOpen = false
          },
          refused: () => undefined,
        },
      }),
    }
    this.tabs.push(one)
    one.link.start()
  }
}

describe('tabs, after random events', () => {
  it('are all up to date, over one stream', async () => {
    const step = fc.tuple(fc.constantFrom(...STEPS), fc.nat(9))
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const life = new Life()
        await life.step(['open', 0])
        for (const one of steps) await life.step(one)
        await life.recover()
        if (life.tabs.length === 0) return life.edge.open.size === 0
        const isCurrent = life.tabs.every(({ stale, isOpen }) => isOpen && stale.size === 0)
        return isCurrent && life.edge.open.size === 1
      }),
      { numRuns: 1_000 },
    )
  })
})
