// The clients in a real browser, with real tabs, on a real stream.

import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildLibraries } from '../../tools/package/build.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { LAMP, servePayments } from '../support/in-process-edge.ts'
import { unavailable } from '../support/payments-setup.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** Records the calls of its callbacks, and shows the titles of the tasks. */
const RECORDER = `<!doctype html><title></title><script type="module">
import { watchBoard } from './client.js'
const where = await (await fetch('board.json')).json()
window.calls = []
window.watch = watchBoard({
  ...where,
  ...(location.search === '?by=EventSource' && { EventSource }),
  onTasks: (tasks) => { document.title = tasks.map(({ title }) => title).join() },
  onSignal: ({ message }) => calls.push(message.id),
})
</script>`
/** The answer to a charge, or the failure with all that it tells. */
const CHARGE = `async ([place, order]) => {
  const { createPayments } = await import('/payments.js')
  return await createPayments(place).charges.create(order).catch((error) => ({ ...error }))
}`
const TYPES = { html: 'text/html', js: 'text/javascript', json: 'application/json' }

describe.skipIf(!hasChromium)(`the client in Chromium${whySkipped}`, () => {
  let edge: EdgeProcess
  let browser: Browser
  let context: BrowserContext
  let origin: string
  let built: string
  let repo: Repo
  const files = new Map<string, string>()
  const site = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const name = path.slice(1) || 'index.html'
    const type = TYPES[name.split('.').at(-1) as keyof typeof TYPES]
    response.writeHead(files.has(name) ? 200 : 404, { 'Content-Type': `${type}; charset=UTF-8` })
    response.end(files.get(name))
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    built = tempFolder()
    await buildLibraries(built)
    for (const name of ['client.js', 'payments.js']) {
      files.set(name, await readFile(join(built, name), 'utf8'))
    }
    for (const name of ['index.html', 'page.js']) {
      files.set(name, await readFile(join('examples/page', name), 'utf8'))
    }
    files.set('recorder.html', RECORDER)
    files.set('elsewhere.html', '<!doctype html><title>Elsewhere</title>')
    edge = await startEdge('workerd', { ALLOWED_ORIGINS: origin })
    browser = await openChromium()
  })
  afterAll(async () => {
    await closePages(browser)
    await edge?.close()
    site.close()
  })
  beforeEach(async () => {
    repo = await publishedRepo(edge, [taskRecord('A-1', { title: 'One' })])
    const where = { url: edge.origin, path: repo.path, token: await token({ repos: [repo.path] }) }
    files.set('board.json', JSON.stringify(where))
    context = await browser.newContext()
  })
  afterEach(() => context.close())

  async function openTab(query = ''): Promise<Page> {
    const tab = await context.newPage()
    await tab.goto(`${origin}/recorder.html${query}`)
    await expect.poll(() => stateOf(tab)).toBe('live')
    return tab
  }
  /** Chromium hides no tab while it has no window. */
  const setVisibility = (tab: Page, state: 'hidden' | 'visible') =>
    tab.evaluate(`Object.defineProperty(document, 'visibilityState', {
      configurable: true, value: '${state}',
    }); document.dispatchEvent(new Event('visibilitychange'))`)
  const stateOf = (tab: Page) => tab.evaluate('window.watch?.state.name')
  const callsOf = (tab: Page) => tab.evaluate('window.calls')
  const streams = async () => (await repo.json<{ streams: number }>('/status')).streams
  const rename = (id: string, title: string) =>
    repo.changes({ upserts: [taskRecord(id, { title })] })

  it('shows a board with the ten lines of the example', async () => {
    const tab = await context.newPage()
    await tab.goto(origin)
    await tab.getByText('A-1 One: backlog').waitFor()
    await tab.getByText('live').waitFor()
    await rename('A-1', 'Uno')
    await tab.getByText('A-1 Uno: backlog').waitFor()
  })

  it('has no stream for a hidden page, and misses nothing once it is shown', async () => {
    const shown = await openTab()
    const hidden: Page[] = []
    // A browser has six connections for all pages of an origin: these would take each of them.
    for (let i = 0; i < 6; i++) {
      const tab = await openTab()
      await setVisibility(tab, 'hidden')
      hidden.push(tab)
    }
    await expect.poll(streams).toBe(1)
    for (const tab of hidden) expect(await stateOf(tab)).toBe('reconnecting')
    await rename('A-1', 'Two')
    await expect.poll(() => shown.title()).toBe('Two')
    for (const tab of hidden) {
      expect(await callsOf(tab)).toEqual([])
      await setVisibility(tab, 'visible')
      await expect.poll(() => callsOf(tab)).toEqual(['A-1'])
      await expect.poll(() => tab.title()).toBe('Two')
      await expect.poll(() => stateOf(tab)).toBe('live')
      await tab.close()
    }
    await expect.poll(streams).toBe(1)
  })

  it('closes the stream when the user leaves the page, and is up to date after going back', async () => {
    const leaving = await openTab()
    const other = await openTab()
    await leaving.goto(`${origin}/elsewhere.html`)
    await rename('A-2', 'Two')
    await expect.poll(() => other.title()).toBe('One,Two')
    await expect.poll(() => stateOf(other)).toBe('live')
    await expect.poll(streams).toBe(1)
    await leaving.goBack()
    await expect.poll(() => leaving.title()).toBe('One,Two')
    await expect.poll(() => stateOf(leaving)).toBe('live')
    await rename('A-3', 'Three')
    for (const tab of [leaving, other]) {
      await expect.poll(() => tab.title()).toBe('One,Two,Three')
    }
    await expect.poll(streams).toBe(2)
  })

  it('reconnects in every tab after the edge was killed, with the EventSource of the browser', async () => {
    const tabs = [await openTab('?by=EventSource'), await openTab('?by=EventSource')]
    await rename('A-2', 'Two')
    for (const tab of tabs) await expect.poll(() => tab.title()).toBe('One,Two')
    await edge.crash()
    await rename('A-3', 'Three')
    for (const tab of tabs) {
      await expect.poll(() => callsOf(tab)).toEqual(['A-2', 'A-3'])
      await expect.poll(() => stateOf(tab)).toBe('live')
    }
    await expect.poll(streams).toBe(2)
  })

  it('dials at once when a tab notices that the network is back', async () => {
    const tabs = [await openTab(), await openTab()]
    await context.setOffline(true)
    await edge.crash()
    for (const tab of tabs) await expect.poll(() => stateOf(tab)).toBe('reconnecting')
    await rename('A-2', 'Two')
    await context.setOffline(false)
    for (const tab of tabs) await expect.poll(() => tab.title()).toBe('One,Two')
  })

  it('charges from a page of another origin, and is told what helps after a failure', async () => {
    const { setup, place, close } = await servePayments({ ALLOWED_ORIGINS: origin })
    const tab = await context.newPage()
    await tab.goto(`${origin}/elsewhere.html`)
    const charge = (order: object) => tab.evaluate(`(${CHARGE})(${JSON.stringify([place, order])})`)
    expect(await charge(LAMP)).toMatchObject({ status: 'Pending', reference: LAMP.reference })
    expect(setup.charged).toMatchObject([LAMP])
    setup.script.charge = unavailable
    expect(await charge({ ...LAMP, reference: 'order-2' })).toEqual({
      name: 'PaymentsError',
      code: 'gateway_unavailable',
      status: 503,
      transactionId: expect.any(String),
      retryAfterS: expect.any(Number),
      correlationId: expect.stringMatching(/^\w{26}$/),
    })
    await close()
  })
})
