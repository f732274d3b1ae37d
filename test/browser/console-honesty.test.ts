// While the lamp shows Live, the page shows the state of the edge, whichever process dies. When
// everything runs again, it shows Live and the state of the files.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Task } from '../../worker/board/wire.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { editTask, linkOf, openConsole, retitle } from '../support/console-page.ts'
import { type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'

const EDIT_EVERY_MS = 250
/** How long the page may be behind the edge before it must show that it is not current. */
const GRACE_MS = 10_000

interface Sample {
  at: number
  isLive: boolean
  /** The number of the edit that the page shows. */
  shown: number
}

describe.skipIf(!hasChromium)(`a console that is watched for long${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let browser: Browser
  let context: BrowserContext
  let page: Page

  beforeAll(async () => {
    browser = await openChromium()
    start = await (await starts.start()).ready()
    context = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true })
    page = (await openConsole(context, linkOf(start))).page
    await page.getByText('Live', { exact: true }).waitFor()
  })
  afterAll(async () => {
    await closePages(browser)
    await starts.clear()
  })

  const look = async (): Promise<Sample> => {
    const at = Date.now()
    const text = await page.locator('body').innerText()
    const [, shown = '-1'] = /Edit number (\d+)/.exec(text) ?? []
    return { at, isLive: /^Live$/m.test(text), shown: Number(shown) }
  }

  /** The number of the edit that the edge has; undefined while it is down. */
  const known = async (): Promise<number | undefined> => {
    const task = await start.json<Task>('/tasks/LAMP-4').catch(() => undefined)
    const [, edit] = /Edit number (\d+)/.exec(task?.title ?? '') ?? []
    return edit === undefined ? undefined : Number(edit)
  }

  it('never shows Live for outdated data, whichever process dies', async () => {
    let edits = 0
    /** Since when the edge certainly had this edit. */
    const atEdge: { at: number; edit: number }[] = []
    const samples: Sample[] = []
    let isOver = false
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

    const agent = async () => {
      while (!isOver) {
        await editTask(start, 'LAMP-4', retitle(`Edit number ${edits++}`))
        const edit = await known()
        if (edit !== undefined) atEdge.push({ at: Date.now(), edit })
        await pause(EDIT_EVERY_MS)
      }
    }
    const reader = async () => {
      while (!isOver) {
        samples.push(await look())
        await pause(EDIT_EVERY_MS)
      }
    }
    /** Until the page is live, with what was saved by now or later. */
    const isCurrent = async () => {
      const edit = edits
      await vi.waitUntil(
        () => samples.some(({ isLive, shown }) => isLive && shown >= edit),
        PATIENT,
      )
    }
    const misfortune = async () => {
      await isCurrent()
      for (const name of ['workerd', 'sidecar']) {
        await start.killAndWait(name)
        await isCurrent()
      }
      await context.setOffline(true)
      await vi.waitUntil(() => samples.at(-1)?.isLive === false, PATIENT)
      await context.setOffline(false)
      await isCurrent()
    }
    const over = misfortune().finally(() => {
      isOver = true
    })
    await Promise.all([agent(), reader(), over])

    const lies = samples.filter(({ at, isLive, shown }) => {
      const due = atEdge.findLast((since) => since.at < at - GRACE_MS)?.edit ?? -1
      return isLive && shown < due
    })
    expect(lies).toEqual([])
    await vi.waitUntil(async () => {
      const { isLive, shown } = await look()
      return isLive && shown === edits - 1
    }, PATIENT)
  })
})
