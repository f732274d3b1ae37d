// The console's protection against foreign pages, in a real browser. The foreign page is on another
// port, which is the same site for cookies.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { linkOf, openConsole } from '../support/console-page.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'

describe.skipIf(!hasChromium)(`the console among strangers${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let url: string
  let browser: Browser
  /** Signed in. */
  let context: BrowserContext
  let page: Page
  let stranger: Server
  let strangerUrl: string
  /** Requests that reached the foreign server. */
  const asked: string[] = []

  beforeAll(async () => {
    stranger = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><p>a stranger')
    })
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`
    browser = await openChromium()
    start = await (await starts.start({ launch: oneProcess })).ready()
    url = (await start.local()).url
    context = await browser.newContext()
    page = (await openConsole(context, linkOf(start))).page
    await page.getByText('LAMP-4').first().waitFor()
  })
  afterAll(async () => {
    await closePages(browser)
    await starts.clear()
    stranger.close()
  })

  const visitStranger = async (): Promise<Page> => {
    const tab = await context.newPage()
    await tab.goto(strangerUrl)
    asked.length = 0
    return tab
  }

  it.each([
    ['markup of a string', `document.body.insertAdjacentHTML('beforeend', '<b>x')`],
    ['code of a string', `setTimeout('1')`],
    ['the address of a script', `document.createElement('script').src = '/console/x.js'`],
    ['a worker', `new Worker('/console/x.js')`],
    ['a policy of somebody else', `trustedTypes.createPolicy('default', {})`],
  ])('takes from no script %s', async (_, script) => {
    await expect(page.evaluate(`{ ${script} }`)).rejects.toThrow(/TypeError/)
  })

  it('runs no inline script and no javascript: link', async () => {
    await page.evaluate(`{
      const script = document.createElement('script')
      script.append('window.hasRun = 1')
      const link = document.createElement('a')
      link.href = 'javascript:window.hasRun = 2'
      document.body.append(script, link)
      link.click()
    }`)
    // The click takes effect after the request before it.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve))')
    expect(await page.evaluate('window.hasRun')).toBeUndefined()
  })

  it('sends nothing to another server', async () => {
    asked.length = 0
    await page.evaluate(`{
      const refused = []
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) =>
        refused.push(effectiveDirective))
      const image = new Image()
      image.src = '${strangerUrl}/image'
      const frame = document.createElement('iframe')
      frame.src = '${strangerUrl}/frame'
      const form = document.createElement('form')
      form.action = '${strangerUrl}/form'
      document.body.append(frame, form)
      form.submit()
      navigator.sendBeacon('${strangerUrl}/beacon', 'x')
      window.refused = refused
    }`)
    await expect(page.evaluate(`fetch('${strangerUrl}/fetch')`)).rejects.toThrow('Failed to fetch')
    await page.waitForFunction('window.refused.length >= 5')
    expect(await page.evaluate('window.refused.toSorted().join()')).toBe(
      'connect-src,connect-src,form-action,frame-src,img-src',
    )
    expect(asked).toEqual([])
  })

  it('cannot be framed by a foreign page', async () => {
    const tab = await visitStranger()
    const refusal = tab.waitForEvent('console', (message) => /frame-ancestors/.test(message.text()))
    await tab.evaluate(`{
      const frame = document.createElement('iframe')
      frame.src = '${url}/'
      document.body.append(frame)
    }`)
    await refusal
    await tab.close()
  })

  it('does not let a foreign page read or do anything with the cookie', async () => {
    const tab = await visitStranger()
    const send = (path: string, init: object) =>
      tab.evaluate(`fetch('${url}${path}', {
        credentials: 'include', ...${JSON.stringify(init)},
      }).then((response) => response.text())`)
    for (const [path, init] of [
      ['/api/session', {}],
      ['/api/session', { method: 'DELETE' }],
      ['/api/tickets', { method: 'POST' }],
      ['/api/payments/transactions', {}],
    ] as const) {
      await expect(send(path, init)).rejects.toThrow('Failed to fetch')
    }
    // These need no preflight, so they reach the edge with the cookie.
    const charge = {
      gateway: 'redirect',
      reference: 'stranger',
      amount: 1_000,
      currency: 'IQD',
      description: 'A lamp',
    }
    const plain = { method: 'POST', mode: 'no-cors', body: JSON.stringify(charge) }
    for (const path of ['/api/payments/charges', '/api/session']) {
      expect(await send(path, plain)).toBe('')
    }
    await tab.close()
    expect(await page.evaluate(`fetch('/api/session').then(({ status }) => status)`)).toBe(200)
    const transactions = `fetch('/api/payments/transactions').then((response) => response.json())`
    expect(await page.evaluate(transactions)).toEqual({ transactions: [] })
  })

  it('ignores a cookie of the same name that a foreign page sets', async () => {
    const tab = await visitStranger()
    await tab.evaluate(`document.cookie = 'signalbox-${new URL(url).port}=a.b.c; path=/api'`)
    await tab.close()
    expect(await context.cookies(`${url}/api/session`)).toHaveLength(2)
    expect(await page.evaluate(`fetch('/api/session').then(({ status }) => status)`)).toBe(200)
  })

  it('isolates the text direction of references from the text beside them', async () => {
    await start.charge('order\u202e', { description: 'gnp.lamp' })
    const tab = await context.newPage()
    await tab.goto(`${url}/#/payments`)
    await tab.getByText('gnp.lamp').waitFor()
    const [first = Number.NaN, last] = await tab.evaluate<number[]>(`{
      const { firstChild } = document.querySelector('.cell-reference .hint')
      const range = document.createRange()
      const xs = [0, 7].map((at) => {
        range.setStart(firstChild, at)
        range.setEnd(firstChild, at + 1)
        return range.getBoundingClientRect().x
      })
      xs
    }`)
    expect(last).toBeGreaterThan(first)
    await tab.close()
  })
})
