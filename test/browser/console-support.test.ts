// The stories of docs/support.md, each from the search to the answer, by what the first screen says.

import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import { seriousFaults, VIEWS } from '../support/axe.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { openConsole, readsOften } from '../support/console-page.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'

const SEARCH = 'Number, name, amount or id'

interface Story {
  name: string
  /** Makes the payments of this customer. */
  make?(system: System, order: Order): Promise<unknown>
  /** Of several finds, the row that is opened. */
  opens?: string
  /** The button that the page of the payment offers. */
  presses?: RegExp
  /** What the first screen then says, in this order. */
  says: readonly RegExp[]
}

interface System {
  start: Start
  simulator: SimulatorControl
}

interface Order {
  reference: string
  metadata: { name: string }
}

async function charged({ start }: System, { reference, metadata }: Order, gateway = 'redirect') {
  return (await start.charge(reference, { metadata, gateway })).gatewayTransactionId
}

async function paid(system: System, order: Order, gateway?: string) {
  const id = await charged(system, order, gateway)
  await system.simulator.act(id, 'pay')
  return id
}

const ASK = /^Ask the gateway now/

const STORIES: readonly Story[] = [
  {
    name: 'she shows a receipt of a payment whose webhook was lost',
    async make(system, order) {
      await system.simulator.faults(order.reference, { lost: true })
      await paid(system, order)
    },
    presses: ASK,
    says: [/IQD.25,000/, /Paid/, /redirect has answered/],
  },
  {
    name: 'she did not finish, or her bank has not yet',
    make: charged,
    presses: ASK,
    says: [/Pending/, /redirect has answered/, /said Pending.*asked again.*Can be paid until/],
  },
  {
    name: 'she paid after the page had closed',
    async make(system, order) {
      const id = await charged(system, order)
      await system.simulator.act(id, 'expire')
      await system.simulator.act(id, 'pay_late')
    },
    says: [/Paid late/, /Late payment/, /IQD.25,000 arrived/, /Deliver the order, or refund/],
  },
  {
    name: 'she paid another amount than was asked',
    async make(system, order) {
      await system.simulator.faults(order.reference, { amount: 20_000 })
      await paid(system, order)
    },
    says: [
      /Paid IQD.20,000/,
      /A different amount was paid/,
      /20,000 was paid instead of IQD.25,000/,
    ],
  },
  {
    name: 'she tried twice, and paid on the other page',
    async make(system, order) {
      await charged(system, order)
      await paid(system, order, 'fib')
    },
    opens: 'Pending',
    says: [/Pending/, /Other payments of this order/, /Paid/, /fib/],
  },
  {
    name: 'she paid on both pages',
    async make(system, order) {
      await paid(system, order)
      await paid(system, order, 'fib')
    },
    opens: 'Needs you',
    says: [/Paid/, /An order was paid twice/, /The other payment/, /Refund one of the two/],
  },
  {
    name: 'somebody refunded at the gateway’s own desk',
    async make(system, order) {
      await system.simulator.act(await paid(system, order), 'refund')
    },
    says: [/IQD.25,000/, /Refunded/, /Refunded IQD.25,000/],
  },
  {
    name: 'she shows a refund whose webhook was lost',
    async make(system, order) {
      const id = await paid(system, order)
      await system.simulator.faults(order.reference, { lost: true })
      await system.simulator.act(id, 'refund')
    },
    presses: ASK,
    says: [/IQD.25,000/, /Refunded IQD.25,000/, /redirect has answered/],
  },
  {
    name: 'the order was never charged',
    says: [/No payment matches/],
  },
  {
    name: 'the gateway’s answer to the charge was lost',
    async make({ start, simulator }, { reference, metadata }) {
      await simulator.faults(reference, { outage: 502 })
      const body = { reference, metadata, gateway: 'redirect', amount: 25_000, currency: 'IQD' }
      await expect(start.charge(reference, body)).rejects.toThrow('503')
      await simulator.faults(reference, {})
    },
    says: [/Pending/, /This payment has no payment link/, /Replace this payment/],
  },
]

const [WIDE, NARROW] = VIEWS
const CALLS = [
  { ...WIDE, customer: 'Zainab Ali' },
  { ...NARROW, customer: 'زينب علي' },
]

