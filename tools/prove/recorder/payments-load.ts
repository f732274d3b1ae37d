// What a shop and its payers do, at random, with gateways that misbehave: charges, repeated where
// they were not answered; payments, whose webhooks come doubled, late, or out of order; orders that
// are charged again after a failure, or twice at once, or once they are paid; refunds; and webhooks
// of other systems at the same account.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Faults } from '../../../simulator/faults.ts'
import { webhookOf } from '../../../simulator/one-webhook.ts'
import type { Action, Payment } from '../../../simulator/payments.ts'
import type { ReceivedEvent } from '../../harness/event-receiver.ts'
import type { Seeded } from '../../harness/seeded.ts'
import { changeWhilePaid, mayChange } from './changed-carts.ts'
import { AT_DESK, isInParts, partsOf, refundAtDesk } from './desk.ts'
import type { Recorder } from './recorder.ts'
import { ANSWER_MS, ShopRequests } from './shop-requests.ts'
import { sendUntilTaken } from './sign-again.ts'
import type { System } from './system.ts'

const MAX_PAUSE_MS = 300
/** Payers wait for a slow shop, too. Else a slow machine gets ever more to do, and never rests. */
const MAX_OPEN = 40
/** So long the gateway does not answer; a repeated charge is answered. */
const TIMES_OUT_MS = 1_500
const REFUNDED = 0.3
const REFUNDED_TWICE = 0.2
/** A share of orders: two tabs of one browser, or a shop that sends no Idempotency-Key. */
const CHARGED_AT_ONCE = 0.1
const WITHOUT_KEY = 0.2
/** A share of orders: the payer opens the page of each gateway, and pays on both. */
const PAID_ELSEWHERE = 0.1
/** A share of paid orders is charged with another key, every second time on purpose. */
const CHARGED_WHEN_PAID = 0.15
/** A share of payments by redirect: another system at the account has its webhooks sent to us. */
const MIXED_UP = 0.1
const GOES_BACK = ['late_payment', 'double_payment']
/** A share of late money is sent back by hand, which the gateway does not know. */
const BY_HAND = 0.3
/** A share of failed refunds: the shop asks again, once for each payment. */
const REFUNDED_AGAIN = 0.6
const EARLY = 0.2
const EARLY_MS = 1_500
const IN_DOLLARS = 0.5
const OF_STRIPE = 0.5
const GATEWAYS = 4
/** Looks at payments that wait for each other while the load goes on. */
const MAX_LOOKS = 40
/** What ends a refund may wait for a gateway, and the ledger for a batch that it has given up. */
const SEEN_OVER_MS = 20_000
const ANSWERED_MS = 100
/** So many old refunds, months later. */
const REPEATED = 40
/** A share of failed payments: the customer tries again, and the first one is paid after all. */
const CHARGED_AGAIN = 0.6
const PAID_LATE = 0.6

/** How the gateway treats an order: without a fault 40 times in 100. */
const TREATMENTS: readonly (readonly [weight: number, faults: Faults])[] = [
  [40, {}],
  [10, { copies: 2 }],
  [3, { copies: 50 }],
  [8, { lateMs: 1_200 }],
  [8, { outOfOrder: true }],
  [8, { amount: 12_000 }],
  [8, { beforeAnswer: true }],
  [4, { lost: true }],
  [4, { refundFails: true }],
  [4, { answerLost: true }],
  [3, { timeout: true, endpoints: ['init', 'create'] }],
  [4, { slowMs: 800 }],
]

const ENDINGS: readonly (readonly [weight: number, action: Action | undefined])[] = [
  [70, 'pay'],
  [15, 'fail'],
  [5, 'cancel'],
  [5, 'expire'],
  [5, undefined],
]

interface ChargeBody {
  gateway: keyof typeof AT_DESK
  reference: string
  amount: number
  currency: string
  description: string
  returnUrl: string
}

interface Seen {
  id: string
  refunds: { status: string }[]
}

type Asking = [gateway: string, transactionId: string, amount: number, name: string]
type RaisedAlert = NonNullable<ReceivedEvent['data']['alert']>
type Refundable = NonNullable<ReceivedEvent['data']['transaction']>

