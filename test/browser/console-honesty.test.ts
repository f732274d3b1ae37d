// What somebody on a phone relies on: while the lamp says Live, what is shown is what stands in the
// files, whatever dies in between; and once it is quiet again, it says Live.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasChromium, launchChromium, whySkipped } from '../support/chromium.ts'
import { editTask, linkOf, openConsole, retitle } from '../support/console-page.ts'
import { PATIENT, type Start, Starts } from '../support/local-system.ts'

const EDIT_EVERY_MS = 250
/** A sidecar or an edge that was killed is back long before, on a machine that is busy too. */
const GRACE_MS = 15_000

interface Sample {
  at: number
  isLive: boolean
  /** Number of the edit that is shown. */
  shown: number
}

describe.skipIf(!hasChromium)(`a console that is watched for long${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let browser: Browser
  let context: BrowserContext
  let page: Page

  beforeAll(async () => {
    browser = await launchChromium()
    start = await (await starts.start()).ready()
    context = await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true })
    page = (await openConsole(context, linkOf(start))).page
    await page.getByText('Live', { exact: true }).waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await starts.clear()
  })

  const look = async (): Promise<Sample> => {
    const at = Date.now()
    const text = await page.locator('body').innerText()
    const [, shown = '-1'] = /Edit number (\d+)/.exec(text) ?? []
    return { at, isLive: /^Live$/m.test(text), shown: Number(shown) }
  }

  it('never says Live of what is long out of date, through every death', async () => {
    const edits: number[] = []
    const samples: Sample[] = []
    let isOver = false
    const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

    const agent = async () => {
      while (!isOver) {
        await editTask(start, 'LAMP-4', retitle(`Edit number ${edits.length}`))
        edits.push(Date.now())
        await pause(EDIT_EVERY_MS)
      }
    }
    const reader = async () => {
      while (!isOver) {
        samples.push(await look())
        await pause(EDIT_EVERY_MS)
      }
    }
    const misfortune = async () => {
      await pause(2_000)
      await start.killAndWait('workerd')
      await pause(4_000)
      await start.killAndWait('sidecar')
      await pause(4_000)
      await context.setOffline(true)
      await pause(4_000)
      await context.setOffline(false)
      await pause(4_000)
      await start.killAndWait('workerd')
      await pause(4_000)
      isOver = true
    }
    await Promise.all([agent(), reader(), misfortune()])

    const lies = samples.filter(({ at, isLive, shown }) => {
      const due = edits.filter((edited) => edited < at - GRACE_MS).length - 1
      return isLive && shown < due
    })
    expect(lies).toEqual([])
    expect(samples.some(({ isLive }) => isLive)).toBe(true)
    expect(samples.some(({ isLive }) => !isLive)).toBe(true)
    await vi.waitUntil(async () => {
      const { isLive, shown } = await look()
      return isLive && shown === edits.length - 1
    }, PATIENT)
  })
})
