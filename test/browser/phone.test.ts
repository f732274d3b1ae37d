// A phone that scans the printed code, and a browser that came over plain HTTP instead.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lanAddresses } from '../../system/local/share.ts'
import { hasChromium, launchChromium, whySkipped } from '../support/chromium.ts'
import { editTask, linkOf, retitle } from '../support/console-page.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'

const isConnected = lanAddresses().length > 0
const why = isConnected ? whySkipped : ' (skipped: this machine is in no local network)'
/** A name that leads to this machine, and that a browser takes for another one. */
const ELSEWHERE = 'board.example'
const PHONE = { viewport: { width: 390, height: 780 }, isMobile: true, hasTouch: true }

describe.skipIf(!hasChromium || !isConnected)(`a phone${why}`, () => {
  const starts = new Starts()
  let start: Start
  let browser: Browser
  beforeAll(async () => {
    start = await (await starts.start({ launch: oneProcess, args: ['--share=payments'] })).ready()
    browser = await launchChromium([`--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`])
  })
  afterAll(async () => {
    await browser?.close()
    await starts.clear()
  })

  const printed = () => /^ {2}(https:\S+\/sign-in\/\S+)$/m.exec(start.stdout)?.[1] ?? ''
  /** It has accepted the certificate. */
  const newPhone = () => browser.newContext({ ...PHONE, ignoreHTTPSErrors: true })
  const opened = async (context: BrowserContext, url: string): Promise<Page> => {
    const page = await context.newPage()
    await page.goto(url)
    return page
  }

  it('is asked about the certificate first', async () => {
    const fresh = await browser.newContext(PHONE)
    await expect(opened(fresh, printed())).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID')
    await fresh.close()
  })

  it('is signed in by the code, follows the board, and pays; a second phone is refused', async () => {
    const phone = await newPhone()
    const page = await opened(phone, printed())
    await page.getByText('LAMP-4').first().waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await editTask(start, 'LAMP-4', retitle('Seen on a phone'))
    await page.getByText('Seen on a phone').first().waitFor()
    const [cookie] = await phone.cookies()
    expect(cookie).toMatchObject({ name: '__Host-signalbox', secure: true, httpOnly: true })
    expect(await page.evaluate('navigation.entries().map(({ url }) => url).join()')).toBe(
      `${new URL(printed()).origin}/#/board?path=${start.storeDir}`,
    )

    const second = await newPhone()
    const late = await opened(second, new URL(printed()).origin)
    await late.getByLabel('Access token').fill(printed())
    await late.getByLabel('Access token').press('Enter')
    await late
      .getByRole('alert')
      .filter({ hasText: /works only once.* with --phone/ })
      .waitFor()
    expect(await late.getByText('LAMP-4').count()).toBe(0)
    await second.close()

    const returnUrl = `${new URL(printed()).origin}/#/payments`
    const { redirectUrl = '', transactionId } = await start.charge('by-phone', { returnUrl })
    await page.goto(redirectUrl)
    await page.getByRole('button', { name: 'Pay', exact: true }).tap()
    await page.waitForURL(/#\/payments/)
    await page.getByText('by-phone').first().waitFor()
    const status = () => start.payments(`/transactions/${transactionId}`)
    await expect.poll(status).toMatchObject({ status: 'Paid' })
    await phone.close()
  })

  it('reads over plain HTTP that its cookie would be dropped, and what to do, and keeps its link', async () => {
    const { url } = await start.local()
    const link = linkOf(start)
    const context = await browser.newContext(PHONE)
    const page = await opened(context, link.replace('127.0.0.1', ELSEWHERE))
    const notice = page.getByRole('alert')
    expect(await notice.textContent()).toMatch(/plain HTTP .* drops the cookie/)
    const { port } = new URL(url)
    for (const way of ['signalbox --share', `ssh -N -L ${port}:${ELSEWHERE}:${port}`]) {
      await page.getByText(way).first().waitFor()
    }
    expect(await page.getByLabel('Access token').count()).toBe(0)
    // As a text, since the tests are type-checked without the types of the DOM.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await page.goto(url.replace('127.0.0.1', ELSEWHERE))
    await notice.waitFor()
    // On this machine the link was not used yet.
    const here = await opened(context, link)
    await here.getByText('LAMP-4').first().waitFor()
    await context.close()
  })

  it('is shown what holds everywhere on the page that asks for a token', async () => {
    const context = await browser.newContext()
    const page = await opened(context, (await start.local()).url)
    await page.getByLabel('Access token').waitFor()
    await page
      .getByText(/signalbox sign-in prints a link\. .* signalbox token makes a token/)
      .waitFor()
    await context.close()
  })
})