export class PaymentsLoad {
  readonly #system: System
  readonly #recorder: Recorder
  readonly #random: Seeded
  readonly #chores = new Set<Promise<void>>()
  /** A payment of redirect, for the ids of another. */
  #lastOpened: Payment | undefined
  /** By gateway: when a charge last succeeded, by performance.now(). */
  readonly #charged = new Map<string, number>()
  /** Our ids, by the gateway's. */
  readonly #transactions = new Map<string, string>()
  /** Transactions to be looked at again. */
  readonly #refunded = new Set<string>()
  readonly #refundedAgain = new Set<string>()
  /** Refunds that were answered, and what was sent back by hand. */
  readonly #refunds: Asking[] = []
  #looking: Promise<void> = Promise.resolve()
  /** That wait. */
  #looks = 0
  #orders = 0
  #isCalm = false
  readonly #over = new AbortController()
  readonly #shop: ShopRequests

  constructor(system: System, recorder: Recorder, random: Seeded) {
    this.#system = system
    this.#recorder = recorder
    this.#random = random
    this.#shop = new ShopRequests(system, recorder, this.#over.signal)
  }

  /** Where the shop calls: each request the next one. */
  set edges(edges: readonly string[]) {
    this.#shop.edges = edges
  }

  async run(): Promise<void> {
    while (!this.#over.signal.aborted) {
      if (this.#chores.size < MAX_OPEN && !this.#isCalm)
        this.#chore(this.#order(this.#random.fork()))
      await sleep(this.#random.below(MAX_PAUSE_MS))
    }
  }

  /** No new orders; those that were begun go on. */
  end(): void {
    this.#over.abort()
  }

  /**
   * No other orders than these, one after the other: each is paid and refunded at once, by the
   * bank, which accepts a refund and makes it later. What is saved for it is saved alone.
   */
  async calmly(until: Promise<unknown>): Promise<void> {
    this.#isCalm = true
    void until.then(() => {
      this.#isCalm = false
    })
    while (this.#isCalm && !this.#over.signal.aborted) {
      const names = { reference: `order-${++this.#orders}`, description: 'refunded at once' }
      const request = { gateway: 'fib', amount: 25_000, currency: 'IQD', ...names } as const
      const id = await this.#charge({ ...request, returnUrl: 'https://shop.example' }, undefined)
      if (id === undefined) continue
      await this.#system.simulator.act(id, 'pay')
      await this.#refund('fib', this.#transactions.get(id) ?? '', request.amount, 'refund 0')
    }
  }

  /** Until it is seen that these payments have no refund under way, or it takes too long. */
  async seesRefundsOver(transactionIds: readonly string[]): Promise<void> {
    const until = performance.now() + SEEN_OVER_MS
    for (const id of transactionIds) {
      while (performance.now() < until && !(await this.#look(id))) await sleep(ANSWERED_MS)
    }
  }

  /** Whether each gateway has made a payment since then. */
  hasChargedSince(time: number): boolean {
    return this.#charged.size === GATEWAYS && [...this.#charged.values()].every((at) => at > time)
  }

  /** Resolves when nothing is under way any more, and the gateways do their work again. */
  async rest(): Promise<void> {
    while (this.#chores.size > 0) await Promise.all(this.#chores)
    await this.#system.simulator.everywhere({})
  }

  /** The shop's own rules: some of what was paid goes back, and all that was paid twice. */
  onEvent({ type, data: { transaction, alert } }: ReceivedEvent): void {
    if (!transaction) return
    const { id, gateway, amount, paid } = transaction
    if (type === 'AlertRaised' && alert) this.#onAlert(transaction, alert)
    if (['PaymentRefunded', 'RefundAmountChanged', 'AlertSettled'].includes(type)) {
      this.#refunded.add(id)
      if (this.#looks < MAX_LOOKS) void this.#look(id)
    }
    if (type !== 'PaymentSucceeded' || !paid || this.#random.next() >= REFUNDED) return
    const times = this.#random.next() < REFUNDED_TWICE ? 2 : 1
    const parts = partsOf(gateway, isInParts(gateway) ? paid.amount : amount, this.#random)
    const all = Array.from({ length: times }, () => parts).flat()
    for (const [n, part] of all.entries())
      this.#chore(this.#refund(gateway, id, part, `refund ${n}`))
  }

  #onAlert(
    { id, gateway, amount, paid }: Refundable,
    { id: alertId, kind, createdAt, detail }: RaisedAlert,
  ): void {
    const whole = isInParts(gateway) ? (paid?.amount ?? detail.amount ?? amount) : amount
    const isAgain = kind === 'refund_failed' && !this.#refundedAgain.has(id)
    if (kind === 'late_payment' && this.#random.next() < BY_HAND) {
      this.#chore(this.#sendBack(alertId, [gateway, id, whole, 'refund once more']))
    } else if (GOES_BACK.includes(kind)) {
      this.#chore(this.#refund(gateway, id, whole, `refund for ${kind} ${createdAt}`))
    } else if (isAgain && this.#random.next() < REFUNDED_AGAIN) {
      this.#refundedAgain.add(id)
      const again = isInParts(gateway) ? (detail.amount ?? whole) : whole
      this.#chore(this.#refund(gateway, id, again, 'refund again'))
    }
  }

  /** By a bank transfer. */
  async #sendBack(alertId: string, refund: Asking): Promise<void> {
    const body = { gatewayReference: `transfer for ${alertId}` }
    const what = { kind: 'acknowledge', alertId } as const
    const answer = await this.#shop.untilDone(
      `/alerts/${alertId}/acknowledge`,
      body,
      undefined,
      what,
    )
    if (answer) this.#refunds.push(refund)
  }

  /** Months later: old ones with the same keys, and new ones of what was sent back by hand. */
  async repeatRefunds(): Promise<void> {
    for (const refund of this.#refunds.slice(-REPEATED)) await this.#refund(...refund)
  }

  /**
   * At payments that were refunded since they were looked at: at all of them where nothing is under
   * way any more. Before that, a slow machine would never reach the end of what comes meanwhile.
   */
  async lookAgain(): Promise<void> {
    const most = this.#over.signal.aborted ? this.#refunded.size : MAX_LOOKS
    for (const id of [...this.#refunded].slice(0, most)) {
      this.#refunded.delete(id)
      void this.#look(id)
    }
    await this.#looking
  }

  /**
   * As a shop that shows its customer a payment: one look after the other, as the checker says.
   * Whether there was an answer, and no refund was under way.
   */
  #look(transactionId: string): Promise<boolean> {
    this.#looks += 1
    const looked = this.#looking.then(async () => {
      this.#looks -= 1
      const headers = { authorization: `Bearer ${this.#system.tokens.payments}` }
      const url = `${this.#system.edgeUrl}/api/payments/transactions/${transactionId}`
      const signal = AbortSignal.timeout(ANSWER_MS)
      const answered = fetch(url, { headers, signal }).then((answer) => answer.ok && answer.json())
      const seen = (await answered.catch(() => undefined)) as Seen | undefined
      if (!seen) return false
      this.#recorder.write({ kind: 'seen', transaction: { id: seen.id, refunds: seen.refunds } })
      return seen.refunds.every(({ status }) => status === 'succeeded' || status === 'failed')
    })
    this.#looking = looked.then(() => undefined)
    return looked
  }

  #chore(work: Promise<void>): void {
    const chore = work
      .catch((error: unknown) => this.#recorder.write({ kind: 'broken', error: String(error) }))
      .finally(() => this.#chores.delete(chore))
    this.#chores.add(chore)
  }

  async #order(random: Seeded): Promise<void> {
    const { simulator } = this.#system
    const order = `order-${++this.#orders}`
    const faults = random.weighted(TREATMENTS)
    // At the bank nobody can pay before its code was shown (docs/reliability.md, known limits).
    const isRedirect = faults.beforeAnswer || random.next() < 0.7
    const inDinars = isRedirect ? 'redirect' : 'fib'
    const inDollars = random.next() < OF_STRIPE ? 'stripe' : 'mollie'
    const gateway = random.next() < IN_DOLLARS ? inDollars : inDinars
    const drawn = random.weighted(ENDINGS)
    // At Stripe a payer who is declined tries again, and nobody can cancel.
    const ending = gateway === 'stripe' && drawn !== 'pay' && drawn ? 'expire' : drawn
    if (Object.keys(faults).length > 0) await simulator.faults(order, faults)
    const amount = 1_000 + 250 * random.below(200)
    const currency = isInParts(gateway) ? 'USD' : 'IQD'
    const names = { reference: order, description: order, returnUrl: 'https://shop.example' }
    const request = { gateway, amount, currency, ...names } as const
    const key = random.next() < WITHOUT_KEY ? undefined : `key of ${order}`
    const isTwice = random.next() < CHARGED_AT_ONCE
    const charging = Promise.all([
      this.#charge(request, key),
      isTwice ? this.#charge(request, `other tab's key of ${order}`) : undefined,
    ])
    if (faults.timeout) {
      await sleep(TIMES_OUT_MS)
      await simulator.faults(order, {})
    }
    const payments = new Set((await charging).filter((id) => id !== undefined))
    if (gateway === 'redirect' && random.next() < PAID_LATE) await this.#payUnseen(order, payments)
    if (ending === undefined || faults.beforeAnswer) return
    if (gateway === 'redirect' && random.next() < MIXED_UP)
      await this.#mixUp(request, payments, random)
    if (!isInParts(gateway) && random.next() < PAID_ELSEWHERE) await this.#payElsewhere(request)
    for (const payment of payments) {
      await sleep(random.below(500))
      if (mayChange(gateway, random)) {
        await this.#change(request, payment, faults.lost === true, random)
        continue
      }
      await this.#end(payment, ending, { gateway, order, faults, random })
      if (ending === 'pay' && random.next() < CHARGED_WHEN_PAID) {
        await sleep(random.below(1_000))
        await this.#chargeWhenPaid(request, random.next() < 0.5)
      }
      if (ending === 'pay' || random.next() >= CHARGED_AGAIN) continue
      const second = await this.#charge(request, `another key of ${order}`)
      const isPaidLate = !faults.lost && random.next() < PAID_LATE
      await Promise.all([
        // The same payment again: the shop does not know yet that it failed.
        second !== undefined && second !== payment && simulator.act(second, 'pay'),
        isPaidLate && this.#payLate(payment),
      ])
    }
  }

  /** Two lamps in place of one, or none. */
  #change(request: ChargeBody, payment: string, isLost: boolean, random: Seeded): Promise<void> {
    const open = { payment, transactionId: this.#transactions.get(payment) ?? '' }
    const changed = { ...request, amount: 2 * request.amount, replace: true }
    const parts = { simulator: this.#system.simulator, shop: this.#shop }
    return changeWhilePaid(parts, open, random, {
      replace: (key) => this.#charge(changed, key),
      payLate: async (late) => (isLost ? undefined : await this.#payLate(late)),
    })
  }

  /** Its payer acts, and after that the staff of the gateway. */
  async #end(
    payment: string,
    ending: Action,
    of: { gateway: keyof typeof AT_DESK; order: string; faults: Faults; random: Seeded },
  ): Promise<void> {
    const { gateway, order, faults, random } = of
    const { simulator } = this.#system
    const isAtDesk = ending === 'pay' && random.next() < AT_DESK[gateway] && !faults.refundFails
    const isEarly = isAtDesk && Object.keys(faults).length === 0 && random.next() < EARLY
    if (isEarly) {
      await simulator.faults(order, { lateMs: EARLY_MS })
      await simulator.begin(payment, ending)
      await simulator.faults(order, {})
    } else await simulator.act(payment, ending)
    if (!isAtDesk) return
    const atDesk = refundAtDesk(simulator, payment, random.fork())
    // Without webhooks only a check tells of it, and of a payment that is known as paid none comes.
    if (faults.lost) await atDesk
    else this.#chore(atDesk)
  }

  async #payElsewhere(request: ChargeBody): Promise<void> {
    const gateway = request.gateway === 'fib' ? 'redirect' : 'fib'
    const payment = await this.#charge({ ...request, gateway }, undefined)
    if (payment !== undefined) await this.#system.simulator.act(payment, 'pay')
  }

  /** Only with `repeat` there is something to pay, and the shop wants both. */
  async #chargeWhenPaid(request: ChargeBody, repeat: boolean): Promise<void> {
    const again = { ...request, ...(repeat && { repeat }) }
    const payment = await this.#charge(again, `key of ${request.reference} when paid`)
    if (payment !== undefined && repeat) await this.#system.simulator.act(payment, 'pay')
  }

  /**
   * "Paid", signed as any, of a payment that has our order's number and is none of ours; or with
   * the ids of two of our payments.
   */
  async #mixUp(order: ChargeBody, payments: ReadonlySet<string>, random: Seeded): Promise<void> {
    const { simulator, secrets, proxies } = this.#system
    for (const id of payments) {
      const other = this.#lastOpened
      this.#lastOpened = await simulator.payment(id)
      const isCrossed = other !== undefined && random.next() < 0.5
      const { externalReference } = (isCrossed && other) || {}
      // With the same amount it would be ours while the gateway has not named our payment yet.
      const amount = order.amount + (isCrossed ? 0 : 250)
      const strange = { ...order, amount, ...(externalReference && { externalReference }) }
      const ids = { id: isCrossed ? id : randomUUID(), eventId: randomUUID() }
      const terms = { ...ids, secret: secrets.redirect.api_key, now: Date.now() }
      const { body } = await webhookOf({ ...strange, expiresInMs: 0 }, ['pay'], terms)
      const url = `${proxies.webhooks.url}/payments/webhooks/redirect`
      this.#chore(sendUntilTaken({ url, body }, secrets))
    }
  }

  /** On pages that no answer named: the edge may have replaced them. */
  async #payUnseen(order: string, seen: ReadonlySet<string>): Promise<void> {
    const { simulator } = this.#system
    for (const { id, state } of await simulator.payments(order)) {
      if (!seen.has(id) && state === 'open') await simulator.act(id, 'pay')
    }
  }

  /** Nobody asks the gateway about what had failed, so these webhooks must arrive in the end. */
  async #payLate(payment: string): Promise<void> {
    const { simulator, secrets } = this.#system
    const since = Date.now()
    await simulator.act(payment, 'pay_late')
    const sent = (await simulator.webhooks(payment)).filter(({ at }) => at >= since)
    const taken = new Set(sent.filter(({ status }) => status === 200).map(({ body }) => body))
    const lost = sent.filter(({ body }) => !taken.has(body))
    for (const [body, url] of new Map(lost.map(({ body, url }) => [body, url]))) {
      await sendUntilTaken({ url, body }, secrets)
    }
  }

  /** The gateway's id of the payment, where one can be paid now. */
  async #charge(
    request: ChargeBody & { repeat?: boolean },
    key: string | undefined,
  ): Promise<string | undefined> {
    const { gateway, reference: order, amount, currency, repeat } = request
    const what = { kind: 'charge', order, gateway, amount, currency, key, repeat } as const
    const answer = await this.#shop.untilDone('/charges', request, key, what)
    if (answer?.status === 201) this.#charged.set(gateway, performance.now())
    const { status, transactionId = '', gatewayTransactionId: id } = answer?.body ?? {}
    if (id !== undefined) this.#transactions.set(id, transactionId)
    return status === 'Pending' ? id : undefined
  }

  async #refund(...[gateway, transactionId, amount, name]: Asking): Promise<void> {
    const body = { gateway, transactionId, amount, reason: name }
    const what = { kind: 'refund', gateway, transactionId, amount } as const
    const answer = await this.#shop.untilDone('/refunds', body, `${name} of ${transactionId}`, what)
    if (answer && !this.#over.signal.aborted)
      this.#refunds.push([gateway, transactionId, amount, name])
  }
}
