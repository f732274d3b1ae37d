// The console of a system without a board in a real browser: payments alone, also after a restart.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { linkOf, openConsole, readsOften } from '../support/console-page.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

describe.skipIf(!hasChromium)(`the console without a board in Chromium${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let complaints: string[]

  beforeAll(async () => {
    browser = await openChromium()
    const plan = { storeDir: tempFolder(), args: ['--no-board'], launch: oneProcess }
    start = await (await starts.start(plan)).ready()
    context = await browser.newContext()
    await readsOften(context)
    ;({ page, complaints } = await openConsole(context, linkOf(start)))
  })
  afterAll(async () => {
    await closePages(browser)
    await starts.clear()
  })

  const shows = (text: RegExp) => page.getByText(text).first().waitFor()
  const views = () => page.getByRole('navigation', { name: 'Views' }).getByRole('link')

  it('shows the payments, and nothing of a board', async () => {
    await page.getByText('No open issues.').waitFor()
    expect(page.url()).toMatch(/#\/payments$/)
    expect(await views().allTextContents()).toEqual(['Payments', 'Books'])
    expect(await page.getByText(/Last signals|Sidecar|Board/).count()).toBe(0)
    await page.goto(`${new URL(page.url()).origin}/#/board/LAMP-4`)
    await page.getByText('No open issues.').waitFor()
    expect(page.url()).toMatch(/#\/payments$/)
    expect(complaints).toEqual([])
  })

  it('stays signed in when the system is stopped and started again', async () => {
    start.process.kill('SIGINT')
    await start.ended
    await shows(/^Not updated since/)
    const { storeDir, dataDir } = start
    const plan = { storeDir, dataDir, args: ['--no-board'], launch: oneProcess }
    start = await (await starts.start({ ...plan, port: 'last' })).ready()
    await shows(/^As of/)
    await page.reload()
    await shows(/^As of/)
    expect(await views().allTextContents()).toEqual(['Payments', 'Books'])
  })
})
