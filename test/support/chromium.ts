// The browser of the browser tests: this machine's own, since nothing is downloaded.

import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path))

export const hasChromium = executablePath !== undefined

/** To be put behind the name of what is skipped without it. */
export const whySkipped = hasChromium
  ? ''
  : ' (skipped: no Chromium on this machine; apt-get install chromium)'

export const launchChromium = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath ?? '',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', ...more],
  })
