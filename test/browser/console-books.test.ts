// The books in a browser, over a whole system: the sums of a month, and a gateway's file.

import { afterAll, describe, expect, it } from 'vitest'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import { seriousFaults } from '../support/axe.ts'
import { boardPages } from '../support/board-page.ts'
import { hasChromium, whySkipped } from '../support/chromium.ts'
import { linkOf, openConsole } from '../support/console-page.ts'
import { oneProcess, Starts } from '../support/local-system.ts'

const starts = new Starts()
afterAll(() => starts.clear())

describe.skipIf(!hasChromium)(`the books in Chromium${whySkipped}`, () => {
  const { newContext } = boardPages()

  it('show the sums of a month, and compare a file, whose differences have a button', async () => {
    const start = await (await starts.start({ launch: oneProcess })).ready()
    const simulator = new SimulatorControl((await start.local()).simulator)
    const paid = await start.charge('order-1')
    await simulator.act(paid.gatewayTransactionId, 'pay')
    const lost = await start.charge('order-2')
    await simulator.faults('order-2', { lost: true })
    await simulator.act(lost.gatewayTransactionId, 'pay')

    const { page, complaints } = await openConsole(await newContext(), linkOf(start))
    await page.getByRole('link', { name: 'Books' }).click()
    const month = page.getByRole('table').first()
    await month.getByRole('row').filter({ hasText: 'redirect' }).first().waitFor()
    const sheet = page.getByRole('link', { name: 'with 12,50' })
    expect(await sheet.getAttribute('href')).toMatch(/format=csv&for=spreadsheet&decimal=%2C$/)
    await month.getByRole('link').first().click()
    await page.getByRole('heading', { name: /^What moved on / }).waitFor()
    const moved = page.getByRole('row').filter({ hasText: 'order-1' })
    await moved.filter({ hasText: /Paid.*redirect.*IQD.25,000/ }).waitFor()
    expect(await seriousFaults(page, 'main')).toEqual([])
    await page.goBack()
    await month.getByRole('row').filter({ hasText: 'redirect' }).first().waitFor()

    const day = new Date().toISOString().slice(0, 10)
    const rows = [paid, lost].map(
      ({ gatewayTransactionId }) => `${gatewayTransactionId},25000,IQD,${day}`,
    )
    const file = ['id,amount,currency,date', ...rows, `nobody,5,IQD,${day}`].join('\n')
    await page
      .getByLabel('Settlement file')
      .setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer: Buffer.from(file) })
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('1 row the same, 2 differences').waitFor()
    await page
      .getByRole('row')
      .filter({ hasText: 'Not ours' })
      .filter({ hasText: 'nobody' })
      .waitFor()
    expect(await seriousFaults(page, 'main')).toEqual([])
    const difference = page.getByRole('row').filter({ hasText: 'Paid there, not here' })
    await difference.getByRole('button', { name: 'Ask the gateway about order-2' }).click()
    await page.getByText('2 rows the same, 1 difference').waitFor()
    const sums = page.getByRole('table', { name: 'Sums of both sides' })
    await sums
      .getByRole('row')
      .filter({ hasText: /Paid.*50,005.*50,000.*IQD.5$/ })
      .waitFor()

    await page.setViewportSize({ width: 390, height: 664 })
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(390)
    // Its tables are moved by keys, too.
    expect(await seriousFaults(page, 'main')).toEqual([])

    const typed = ['id,amount,currency,date,type', `${rows[0]},Vrac`, `${rows[1]},Sale`].join('\n')
    await page
      .getByLabel('Settlement file')
      .setInputFiles({ name: 'b.csv', mimeType: 'text/csv', buffer: Buffer.from(typed) })
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('1 row of the unknown type “Vrac”.').waitFor()
    await page.getByText('If it is not read as it should be', { exact: true }).click()
    await page.getByLabel('Words of type or state').fill('Vrac=sale')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('not "Vrac=sale".').waitFor()
    await page.getByLabel('Words of type or state').fill('Vrac=payment')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByText('2 rows the same, 0 differences').waitFor()
    expect(await seriousFaults(page, 'main')).toEqual([])
    expect(complaints).toEqual([])
  })
})
