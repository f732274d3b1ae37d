// The browser of the browser tests: the installed one, since tests download nothing.

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

// The headless shell first: it has no window to keep, and costs half of the CPU.
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

export const launchChromium = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...more],
  })

let opened: Promise<Browser> | undefined

/**
 * The one browser of all files that this process tests, which ends with the process: a start costs
 * more CPU than most files. Each file closes its pages.
 */
export async function openChromium(): Promise<Browser> {
  if (opened && (await opened).isConnected()) return opened
  opened = launchChromium()
  return opened
}

/** And whatever they keep: cookies, storage, what was cached. */
export async function closePages(browser: Browser | undefined): Promise<void> {
  for (const context of browser?.contexts() ?? []) await context.close()
}
