// A real browser's EventSource on a real stream.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closePages, hasChromium, openChromium, whySkipped } from '../support/chromium.ts'
import { publishedRepo, taskRecord } from '../support/edge.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'

describe.skipIf(!hasChromium)(`Chromium's EventSource${whySkipped}`, () => {
  let edge: EdgeProcess
  let browser: Browser
  let origin: string
  const page = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>A page of another origin</title>')
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(page.address() as AddressInfo).port}`
    edge = await startEdge('workerd', { ALLOWED_ORIGINS: origin })
    browser = await openChromium()
  })
  afterAll(async () => {
    await closePages(browser)
    await edge?.close()
    page.close()
  })

  it('opens the stream with a ticket, and gets messages with ids', async () => {
    const repo = await publishedRepo(edge, [taskRecord('A-1')])
    const issued = await repo.post('tickets', {})
    const { ticket } = (await issued.json()) as { ticket: string }
    const url = `${edge.origin}/api/events?path=${encodeURIComponent(repo.path)}&ticket=${ticket}`
    const tab = await browser.newPage()
    await tab.goto(origin)
    await tab.evaluate(async (streamUrl) => {
      const seen: object[] = []
      Object.assign(globalThis, { seen })
      const source = new EventSource(streamUrl)
      source.onmessage = ({ type, data, lastEventId }) =>
        seen.push({ type, data: JSON.parse(data), lastEventId })
      await new Promise((resolve) => source.addEventListener('open', resolve))
    }, url)
    const seen = () => tab.evaluate(() => (globalThis as unknown as { seen: object[] }).seen)
    expect(await seen()).toEqual([])
    const { seq } = await repo.changes({ upserts: [taskRecord('A-2')] })
    await expect
      .poll(seen)
      .toEqual([{ type: 'message', data: { type: 'task-changed', id: 'A-2' }, lastEventId: seq }])
    await tab.close()
  })
})
