// A foreign page in the same browser, while a system runs on this machine and the user is signed in
// to its console. The page can send requests to any port, and must neither read nor change
// anything.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SimulatorControl } from '../../tools/harness/simulator-control.ts'
import { libsqlDatabase } from '../../worker/payments/ledger/libsql/http-libsql.ts'
import { type Row, statement } from '../../worker/payments/ledger/libsql/statement-libsql.ts'
import { hasChromium, launchChromium, whySkipped } from '../support/chromium.ts'
import { linkOf, openConsole } from '../support/console-page.ts'
import { type Start, Starts } from '../support/local-system.ts'

/** A domain name that points to this machine after the page was loaded (DNS rebinding). */
const REBOUND = 'rebound.example'

const FORGED = `INSERT INTO payment_outbox
    (id, transaction_id, type, payload, created_at, next_attempt_at)
  SELECT hex(randomblob(8)), id, 'PaymentSucceeded', '{"transaction":{"reference":"forged"}}', 0, 0
  FROM payment_transactions LIMIT 1`

interface Targets {
  database: string
  simulator: string
  edge: string
  /** At the simulated gateway. */
  paymentId: string
}

/** The script of the page. Resolves with what it could read. */
const ATTACK = `async ({ database, simulator, edge, paymentId }, sql) => {
  const readable = []
  const read = async (url, init) => {
    const answer = await fetch(url, init).catch(() => undefined)
    if (answer?.ok) readable.push(url + ' ' + (await answer.text()))
  }
  const stmt = { sql, want_rows: true }
  const execute = { requests: [{ type: 'execute', stmt }, { type: 'close' }] }
  const charge = { gateway: 'redirect', reference: 'forged', amount: 1000, currency: 'IQD' }
  const writes = [
    ['POST', database + '/v2/pipeline', execute],
    ['POST', database + '/v1/execute', { stmt }],
    ['PUT', simulator + '/_control/faults', { all: { copies: 9 } }],
    ['POST', simulator + '/_control/payments/' + paymentId + '/pay', {}],
    ['POST', edge + '/api/payments/charges', { ...charge, description: 'forged' }],
  ]
  for (const [method, url, json] of writes) {
    const body = JSON.stringify(json)
    const credentials = 'include'
    await read(url, { method, body, credentials })
    await read(url, { method, body, credentials, headers: { 'content-type': 'application/json' } })
    if (method === 'PUT') continue
    await fetch(url, { method, body, credentials, mode: 'no-cors' }).catch(() => undefined)
  }
  await read(database + '/dump')
  await read(simulator + '/_control/payments')
  await read(simulator + '/_control/webhooks')
  await read(edge + '/api/payments/transactions', { credentials: 'include' })
  await read(edge + '/api/tasks', { credentials: 'include' })

  for (const base of [database, simulator]) {
    const socket = new WebSocket(base.replace('http:', 'ws:'), ['hrana3'])
    await new Promise((resolve) => {
      socket.onopen = () => {
        socket.send(JSON.stringify({ type: 'hello' }))
        const open = { type: 'open_stream', stream_id: 1 }
        socket.send(JSON.stringify({ type: 'request', request_id: 1, request: open }))
        const write = { type: 'execute', stream_id: 1, stmt }
        socket.send(JSON.stringify({ type: 'request', request_id: 2, request: write }))
      }
      socket.onmessage = ({ data }) => {
        if (data.includes('response_ok')) readable.push(base + ' ' + data)
        if (data.includes('hello_error') || data.includes('"request_id":2')) resolve()
      }
      socket.onclose = socket.onerror = resolve
    })
    socket.close()
  }
  return readable
}`

/** A form that submits itself, with a text that the server may take for JSON. */
const FORM = `({ url, name, value }) => {
  const form = document.createElement('form')
  Object.assign(form, { method: 'post', action: url })
  if (name.startsWith('{')) form.enctype = 'text/plain'
  const input = document.createElement('input')
  Object.assign(input, { type: 'hidden', name, value })
  form.append(input)
  document.body.append(form)
  setTimeout(() => form.submit())
}`

