// What a simulator booked is there after a restart, whatever ended it.

import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../libraries/testing/fake-clock.ts'
import { openBook } from '../../simulator/book.ts'
import { readSettings } from '../../simulator/config.ts'
import type { Order, Payment } from '../../simulator/payments.ts'
import { SIMULATIONS } from '../../simulator/simulations.ts'
import { Simulator } from '../../simulator/simulator.ts'
import { setUpSimulator } from '../support/simulator.ts'
import { tempFolder } from '../support/temp-folder.ts'

const HOUR_MS = 3_600_000
const EDGE = 'http://127.0.0.1:8787/payments/webhooks/redirect'

let dir: string
let file: string
let clock: FakeClock
let ids = 0
/** Webhooks that the edge got, and what it answers. */
let posted: { url: string; body: string }[]
let status: number
beforeEach(() => {
  dir = tempFolder()
  file = join(dir, 'simulator.jsonl')
  clock = new FakeClock()
  posted = []
  status = 200
})

function start(edge = EDGE): Simulator {
  return new Simulator({
    settings: readSettings({ SIMULATOR_REDIRECT_CALLBACK_URL: edge }, SIMULATIONS),
    book: openBook(file, edge),
    gateways: SIMULATIONS,
    clock,
    newId: () => `id-${++ids}`,
    post: async (url, { body }) => {
      posted.push({ url, body })
      return { status, text: '' }
    },
  })
}

const order = (gateway: string, reference: string): Order => ({
  gateway,
  reference,
  externalReference: `ext-${reference}`,
  amount: 1_250,
  currency: 'USD',
  description: 'A lamp',
  callbackUrl: EDGE,
  metadata: {},
  expiresInMs: HOUR_MS,
})

async function charged(simulator: Simulator, gateway: string, reference: string) {
  const opened = await simulator.charge(order(gateway, reference))
  if (!opened.ok) throw new Error('It was not opened.')
  return opened.payment
}

const stateOf = (simulator: Simulator, { id }: Payment) => simulator.payments.find(id)?.state

describe('a simulator that is started again', () => {
  it('has its payments and refunds, the newest first', async () => {
    const before = start()
    const paid = await charged(before, 'redirect', 'order-1')
    before.act(paid, 'pay')
    const part = await charged(before, 'stripe', 'order-2')
    before.act(part, 'pay')
    before.refund(part, { amount: 250, metadata: { refund: '1' } })
    const open = await charged(before, 'fib', 'order-3')
    const all = before.payments.all()
    const after = start()
    expect(after.payments.all()).toEqual(all)
    expect(all.map(({ id }) => id)).toEqual([open.id, part.id, paid.id])
    expect(after.payments.find(part.id)?.refunds).toMatchObject([{ amount: 250 }])
    // Once more: what was kept is written anew at each start.
    expect(start().payments.all()).toEqual(all)
  })

  it('makes no second payment of an external reference', async () => {
    const { id } = await charged(start(), 'redirect', 'order-1')
    const again = await start().charge(order('redirect', 'order-1'))
    expect(again).toMatchObject({ ok: false, existing: { id } })
  })

  it('lets expire what expired in between, and what is open at its time', async () => {
    const before = start()
    const first = await charged(before, 'redirect', 'order-1')
    await clock.advance(1_000)
    const second = await charged(before, 'redirect', 'order-2')
    before.close()
    await clock.advance(HOUR_MS - 1_000)
    const after = start()
    await clock.advance(0)
    expect([stateOf(after, first), stateOf(after, second)]).toEqual(['expired', 'open'])
    await clock.advance(1_000)
    expect(stateOf(after, second)).toBe('expired')
  })

  it('holds what is authorized when its page expires, before and after', async () => {
    const before = start()
    const payment = await charged(before, 'mollie', 'order-1')
    before.act(payment, 'authorize')
    await clock.advance(HOUR_MS)
    expect(stateOf(before, payment)).toBe('authorized')
    before.close()
    const after = start()
    await clock.advance(HOUR_MS)
    expect(stateOf(after, payment)).toBe('authorized')
    expect(after.capture(payment, { isFinal: true })).toMatchObject({ payment: { state: 'paid' } })
  })

  it('makes a refund that the bank had accepted', async () => {
    const before = start()
    const payment = await charged(before, 'fib', 'order-1')
    before.act(payment, 'pay')
    before.refund(payment)
    before.close()
    const after = start()
    expect(stateOf(after, payment)).toBe('refund_requested')
    await clock.advance(500)
    expect(stateOf(after, payment)).toBe('refunded')
  })

  it('sends again the webhooks that were not accepted, and only those', async () => {
    const before = start()
    before.act(await charged(before, 'redirect', 'order-1'), 'pay')
    await clock.advance(0)
    status = 503
    before.act(await charged(before, 'redirect', 'order-2'), 'pay')
    await clock.advance(0)
    before.close()
    const [, refused] = posted
    expect(posted).toHaveLength(2)
    status = 200
    start()
    await clock.advance(0)
    expect(posted.slice(2)).toEqual([refused])
    start()
    await clock.advance(60_000)
    expect(posted).toHaveLength(3)
  })

  it('calls back where the edge is now, wherever the file says', async () => {
    const before = start()
    status = 503
    before.act(await charged(before, 'fib', 'order-1'), 'pay')
    const open = await charged(before, 'redirect', 'order-2')
    await clock.advance(0)
    before.close()
    const text = await readFile(file, 'utf8')
    expect(text).toContain('127.0.0.1:8787')
    const after = start('http://127.0.0.1:9999/payments/webhooks/redirect')
    after.act(open, 'pay')
    await clock.advance(0)
    const origins = posted.slice(1).map(({ url }) => new URL(url).origin)
    expect(origins).toEqual(['http://127.0.0.1:9999', 'http://127.0.0.1:9999'])
  })

  it('reads a file that ends in half a line, or has one in its middle', async () => {
    const first = await charged(start(), 'redirect', 'order-1')
    await appendFile(file, '\n{"payment":{"id":"ha')
    const second = await charged(start(), 'redirect', 'order-2')
    await appendFile(file, '\n{"pay\n')
    const { payments } = start()
    expect(payments.all().map(({ id }) => id)).toEqual([second.id, first.id])
    expect(await readFile(file, 'utf8')).not.toContain('"ha')
  })

  it('keeps nothing without a file', async () => {
    const book = openBook(undefined, undefined)
    book.write({ sent: 'event-1' })
    expect([book.payments, book.sendings]).toEqual([[], []])
  })
})

it('a simulator on a port has its payments after a restart, and its tokens are no longer valid', async () => {
  const env = { SIMULATOR_FILE: file }
  const before = await setUpSimulator(env)
  const token = await before.token()
  const id = await before.charged('order-1')
  await before[Symbol.asyncDispose]()
  await using after = await setUpSimulator(env)
  expect(await after.inquiry(id)).toMatchObject({ status: 'PENDING' })
  const page = await after.call(`/pay/${id}`, {
    method: 'POST',
    body: new URLSearchParams({ action: 'pay' }),
  })
  expect(await page.text()).toContain('This payment is paid.')
  await after.merchant.got(1)
  const headers = { authorization: `Bearer ${token}` }
  const path = `/api/v2/payment-gateway/transaction/inquiry/${id}`
  expect((await after.call(path, { headers })).status).toBe(401)
})
