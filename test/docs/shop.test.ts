// What docs/shop.md, docs/events.md and docs/payments.md say is what the code does.

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { PAYMENTS } from '../../libraries/api/payments.ts'
import { minorUnits } from '../../worker/payments/domain/money.ts'
import { DRIVERS } from '../../worker/payments/gateways/registry.ts'
import { WEBHOOK_ROUTES } from '../../worker/payments/webhooks/route-names.ts'
import { Problem, problemResponse, type Reason } from '../../worker/shared/problem.ts'
import { whsecProblem } from '../../worker/shared/standard-webhook.ts'

let page: string
beforeAll(async () => {
  page = await readFile('docs/shop.md', 'utf8')
})

/** The cells of each row whose first cell matches. */
const rows = (text: string, first: RegExp): string[][] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
    .filter(([cell = '']) => first.test(cell))

const codesIn = (text = ''): string[] =>
  Array.from(text.matchAll(/`(\w+)`/g), ([, code = '']) => code)

it('It shows the shop that is tested', async () => {
  for (const name of ['shop', 'express']) {
    const shop = await readFile(`examples/shop/${name}.mts`, 'utf8')
    expect(page).toContain(`\n\`\`\`ts\n${shop}\`\`\`\n`)
  }
})

it('Its shop handles each event that the page says to handle', async () => {
  const shop = await readFile('examples/shop/shop.mts', 'utf8')
  const named = rows(page, /^`(Payment|Refund|Alert)[A-Z]\w+`$/).flatMap(([name]) => codesIn(name))
  expect(named.length).toBeGreaterThan(5)
  const handled = Array.from(shop.matchAll(/^ {4}(?:async )?(\w+)[(:]/gm), ([, name]) => name)
  expect(named.filter((name) => !handled.includes(name))).toEqual([])
})

it.each(['express', 'hono', 'fastify'])('The shop on %s adds 30 lines at most', async (name) => {
  const shop = await readFile(`examples/shop/${name}.mts`, 'utf8')
  expect(shop.trimEnd().split('\n').length).toBeLessThanOrEqual(30)
  expect(page).toContain(`${name}.mts`)
})

it.each(['hono', 'workers'])('The receiver for %s has 15 lines at most', async (name) => {
  const receiver = await readFile(`examples/receivers/${name}.ts`, 'utf8')
  expect(receiver.trimEnd().split('\n').length).toBeLessThanOrEqual(15)
})

it('It names the scale of every currency as the code has it', () => {
  const scales = rows(page, /^`[A-Z]{3}`/)
  const documented = new Map(
    scales.flatMap(([currencies, times]) =>
      codesIn(currencies).map((code) => [code, Number(times)]),
    ),
  )
  for (const [currency, times] of documented)
    expect([currency, times]).toEqual([currency, minorUnits(currency)])
  const others = Intl.supportedValuesOf('currency').filter((code) => minorUnits(code) !== 100)
  expect(others.filter((code) => !documented.has(code))).toEqual([])
  expect(page).toContain('| any other, such as `USD`, `EUR` | 100 |')
})

it('It says what to do for each code of payments, with the status that it has', async () => {
  const documented = rows(page, /^`[45]\d\d`$/).flatMap(([status = '', codes]) =>
    codesIn(codes).map((code) => ({ code, status: Number(status.slice(1, -1)) })),
  )
  for (const { code, status } of documented) {
    expect([code, problemResponse(new Problem(code as Reason, '')).status]).toEqual([code, status])
  }
  const codes = Object.values(PAYMENTS.operations).flatMap(({ failures }) => failures)
  expect(codes.length).toBeGreaterThan(7)
  expect(codes.filter((code) => !documented.some((row) => row.code === code))).toEqual([])
})

it('It says of each gateway how much of a payment it gives back at once', () => {
  const [, ...cells] = rows(page, /^`refunds` in/)[0] ?? []
  const settings = {
    base_url: 'https://gateway.example',
    client_id: 'a',
    client_secret: 'b',
    api_key: 'c',
    secret_key: 'd',
    webhook_secret: 'e',
    scope: 'reverse:write',
  }
  const refunds = Object.values(DRIVERS).map(({ create }) => create('key', settings).refunds)
  expect(cells).toEqual(refunds.map((how) => `\`${how}\``))
})

it('The command of docs/events.md makes a secret', async () => {
  const [, program = ''] =
    /node -p "([^"]+randomBytes[^"]+)"/.exec(await readFile('docs/events.md', 'utf8')) ?? []
  const { stdout } = await promisify(execFile)(process.execPath, ['-p', program])
  expect(whsecProblem(stdout.trim())).toBeUndefined()
})

it('docs/payments.md names each route that gateways call back, with its path', async () => {
  const docs = await readFile('docs/payments.md', 'utf8')
  for (const [name, path] of Object.entries(WEBHOOK_ROUTES)) {
    expect(docs).toContain(`| \`${name}\` | \`POST ${path}\` |`)
  }
})
