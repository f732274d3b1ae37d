// Makes tour.svg, the moving picture of the README, from the real system: a board that is edited,
// and a payment, each as a phone shows it. `node tools/bench/tour/tour.ts`, with Chromium installed.

import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Page } from 'playwright-core'
import { launchChromium } from '../../../test/support/chromium.ts'
import { type Scene, tourSvg } from './tour-svg.ts'

const HOME = resolve(import.meta.dirname, '../../..')
const PHONE = { width: 360, height: 700 }
const WAIT_MS = 30_000

const folder = mkdtempSync(join(tmpdir(), 'signalbox-tour-'))
const project = join(folder, 'lamp')
cpSync(join(HOME, 'examples/board'), project, { recursive: true })
const started = performance.now()
const signalbox = spawn(
  process.execPath,
  [join(HOME, 'cli/signalbox.ts'), '--port', '0', '--trust-data'],
  {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
const lines = createInterface({ input: signalbox.stdout })
const browser = await launchChromium()
try {
  const [[board], [, link = '']] = await Promise.all([line(/^board .*$/), line(/^Open +(\S+)$/)])
  const readyS = (performance.now() - started) / 1_000
  const context = await browser.newContext({ viewport: PHONE, deviceScaleFactor: 1.5 })
  const phone = await context.newPage()
  phone.setDefaultTimeout(WAIT_MS)

  await phone.goto(link)
  const card = phone.locator('.card', { hasText: 'LAMP-4' }).first()
  await card.waitFor()
  await card.scrollIntoViewIfNeeded()
  const before = await shown(phone)

  const file = join(project, '.cairn/tasks/LAMP-4.md')
  const task = readFileSync(file, 'utf8')
  const savedAt = performance.now()
  writeFileSync(file, task.replace(/^status: .*/m, 'status: in_progress'))
  const moved = phone.locator('.card.changed', { hasText: 'LAMP-4' }).first()
  await moved.waitFor()
  const movedMs = performance.now() - savedAt
  await moved.scrollIntoViewIfNeeded()
  const after = await shown(phone)

  const local = JSON.parse(readFileSync(join(project, '.signalbox/local.json'), 'utf8'))
  const listened = line(/^PaymentSucceeded .*$/)
  const charged = await fetch(`${local.url}/api/payments/charges`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${local.tokens.payments}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      gateway: 'redirect',
      reference: 'order-1',
      description: 'A lamp',
      amount: 25_000,
      currency: 'IQD',
    }),
  })
  const { status, redirectUrl } = (await charged.json()) as Record<string, string>
  const pay = await context.newPage()
  await pay.goto(redirectUrl ?? '')
  const page = await shown(pay)
  await pay.getByRole('button', { name: /^Pay/ }).click()
  await phone.goto(`${local.url}/#/payments`)
  await phone.getByRole('row').filter({ hasText: 'order-1' }).getByRole('link').first().click()
  await phone.getByRole('listitem').filter({ hasText: 'Paid' }).first().waitFor()
  const paid = await shown(phone)

  const scenes: Scene[] = [
    {
      lines: [
        { kind: 'typed', text: '$ signalbox' },
        { kind: 'printed', text: board.replace(project, '~/lamp') },
        { kind: 'printed', text: `ready after ${readyS.toFixed(1)} s` },
      ],
      image: before,
    },
    {
      lines: [
        { kind: 'typed', text: "$ sed -i 's/^status: .*/status: in_progress/' LAMP-4.md" },
        { kind: 'printed', text: `on the phone after ${(movedMs / 1_000).toFixed(2)} s` },
      ],
      image: after,
    },
    {
      lines: [
        { kind: 'typed', text: '$ curl -X POST …/charges -d \'{"gateway":"redirect",' },
        { kind: 'typed', text: '    "reference":"order-1","amount":25000,"currency":"IQD"}\'' },
        { kind: 'printed', text: `${charged.status} ${status}, and the page to pay on` },
      ],
      image: page,
    },
    {
      lines: [{ kind: 'printed', text: (await listened)[0] }],
      image: paid,
    },
  ]
  const out = join(HOME, 'docs/images/tour.svg')
  writeFileSync(out, tourSvg(scenes, PHONE))
  process.stdout.write(`${out}\n`)
} finally {
  await browser.close()
  const ended = new Promise((done) => signalbox.once('exit', done))
  signalbox.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
}

/** The next line of the program that matches. */
function line(pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = (text: string) => {
      const found = pattern.exec(text)
      if (!found) return
      lines.off('line', look)
      resolve(found)
    }
    lines.on('line', look)
    lines.once('close', () => reject(new Error(`signalbox ended without ${pattern}`)))
  })
}

async function shown(page: Page): Promise<string> {
  return (await page.screenshot({ type: 'jpeg', quality: 60 })).toString('base64')
}
