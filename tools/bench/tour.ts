// Makes tour.svg, the moving picture of the README, from the real system: a board that is edited,
// and a payment, each as a phone shows it. `node tools/bench/tour.ts`, with Chromium installed.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { launchChromium } from '../../test/support/chromium.ts'
import { SIGNALBOX } from '../harness/config.ts'
import { HOME, lineIn, START_WAIT_MS, startNode } from './programs.ts'

const PHONE = { width: 360, height: 700 }
const WAIT_MS = 30_000

interface Scene {
  /** `$` begins what somebody types; the rest is printed. */
  lines: readonly string[]
  /** What the phone shows at its end: a JPEG in base64. */
  image: string
}

const folder = mkdtempSync(join(tmpdir(), 'signalbox-tour-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const out = join(HOME, 'docs/images/tour.svg')
writeFileSync(out, pictureOf(await play(join(folder, 'lamp'))))
process.stdout.write(`${out}\n`)

async function play(project: string): Promise<Scene[]> {
  cpSync(join(HOME, 'examples/board'), project, { recursive: true })
  const startedAt = performance.now()
  const place = { dir: folder, cwd: project }
  const args = [SIGNALBOX, '--port', '0', '--trust-data']
  const { program, line: opened } = await startNode(args, /^Open +\S+$/, place)
  const readyS = ((performance.now() - startedAt) / 1_000).toFixed(1)
  await using stack = new AsyncDisposableStack()
  stack.use(program)
  const line = (pattern: RegExp) =>
    program.ready((wait) => lineIn(program.logFile, pattern, wait), START_WAIT_MS)
  const browser = stack.adopt(await launchChromium(), (it) => it.close())
  const context = await browser.newContext({ viewport: PHONE, deviceScaleFactor: 1.5 })
  const phone = await context.newPage()
  phone.setDefaultTimeout(WAIT_MS)

  await phone.goto(opened.replace(/^Open +/, ''))
  const before = await shown(phone, '.card')

  const file = join(project, '.cairn/tasks/LAMP-4.md')
  const task = readFileSync(file, 'utf8')
  const savedAt = performance.now()
  writeFileSync(file, task.replace(/^status: .*/m, 'status: in_progress'))
  await phone.locator('.card.changed', { hasText: 'LAMP-4' }).first().waitFor()
  const movedS = ((performance.now() - savedAt) / 1_000).toFixed(2)
  const after = await shown(phone, '.card.changed')

  const { url, tokens } = JSON.parse(readFileSync(join(project, '.signalbox/local.json'), 'utf8'))
  const order = { gateway: 'redirect', reference: 'order-1', description: 'A lamp' }
  const charged = await fetch(`${url}/api/payments/charges`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tokens.payments}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...order, amount: 25_000, currency: 'IQD' }),
  })
  const { status, redirectUrl = '' } = (await charged.json()) as Record<string, string>
  const pay = await context.newPage()
  await pay.goto(redirectUrl)
  const page = await shown(pay)
  await pay.getByRole('button', { name: /^Pay/ }).click()
  await phone.goto(`${url}/#/payments`)
  await phone.getByRole('row').filter({ hasText: 'order-1' }).getByRole('link').first().click()
  await phone.getByRole('listitem').filter({ hasText: 'Paid' }).first().waitFor()
  const paid = await shown(phone)

  const board = (await line(/^board .*$/)).replace(project, '~/lamp')
  const edit = "$ sed -i 's/^status: .*/status: in_progress/' LAMP-4.md"
  const charge = [
    '$ curl -X POST …/charges -d \'{"gateway":"redirect",',
    '$   "reference":"order-1","amount":25000,"currency":"IQD"}\'',
    `${charged.status} ${status}, and the page to pay on`,
  ]
  return [
    { lines: ['$ signalbox', board, `ready after ${readyS} s`], image: before },
    { lines: [edit, `on the phone after ${movedS} s`], image: after },
    { lines: charge, image: page },
    { lines: [await line(/^PaymentSucceeded .*$/)], image: paid },
  ]
}

/** `card`: of LAMP-4, which it then shows. */
async function shown(page: Page, card?: string): Promise<string> {
  if (card) await page.locator(card, { hasText: 'LAMP-4' }).first().scrollIntoViewIfNeeded()
  return (await page.screenshot({ type: 'jpeg', quality: 60 })).toString('base64')
}

/**
 * A terminal on the left, a phone on the right, scene by scene. It moves by CSS alone, since a
 * README shows an SVG as an image; where motion is unwanted, the last scene is shown.
 */
function pictureOf(scenes: readonly Scene[]): string {
  const [sceneS, imageAfterS, fadeS] = [4, 1.2, 0.3]
  const totalS = scenes.length * sceneS
  const [width, tall] = [PHONE.width * 0.75, PHONE.height * 0.75]
  const [whole, height] = [960, tall + 60]
  const left = whole - width - 40
  const percent = (seconds: number) => `${((seconds / totalS) * 100).toFixed(2)}%`
  const keyframes: string[] = []
  /** The attributes of what is hidden until `startS` of each round. */
  const step = (startS: number, kind = '') => {
    const name = `at${Math.round(startS * 100)}`
    const from =
      startS === 0 ? '' : `0%, ${percent(startS)} { opacity: 0 } ${percent(startS + fadeS)},`
    keyframes.push(`@keyframes ${name} { ${from || '0%,'} 100% { opacity: 1 } }`)
    return `class="step ${kind}" style="animation-name:${name}"`
  }
  const images = scenes.map(({ image }, at) => {
    const startS = at === 0 ? 0 : at * sceneS + imageAfterS
    const place = `x="${left}" y="30" width="${width}" height="${tall}"`
    return `<image ${step(startS)} ${place} href="data:image/jpeg;base64,${image}"/>`
  })
  let row = 0
  const texts = scenes.flatMap(({ lines }, at) =>
    lines.map((line, n) => {
      const kind = line.startsWith('$') ? 'typed' : 'printed'
      const style = step(at * sceneS + (n * imageAfterS) / lines.length, kind)
      const escaped = line.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      // The second line of a command is only set in.
      const text = escaped.replace(/^\$ {3}/, '    ')
      return `<text ${style} x="36" y="${84 + (row++ + at) * 24}" xml:space="preserve">${text}</text>`
    }),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${whole} ${height}" role="img"
  aria-label="A terminal and a phone: signalbox shows a board; an edit in the terminal is on the phone at once; a payment is charged, paid and reported.">
<style>
.step { animation-duration: ${totalS}s; animation-iteration-count: infinite; }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #9fb0c3; }
.typed { fill: #f2f5f8; }
${[...new Set(keyframes)].join('\n')}
@media (prefers-reduced-motion: reduce) { .step { animation: none; } }
</style>
<rect width="${whole}" height="${height}" rx="12" fill="#0d1520"/>
<rect x="16" y="30" width="${left - 40}" height="${tall}" rx="8" fill="#16212f"/>
<circle cx="36" cy="48" r="5" fill="#3a4a5e"/><circle cx="54" cy="48" r="5" fill="#3a4a5e"/>
${texts.join('\n')}
<rect x="${left - 8}" y="22" width="${width + 16}" height="${tall + 16}" rx="16" fill="#2a3646"/>
${images.join('\n')}
</svg>
`
}
