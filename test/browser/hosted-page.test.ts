// The promise of the README: one request charges, a person presses Pay on the payment page, and the
// host application gets one event, although the gateway sends fifty webhooks at once.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import type { OpenedPayment } from '../../worker/payments/domain/types.ts'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'
import { PATIENT } from '../support/patience.ts'
import type { TransactionStory } from '../support/payment-system.ts'

describe.skipIf(!hasChromium)(`the hosted page in Chromium${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let simulator: SimulatorControl
  let browser: Browser
  let shop: string
  const shopServer = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>Thank you</title>')
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => shopServer.listen(0, '127.0.0.1', resolve))
    shop = `http://127.0.0.1:${(shopServer.address() as AddressInfo).port}/thanks`
    start = await (await starts.start({ launch: oneProcess })).ready()
    const local = await start.local()
    simulator = new SimulatorControl(local.simulator)
    await fetch(`${local.simulator}/_control/faults`, {
      method: 'PUT',
      body: JSON.stringify({ all: { copies: 50 } }),
    })
    browser = await openChromium()
  })
  afterAll(async () => {
    await closePages(browser)
    await starts.clear()
    shopServer.close()
  })

  /** The story after every webhook was answered and every event delivered. */
  const settled = async ({ gatewayTransactionId, transactionId }: OpenedPayment) => {
    // A busy machine may answer one too late, and then it is sent again.
    const accepted = async () => {
      const sent = await simulator.webhooks(gatewayTransactionId)
      return sent.filter(({ status }) => status === 200)
    }
    await vi.waitUntil(async () => (await accepted()).length >= 50, PATIENT)
    const story = () => start.payments<TransactionStory>(`/transactions/${transactionId}`)
    await vi.waitUntil(
      async () => (await story()).events.every((event) => event.listenersDoneAt),
      PATIENT,
    )
    return { accepted: await accepted(), story: await story() }
  }
  /** The output of the listener in signalbox.config.ts about an order. */
  const printed = (reference: string) =>
    start.stdout.split('\n').filter((line) => line.startsWith(`PaymentSucceeded ${reference}:`))

  it('pays once: back at the shop, Paid, and one PaymentSucceeded for fifty webhooks', async () => {
    const charged = await start.charge('order-1', { returnUrl: shop })
    const tab = await browser.newPage()
    await tab.goto(charged.redirectUrl ?? '')
    expect(await tab.title()).toContain('25,000 IQD')
    await tab.getByRole('button', { name: 'Pay', exact: true }).click()
    await tab.waitForURL(`${shop}?token=*`)
    expect(await tab.title()).toBe('Thank you')

    const { accepted, story } = await settled(charged)
    expect(accepted).toHaveLength(50)
    const others = accepted.filter(({ answer }) => answer !== 'ok')
    expect(others.map(({ answer }) => answer)).toEqual(others.map(() => 'duplicate'))
    // The one `ok` may have come too late.
    expect(others.length).toBeGreaterThanOrEqual(49)
    expect(story).toMatchObject({ status: 'Paid', amount: 25_000, refundedAmount: 0 })
    expect(story.webhookEvents).toHaveLength(1)
    expect(story.events.map(({ type }) => type)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
    await expect.poll(() => printed('order-1')).toEqual(['PaymentSucceeded order-1: 25000 IQD'])

    // The back button leads to a page that no longer offers Pay.
    await tab.goto(charged.redirectUrl ?? '')
    expect(await tab.getByRole('status').textContent()).toBe('This payment is paid.')
    expect(await tab.getByRole('button').count()).toBe(0)
    await tab.close()
  })

  it('cancels by keyboard, shows the result without a URL of the shop, and nothing is paid', async () => {
    const reference = `order-2-${'of-many-words-'.repeat(8)}`
    const charged = await start.charge(reference, { amount: 1_250_000_000 })
    const tab = await browser.newPage({ viewport: { width: 320, height: 568 } })
    await tab.goto(charged.redirectUrl ?? '')
    // As a text, since the tests are type-checked without the types of the DOM.
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    await tab.getByRole('button', { name: 'Cancel' }).press('Enter')
    expect(await tab.getByRole('status').textContent()).toBe('This payment was cancelled.')
    const { story } = await settled(charged)
    expect(story.status).toBe('Failed')
    expect(story.events.map(({ type }) => type)).toEqual(['PaymentInitiated', 'PaymentFailed'])
    expect(printed(reference)).toEqual([])
    await tab.close()
  })
})
