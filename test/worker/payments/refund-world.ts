// A payment at a simulated gateway that its real driver talks to, in this process: refunds in any
// order, and events and reads that come late, twice or not at all.

import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { end, settle } from '../../../libraries/testing/fake-clock.ts'
import { openBook } from '../../../simulator/book.ts'
import { readSettings } from '../../../simulator/config.ts'
import type { Payment, Refund } from '../../../simulator/payments.ts'
import { SIMULATIONS } from '../../../simulator/simulations.ts'
import { Simulator } from '../../../simulator/simulator.ts'
import type { EncodedWebhook } from '../../../simulator/webhooks.ts'
import { settingsOf } from '../../../worker/payments/config/gateway-settings.ts'
import { DRIVERS, type DriverName } from '../../../worker/payments/gateways/registry.ts'
import { request, webhookRequest } from '../../support/payments.ts'
import { setUpPayments } from '../../support/payments-setup.ts'

const ORIGIN = 'https://edge.example'
const SIMULATOR = 'https://simulator.example'
const HOOK = `${ORIGIN}/payments/webhooks/bank`
const DAY = 24 * 3_600_000
/** The steps alone decide when a refund of the bank ends. */
const NEVER_MS = String(20 * DAY)

interface SentEvent {
  url: string
  encoded: EncodedWebhook
  /** It was answered with 2xx. */
  isTaken: boolean
}

export type Read = 'now' | 'fails' | 'late'

export const PAID = 25_000

export class RefundWorld {
  readonly #setup: ReturnType<typeof setUpPayments>
  readonly #simulator: Simulator
  readonly #name: DriverName
  readonly #reads: Read[]
  /** Answers of reads that are held back. */
  readonly #held: (() => void)[] = []
  /** What the gateway has sent. */
  readonly #events: SentEvent[] = []
  readonly #underWay: Promise<unknown>[] = []
  #transactionId = ''
  #gatewayId = ''
  #keys = 0
  #isNextHeld = false

