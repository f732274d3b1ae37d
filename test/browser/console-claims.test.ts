// Who works on what, on the page of a real system: a claim appears by itself, and a person ends it.

import { afterAll, describe, expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { boardPages } from '../support/board-page.ts'
import { hasChromium, whySkipped } from '../support/chromium.ts'
import { linkOf, openConsole } from '../support/console-page.ts'
import { oneProcess, Starts } from '../support/local-system.ts'

const starts = new Starts()
afterAll(() => starts.clear())

describe.skipIf(!hasChromium)(`claims in Chromium${whySkipped}`, () => {
  const { newContext } = boardPages()

  it('show who works, since when and on what, and end where the session may work', async () => {
    const start = await (await starts.start({ launch: oneProcess })).ready()
    const signalbox = async (...argv: string[]) => {
      const { code, out, err } = await run([...argv, '--data', start.dataDir])
      expect([code, err]).toEqual([0, ''])
      return out.trim()
    }
    const { task } = JSON.parse(
      await signalbox('claim', '--actor', 'ada', '--task', 'LAMP-5', '--force'),
    ) as { task: string }
    await signalbox('renew', '--actor', 'ada', '--progress', 'measures the lamp')

    const reader = await openConsole(await newContext(), await signalbox('sign-in'))
    const card = reader.page
      .locator('article, li, a')
      .filter({ hasText: /Working: ada · \d+ min/ })
      .first()
    await card.waitFor()
    await reader.page.getByLabel('Who works').selectOption('ada')
    await reader.page.getByText('1 of 7 tasks').waitFor()
    await reader.page.goto(`${(await start.local()).url}/#/board/${task}`)
    const shown = reader.page.getByRole('dialog')
    // Of the claim, and once it was read in the history, too.
    await shown.getByText('measures the lamp').first().waitFor()
    expect(await shown.getByText('End this claim').count()).toBe(0)

    // Who started it may.
    const worker = await openConsole(await newContext(), linkOf(start))
    await worker.page.getByText('Working: ada').first().waitFor()
    await worker.page.goto(`${(await start.local()).url}/#/board/${task}`)
    const dialog = worker.page.getByRole('dialog')
    await dialog.getByText('End this claim').click()
    await dialog.getByText('may still work on the task').waitFor()
    await dialog.getByRole('button', { name: 'End the claim of ada' }).click()
    // Both pages learn of it by themselves.
    for (const page of [dialog, shown]) await page.getByText('Canceled: abandoned').waitFor()
    const lost = await run(['check', '--actor', 'ada', '--data', start.dataDir])
    expect([lost.code, JSON.parse(lost.out)]).toMatchObject([4, { type: 'claim_lost' }])
    expect([...reader.complaints, ...worker.complaints]).toEqual([])
  })
})
