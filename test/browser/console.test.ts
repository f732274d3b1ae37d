// The console in a real browser, over the whole system of `npm start`: real files, real processes.

import { readdir, readFile, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { seriousFaults } from '../support/axe.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { editTask, linkOf, openConsole, retitle } from '../support/console-page.ts'
import { type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'

describe.skipIf(!hasChromium)(`the console in Chromium${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let browser: Browser
  /** Signed in. */
  let context: BrowserContext
  let page: Page
  const complaints: string[] = []

  beforeAll(async () => {
    browser = await openChromium()
    start = await (await starts.start()).ready()
    context = await browser.newContext()
    const opened = await openConsole(context, linkOf(start))
    page = opened.page
    await page.getByText('LAMP-4').first().waitFor()
    complaints.push(...opened.complaints)
  })
  afterAll(async () => {
    await closePages(browser)
    await starts.clear()
  })

  const isLive = (tab: Page) => tab.getByText('Live', { exact: true }).waitFor()
  const shows = (tab: Page, text: string) =>
    tab.getByText(text).filter({ visible: true }).first().waitFor()

  it('signs in with the printed link, once and in one browser', async () => {
    expect(complaints).toEqual([])
    expect(page.url()).not.toContain('sign-in')

    const stranger = await browser.newContext()
    const { page: late } = await openConsole(stranger, linkOf(start))
    await late
      .getByRole('alert')
      .filter({ hasText: /used|spent|once/i })
      .waitFor()
    expect(await late.getByText('LAMP-4').count()).toBe(0)
    await stranger.close()
  })

  it('leaves the code of the link neither in the history nor in a log', async () => {
    const { url } = await start.local()
    expect(await page.evaluate('navigation.entries().map(({ url }) => url).join()')).toBe(
      `${url}/#/board?path=${start.storeDir}`,
    )
    const code = linkOf(start).replace(/^.*\//, '')
    const [cookie] = await context.cookies()
    const logs = join(start.dataDir, 'logs')
    for (const name of await readdir(logs)) {
      const log = await readFile(join(logs, name), 'utf8')
      expect(log.includes(code), name).toBe(false)
      expect(log.includes(cookie?.value ?? 'none'), name).toBe(false)
    }
  })

  it('keeps the token in a cookie that no script can read', async () => {
    expect(await page.evaluate('document.cookie')).toBe('')
    const [cookie, ...others] = await context.cookies()
    expect(others).toEqual([])
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict' })
  })

  it('shows a saved file without a reload', async () => {
    await isLive(page)
    await page.evaluate('window.isTheSamePage = true')
    await editTask(start, 'LAMP-4', retitle('Wake up to birdsong'))
    await shows(page, 'Wake up to birdsong')
    await shows(page, 'LAMP-4 changed')
    expect(await page.evaluate('window.isTheSamePage')).toBe(true)
    const name = basename(start.storeDir)
    await page.getByRole('banner').getByText(name, { exact: true }).waitFor()
    expect(await page.title()).toBe(`Signalbox · ${name}`)
  })

  it('leads from a message in the footer to its task, and to its card', async () => {
    await page.getByRole('contentinfo').getByRole('link', { name: 'LAMP-4' }).first().click()
    await page.getByRole('dialog', { name: 'Wake up to birdsong' }).waitFor()
    await page.keyboard.press('Escape')
    const focused = "document.activeElement?.closest('[data-card]')?.dataset.card"
    await expect.poll(() => page.evaluate(focused)).toBe('LAMP-4')
    await page.getByRole('link', { name: 'Payments' }).click()
    await page.getByRole('contentinfo').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Board' }).click()
  })

  it('shows its keys with `?`', async () => {
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await keys.getByText('Move between cards').waitFor()
    expect(await seriousFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
  })

  it('is not green while the folder of the board is gone, and is again when it is back', async () => {
    const folder = join(start.storeDir, '.cairn')
    await rename(folder, `${folder}.away`)
    await page.getByText('The folder is missing', { exact: true }).waitFor()
    await page.getByText('Live', { exact: true }).waitFor({ state: 'hidden' })
    await rename(`${folder}.away`, folder)
    await isLive(page)
  })

  it('reconnects after the Worker was killed, and misses nothing', async () => {
    // Without this, the Worker may be back before the page notices.
    await page.route('**/api/**', (route) => route.abort())
    const dead = start.killAndWait('workerd')
    // The second, where the machine takes ten seconds to come to it.
    await page
      .getByText(/Reconnecting…|Stale since/)
      .first()
      .waitFor()
    await page.unroute('**/api/**')
    await editTask(start, 'LAMP-6', retitle('Saved while nobody listened'))
    await dead
    await isLive(page)
    await shows(page, 'Saved while nobody listened')
    expect(await page.evaluate('window.isTheSamePage')).toBe(true)
    // The break was short, so the page must not claim that the data is stale.
    await vi.waitUntil(async () => (await page.getByText(/Stale since/).count()) === 0, PATIENT)
  })

  it('loads less than 100 KiB at first', async () => {
    const fresh = await browser.newContext({ storageState: await context.storageState() })
    const tab = await fresh.newPage()
    const files: Promise<Buffer>[] = []
    tab.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (!pathname.startsWith('/api/')) files.push(response.body())
    })
    await tab.goto((await start.local()).url)
    await shows(tab, 'LAMP-4')
    const sizes = (await Promise.all(files)).map((file) => gzipSync(file).length)
    expect(sizes.length).toBeGreaterThanOrEqual(3)
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(100 << 10)
    await fresh.close()
  })

  it('has no layout shift while it loads on a phone', async () => {
    const phone = await browser.newContext({
      storageState: await context.storageState(),
      viewport: { width: 390, height: 844 },
    })
    await phone.addInitScript(`
      globalThis.shifts = 0
      new PerformanceObserver((list) => {
        for (const { value } of list.getEntries()) globalThis.shifts += value
      }).observe({ type: 'layout-shift', buffered: true })`)
    // One response after the other, to detect a shift after each of them.
    let lateMs = 0
    await phone.route('**/api/payments/**', async (asked) => {
      lateMs += 150
      await sleep(lateMs)
      await asked.continue()
    })
    const { url } = await start.local()
    for (const { hash, sign } of [
      { hash: '#/board', sign: 'LAMP-4' },
      { hash: '#/payments', sign: 'No payments yet.' },
    ]) {
      const tab = await phone.newPage()
      await tab.goto(`${url}/${hash}`)
      // Beside payments a phone has no room to show it.
      await tab.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
      await shows(tab, sign)
      // The last response of the first polling round has arrived, if the view polls.
      if (hash === '#/payments') await tab.locator('.freshness.go').waitFor()
      // Below 0.1 is "good" (web.dev/cls). An extra line in the bar would be 0.3.
      expect(await tab.evaluate<number>('globalThis.shifts'), hash).toBeLessThan(0.1)
      await tab.close()
    }
    await phone.close()
  })

  it('shows nothing in any tab after the user signed out', async () => {
    const other = await context.newPage()
    await other.goto((await start.local()).url)
    await isLive(other)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await other.getByLabel('Access token').waitFor()
    expect(await other.getByText('LAMP-4').count()).toBe(0)
    await other.close()
    await page.getByLabel('Access token').waitFor()
    expect(await page.getByText('LAMP-4').count()).toBe(0)
    expect(await context.cookies()).toEqual([])
    const { url } = await start.local()
    const asked = await page.evaluate(`fetch('${url}/api/tasks').then((it) => it.status)`)
    expect(asked).toBe(401)
  })
})