/** The visible texts whose beginning is on the screen, as they follow each other. */
const firstScreen = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    let [text, before] = ['', null]
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const range = document.createRange()
      range.selectNodeContents(node)
      const { top, width } = range.getBoundingClientRect()
      const isSeen = node.parentElement.checkVisibility() && width > 1
      if (!isSeen || top < 0 || top >= innerHeight) continue
      // An amount is one text of several parts.
      text += (before?.parentElement === node.parentElement ? '' : ' ') + node.textContent
      before = node
    }
    return text.replaceAll(/\\s+/g, ' ')
  })()`)

/** What is not said, or not in this order. */
function notIn(text: string, says: readonly RegExp[]): string[] {
  let rest = text
  return says.flatMap((said) => {
    const at = rest.search(said)
    if (at < 0) return [`${said} in ${rest}`]
    rest = rest.slice(at)
    return []
  })
}

describe.skipIf(!hasChromium)(`what support reads first in Chromium${whySkipped}`, () => {
  const starts = new Starts()
  let system: System

  beforeAll(async () => {
    const start = await (await starts.start({ launch: oneProcess })).ready()
    system = { start, simulator: new SimulatorControl((await start.local()).simulator) }
  })
  afterAll(async () => {
    await closePages(await openChromium())
    await starts.clear()
  })

  async function opened(options: BrowserContextOptions, before?: (it: BrowserContext) => unknown) {
    const context = await (await openChromium()).newContext({ ...options, reducedMotion: 'reduce' })
    await before?.(context)
    const { url, tokens } = await system.start.local()
    const { page, complaints } = await openConsole(context, `${url}/#/payments`)
    await page.getByLabel('Access token').fill(tokens.payments)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    // The browser complains that nobody was signed in.
    complaints.length = 0
    return { page, complaints }
  }

  it('five of many open issues are read at once, and ? tells the keys of payments', async () => {
    const alerts = Array.from({ length: 19 }, (_, n) => ({
      id: `a${n}`,
      kind: 'late_payment',
      gateway: 'redirect',
      transactionId: `t${n}`,
      detail: { amount: 25_000, currency: 'IQD', reference: `order-${n}` },
      createdAt: new Date(1_795_900_000_000 - n * 60_000).toISOString(),
    }))
    const { page, complaints } = await opened({ viewport: NARROW.size }, (context) =>
      context.route('**/api/payments/alerts?*', (route) => route.fulfill({ json: { alerts } })),
    )
    const needs = page.getByRole('region', { name: 'Needs you 19' })
    const issues = needs.getByRole('heading', { level: 3 })
    await needs.getByText('19 late').waitFor()
    expect(await issues.count()).toBe(5)
    await needs.getByRole('link', { name: 'Details of order-4' }).waitFor()
    await needs.getByRole('button', { name: '14 more' }).click()
    expect(await issues.count()).toBe(19)
    expect(await seriousFaults(page)).toEqual([])

    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await keys.getByText('Open the payment; in the search, a single find').waitFor()
    expect(await keys.getByText('Move between cards').count()).toBe(0)
    expect(await seriousFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  })

  describe.each(CALLS)('at $size.width × $size.height, $colorScheme, of $customer', (view) => {
    let page: Page
    let complaints: string[]
    beforeAll(async () => {
      const { size: viewport, colorScheme } = view
      ;({ page, complaints } = await opened({ viewport, colorScheme }, readsOften))
    })
    afterAll(() => page.context().close())

    it.each(STORIES)('$name', async (story) => {
      const at = `${CALLS.indexOf(view)}${STORIES.indexOf(story)}`
      // A letter, so that no amount and no number of another one has it.
      const order = { reference: `ord-A${at}Z`, metadata: { name: `${view.customer} N${at}` } }
      await story.make?.(system, order)
      await page.getByLabel(SEARCH).fill(order.metadata.name)
      await page.getByLabel(SEARCH).press('Enter')
      if (story.opens) {
        const row = page.getByRole('row').filter({ hasText: story.opens })
        await row.getByRole('link', { name: order.reference }).click()
      }
      const heading = story.make ? order.reference : 'Payments'
      await page.getByRole('heading', { name: heading }).waitFor()
      if (story.presses) await page.getByRole('button', { name: story.presses }).click()
      await expect.poll(async () => notIn(await firstScreen(page), story.says)).toEqual([])
      // In the other view, console-payments.test.ts does that.
      if (view.colorScheme === 'dark') expect(await seriousFaults(page)).toEqual([])
      expect(complaints).toEqual([])
    })

    it.each([
      [
        'payments',
        [/Number, name, amount or id/, /Needs you \d+.*late.*twice.*other amount/, /IQD.2/],
      ],
      ['books', [/Number, name, amount or id/, /Books/, /From/, /To/]],
    ])('%s begins with the search and what counts, and nothing is wider', async (path, says) => {
      await page.goto(`${new URL(page.url()).origin}/#/${path}`)
      // As it is opened: back from a payment, its row has the focus.
      await page.reload()
      await expect.poll(async () => notIn(await firstScreen(page), says)).toEqual([])
      const width = await page.evaluate('document.documentElement.scrollWidth')
      expect(width).toBeLessThanOrEqual(view.size.width)
      expect(await seriousFaults(page)).toEqual([])
    })
  })
})
