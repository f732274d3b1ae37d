// The browser of the browser tests: the installed one, since tests download nothing.

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

// The headless shell first: it needs half of the CPU time.
const executablePath = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path))

export const hasChromium = executablePath !== undefined

/** A suffix for the names of tests that are skipped without a browser. */
export const whySkipped = hasChromium
  ? ''
  : ' (skipped: no Chromium on this machine; apt-get install chromium-headless-shell)'

/**
 * Its pages move nothing, unless a test asks for that: a browser without a graphics card draws each step
 * of what fades for 2.4 s after a change.
 */
export async function launchChromium(more: readonly string[] = []): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: executablePath ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...more],
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = (options) => newContext({ reducedMotion: 'reduce', ...options })
  return browser
}

let opened: Promise<Browser> | undefined

/**
 * One browser for all test files of this process, since a start takes more CPU time than most
 * files. It ends with the process. Each file closes its pages.
 */
export async function openChromium(): Promise<Browser> {
  if (opened && (await opened).isConnected()) return opened
  opened = launchChromium()
  return opened
}

/** Closes all pages, with their cookies, storage and caches. */
export async function closePages(browser: Browser | undefined): Promise<void> {
  for (const context of browser?.contexts() ?? []) await context.close()
}
