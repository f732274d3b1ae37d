// Serious accessibility problems of a page, found by axe.

import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

interface View {
  size: { width: number; height: number }
  colorScheme: 'light' | 'dark'
}

/** Each size in one of the colour schemes: few colours depend on the size. */
export const VIEWS: readonly [wide: View, narrow: View] = [
  { size: { width: 1280, height: 800 }, colorScheme: 'light' },
  { size: { width: 390, height: 664 }, colorScheme: 'dark' },
]

/** The problems as texts, of the whole page or of the elements of `selector`. */
export async function seriousFaults(page: Page, selector = 'html'): Promise<string[]> {
  // The security policy of the page does not block text that is evaluated so. It is half a megabyte:
  // once a page.
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  // What passes is a hundred times as much, and takes longer to send than to find.
  const run = `axe.run(${JSON.stringify(selector)}, { resultTypes: ['violations'] })
    .then(({ violations }) => violations)`
  const violations: axe.Result[] = await page.evaluate(run)
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join('\n  ')}`)
}

/** Nothing is serious and nothing is wider than the screen: wide and narrow, light and dark. */
export async function expectAccessible(
  page: Page,
  { selector, views = VIEWS }: { selector?: string; views?: readonly View[] } = {},
): Promise<void> {
  for (const { size, colorScheme } of views) {
    await page.setViewportSize(size)
    // Without motion, the colours are there at once.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect(await seriousFaults(page, selector)).toEqual([])
    const width = await page.evaluate('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(size.width)
  }
}
