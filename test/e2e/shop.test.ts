// The shops of examples/shop, each in its own process with the built package, beside one edge on
// Node: from their first page to what a payer reads in the end, whatever the gateways do.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createPayments, type TransactionsPage } from '../../libraries/payments/index.ts'
import type { Faults } from '../../simulator/faults.ts'
import type { Action } from '../../simulator/payments.ts'
import { freePort } from '../../tools/harness/free-port.ts'
import { createWebhookSigner } from '../../worker/shared/standard-webhook.ts'
import { token } from '../support/edge.ts'
import { serve, type TestServer } from '../support/http.ts'
import { PATIENT } from '../support/patience.ts'
import { EVENTS_SECRET, PaymentSystem } from '../support/payment-system.ts'
import type { Program } from '../support/program.ts'
import { ShopFolder } from '../support/shop-folder.ts'

const FRAMEWORKS = ['express', 'hono', 'fastify'] as const
const GATEWAYS = ['redirect', 'fib', 'stripe'] as const
type Gateway = (typeof GATEWAYS)[number]

const OPEN = 'Your order is not paid.'
const WAITING = 'Your order is waiting for the payment.'
const PAID = 'Your order is paid.'

let folder: ShopFolder
let system: PaymentSystem
let endpoint: TestServer
const shops = new Map<string, { url: string; program: Program }>()
/** The shop of each order. An edge has one endpoint, and there are three shops. */
const shopOf = new Map<string, string>()

/** Passes a delivery on to the shop whose order it is about, as it came. */
async function passOn(request: Request): Promise<Response> {
  const body = await request.text()
  const { data } = JSON.parse(body) as { data: { transaction?: { reference: string } } }
  const url = shopOf.get(data.transaction?.reference ?? '')
  if (url === undefined) return new Response(null, { status: 204 })
  const signed = [...request.headers].filter(([name]) => /^(webhook-|content-type)/.test(name))
  return await fetch(`${url}/events`, { method: 'POST', headers: signed, body })
}

beforeAll(async () => {
  endpoint = await serve(passOn)
  const events = { PAYMENT_EVENTS_URL: `${endpoint.url}/events` }
  system = await PaymentSystem.start({ host: 'node', variables: events })
  folder = await ShopFolder.make('shop', ['express', 'hono', '@hono', 'fastify'])
  for (const name of FRAMEWORKS) {
    const port = String(await freePort())
    const program = await folder.run([process.execPath, `${name}.mts`], port, {
      PORT: port,
      SIGNALBOX_URL: system.edge.origin,
      SIGNALBOX_TOKEN: await token({ scope: 'payments:write', repos: [] }),
      PAYMENT_EVENTS_SECRET: EVENTS_SECRET,
    })
    shops.set(name, { url: `http://127.0.0.1:${port}`, program })
  }
})
afterAll(async () => {
  for (const { program } of shops.values()) await program.stop()
  await system?.[Symbol.asyncDispose]()
  await endpoint?.close()
})

/** Somebody who has begun an order in a shop. */
class Payer {
  readonly shop: string
  readonly reference: string
  readonly #program: Program

  private constructor(framework: string, reference: string) {
    const { url, program } = shopIn(framework)
    this.shop = url
    this.reference = reference
    this.#program = program
    shopOf.set(reference, url)
  }

  static async in(framework: string): Promise<Payer> {
    const page = await press(`${shopIn(framework).url}/`)
    return new Payer(framework, page.slice(page.lastIndexOf('/') + 1))
  }

  /** The order's. */
  get page(): string {
    return `${this.shop}/orders/${this.reference}`
  }

  read(): Promise<string> {
    return textOf(this.page)
  }

  async reads(text: string): Promise<void> {
    await vi.waitFor(async () => expect(await this.read()).toContain(text), PATIENT)
  }

  /** Presses the button of a gateway. Returns where it leads. */
  chooses(gateway: Gateway): Promise<string> {
    return press(`${this.page}/${gateway}`)
  }

