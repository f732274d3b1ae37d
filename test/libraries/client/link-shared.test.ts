// Many tabs share one stream. The tabs of these tests can be closed and frozen.

import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { Connection } from '../../../libraries/client/connection.ts'
import { SharedLink } from '../../../libraries/client/link-shared.ts'
import { settle } from '../../../libraries/testing/fake-clock.ts'
import { FakeStreams, unauthorized } from './fake-streams.ts'
import { FakeBrowser, type FakeTab } from './fake-tabs.ts'

let browser: FakeBrowser
let edge: FakeStreams
beforeEach(() => {
  browser = new FakeBrowser()
  edge = new FakeStreams()
})

interface Watching {
  tab: FakeTab
  link: SharedLink
  /** Names of events, and the ids of changed tasks. */
  events: string[]
  changes(): string[]
  close(): Promise<void>
}

/** `closeOn`: the tab closes itself at its first event with this name. */
async function openTab(streams: FakeStreams = edge, closeOn?: string): Promise<Watching> {
  const tab = browser.open()
  const events: string[] = []
  const record = (event: string) => {
    events.push(event)
    if (closeOn !== undefined && event.startsWith(closeOn)) void link.close()
  }
  const source = streams.source((task) => tab.run(task))
  const link = new SharedLink({
    tabs: tab,
    clock: tab.clock,
    connect: (on, lastEventId) =>
      new Connection({ streams: source, clock: tab.clock, on, lastEventId }),
    on: {
      opened: () => record('opened'),
      alive: () => undefined,
      message: (data) => record((JSON.parse(data) as { id: string }).id),
      lost: (reason) => record(`lost: ${reason}`),
      refused: ({ code }) => record(`refused: ${code}`),
    },
  })
  link.start()
  await settle()
  const changes = () => events.filter((event) => /^A-/.test(event))
  const close = async () => {
    await link.close()
    browser.tabs.delete(tab)
  }
  return { tab, link, events, changes, close }
}

const openTabs = async (count: number): Promise<Watching[]> => {
  const tabs: Watching[] = []
  for (let i = 0; i < count; i++) tabs.push(await openTab())
  return tabs
}

/** Minutes with a ping every 15 s. */
async function live(ms: number): Promise<void> {
  for (let gone = 0; gone < ms; gone += 15_000) {
    edge.ping()
    await browser.clock.advance(15_000)
  }
}