  /** `reads`: how each read of the driver goes, in their order; then all are answered. */
  constructor(name: DriverName, reads: readonly Read[]) {
    this.#name = name
    this.#reads = [...reads]
    const app = new Hono()
    const own = { ...SIMULATIONS[name].merchant, base_url: SIMULATOR }
    const { settings } = settingsOf(DRIVERS[name], '', own, () => undefined)
    const gateway = DRIVERS[name].create('bank', settings)
    this.#setup = setUpPayments({
      gateway: { refundProblem: undefined, ...gateway },
      isWoken: false,
      fetch: (input, init) => this.#fetch(app, new Request(input, init)),
    })
    this.#simulator = new Simulator({
      settings: readSettings(
        {
          SIMULATOR_REDIRECT_CALLBACK_URL: HOOK,
          SIMULATOR_STRIPE_CALLBACK_URL: HOOK,
          SIMULATOR_REFUND_MS: NEVER_MS,
        },
        SIMULATIONS,
      ),
      book: openBook(undefined, HOOK),
      gateways: SIMULATIONS,
      newId: randomUUID,
      clock: this.#setup.clock,
      post: async (url, encoded) => {
        this.#events.push({ url, encoded, isTaken: false })
        return { status: 200, text: '' }
      },
    })
    const page = (id: string) => `${SIMULATOR}/pay/${id}`
    app.route('/', SIMULATIONS[name].api(this.#simulator, page))
  }

  async #fetch(app: Hono, asked: Request): Promise<Response> {
    const how = this.#howIsRead(asked)
    if (how === 'fails') return new Response('<h1>Bad gateway</h1>', { status: 502 })
    const answer = await app.request(asked)
    if (how === 'late') await new Promise<void>((resolve) => this.#held.push(resolve))
    return answer
  }

  /** Refunds may be of any part, each with a state of its own. */
  get #isInParts(): boolean {
    return this.#name === 'stripe' || this.#name === 'mollie'
  }

  #howIsRead({ method, url }: Request): Read {
    if (method !== 'GET') return 'now'
    if (!this.#isNextHeld || !/\/(refunds\?|tr_|.*\/status$)/.test(url))
      return this.#reads.shift() ?? 'now'
    this.#isNextHeld = false
    return 'late'
  }

  /** A refund fails while its event's read is under way, and the failure is read first. */
  async overtake(amount: number): Promise<void> {
    await this.ask(amount)
    this.#isNextHeld = true
    await this.deliver(-1)
    await this.wait(1)
    await this.ends(-1, 'failed')
    await this.deliver(-1)
  }

  /** Charged, and paid at the gateway, which has sent its event. */
  async pay(): Promise<void> {
    const currency = this.#isInParts ? 'USD' : 'IQD'
    const asked = { ...request({ gateway: 'bank', amount: PAID }), currency }
    const charging = this.#setup.payments.charge(
      { ...asked, returnUrl: 'https://shop.example/' },
      { origin: ORIGIN },
    )
    const { transactionId, gatewayTransactionId = '' } = await end(this.#setup.clock, charging)
    this.#transactionId = transactionId
    this.#gatewayId = gatewayTransactionId
    await this.#sent(() => void this.#simulator.act(this.payment, 'pay'))
  }

  /** As its gateway holds it. */
  get payment(): Payment {
    const payment = this.#simulator.payments.find(this.#gatewayId, this.#name)
    if (!payment) throw new Error('the gateway has no such payment')
    return payment
  }

  async #sent(change: () => void): Promise<void> {
    change()
    await settle()
  }

  /** Asked for through us. */
  async ask(amount: number): Promise<void> {
    const { payments } = this.#setup
    const whole = { transactionId: this.#transactionId, amount, reason: 'Broken' }
    const idempotencyKey = `key-${++this.#keys}`
    this.#begin(payments.refund('bank', whole, { idempotencyKey, by: 'ada' }))
    await settle()
  }

  /** Made by the staff of the gateway. */
  async atDesk(amount: number, status: Refund['status']): Promise<void> {
    const part = { amount: Math.min(amount, this.#remainder()), status }
    if (!this.#isInParts) {
      const action = status === 'pending' ? 'request_refund' : 'refund'
      await this.#sent(() => void this.#simulator.act(this.payment, action))
    } else if (part.amount > 0) {
      await this.#sent(() => void this.#simulator.refund(this.payment, part))
    }
  }

  #remainder(): number {
    const taken = (this.payment.refunds ?? []).filter(({ status }) => !isEnded(status))
    return PAID - taken.reduce((sum, { amount }) => sum + amount, 0)
  }

  /** A refund of the gateway ends, or one that was made fails. */
  async ends(which: number, to: Refund['status']): Promise<void> {
    if (!this.#isInParts) {
      const action = to === 'succeeded' ? 'refund' : 'refuse_refund'
      const isAsked = this.payment.state === 'refund_requested'
      if (isAsked) await this.#sent(() => void this.#simulator.act(this.payment, action))
      return
    }
    const refunds = this.payment.refunds ?? []
    const refund = refunds.at(which % Math.max(1, refunds.length))
    const mayEnd = refund?.status === 'pending' ? to !== 'pending' : refund?.status === 'succeeded'
    if (!refund || !mayEnd || (refund.status === 'succeeded' && to !== 'failed')) return
    await this.#sent(() => void this.#simulator.endRefund(this.payment, refund.id, to))
  }

  /** The refunds that are asked for from now on are accepted, and fail. */
  refundsFail(refundFails: boolean): void {
    if (this.#name === 'redirect') this.#simulator.faults.set({ all: { refundFails }, orders: {} })
  }

  /** One of the events that were sent until now, delivered before or not. -1: the last one. */
  async deliver(which: number): Promise<void> {
    const event = this.#events.at(which % Math.max(1, this.#events.length))
    if (event) this.#begin(this.#deliver(event))
    await settle()
  }

  async #deliver(event: SentEvent): Promise<void> {
    const { url, encoded } = event
    const { clock, payments } = this.#setup
    const { searchParams: query } = new URL(url)
    const arrived = webhookRequest(encoded.body, clock.now(), encoded.headers, query)
    const { status } = await payments.receive('bank', arrived, randomUUID())
    if (status < 300) event.isTaken = true
  }

  #begin(work: Promise<unknown>): void {
    this.#underWay.push(work.catch(() => undefined))
  }

  /** The oldest read that is held back is answered, as its gateway was when it was asked. */
  async release(): Promise<void> {
    this.#held.shift()?.()
    await settle()
  }

  /** A time service does, or the machine wakes. */
  setClock(ms: number): void {
    this.#setup.clock.jump(ms)
  }

  async wait(ms: number): Promise<void> {
    await this.#setup.clock.advance(ms)
  }

  async sweep(): Promise<void> {
    this.#begin(this.#setup.payments.sweeper.sweep())
    await settle()
  }

  /** Every event is delivered until it is taken, and then time passes with its sweeps. */
  async finish(): Promise<void> {
    const { clock, payments, quiet } = this.#setup
    this.#reads.length = 0
    this.#isNextHeld = false
    const over = async (work: Promise<unknown>) => {
      while (this.#held.length > 0) await this.release()
      await end(clock, work)
    }
    await over(Promise.all(this.#underWay))
    for (let tries = 0; this.#events.some(({ isTaken }) => !isTaken); tries++) {
      if (tries > 20) throw new Error('an event is never taken')
      const left = this.#events.filter(({ isTaken }) => !isTaken)
      for (const event of left) await over(this.#deliver(event).catch(() => undefined))
      await clock.advance(10_000)
    }
    for (const hours of [0.05, 1, 2, 4, 8, 12, 24]) {
      await clock.advance(hours * 3_600_000)
      await over(payments.sweeper.sweep())
    }
    await quiet()
    this.#simulator.close()
  }

  async story() {
    const story = await this.#setup.payments.queries.story(this.#transactionId)
    if (!story) throw new Error('there is no such payment')
    return story
  }
}

export const isEnded = (status: Refund['status']): boolean =>
  status === 'failed' || status === 'canceled'
