// Many tabs and one stream, played through with tabs that can be closed and frozen.

import { beforeEach, describe, expect, it } from 'vitest'
import { Connection } from '../../client/connection.ts'
import { SharedLink } from '../../client/link-shared.ts'
import { settle } from '../support/fake-clock.ts'
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
  /** Names of events, and the ids of tasks told. */
  heard: string[]
  told(): string[]
  close(): Promise<void>
}

/** `closeOn`: closed by what it is told first of this. */
async function openTab(streams: FakeStreams = edge, closeOn?: string): Promise<Watching> {
  const tab = browser.open()
  const heard: string[] = []
  const hear = (event: string) => {
    heard.push(event)
    if (closeOn !== undefined && event.startsWith(closeOn)) void link.close()
  }
  const source = streams.source((task) => tab.run(task))
  const link = new SharedLink({
    tabs: tab,
    clock: tab.clock,
    connect: (on, lastEventId) =>
      new Connection({ streams: source, clock: tab.clock, on, lastEventId }),
    on: {
      opened: () => hear('opened'),
      alive: () => undefined,
      told: (data) => hear((JSON.parse(data) as { id: string }).id),
      lost: (reason) => hear(`lost: ${reason}`),
      refused: ({ code }) => hear(`refused: ${code}`),
    },
  })
  link.start()
  await settle()
  const told = () => heard.filter((event) => /^A-/.test(event))
  const close = async () => {
    await link.close()
    browser.tabs.delete(tab)
  }
  return { tab, link, heard, told, close }
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
  it('hold one stream, and every tab hears of every change, a late one from its opening on', async () => {
    const tabs = await openTabs(10)
    edge.tell('A-1')
    await settle()
    await live(120_000)
    const late = await openTab()
    edge.tell('A-2')
    await settle()
    for (const { heard } of tabs) expect(heard).toEqual(['opened', 'A-1', 'A-2'])
    expect(late.heard).toEqual(['opened', 'A-2'])
    expect(edge.dials).toHaveLength(1)
  })

  it('pass the stream on when its tab closes, and miss nothing that was told between', async () => {
    const [first, ...others] = await openTabs(3)
    edge.tell('A-1')
    await settle()
    const closed = first?.close()
    edge.tell('A-2')
    await closed
    await settle()
    edge.tell('A-3')
    await settle()
    for (const { heard } of others) expect(heard.slice(0, 2)).toEqual(['opened', 'A-1'])
    for (const tab of others) expect(tab.told()).toEqual(['A-1', 'A-2', 'A-3'])
    expect(edge.open.size).toBe(1)
    expect(edge.dials.map(({ lastEventId }) => lastEventId)).toEqual([undefined, 'e-1'])
    for (const { heard } of others) expect(heard.join()).not.toContain('lost')
  })

  it('take it from a tab that is frozen, which follows when it thaws', async () => {
    const [frozen, ...others] = await openTabs(3)
    edge.tell('A-1')
    await settle()
    frozen?.tab.freeze()
    edge.tell('A-2')
    await live(60_000)
    for (const tab of others) {
      expect(tab.told()).toEqual(['A-1', 'A-2'])
      expect(tab.heard.at(-1)).not.toContain('lost')
    }
    // The frozen one still holds its own.
    expect(edge.open.size).toBe(2)
    await frozen?.tab.thaw()
    await browser.clock.advance(1_000)
    expect(edge.open.size).toBe(1)
    edge.tell('A-3')
    await settle()
    expect(frozen?.told()).toEqual(['A-1', 'A-2', 'A-3'])
    for (const tab of others) expect(tab.told()).toEqual(['A-1', 'A-2', 'A-3'])
    await live(120_000)
    expect(edge.dials).toHaveLength(2)
  })

  it('do not rob a tab that leads well when one that only followed thaws', async () => {
    const [leader, frozen] = await openTabs(2)
    frozen?.tab.freeze()
    edge.tell('A-1')
    await live(120_000)
    await frozen?.tab.thaw()
    await live(60_000)
    expect(edge.dials).toHaveLength(1)
    for (const tab of [leader, frozen]) expect(tab?.heard).toEqual(['opened', 'A-1'])
  })

  it('replace a frozen tab within seconds when somebody opens or looks at one', async () => {
    const [frozen, other] = await openTabs(2)
    edge.tell('A-1')
    await settle()
    frozen?.tab.freeze()
    edge.tell('A-2')
    const fresh = await openTab()
    other?.link.wake()
    await browser.clock.advance(6_000)
    expect(fresh.heard).toEqual(['lost: silent', 'A-2', 'opened'])
    // The newcomer goes on from where the others are, so that they miss nothing.
    expect(other?.told()).toEqual(['A-1', 'A-2'])
    expect(other?.heard.at(-1)).not.toContain('lost')
    await frozen?.tab.thaw()
    await browser.clock.advance(6_000)
    expect(edge.open.size).toBe(1)
    await live(60_000)
    expect(edge.open.size).toBe(1)
  })

  it('pass the seat on when the token of its tab is refused, without going round for ever', async () => {
    const bad = new FakeStreams()
    bad.end = unauthorized()
    const refused = await openTab(bad)
    const good = await openTab()
    expect(refused.heard).toEqual(['refused: unauthorized'])
    expect(good.heard).toEqual(['opened'])
    edge.tell('A-1')
    await settle()
    await live(120_000)
    expect(good.told()).toEqual(['A-1'])
    expect(refused.heard).toEqual(['refused: unauthorized'])
    expect(bad.dials).toHaveLength(1)
    // Asked again, it follows the one that leads now.
    refused.link.wake()
    await settle()
    expect(refused.heard.at(-1)).toBe('opened')
    expect(bad.dials).toHaveLength(1)
  })

  it('say so in every tab while the edge is away, and are live again together', async () => {
    const tabs = await openTabs(3)
    edge.end = { reason: 'unreachable' }
    edge.cut()
    await settle()
    await browser.clock.advance(60_000)
    for (const { heard } of tabs) {
      expect([...new Set(heard)]).toEqual(['opened', 'lost: ended', 'lost: unreachable'])
    }
    edge.end = undefined
    await browser.clock.advance(40_000)
    for (const { heard } of tabs) expect(heard.at(-1)).toBe('opened')
    expect(edge.open.size).toBe(1)
    // The same tab led all the time: it was never silent.
    for (const { heard } of tabs) expect(heard.join()).not.toContain('silent')
  })

  it('dial at once when any of them wakes up', async () => {
    const tabs = await openTabs(2)
    edge.end = { reason: 'unreachable' }
    edge.cut()
    await browser.clock.advance(20_000)
    edge.end = undefined
    tabs[1]?.link.wake()
    await settle()
    for (const { heard } of tabs) expect(heard.at(-1)).toBe('opened')
  })

  it.each(['opened', 'A-1', 'lost', 'lost: silent', 'refused'])(
    'may be closed by whoever is told %j, in a tab that leads and in one that follows',
    async (event) => {
      const leader = await openTab(edge, event)
      const follower = await openTab(edge, event)
      edge.tell('A-1')
      await settle()
      edge.cut()
      await browser.clock.advance(5_000)
      leader.tab.freeze()
      await browser.clock.advance(60_000)
      await leader.tab.thaw()
      edge.end = unauthorized()
      edge.cut()
      await browser.clock.advance(120_000)
      for (const { link, heard } of [leader, follower]) {
        const at = heard.findIndex((one) => one.startsWith(event))
        // Nothing was told after it; a follower may never have been told it.
        if (at >= 0) expect(heard).toHaveLength(at + 1)
        else await link.close()
      }
      expect(browser.clock.pending).toBe(0)
      expect(browser.holder).toBeUndefined()
      expect(browser.queue).toEqual([])
      expect(edge.open.size).toBe(0)
    },
  )

  it('leave nothing behind', async () => {
    const tabs = await openTabs(3)
    for (const tab of tabs) await tab.close()
    expect(browser.clock.pending).toBe(0)
    expect(edge.open.size).toBe(0)
    expect(browser.holder).toBeUndefined()
    expect(browser.queue).toEqual([])
  })
})
