// Serious accessibility problems of a page, found by axe.

import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** The problems as texts, of the whole page or of the elements of `selector`. */
export async function seriousFaults(page: Page, selector?: string): Promise<string[]> {
  // The security policy of the page does not block text that is evaluated so.
  await page.evaluate(axe.source)
  const run = `axe.run(${selector === undefined ? '' : JSON.stringify(selector)})`
  const { violations } = (await page.evaluate(run)) as axe.AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n  ')}`)
}
