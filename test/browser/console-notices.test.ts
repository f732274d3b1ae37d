// What the page says of notices: its own switch, the rules, and the deliveries that failed. On the
// page of a real system.

import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../cli/run.ts'
import { expectAccessible } from '../support/axe.ts'
import { boardPages } from '../support/board-page.ts'
import { hasChromium, whySkipped } from '../support/chromium.ts'
import { linkOf, openConsole } from '../support/console-page.ts'
import { serve } from '../support/http.ts'
import { oneProcess, Starts } from '../support/local-system.ts'

const starts = new Starts()
afterAll(() => starts.clear())

/** A browser that shows nothing: what would be shown is `notices`, and a person says yes. */
const FAKE = `
  globalThis.notices = []
  globalThis.Notification = class {
    static get permission() { return localStorage.getItem('asked') ?? 'default' }
    static async requestPermission() {
      localStorage.setItem('asked', localStorage.getItem('answer') ?? 'granted')
      return this.permission
    }
    constructor(title, { body }) { notices.push([title, body].filter(Boolean).join(': ')) }
  }`

const shownBy = async (page: Page) => (await page.evaluate('notices')) as string[]

describe.skipIf(!hasChromium)(`notices in Chromium${whySkipped}`, () => {
  const { newContext } = boardPages()

  it('are shown by the browser once a cause, and listed with the deliveries that failed', async () => {
    const receiver = await serve(() => new Response('no', { status: 500 }))
    onTestFinished(() => receiver.close())
    const args = [`--notify=${receiver.url}/hook`]
    const start = await (await starts.start({ launch: oneProcess, args })).ready()
    const context = await newContext()
    await context.addInitScript(FAKE)
    const { page, complaints } = await openConsole(context, linkOf(start))
    const link = page.getByRole('link', { name: 'Notices' })
    await link.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Notices', level: 1 }).waitFor()
    await page.getByText('8 rules').waitFor()
    await page.getByText('Claim taken away').waitFor()

    const toggle = page.getByRole('checkbox', { name: 'Tell me in this browser' })
    expect(await toggle.isChecked()).toBe(false)
    await toggle.focus()
    await page.keyboard.press('Space')
    await expect.poll(() => toggle.isChecked()).toBe(true)
    await expect.poll(() => shownBy(page)).toHaveLength(1)
    const [first] = await shownBy(page)
    expect(first).toMatch(/^\d things to look at: .*Stalled: LAMP-2/s)

    const tested = await run(['notify', 'test', 'stalled', '--data', start.dataDir])
    expect(tested.code).toBe(1)
    const failed = page.getByRole('region', { name: 'Last deliveries' }).getByText('failed')
    await failed.first().waitFor()
    await page
      .getByText(/^webhook at 127\.0\.0\.1.*\(500/)
      .first()
      .waitFor()
    await expectAccessible(page)

    await page.reload()
    await expect.poll(() => toggle.isChecked()).toBe(true)
    const own = ['--data', start.dataDir, '--actor', 'ada']
    const claimed = await run(['claim', '--task', 'LAMP-4', '--force', ...own])
    expect([claimed.code, claimed.err]).toEqual([0, ''])
    const released = await run(['release', '--summary', 'dimmed', ...own])
    expect([released.code, released.err]).toEqual([0, ''])
    // What was shown before the reload is not shown again beside it.
    await expect.poll(() => shownBy(page)).toEqual([expect.stringMatching(/^To review: LAMP-4/)])

    await toggle.focus()
    await page.keyboard.press('Space')
    await expect.poll(() => toggle.isChecked()).toBe(false)
    expect(complaints).toEqual([])
  })

  it('stay off where the browser does not let the page, and say so', async () => {
    const start = await (await starts.start({ launch: oneProcess })).ready()
    const context = await newContext()
    await context.addInitScript(`localStorage.setItem('answer', 'denied'); ${FAKE}`)
    const { page } = await openConsole(context, linkOf(start))
    await page.getByRole('link', { name: 'Notices' }).click()
    const toggle = page.getByRole('checkbox', { name: 'Tell me in this browser' })
    await toggle.click()
    await page.getByRole('alert').getByText('The browser does not let this page').waitFor()
    expect(await toggle.isChecked()).toBe(false)
  })
})