describe.skipIf(!hasChromium)(`a page of another origin in Chromium${whySkipped}`, () => {
  const starts = new Starts()
  let start: Start
  let browser: Browser
  let context: BrowserContext
  let targets: Targets
  let strangerPort: number
  const stranger = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end('<!doctype html><title>A stranger</title>')
  })

  beforeAll(async () => {
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    strangerPort = (stranger.address() as AddressInfo).port
    start = await (await starts.start()).ready()
    const { url: edge, database, simulator } = await start.local()
    const { gatewayTransactionId: paymentId } = await start.charge('order-1')
    targets = { database, simulator, edge, paymentId }
    browser = await launchChromium([
      `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
      // Newer Chromium asks the user first; other browsers do not.
      '--disable-features=LocalNetworkAccessChecks',
    ])
    context = await browser.newContext()
    // Pages on other ports of this machine send the cookie, too.
    const { page } = await openConsole(context, linkOf(start))
    await page.getByText('LAMP-4').first().waitFor()
  })
  afterAll(async () => {
    await browser?.close()
    await starts.clear()
    stranger.close()
  })

  /** Everything that an attack could have changed. */
  async function state() {
    const { database: url, databaseToken: authToken, simulator } = await start.local()
    const database = libsqlDatabase({ url, authToken }, Date.now)
    const [transactions, outbox] = (await database.read([
      statement('SELECT reference, status FROM payment_transactions'),
      statement('SELECT type FROM payment_outbox'),
    ])) as [Row[], Row[]]
    const control = new SimulatorControl(simulator)
    const faults = (await (await fetch(`${simulator}/_control/faults`)).json()) as unknown
    return { transactions, outbox, faults, payment: await control.payment(targets.paymentId) }
  }

  const UNTOUCHED = {
    transactions: [{ reference: 'order-1', status: 'Pending' }],
    outbox: [{ type: 'PaymentInitiated' }],
    faults: { all: {}, orders: {} },
    payment: { state: 'open' },
  }

  /** A tab of the foreign page. With rebinding, it is loaded before its name points here. */
  async function open(origin: string): Promise<Page> {
    const page = await context.newPage()
    if (origin.includes(REBOUND)) {
      const body = '<!doctype html><title>A stranger</title>'
      await page.route(`${origin}/`, (route) => route.fulfill({ contentType: 'text/html', body }))
    }
    await page.goto(`${origin}/`)
    return page
  }

  const rebound = (url: string) => url.replace('127.0.0.1', REBOUND)
  const CASES: [string, () => { origin: string; seen: Targets }][] = [
    ['on another port', () => ({ origin: `http://127.0.0.1:${strangerPort}`, seen: targets })],
    ['on another host', () => ({ origin: `http://localhost:${strangerPort}`, seen: targets })],
    ...(['database', 'simulator', 'edge'] as const).map((name): (typeof CASES)[number] => [
      `whose own name leads to the ${name}`,
      () => ({
        origin: rebound(targets[name]),
        seen: {
          ...targets,
          database: rebound(targets.database),
          simulator: rebound(targets.simulator),
          edge: rebound(targets.edge),
        },
      }),
    ]),
  ]

  it.each(CASES)('%s reads nothing and writes nothing', async (_, at) => {
    const { origin, seen } = at()
    const page = await open(origin)
    const asked = JSON.stringify(seen)
    expect(await page.evaluate(`(${ATTACK})(${asked}, ${JSON.stringify(FORGED)})`)).toEqual([])
    const execute = { requests: [{ type: 'execute', stmt: { sql: FORGED } }, { type: 'close' }] }
    const json = JSON.stringify({ ...execute, rest: '' }).slice(0, -2)
    for (const form of [
      { url: `${seen.database}/v2/pipeline`, name: json, value: '"}' },
      { url: `${seen.simulator}/pay/${seen.paymentId}`, name: 'action', value: 'pay' },
      { url: `${seen.simulator}/_control/payments/${seen.paymentId}/pay`, name: 'a', value: 'b' },
    ]) {
      // In a page of its own: Playwright can miss the answer to a frame that changes its process,
      // and hangs on closing a page that is still being replaced. The browser closes them all.
      const sender = await open(origin)
      // The form has arrived, since its response is shown.
      const [answer] = await Promise.all([
        sender.waitForResponse(form.url),
        sender.evaluate(`(${FORM})(${JSON.stringify(form)})`),
      ])
      expect([401, 403], form.url).toContain(answer.status())
    }
    await page.close()
    expect(await state()).toMatchObject(UNTOUCHED)
  })
})
