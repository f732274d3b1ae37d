// What axe finds in a page, as far as it keeps somebody out.

import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** Each as text. Of the whole page, or of what `selector` finds. */
export async function seriousFaults(page: Page, selector?: string): Promise<string[]> {
  // As text, which the page's own policy does not concern.
  await page.evaluate(axe.source)
  const run = `axe.run(${selector === undefined ? '' : JSON.stringify(selector)})`
  const { violations } = (await page.evaluate(run)) as axe.AxeResults
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n  ')}`)
}
