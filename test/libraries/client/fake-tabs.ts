// The tabs of one browser, in one process. A frozen tab runs nothing. When it thaws, due timers run
// first and then the posts, because this order is the harder one.

import type { Clock } from '../../../libraries/client/clock.ts'
import type { LockEvents, Post, Tabs } from '../../../libraries/client/tabs.ts'
import { FakeClock, settle } from '../../../libraries/testing/fake-clock.ts'

interface Request {
  tab: FakeTab
  on: LockEvents
}

export class FakeBrowser {
  readonly clock = new FakeClock()
  readonly tabs = new Set<FakeTab>()
  holder: Request | undefined
  queue: Request[] = []

  open(): FakeTab {
    const tab = new FakeTab(this)
    this.tabs.add(tab)
    return tab
  }

  grant(): void {
    const next = this.holder ? undefined : this.queue.shift()
    if (!next) return
    this.holder = next
    next.tab.run(() => this.holder === next && next.on.acquired())
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
    const { now, elapsed, random, after } = browser.clock
    this.clock = {
      now,
      elapsed,
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

  lock(how: 'wait' | 'steal', on: LockEvents): () => Promise<void> {
    const browser = this.#browser
    const request = { tab: this, on }
    if (how === 'steal') {
      const previous = browser.holder
      browser.holder = undefined
      browser.queue.unshift(request)
      if (previous) previous.tab.run(() => previous.on.stolen())
    } else browser.queue.push(request)
    browser.grant()
    return async () => {
      browser.queue = browser.queue.filter((other) => other !== request)
      if (browser.holder !== request) return
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

  /** Runs as a task of this tab: asynchronously, and not while the tab is frozen. */
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
