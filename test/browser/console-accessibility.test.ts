// Accessibility of each view (axe), light and dark, wide and narrow; and use by keyboard.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectAccessible, VIEWS } from '../support/axe.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { focused, linkOf, openConsole, tabTo } from '../support/console-page.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'

const ALL_VIEWS = VIEWS.flatMap(({ size }) =>
  VIEWS.map(({ colorScheme }) => ({ size, colorScheme })),
)

describe.skipIf(!hasChromium)(`the console for everybody${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let browser: Browser
  let context: BrowserContext
  let page: Page
  let url: string
  let transaction: string

  beforeAll(async () => {
    browser = await openChromium()
    start = await (await starts.start({ launch: oneProcess })).ready()
    url = (await start.local()).url
    transaction = (await start.charge('order-1')).transactionId
    context = await browser.newContext({ reducedMotion: 'reduce' })
    page = (await openConsole(context, linkOf(start))).page
    await page.getByText('LAMP-4').first().waitFor()
  })
  afterAll(async () => {
    await closePages(browser)
    await starts.clear()
  })

  /** `sign`: a text that shows that the view has loaded. */
  it.each([
    { view: 'the board', hash: '#/board', sign: 'LAMP-7' },
    { view: 'a task', hash: '#/board/LAMP-2', sign: 'History' },
    { view: 'payments', hash: '#/payments', sign: 'order-1' },
    {
      view: 'the story of a payment',
      hash: '#/payments/ID',
      sign: 'No endpoint and no listener for it',
    },
  ])('has no serious problem on $view, light and dark, wide and narrow', async ({ hash, sign }) => {
    await page.goto(`${url}/${hash.replace('ID', transaction)}`)
    await page.getByText(sign).first().waitFor()
    await expectAccessible(page, { views: ALL_VIEWS })
  })

  it('has none where it asks for a token', async () => {
    const stranger = await browser.newContext()
    const tab = await stranger.newPage()
    await tab.goto(url)
    await tab.getByLabel('Access token').waitFor()
    await expectAccessible(tab, { views: ALL_VIEWS })
    await stranger.close()
  })

  it('can be used by keyboard alone, from the search to the story of a payment', async () => {
    await page.setViewportSize(VIEWS[0].size)
    await page.goto(`${url}/#/board`)
    await page.getByText('LAMP-7').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('LAMP-5')
    await page.getByText('LAMP-7').first().waitFor({ state: 'hidden' })
    await page.keyboard.press('Escape')
    await page.getByText('LAMP-7').first().waitFor()

    await tabTo(page, /^LAMP-4/)
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => focused(page)).toMatch(/^LAMP-5/)
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => focused(page)).toMatch(/^LAMP-2/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    // The focus returns with the render after the dialog has closed.
    await expect.poll(() => focused(page)).toMatch(/^LAMP-2/)

    await page.goto(`${url}/#/board`)
    await page.getByText('LAMP-7').first().waitFor()
    await tabTo(page, /^Payments$/)
    await page.keyboard.press('Enter')
    await page.getByText('order-1').first().waitFor()
    await tabTo(page, /^order-1/)
    await page.keyboard.press('Enter')
    await page.getByText('What happened').waitFor()
  })
})
