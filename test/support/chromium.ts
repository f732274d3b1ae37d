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
