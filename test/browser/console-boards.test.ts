// Which board the console shows: the one in the address. Two boards of one edge, in a real browser.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildConsole } from '../../console/build.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { publishedRepo, taskRecord, token } from '../support/edge.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/node-edge.ts'

describe.skipIf(!hasChromium)(`the boards of a console${whySkipped}`, () => {
  let consoleDir: string
  let edge: NodeEdgeInTest
  let browser: Browser
  let lamp: string
  let shop: string

  beforeAll(async () => {
    consoleDir = await mkdtemp(join(tmpdir(), 'signalbox-page-'))
    await buildConsole(consoleDir)
    edge = await startNodeEdge({}, { consoleDir })
    lamp = (await publishedRepo(edge, [taskRecord('A-1', { title: 'Dim the lamp' })])).path
    shop = (await publishedRepo(edge, [taskRecord('A-1', { title: 'Open the shop' })])).path
    browser = await openChromium()
  })
  afterAll(async () => {
    await closePages(browser)
    await edge.close()
    await rm(consoleDir, { recursive: true, force: true })
  })

  const addressOf = (path: string, id = '') => `${edge.origin}/#/board${id}?path=${path}`
  const signIn = async (page: Page, repos: string[]) => {
    await page.getByLabel('Access token').fill(await token({ scope: 'board:read', repos }))
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const choose = async (page: Page, path: string) => {
    await page.getByLabel('Path of the repository').fill(path)
    await page.getByRole('button', { name: 'Open' }).click()
  }
  const shows = async (page: Page, title: string, path: string) => {
    await page.getByText(title).waitFor()
    const name = path.replace(/^.*\//, '')
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
    await shows(page, 'Open the shop', shop)
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
    await shows(page, 'Dim the lamp', lamp)
    await context.close()
  })
})