describe('the tabs of one browser', () => {
  it('share one stream, and each tab gets every change since it was opened', async () => {
    const tabs = await openTabs(10)
    edge.publish('A-1')
    await settle()
    await live(120_000)
    const late = await openTab()
    edge.publish('A-2')
    await settle()
    for (const { events } of tabs) expect(events).toEqual(['opened', 'A-1', 'A-2'])
    expect(late.events).toEqual(['opened', 'A-2'])
    expect(edge.dials).toHaveLength(1)
  })

  it('elect a new leader when the leader closes, and miss no message in between', async () => {
    const [first, ...others] = await openTabs(3)
    edge.publish('A-1')
    await settle()
    const closed = first?.close()
    edge.publish('A-2')
    await closed
    await settle()
    edge.publish('A-3')
    await settle()
    for (const { events } of others) expect(events.slice(0, 2)).toEqual(['opened', 'A-1'])
    for (const tab of others) expect(tab.changes()).toEqual(['A-1', 'A-2', 'A-3'])
    expect(edge.open.size).toBe(1)
    expect(edge.dials.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'e-1'])
    for (const { events } of others) expect(events.join()).not.toContain('lost')
  })

  it('replace a frozen leader, which becomes a follower when it thaws', async () => {
    const [frozen, ...others] = await openTabs(3)
    edge.publish('A-1')
    await settle()
    frozen?.tab.freeze()
    edge.publish('A-2')
    await live(60_000)
    for (const tab of others) {
      expect(tab.changes()).toEqual(['A-1', 'A-2'])
      expect(tab.events.at(-1)).not.toContain('lost')
    }
    // The frozen tab still holds its own stream.
    expect(edge.open.size).toBe(2)
    await frozen?.tab.thaw()
    await browser.clock.advance(1_000)
    expect(edge.open.size).toBe(1)
    edge.publish('A-3')
    await settle()
    expect(frozen?.changes()).toEqual(['A-1', 'A-2', 'A-3'])
    for (const tab of others) expect(tab.changes()).toEqual(['A-1', 'A-2', 'A-3'])
    await live(120_000)
    expect(edge.dials).toHaveLength(2)
  })

  it('keep a healthy leader when a frozen follower thaws', async () => {
    const [leader, frozen] = await openTabs(2)
    frozen?.tab.freeze()
    edge.publish('A-1')
    await live(120_000)
    await frozen?.tab.thaw()
    await live(60_000)
    expect(edge.dials).toHaveLength(1)
    for (const tab of [leader, frozen]) expect(tab?.events).toEqual(['opened', 'A-1'])
  })

  it('replace a frozen leader within seconds when a tab is opened or becomes visible', async () => {
    const [frozen, other] = await openTabs(2)
    edge.publish('A-1')
    await settle()
    frozen?.tab.freeze()
    edge.publish('A-2')
    const fresh = await openTab()
    other?.link.wake()
    await browser.clock.advance(6_000)
    expect(fresh.events).toEqual(['lost: silent', 'A-2', 'opened'])
    // The new tab resumes from the position of the followers, so they miss nothing.
    expect(other?.changes()).toEqual(['A-1', 'A-2'])
    expect(other?.events.at(-1)).not.toContain('lost')
    await frozen?.tab.thaw()
    await browser.clock.advance(6_000)
    expect(edge.open.size).toBe(1)
    await live(60_000)
    expect(edge.open.size).toBe(1)
  })

  it('elect a new leader when the token of the leader is refused, and stop when all are refused', async () => {
    const bad = new FakeStreams()
    bad.end = unauthorized()
    const refused = await openTab(bad)
    const good = await openTab()
    expect(refused.events).toEqual(['refused: unauthorized'])
    expect(good.events).toEqual(['opened'])
    edge.publish('A-1')
    await settle()
    await live(120_000)
    expect(good.changes()).toEqual(['A-1'])
    expect(refused.events).toEqual(['refused: unauthorized'])
    expect(bad.dials).toHaveLength(1)
    // After wake(), it follows the present leader.
    refused.link.wake()
    await settle()
    expect(refused.events.at(-1)).toBe('opened')
    expect(bad.dials).toHaveLength(1)
  })

  it('report the loss in every tab while the edge is unreachable, and reopen together', async () => {
    const tabs = await openTabs(3)
    edge.end = { reason: 'unreachable' }
    edge.cut()
    await settle()
    await browser.clock.advance(60_000)
    for (const { events } of tabs) {
      expect([...new Set(events)]).toEqual(['opened', 'lost: ended', 'lost: unreachable'])
    }
    edge.end = undefined
    await browser.clock.advance(40_000)
    for (const { events } of tabs) expect(events.at(-1)).toBe('opened')
    expect(edge.open.size).toBe(1)
    // The leader stayed the same: it was never silent.
    for (const { events } of tabs) expect(events.join()).not.toContain('silent')
  })

  it('dial at once when any tab wakes', async () => {
    const tabs = await openTabs(2)
    edge.end = { reason: 'unreachable' }
    edge.cut()
    await browser.clock.advance(20_000)
    edge.end = undefined
    tabs[1]?.link.wake()
    await settle()
    for (const { events } of tabs) expect(events.at(-1)).toBe('opened')
  })

  it.each(['opened', 'A-1', 'lost', 'lost: silent', 'refused'])(
    'can be closed by the callback of %j, in the leader and in a follower',
    async (event) => {
      const leader = await openTab(edge, event)
      const follower = await openTab(edge, event)
      edge.publish('A-1')
      await settle()
      edge.cut()
      await browser.clock.advance(5_000)
      leader.tab.freeze()
      await browser.clock.advance(60_000)
      await leader.tab.thaw()
      edge.end = unauthorized()
      edge.cut()
      await browser.clock.advance(120_000)
      for (const { link, events } of [leader, follower]) {
        const at = events.findIndex((one) => one.startsWith(event))
        // No event came after it. A follower may not have got this event at all.
        if (at >= 0) expect(events).toHaveLength(at + 1)
        else await link.close()
      }
      expect(browser.clock.pending).toBe(0)
      expect(browser.holder).toBeUndefined()
      expect(browser.queue).toEqual([])
      expect(edge.open.size).toBe(0)
    },
  )

  it('leave no stream, timer or lock after close()', async () => {
    const tabs = await openTabs(3)
    for (const tab of tabs) await tab.close()
    expect(browser.clock.pending).toBe(0)
    expect(edge.open.size).toBe(0)
    expect(browser.holder).toBeUndefined()
    expect(browser.queue).toEqual([])
  })
})

// Random sequences of events for tabs: opened, closed, frozen, woken, while the edge fails and
// recovers. At the end, every open tab knows every change, and exactly one stream is open.

/** Repeated names make an action more likely. */
// biome-ignore format: several names a line.
const STEPS = [
  'open', 'open', 'close', 'freeze', 'freeze', 'thaw', 'wake', 'tell', 'tell', 'tell', 'wait',
  'wait', 'cut', 'away', 'back',
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