  /** The faults of its payments. fib knows only their description. */
  async meets(gateway: Gateway, faults: Faults): Promise<void> {
    await system.simulator.faults(this.#nameAt(gateway), faults)
  }

  /** What the gateway has of the order, the newest first. */
  async payments(gateway: Gateway) {
    const names = [this.#nameAt(gateway), `2 lamps (${this.reference})`]
    const found = await Promise.all(names.map((name) => system.simulator.payments(name)))
    const all = found.flat().toSorted((a, b) => b.createdAt - a.createdAt)
    return all.filter((payment) => payment.gateway === gateway)
  }

  /** Something happens to its payment at the gateway. Resolves when the webhooks are through. */
  async sees(gateway: Gateway, action: Action, at = 0): Promise<void> {
    const payment = (await this.payments(gateway))[at]
    await system.simulator.act(payment?.id ?? '', action)
  }

  /** Presses "One more". */
  more(): Promise<string> {
    return press(`${this.page}/more`)
  }

  async paysBy(gateway: Gateway): Promise<void> {
    await this.chooses(gateway)
    await this.sees(gateway, 'pay')
  }

  async transactions(gateway: Gateway) {
    const query = `reference=${this.reference}&gateway=${gateway}`
    const { transactions } = await system.get<TransactionsPage>(`/transactions?${query}`)
    return Promise.all(transactions.map(({ id }) => system.story(id)))
  }

  /** How often the shop was told that the order is in this state. */
  heard(state: string): number {
    return this.#program.output.split(`Order ${this.reference} is ${state}\n`).length - 1
  }

  async alarms(kind: string): Promise<void> {
    const line = `Somebody has to look: ${kind} ${this.reference}`
    await vi.waitFor(() => expect(this.#program.output).toContain(line), PATIENT)
  }

  #nameAt(gateway: Gateway): string {
    return gateway === 'fib' ? `A lamp (${this.reference})` : this.reference
  }
}

function shopIn(framework: string) {
  const shop = shops.get(framework)
  if (!shop) throw new Error(`there is no shop on ${framework}`)
  return shop
}

async function textOf(page: string): Promise<string> {
  return (await fetch(page)).text()
}

/** Where a button leads. */
async function press(action: string, body?: string): Promise<string> {
  // As a browser sends a form.
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(action, {
    method: 'POST',
    headers,
    body: body ?? '',
    redirect: 'manual',
  })
  expect(answer.status).toBe(303)
  return new URL(answer.headers.get('location') ?? '', action).href
}

/** Faults with which the order is paid in the end, also where the sweeper has to ask the gateway. */
const FAULTS: Record<string, Faults> = {
  'with nothing wrong': {},
  'that answers late': { slowMs: 300 },
  'that sends a webhook 20 times at once': { copies: 20 },
  'that sends its webhook late': { lateMs: 300 },
  'that sends an older state after the newer one': { outOfOrder: true },
  'that is paid before it has answered the charge': { beforeAnswer: true },
  'whose webhook is an hour old': { ageMs: 3_600_000 },
  'whose webhook is lost': { lost: true },
  'whose webhook is changed on its way': { tampered: true },
  'whose webhook is not signed': { algNone: true },
}

// `expect.poll` knows only one test at a time, `vi.waitFor` needs none.
describe.concurrent('the shop', () => {
  const framework = 'hono'

  // First, because the edge waits 17 s for such an answer.
  it('makes another page when the answer of a gateway was lost', async () => {
    await Promise.all(
      GATEWAYS.map(async (gateway) => {
        const payer = await Payer.in(framework)
        await payer.meets(gateway, { timeout: true, endpoints: ['init', 'create'] })
        expect(await payer.chooses(gateway)).toBe(payer.page)
        expect(await payer.read()).toContain(OPEN)
        await payer.meets(gateway, {})
        await payer.paysBy(gateway)
        await payer.reads(PAID)
        const states = (await payer.payments(gateway)).map(({ state }) => state)
        expect(states.filter((state) => state === 'paid')).toHaveLength(1)
      }),
    )
  })

  it.each([
    ['redirect', 'fail'],
    ['redirect', 'cancel'],
    ['fib', 'fail'],
    ['fib', 'cancel'],
  ] as const)('offers every way to pay after %s: %s', async (gateway, action) => {
    const payer = await Payer.in(framework)
    await payer.chooses(gateway)
    await payer.sees(gateway, action)
    await payer.reads(OPEN)
    for (const way of GATEWAYS) expect(await payer.read()).toContain(`Pay by ${way}`)
    await payer.paysBy('stripe')
    await payer.reads(PAID)
  })

  it.each(['pay', 'fail'] as const)('waits for a bank transfer: %s', async (end) => {
    const payer = await Payer.in(framework)
    await payer.chooses('stripe')
    await payer.sees('stripe', 'transfer')
    expect(await payer.read()).toContain(WAITING)
    await payer.sees('stripe', end)
    await payer.reads(end === 'pay' ? PAID : OPEN)
  })

  it('keeps waiting for the gateway that was chosen last', async () => {
    const payer = await Payer.in(framework)
    await payer.chooses('redirect')
    await payer.chooses('fib')
    await payer.sees('redirect', 'fail')
    const ended = async () => {
      const [{ events } = { events: [] }] = await payer.transactions('redirect')
      return events.find((event) => event.type === 'PaymentFailed')?.deliveries[0]?.status
    }
    await vi.waitFor(async () => expect(await ended()).toBe('delivered'), PATIENT)
    expect(await payer.read()).toContain(WAITING)
    await payer.sees('fib', 'pay')
    await payer.reads(PAID)
  })

  it('gives the second payment back if an order is paid at two gateways', async () => {
    const payer = await Payer.in(framework)
    await payer.chooses('redirect')
    await payer.chooses('stripe')
    await payer.sees('redirect', 'pay')
    await payer.reads(PAID)
    await payer.sees('stripe', 'pay')
    const state = async () => (await payer.payments('stripe'))[0]?.state
    await vi.waitFor(async () => expect(await state()).toBe('refunded'), PATIENT)
    expect((await payer.payments('redirect'))[0]?.state).toBe('paid')
  })

  it.each(['fib', 'stripe'] as const)(
    'turns a lamp into two at %s, and is paid for both',
    async (gateway) => {
      const payer = await Payer.in(framework)
      const first = await payer.chooses(gateway)
      expect(await payer.more()).toBe(payer.page)
      expect(await payer.read()).toContain('Lamps: 2')
      const second = await payer.chooses(gateway)
      if (gateway === 'stripe') expect(second).not.toBe(first)
      const [open, closed] = await payer.payments(gateway)
      const price = gateway === 'stripe' ? 1_900 : 25_000
      expect([open?.amount, open?.state]).toEqual([2 * price, 'open'])
      expect([closed?.amount, closed?.state]).toEqual([
        price,
        gateway === 'fib' ? 'cancelled' : 'expired',
      ])
      // Its event must not offer to pay again.
      expect(await payer.read()).toContain(WAITING)
      await payer.sees(gateway, 'pay')
      await payer.reads(PAID)
    },
  )

  it('says that redirect cannot close the page for one lamp, and takes its money as in question', async () => {
    const payer = await Payer.in(framework)
    await payer.chooses('redirect')
    await payer.more()
    expect(await payer.chooses('redirect')).toBe(payer.page)
    expect(await payer.read()).toContain('Your first cart can still be paid by redirect')
    await payer.sees('redirect', 'pay')
    await payer.reads('Your order is in question.')
    expect(payer.heard('paid')).toBe(0)
  })

  it.each(['fib', 'stripe'] as const)(
    'cancels a payment at %s, and offers to pay again',
    async (gateway) => {
      const payer = await Payer.in(framework)
      await payer.chooses(gateway)
      expect(await payer.read()).toContain('Cancel the payment')
      expect(await press(`${payer.page}/cancel`)).toBe(payer.page)
      await payer.reads(OPEN)
      const [transaction] = await payer.transactions(gateway)
      expect(transaction?.error?.code).toBe('cancelled')
      await payer.paysBy(gateway)
      await payer.reads(PAID)
    },
  )

  it('cancels what is open at the other gateway, where that can', async () => {
    const payer = await Payer.in(framework)
    await payer.chooses('stripe')
    await payer.chooses('fib')
    const state = async () => (await payer.payments('stripe'))[0]?.state
    await vi.waitFor(async () => expect(await state()).toBe('expired'), PATIENT)
    expect(await payer.read()).toContain(WAITING)
    await payer.sees('fib', 'pay')
    await payer.reads(PAID)
  })

  it('lets the order be paid again once late money went back', async () => {
    const payer = await Payer.in(framework)
    await payer.chooses('stripe')
    await payer.sees('stripe', 'expire')
    await payer.reads(OPEN)
    await payer.sees('stripe', 'pay_late')
    await payer.reads('Your order is in question.')
    const [{ id: transactionId } = { id: '' }] = await payer.transactions('stripe')
    const refund = { gateway: 'stripe', transactionId, amount: 1_900, reason: 'Late' }
    await system.post('/refunds', refund)
    await payer.reads(OPEN)
    await payer.paysBy('stripe')
    await payer.reads(PAID)
  })
})

describe.concurrent.each(FRAMEWORKS)('the shop on %s', (framework) => {
  it.each(['redirect', 'stripe'] as const)('leads to the page of %s and back', async (gateway) => {
    expect(await textOf(`${shopIn(framework).url}/`)).toContain('Buy a lamp for IQD 25,000')
    const payer = await Payer.in(framework)
    expect(await payer.read()).toContain(OPEN)
    const payPage = await payer.chooses(gateway)
    expect(await textOf(payPage)).toContain(gateway === 'stripe' ? '19.00 USD' : '25,000 IQD')
    // The payer comes back before anything was paid: that alone proves nothing.
    expect(await payer.read()).toContain(WAITING)
    expect(await payer.read()).toContain('<meta http-equiv="refresh" content="2">')
    expect(await payer.chooses(gateway)).toBe(payPage)
    expect(await press(payPage, 'action=pay')).toContain(payer.page)
    await payer.reads(PAID)
    expect(await payer.read()).not.toContain('http-equiv')
  })

  it('shows the codes of fib, and the link that opens the app', async () => {
    const payer = await Payer.in(framework)
    expect(await payer.chooses('fib')).toBe(payer.page)
    const page = await payer.read()
    expect(page).toMatch(/<img src="data:image\/png;base64,[\w+/=]+"/)
    expect(page).toMatch(/<p>[\dA-F]{4}-[\dA-F]{4}-[\dA-F]{4} /)
    const [, app = ''] = /<a href="([^"]+)">Open the app/.exec(page) ?? []
    expect(await press(app, 'action=pay')).toContain(payer.page)
    await payer.reads(PAID)
    expect(await payer.read()).not.toContain('<img')
  })

  it.each(['redirect', 'stripe'] as const)(
    'gets a payer back who does not pay at %s',
    async (gateway) => {
      const payer = await Payer.in(framework)
      const payPage = await payer.chooses(gateway)
      expect(await press(payPage, 'action=cancel')).toContain(payer.page)
    },
  )

  it('handles an event once that is delivered again', async () => {
    const payer = await Payer.in(framework)
    await payer.paysBy('redirect')
    const delivery = async () => {
      const [{ events } = { events: [] }] = await payer.transactions('redirect')
      return events.find(({ type }) => type === 'PaymentSucceeded')?.deliveries[0]
    }
    await vi.waitFor(
      async () => expect(await delivery()).toMatchObject({ status: 'delivered', lastStatus: 204 }),
      PATIENT,
    )
    const first = await delivery()
    await system.post(`/deliveries/${first?.id}/redeliver`)
    const isAgain = async () => {
      const { status, deliveredAt } = (await delivery()) ?? {}
      return status === 'delivered' && deliveredAt !== first?.deliveredAt
    }
    await vi.waitFor(async () => expect(await isAgain()).toBe(true), PATIENT)
    expect(payer.heard('paid')).toBe(1)
  })

  it('takes no event that nobody signed, and knows no order that nobody made', async () => {
    const { url } = shopIn(framework)
    const headers = { 'content-type': 'application/json' }
    const forged = await fetch(`${url}/events`, { method: 'POST', headers, body: '{}' })
    expect(forged.status).toBe(401)
    expect((await fetch(`${url}/orders/other`)).status).toBe(404)
    // Its event is logged, and comes again.
    const event = JSON.stringify({
      type: 'PaymentSucceeded',
      timestamp: new Date().toISOString(),
      data: { transaction: { id: 'tx-1', reference: 'other', amount: 1, currency: 'IQD' } },
    })
    const id = crypto.randomUUID()
    const signed = await createWebhookSigner([EVENTS_SECRET]).sign(id, Date.now(), event)
    const paid = await fetch(`${url}/events`, {
      method: 'POST',
      headers: { ...headers, ...signed },
      body: event,
    })
    expect(paid.status).toBe(500)
    const charged = await fetch(`${url}/orders/other/redirect`, { method: 'POST' })
    expect([charged.url, charged.status]).toEqual([`${url}/orders/other`, 404])
  })
})

// All that a shop decides is in one file: a framework only carries it.
describe.concurrent.each([
  ['redirect', 'express'],
  ['fib', 'hono'],
  ['stripe', 'fastify'],
] as const)('the shop by %s, on %s', (gateway, framework) => {
  it('offers to pay again while it is away, and charges once', async () => {
    const payer = await Payer.in(framework)
    await payer.meets(gateway, { outage: 502, endpoints: ['init', 'create'] })
    expect(await payer.chooses(gateway)).toBe(payer.page)
    expect(await payer.read()).toContain(OPEN)
    await payer.meets(gateway, {})
    await payer.paysBy(gateway)
    await payer.reads(PAID)
    expect(await payer.payments(gateway)).toHaveLength(1)
  })

  it.each(Object.entries(FAULTS))('delivers once, by a gateway %s', async (_, faults) => {
    const payer = await Payer.in(framework)
    await payer.meets(gateway, faults)
    await payer.chooses(gateway)
    if (!faults.beforeAnswer) await payer.sees(gateway, 'pay')
    const [transaction] = await payer.transactions(gateway)
    if (transaction?.status === 'Pending') {
      // The webhook may come just then.
      const shown = await payer.read()
      expect(
        [WAITING, PAID].some((text) => shown.includes(text)),
        shown,
      ).toBe(true)
      await system.passTime(transaction.id)
      await system.sweep()
    }
    await payer.reads(PAID)
    expect(await payer.chooses(gateway)).toBe(payer.page)
    expect(payer.heard('paid')).toBe(1)
  })

  it.each([
    { amount: gateway === 'stripe' ? 19 : 250 },
    { currency: gateway === 'stripe' ? 'EUR' : 'USD' },
  ])('delivers nothing for $amount$currency, and has somebody look', async (faults) => {
    const payer = await Payer.in(framework)
    await payer.meets(gateway, faults as Faults)
    await payer.paysBy(gateway)
    await payer.reads('Your order is in question.')
    await payer.alarms('amount_mismatch')
    expect(payer.heard('paid')).toBe(0)
  })

  it('offers another page after one has expired, and gives back what comes late', async () => {
    const payer = await Payer.in(framework)
    await payer.chooses(gateway)
    await payer.sees(gateway, 'expire')
    await payer.reads(OPEN)
    await payer.paysBy(gateway)
    await payer.reads(PAID)
    await payer.sees(gateway, 'pay_late', 1)
    const states = async () => (await payer.payments(gateway)).map(({ state }) => state)
    await vi.waitFor(async () => expect(await states()).toEqual(['paid', 'refunded']), PATIENT)
    expect(await payer.read()).toContain(PAID)
  })

  it('asks for no more money when some comes late', async () => {
    const payer = await Payer.in(framework)
    await payer.chooses(gateway)
    await payer.sees(gateway, 'expire')
    await payer.reads(OPEN)
    await payer.sees(gateway, 'pay_late')
    await payer.reads('Your order is in question.')
    expect(await payer.read()).not.toContain('<button>')
    expect(await payer.chooses(gateway)).toBe(payer.page)
  })

  it('keeps the order paid when the refund of a second payment fails, and has somebody look', async () => {
    const payer = await Payer.in(framework)
    await payer.meets(gateway, { refundFails: true })
    await payer.chooses(gateway)
    await payer.sees(gateway, 'expire')
    await payer.reads(OPEN)
    await payer.paysBy(gateway)
    await payer.sees(gateway, 'pay_late', 1)
    await payer.alarms('double_payment')
    // The bank behind fib changes its mind in silence: a check finds that out, an hour later.
    if (gateway !== 'fib') await payer.alarms('refund_failed')
    expect(await payer.read()).toContain(PAID)
  })
})

it('a program charges, is paid and refunds by the client, as the gateway knows', async () => {
  const scope = 'payments:read payments:write'
  const payments = createPayments({
    url: system.edge.origin,
    token: () => token({ scope, repos: [] }),
  })
  const order = { reference: 'by-client', amount: 25_000, currency: 'IQD', description: 'A lamp' }
  const charge = await payments.charges.create({ gateway: 'redirect', ...order })
  const { transactionId, gatewayTransactionId: payment = '' } = charge
  await system.simulator.act(payment, 'pay')
  expect(await payments.transactions.check(transactionId)).toMatchObject({ status: 'Paid' })
  const refund = { gateway: 'redirect', transactionId, amount: 25_000, reason: 'Sent back' }
  const again = { ...refund, idempotencyKey: 'refund-by-client' }
  const refunded = await payments.refunds.create(again)
  expect(refunded).toMatchObject({ success: true, refundedAmount: 25_000 })
  expect(await payments.refunds.create(again)).toEqual(refunded)
  expect(await payments.transactions.get(transactionId)).toMatchObject({ status: 'Refunded' })
  expect(await system.simulator.payment(payment)).toMatchObject({ state: 'refunded' })
  await expect(payments.refunds.create(refund)).rejects.toMatchObject({
    name: 'PaymentsError',
    code: 'invalid_argument',
    status: 422,
  })
})
