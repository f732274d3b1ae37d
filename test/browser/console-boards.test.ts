// Which board the console shows: the one in the address. Two boards of one edge, in a real browser.

import { dirname, join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import type { BoardReport } from '../../worker/board/wire.ts'
import { lastPart } from '../../worker/shared/repos.ts'
import { expectAccessible, seriousFaults } from '../support/axe.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { boardReport, freshPath, publishedRepo, Repo, taskRecord, token } from '../support/edge.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'

describe.skipIf(!hasChromium)(`the boards of a console${whySkipped}`, () => {
  let edge: NodeEdgeInTest
  let browser: Browser
  let lamp: string
  let shop: string

  beforeAll(async () => {
    // The page of the program that was built for the run.
    edge = await startNodeEdge({}, { consoleDir: join(dirname(SIGNALBOX), '../console') })
    lamp = (await publishedRepo(edge, [taskRecord('A-1', { title: 'Dim the lamp' })])).path
    shop = (await publishedRepo(edge, [taskRecord('A-1', { title: 'Open the shop' })])).path
    await report(lamp, { title: 'The lamps' })
    await report(shop, {
      title: 'The shop',
      layout: 'openspec',
      counts: { tasks: 1_200, closed: 1_199, ready: 0 },
      sidecar: { state: 'ended', version: '1.2.3' },
    })
    browser = await openChromium()
  })
  afterAll(async () => {
    await closePages(browser)
    await edge.close()
  })

  const addressOf = (path: string, id = '') => `${edge.origin}/#/board${id}?path=${path}`
  const signIn = async (page: Page, repos: string[]) => {
    await page.getByLabel('Access token').fill(await token({ scope: 'board:read', repos }))
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const field = (page: Page) => page.getByRole('searchbox', { name: 'Find by name' })
  const choose = async (page: Page, path: string) => {
    await field(page).fill(path)
    await page.getByRole('link', { name: path }).waitFor()
    await field(page).press('Enter')
  }
  const nameOf = (path: string) => (path === lamp ? 'The lamps' : 'The shop')
  /** What a sidecar reports of its board. */
  const report = async (path: string, fields: Partial<BoardReport>) => {
    const sent = await edge.fetch(`/api/boards?path=${encodeURIComponent(path)}`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${await token({ repos: [path] })}` },
      body: JSON.stringify(boardReport(fields)),
    })
    expect(sent.status).toBe(200)
  }
  const openList = async (page: Page) => {
    await page.keyboard.press('b')
    const list = page.getByRole('dialog', { name: 'Boards' })
    await list.getByRole('link').first().waitFor()
    return list
  }
  /** `name`: absent where the session is for several boards, and has their list. */
  const shows = async (page: Page, title: string, path: string, name = nameOf(path)) => {
    await page.getByText(title).waitFor()
    await page.getByRole('banner').getByText(name, { exact: true }).waitFor()
    await expect.poll(() => page.title()).toBe(`Signalbox · ${name}`)
    expect(page.url()).toBe(addressOf(path))
  }
  const signedIn = async (repos: string[]): Promise<{ context: BrowserContext; page: Page }> => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(edge.origin)
    await signIn(page, repos)
    return { context, page }
  }

  it('two tabs are two boards, and stay so', async () => {
    const { context, page } = await signedIn(['test/*'])
    await choose(page, lamp)
    await shows(page, 'Dim the lamp', lamp)
    const other = await context.newPage()
    await other.goto(edge.origin)
    await choose(other, shop)
    await shows(other, 'Open the shop', shop)
    for (const tab of [page, other]) await tab.reload()
    await shows(page, 'Dim the lamp', lamp)
    await shows(other, 'Open the shop', shop)
    expect(await page.evaluate('localStorage.length')).toBe(0)
    await context.close()
  })

  it('the address holds the only board of a token, too', async () => {
    const { context, page } = await signedIn([shop])
    await shows(page, 'Open the shop', shop, lastPart(shop))
    await context.close()
  })

  it('a link opens its task on its board, also after signing in', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(addressOf(shop, '/A-1'))
    await signIn(page, ['test/*'])
    await page.getByRole('dialog', { name: 'Open the shop' }).waitFor()
    expect(page.url()).toBe(addressOf(shop, '/A-1'))
    const other = await context.newPage()
    await other.goto(addressOf(lamp, '/A-1'))
    await other.getByRole('dialog', { name: 'Dim the lamp' }).waitFor()
    await context.close()
  })

  it('another board than the token covers is refused, with a link to the one that it covers', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(addressOf(shop, '/A-1'))
    await signIn(page, [lamp])
    await page.getByRole('heading', { name: 'The edge refuses to show this board.' }).waitFor()
    expect(await page.getByText('Open the shop').count()).toBe(0)
    await page.goto(addressOf(shop))
    await page.getByRole('link', { name: lamp }).click()
    await shows(page, 'Dim the lamp', lamp, lastPart(lamp))
    await context.close()
  })

  it('a board that the session does not cover offers a new sign-in, and is then shown in its place', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(addressOf(shop))
    await signIn(page, [lamp])
    const refused = page.getByRole('heading', { name: 'The edge refuses to show this board.' })
    await refused.waitFor()
    expect(await seriousFaults(page)).toEqual([])
    const other = await context.newPage()
    await other.goto(addressOf(shop))
    await other.getByText('Sign in again with a token').waitFor()

    await signIn(page, [lamp])
    await refused.waitFor()
    await signIn(page, [shop])
    await shows(page, 'Open the shop', shop, lastPart(shop))
    // The tabs share the session.
    await shows(other, 'Open the shop', shop, lastPart(shop))
    await context.close()
  })

  it('without a board in the address, the only one that the token names is shown', async () => {
    const { context, page } = await signedIn(['test/*', shop])
    await shows(page, 'Open the shop', shop)
    await context.close()
  })

  it('without a board in the address, the list is shown where the token names none', async () => {
    const { context, page } = await signedIn(['test/*'])
    await page.getByRole('heading', { name: 'Which board?' }).waitFor()
    expect(await seriousFaults(page)).toEqual([])
    expect(await page.getByRole('button', { name: /choose another board/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'The shop' }).click()
    await shows(page, 'Open the shop', shop)
    await context.close()
  })

  it('the list says what is known of each board', async () => {
    const { context, page } = await signedIn([lamp, 'test/*'])
    await shows(page, 'Dim the lamp', lamp)
    await page.keyboard.press('?')
    await page.getByText('Show the boards').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await report(lamp, { title: 'The lamps', changedAt: new Date().toISOString() })
    const list = await openList(page)
    const lamps = list.getByRole('link', { name: 'The lamps' })
    for (const text of [lamp, 'cairn', '2 open, 1 closed', 'just now']) {
      await lamps.getByText(text).waitFor()
    }
    expect(await lamps.getAttribute('aria-current')).toBe('page')
    const other = list.getByRole('link', { name: 'The shop' })
    for (const text of ['OpenSpec', '1 open, 1,199 closed', /Its sidecar ended: /]) {
      await other.getByText(text).waitFor()
    }
    expect(await other.getAttribute('aria-current')).toBe(null)
    await context.close()
  })

  it('another board is chosen by keyboard, without what was open of the first; Back leads back', async () => {
    const { context, page } = await signedIn([lamp, 'test/*'])
    // A sign-in that is under way would take the address for its own.
    await shows(page, 'Dim the lamp', lamp)
    await page.goto(`${edge.origin}/#/board?q=dim&path=${lamp}`)
    await page.getByText('1 of 1 task').waitFor()
    await openList(page)
    await page.keyboard.type('the shop')
    await page.getByRole('status').filter({ hasText: '1 board' }).waitFor()
    await page.keyboard.press('Enter')
    await shows(page, 'Open the shop', shop)
    expect(await page.getByText('Dim the lamp').count()).toBe(0)
    expect(await page.getByRole('searchbox').inputValue()).toBe('')
    await page.goBack()
    await page.getByText('Dim the lamp').waitFor()
    expect(page.url()).toBe(`${edge.origin}/#/board?q=dim&path=${lamp}`)
    await context.close()
  })

  it('arrow keys move in the list, typing goes on, and Escape closes it', async () => {
    const { context, page } = await signedIn([lamp, 'test/*'])
    await shows(page, 'Dim the lamp', lamp)
    await page.getByRole('link', { name: 'Dim the lamp' }).focus()
    const list = await openList(page)
    const { keyboard } = page
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    await list.getByRole('link', { name: 'The shop' }).waitFor()
    await keyboard.type('test')
    for (const [key, text] of [
      ['ArrowDown', 'The lamps'],
      ['ArrowDown', 'The shop'],
      ['Home', 'The lamps'],
      ['End', 'The shop'],
      ['ArrowUp', 'The lamps'],
    ] as const) {
      await keyboard.press(key)
      await expect.poll(focused).toContain(text)
    }
    await keyboard.press('ArrowDown')
    await keyboard.type('/')
    await expect.poll(() => field(page).inputValue()).toBe('test/')
    await keyboard.press('Escape')
    // Closed, it is no dialog any more, but is still there for a moment.
    await page.locator('dialog').waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Dim the lamp')
    await openList(page)
    // At first the list has only the board that is shown.
    await page.getByRole('link', { name: 'The shop' }).waitFor()
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    await expect.poll(focused).toContain('The shop')
    await keyboard.press('Enter')
    await shows(page, 'Open the shop', shop)
    await expect.poll(focused).toBe('The shop')
    await context.close()
  })

  it('a board that appears while the list is open is in it, and one that goes missing says so', async () => {
    const { context, page } = await signedIn([lamp, 'test/*'])
    await shows(page, 'Dim the lamp', lamp)
    const list = await openList(page)
    const path = freshPath()
    await report(path, { title: 'A new one' })
    const fresh = list.getByRole('link', { name: 'A new one' })
    await fresh.getByText('cairn').waitFor()
    expect(await fresh.getByText(/sidecar/).count()).toBe(0)
    await report(path, { title: 'A new one', store: 'missing' })
    await fresh.getByText('Its folder is missing').waitFor()
    // Its sidecar has reported it, and published nothing.
    await fresh.click()
    await page.getByRole('heading', { name: 'This repository has not been published' }).waitFor()
    await page.getByText('sign in again, or look for it in the list of boards.').waitFor()
    await context.close()
  })

  it('boards of one title have as much of their path as tells them apart, in list, header and tab', async () => {
    const [one, other] = [`${freshPath()}/a/tea`, `${freshPath()}/b/tea`]
    for (const path of [one, other]) await report(path, { title: 'Tea' })
    const { context, page } = await signedIn([lamp, 'test/*'])
    await shows(page, 'Dim the lamp', lamp)
    const list = await openList(page)
    await list.getByRole('link', { name: 'Tea · a/tea' }).waitFor()
    await list.getByRole('link', { name: 'Tea · b/tea' }).click()
    await page.getByRole('button', { name: 'Tea · b/tea: choose another board' }).waitFor()
    await expect.poll(() => page.title()).toBe('Signalbox · Tea · b/tea')
    await context.close()
  })

  it('who may write takes a board that ended off the list, and none that runs', async () => {
    const [gone, runs] = [freshPath(), freshPath()]
    await report(gone, { title: 'Gone', sidecar: { state: 'ended', version: '1.2.3' } })
    await report(runs, { title: 'Open shop' })
    const { context, page } = await signedIn([lamp, 'test/*'])
    await shows(page, 'Dim the lamp', lamp)
    await (await openList(page)).getByRole('link', { name: 'Gone' }).waitFor()
    expect(await page.getByRole('button', { name: /off the list/ }).count()).toBe(0)
    await context.clearCookies()
    await page.reload()
    const scope = 'board:read board:write'
    await page.getByLabel('Access token').fill(await token({ scope, repos: [lamp, 'test/*'] }))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await shows(page, 'Dim the lamp', lamp)
    const list = await openList(page)
    await list.getByRole('link', { name: /^Open shop/ }).waitFor()
    expect(await list.getByRole('button', { name: 'Take Open shop off the list' }).count()).toBe(0)
    await list.getByRole('button', { name: 'Take Gone off the list' }).press('Enter')
    await list.getByRole('link', { name: 'Gone' }).waitFor({ state: 'detached' })
    expect(await list.getByRole('link', { name: /^Open shop/ }).count()).toBe(1)
    await context.close()
  })

  it('a board that is read for the first time says how far that is, and then appears', async () => {
    const repo = new Repo(edge)
    await repo.begin('f'.repeat(32))
    const reading = { done: 1_500, total: 100_000 }
    const record = taskRecord('A-1', { title: 'Count them' })
    await repo.changes({ upserts: [record], more: true, reading })
    const { context, page } = await signedIn([repo.path])
    await page.getByText('1,500 of 100,000 files.').waitFor()
    expect(await page.getByText('Count them').count()).toBe(0)
    expect(await seriousFaults(page)).toEqual([])
    await repo.changes({ upserts: [] })
    await page.getByText('Count them').waitFor()
    await context.close()
  })

  it('a token for one board has no list, and the key opens none', async () => {
    const { context, page } = await signedIn([shop])
    await shows(page, 'Open the shop', shop, lastPart(shop))
    await page.keyboard.press('b')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await page.getByText('Show the boards').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(1)
    expect(await page.getByRole('button', { name: /choose another board/ }).count()).toBe(0)
    await context.close()
  })

  it('a list that cannot be read says so, and still has the boards that the token names', async () => {
    const { context, page } = await signedIn([lamp, shop])
    await page.getByRole('heading', { name: 'Which board?' }).waitFor()
    await page.route('**/api/boards', (route) => route.abort())
    await page.getByRole('link', { name: lamp }).click()
    await shows(page, 'Dim the lamp', lamp)
    await page.getByRole('button', { name: /choose another board/ }).click()
    const list = page.getByRole('dialog', { name: 'Boards' })
    await list.getByText('The list of boards cannot be read. The edge does not answer.').waitFor()
    await list.getByRole('link', { name: shop }).click()
    await shows(page, 'Open the shop', shop)
    await context.close()
  })

  it('on a phone, the list is not covered by a keyboard on the screen', async () => {
    const context = await browser.newContext({ hasTouch: true, isMobile: true })
    const page = await context.newPage()
    await page.goto(edge.origin)
    await signIn(page, [lamp, 'test/*'])
    await page.getByRole('button', { name: /choose another board/ }).tap()
    const list = page.getByRole('dialog', { name: 'Boards' })
    await list.getByRole('link', { name: 'The shop' }).waitFor()
    expect(await page.evaluate('document.activeElement.localName')).not.toBe('input')
    await list.getByRole('link', { name: 'The shop' }).tap()
    await shows(page, 'Open the shop', shop)
    await context.close()
  })

  it('the list has no serious accessibility problem, light, dark and narrow', async () => {
    const { context, page } = await signedIn([lamp, 'test/*'])
    await shows(page, 'Dim the lamp', lamp)
    await openList(page)
    await expectAccessible(page)
    await context.close()
  })
})
