// Makes the picture of the README from the real system: what a phone shows of a board that is
// edited, and of a payment. `node tools/bench/tour.ts`, with Chromium installed.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchChromium } from '../../test/support/chromium.ts'
import { SIGNALBOX } from '../harness/config.ts'
import { HOME, startNode } from './programs.ts'

const PHONE = { width: 360, height: 640 }
const BETWEEN = 24
const WAIT_MS = 30_000

const folder = mkdtempSync(join(tmpdir(), 'signalbox-tour-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
await play(join(folder, 'lamp'))

async function play(project: string): Promise<void> {
  cpSync(join(HOME, 'examples/board'), project, { recursive: true })
  const args = [SIGNALBOX, '--port', '0', '--trust-data']
  const place = { dir: folder, cwd: project }
  const { program, line: opened } = await startNode(args, /^Open +\S+$/, place)
  await using stack = new AsyncDisposableStack()
  stack.use(program)
  const browser = stack.adopt(await launchChromium(), (it) => it.close())
  const context = await browser.newContext({ viewport: PHONE, deviceScaleFactor: 1.5 })
  context.setDefaultTimeout(WAIT_MS)
  const board = await context.newPage()
  await board.goto(opened.replace(/^Open +/, ''))
  await board.locator('.card').first().waitFor()
  const file = join(project, '.cairn/tasks/LAMP-4.md')
  const task = readFileSync(file, 'utf8')
  writeFileSync(file, task.replace(/^status: .*/m, 'status: in_progress'))
  await board.locator('.card.changed', { hasText: 'LAMP-4' }).first().scrollIntoViewIfNeeded()
  const edited = await board.screenshot()

  const { url, tokens } = JSON.parse(readFileSync(join(project, '.signalbox/local.json'), 'utf8'))
  const order = { gateway: 'redirect', reference: 'order-1', description: 'A lamp' }
  const charged = await fetch(`${url}/api/payments/charges`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.payments}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...order, amount: 25_000, currency: 'IQD' }),
  })
  const { redirectUrl = '' } = (await charged.json()) as { redirectUrl?: string }
  const pay = await context.newPage()
  await pay.goto(redirectUrl)
  const asked = await pay.screenshot()
  await pay.getByRole('button', { name: /^Pay/ }).click()
  await board.goto(`${url}/#/payments`)
  await board.getByRole('row').filter({ hasText: 'order-1' }).getByRole('link').first().click()
  await board.getByRole('listitem').filter({ hasText: 'Paid' }).first().waitFor()

  const shots = [edited, asked, await board.screenshot()].map((shot) => {
    return `<img width="${PHONE.width}" src="data:image/png;base64,${shot.toString('base64')}">`
  })
  const picture = await context.newPage()
  const width = shots.length * (PHONE.width + BETWEEN) - BETWEEN
  await picture.setViewportSize({ width, height: PHONE.height })
  await picture.setContent(
    `<body style="display: flex; gap: ${BETWEEN}px; margin: 0">${shots.join('')}`,
  )
  const path = join(HOME, 'docs/images/tour.png')
  await picture.screenshot({ path, omitBackground: true })
  process.stdout.write(`${path}\n`)
}
