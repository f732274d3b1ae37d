// The tabs of one browser, in one process. A frozen one runs nothing: all that falls due waits, and
// runs when it thaws, its timers before what it was sent, which is the order that hurts.

import type { Clock } from '../../client/clock.ts'
import type { Post, SeatEvents, Tabs } from '../../client/tabs.ts'
import { FakeClock, settle } from '../support/fake-clock.ts'

interface Seat {
  tab: FakeTab
  on: SeatEvents
}

export class FakeBrowser {
  readonly clock = new FakeClock()
  readonly tabs = new Set<FakeTab>()
  holder: Seat | undefined
  queue: Seat[] = []

  open(): FakeTab {
    const tab = new FakeTab(this)
    this.tabs.add(tab)
    return tab
  }

  grant(): void {
    const next = this.holder ? undefined : this.queue.shift()
    if (!next) return
    this.holder = next
    next.tab.run(() => this.holder === next && next.on.held())
  }
}

export class FakeTab implements Tabs {
  readonly clock: Clock
  readonly #browser: FakeBrowser
  #receive: ((post: Post) => void) | undefined
  #isFrozen = false
  #waiting: (() => void)[] = []
  #timers: (() => void)[] = []

  constructor(browser: FakeBrowser) {
    this.#browser = browser
    const { now, random, after } = browser.clock
    this.clock = {
      now,
      random,
      after: (ms, call) => {
        let isCancelled = false
        const cancel = after(ms, () => {
          if (this.#isFrozen) this.#timers.push(() => isCancelled || call())
          else call()
        })
        return () => {
          isCancelled = true
          cancel()
        }
      },
    }
  }

  claim(how: 'queue' | 'take', on: SeatEvents): () => Promise<void> {
    const browser = this.#browser
    const seat = { tab: this, on }
    if (how === 'take') {
      const robbed = browser.holder
      browser.holder = undefined
      browser.queue.unshift(seat)
      if (robbed) robbed.tab.run(() => robbed.on.lost())
    } else browser.queue.push(seat)
    browser.grant()
    return async () => {
      browser.queue = browser.queue.filter((other) => other !== seat)
      if (browser.holder !== seat) return
      browser.holder = undefined
      browser.grant()
    }
  }

  listen(receive: (post: Post) => void) {
    this.#receive = receive
    return {
      post: (post: Post) => {
        for (const tab of this.#browser.tabs) if (tab !== this) tab.run(() => tab.#receive?.(post))
      },
      close: () => {
        this.#receive = undefined
      },
    }
  }

  /** Runs as a task of this tab: later, and while it is frozen not at all. */
  run(task: () => void): void {
    if (this.#isFrozen) this.#waiting.push(task)
    else queueMicrotask(task)
  }

  freeze(): void {
    this.#isFrozen = true
  }

  async thaw(): Promise<void> {
    this.#isFrozen = false
    for (const task of [...this.#timers.splice(0), ...this.#waiting.splice(0)]) queueMicrotask(task)
    await settle()
  }
}
