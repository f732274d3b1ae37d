// What a shop and its payers do, at random, with gateways that misbehave: charges, repeated where
// they were not answered, after a failure, at once, or once paid; webhooks that come doubled, late
// or out of order; orders that change while they are paid; refunds; and webhooks of other systems.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Faults } from '../../../../simulator/faults.ts'
import { webhookOf } from '../../../../simulator/one-webhook.ts'
import type { Action, Payment } from '../../../../simulator/payments.ts'
import type { Seeded } from '../../../harness/seeded.ts'
import { sendUntilTaken } from '../sign-again.ts'
import type { ShopEvent } from '../system.ts'
import { AT_DESK, isInParts, refundAtDesk } from './desk.ts'
import type { LoadPlan } from './load.ts'
import { Looks } from './payments-looks.ts'
import { Refunds } from './refunds-load.ts'
import { ShopRequests } from './shop-requests.ts'

const MAX_PAUSE_MS = 300
/** Payers wait for a slow shop, too. Else a slow machine gets ever more to do, and never rests. */
const MAX_OPEN = 40
/** So long the gateway does not answer; a repeated charge is answered. */
const TIMES_OUT_MS = 1_500
/** A share of orders: two tabs of one browser, or a shop that sends no Idempotency-Key. */
const CHARGED_AT_ONCE = 0.1
const WITHOUT_KEY = 0.2
/** A share of orders: the payer opens the page of each gateway, and pays on both. */
const PAID_ELSEWHERE = 0.1
/** A share of paid orders is charged with another key, every second time on purpose. */
const CHARGED_WHEN_PAID = 0.15
/** A share of payments by redirect: another system at the account has its webhooks sent to us. */
const MIXED_UP = 0.1
const EARLY = 0.2
const EARLY_MS = 1_500
const [IN_DOLLARS, OF_STRIPE] = [0.5, 0.5]
const GATEWAYS = Object.keys(AT_DESK).length
/** A share of failed payments: the customer tries again, and the first one is paid after all. */
const CHARGED_AGAIN = 0.6
const PAID_LATE = 0.6
/** Shares of orders at a gateway that can cancel: their cart changes, or is given up, meanwhile. */
const CHANGED = 0.25
const CANCELLED = 0.5
/** Payer and shop act within these times. A shop needs three requests to the gateway. */
const PAYS_MS = 300
const ASKS_MS = 150
const PAID_AFTERWARDS = 0.6

/** How the gateway treats an order: without a fault 40 times in 100. */
const TREATMENTS: readonly (readonly [weight: number, faults: Faults])[] = [
  [40, {}],
  [10, { copies: 2 }],
  // Each is sent again up to five times: fifty were three quarters of all webhooks of a run.
  [3, { copies: 20 }],
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

interface Charge {
  gateway: keyof typeof AT_DESK
  reference: string
  amount: number
  currency: string
  description: string
  returnUrl: string
  repeat?: true
  replace?: true
}

interface Order {
  request: Charge
  faults: Faults
  random: Seeded
}

export type PaymentsLoad = ReturnType<typeof paymentsLoad>

export function paymentsLoad(plan: LoadPlan) {
  const { system, recorder, random, ending } = plan
  const { simulator, secrets, proxies } = system
  const shop = new ShopRequests(plan)
  const refunds = new Refunds(plan, shop)
  const looks = new Looks(plan)
  const chores = new Set<Promise<unknown>>()
  /** By gateway: when a charge last succeeded, by performance.now(). */
  const charged = new Map<string, number>()
  /** Our ids, by the gateway's. */
  const transactions = new Map<string, string>()
  /** A payment of redirect, for the ids of another. */
  let lastOpened: Payment | undefined
  let orders = 0
  let isCalm = false

  function chore(work: Promise<unknown>): void {
    const own: Promise<unknown> = work
      .catch((error: unknown) => recorder.write({ kind: 'broken', error: String(error) }))
      .finally(() => chores.delete(own))
    chores.add(own)
  }

  /** The gateway's id of the payment, where one can be paid now. */
  async function charge(body: Charge, key?: string): Promise<string | undefined> {
    const { gateway, reference: order, amount, currency, repeat } = body
    const line = { kind: 'charge', order, gateway, amount, currency, key, repeat } as const
    const answer = await shop.untilDone({ path: '/charges', body, key, line })
    if (answer?.status === 201) charged.set(gateway, performance.now())
    const { status, transactionId = '', gatewayTransactionId: id } = answer?.body ?? {}
    if (id !== undefined) transactions.set(id, transactionId)
    return status === 'Pending' ? id : undefined
  }

  async function order(own: Seeded): Promise<void> {
    const reference = `order-${++orders}`
    const faults = own.weighted(TREATMENTS)
    // At the bank nobody can pay before its code was shown (docs/reliability.md, known limits).
    const isRedirect = faults.beforeAnswer || own.next() < 0.7
    const inDinars = isRedirect ? 'redirect' : 'fib'
    const inDollars = own.next() < OF_STRIPE ? 'stripe' : 'mollie'
    const gateway = own.next() < IN_DOLLARS ? inDollars : inDinars
    const drawn = own.weighted(ENDINGS)
    // At Stripe a payer who is declined tries again, and nobody can cancel.
    const last = gateway === 'stripe' && drawn !== 'pay' && drawn ? 'expire' : drawn
    if (Object.keys(faults).length > 0) await simulator.faults(reference, faults)
    const amount = 1_000 + 250 * own.below(200)
    const currency = isInParts(gateway) ? 'USD' : 'IQD'
    const names = { reference, description: reference, returnUrl: 'https://shop.example' }
    const request = { gateway, amount, currency, ...names } as const
    const key = own.next() < WITHOUT_KEY ? undefined : `key of ${reference}`
    const isTwice = own.next() < CHARGED_AT_ONCE
    const charging = Promise.all([
      charge(request, key),
      isTwice ? charge(request, `other tab's key of ${reference}`) : undefined,
    ])
    if (faults.timeout) {
      await sleep(TIMES_OUT_MS)
      await simulator.faults(reference, {})
    }
    const payments = new Set((await charging).filter((id) => id !== undefined))
    if (gateway === 'redirect' && own.next() < PAID_LATE) await payUnseen(reference, payments)
    if (last === undefined || faults.beforeAnswer) return
    if (gateway === 'redirect' && own.next() < MIXED_UP) await mixUp(request, payments, own)
    if (!isInParts(gateway) && own.next() < PAID_ELSEWHERE) await payElsewhere(request)
    for (const payment of payments) {
      await sleep(own.below(500))
      await end(payment, last, { request, faults, random: own })
    }
  }

  /** What becomes of a payment that can be paid. */
  async function end(payment: string, last: Action, of: Order): Promise<void> {
    const { request, faults, random: own } = of
    const { gateway, reference } = request
    if (gateway !== 'redirect' && own.next() < CHANGED) return await change(payment, of)
    await act(payment, last, of)
    if (last === 'pay' && own.next() < CHARGED_WHEN_PAID) {
      await sleep(own.below(1_000))
      await chargeWhenPaid(request, own.next() < 0.5)
    }
    if (last === 'pay' || own.next() >= CHARGED_AGAIN) return
    const second = await charge(request, `another key of ${reference}`)
    const isPaidLate = !faults.lost && own.next() < PAID_LATE
    await Promise.all([
      // The same payment again: the shop does not know yet that it failed.
      second !== undefined && second !== payment && simulator.act(second, 'pay'),
      isPaidLate && payLate(payment),
    ])
  }

  /** Two lamps in place of one, or none, at the very moment in which its payer pays. */
  async function change(payment: string, { request, faults, random: own }: Order): Promise<void> {
    const transactionId = transactions.get(payment) ?? ''
    const [paidAfter, askedAfter] = [own.below(PAYS_MS), own.below(ASKS_MS)]
    // It may be cancelled before that.
    const pay = () => simulator.act(payment, 'pay').catch(() => undefined)
    const paying = sleep(paidAfter).then(pay)
    const asking = sleep(askedAfter).then(async () => {
      const changed = { ...request, amount: 2 * request.amount, replace: true } as const
      const key = `key after the change of ${transactionId}`
      if (own.next() >= CANCELLED) return await charge(changed, key)
      const path = `/transactions/${transactionId}/cancel`
      await shop.untilDone({ path, body: {}, line: { kind: 'cancel', transactionId } })
      return undefined
    })
    const [paid, second] = await Promise.all([paying, asking])
    const other = second === payment ? undefined : second
    if (other && own.next() < PAID_AFTERWARDS) await simulator.act(other, 'pay')
    // The bank had taken the money, although it reported that it was cancelled.
    if (!paid && own.next() < PAID_AFTERWARDS && !faults.lost) await payLate(payment)
  }

  /** Its payer acts, and after that the staff of the gateway. */
  async function act(payment: string, last: Action, of: Order): Promise<void> {
    const { request, faults, random: own } = of
    const { gateway, reference } = request
    const isAtDesk = last === 'pay' && own.next() < AT_DESK[gateway] && !faults.refundFails
    const isEarly = isAtDesk && Object.keys(faults).length === 0 && own.next() < EARLY
    if (isEarly) {
      await simulator.faults(reference, { lateMs: EARLY_MS })
      await simulator.begin(payment, last)
      await simulator.faults(reference, {})
    } else await simulator.act(payment, last)
    if (!isAtDesk) return
    const atDesk = refundAtDesk(simulator, payment, own.fork())
    // Without webhooks only a check finds it, and a payment that is known as paid is not checked.
    if (faults.lost) await atDesk
    else chore(atDesk)
  }

  async function payElsewhere(request: Charge): Promise<void> {
    const gateway = request.gateway === 'fib' ? 'redirect' : 'fib'
    const payment = await charge({ ...request, gateway })
    if (payment !== undefined) await simulator.act(payment, 'pay')
  }

  /** Only with `repeat` there is something to pay, and the shop wants both. */
  async function chargeWhenPaid(request: Charge, repeat: boolean): Promise<void> {
    const again: Charge = repeat ? { ...request, repeat } : request
    const payment = await charge(again, `key of ${request.reference} when paid`)
    if (payment !== undefined && repeat) await simulator.act(payment, 'pay')
  }

  /** "Paid", signed as any, of a payment that is none of ours, or with the ids of two of ours. */
  async function mixUp(request: Charge, payments: ReadonlySet<string>, own: Seeded): Promise<void> {
    for (const id of payments) {
      const other = lastOpened
      lastOpened = await simulator.payment(id)
      const isCrossed = other !== undefined && own.next() < 0.5
      const { externalReference } = (isCrossed && other) || {}
      // With the same amount it would be ours while the gateway has not named our payment yet.
      const amount = request.amount + (isCrossed ? 0 : 250)
      const strange = { ...request, amount, ...(externalReference && { externalReference }) }
      const ids = { id: isCrossed ? id : randomUUID(), eventId: randomUUID() }
      const terms = { ...ids, secret: secrets.redirect.api_key, now: Date.now() }
      const { body } = await webhookOf({ ...strange, expiresInMs: 0 }, ['pay'], terms)
      const url = `${proxies.webhooks.url}/payments/webhooks/redirect`
      chore(sendUntilTaken({ url, body }, secrets))
    }
  }

  /** On pages that no answer named: the edge may have replaced them. */
  async function payUnseen(reference: string, seen: ReadonlySet<string>): Promise<void> {
    for (const { id, state } of await simulator.payments(reference)) {
      if (!seen.has(id) && state === 'open') await simulator.act(id, 'pay')
    }
  }

  /** Nobody asks the gateway about what had failed, so these webhooks must arrive in the end. */
  async function payLate(payment: string): Promise<void> {
    const since = Date.now()
    await simulator.act(payment, 'pay_late')
    const sent = (await simulator.webhooks(payment)).filter(({ at }) => at >= since)
    const taken = new Set(sent.filter(({ status }) => status === 200).map(({ body }) => body))
    const lost = sent.filter(({ body }) => !taken.has(body))
    for (const [body, url] of new Map(lost.map(({ body, url }) => [body, url]))) {
      await sendUntilTaken({ url, body }, secrets)
    }
  }

  return {
    shop,
    looks,
    refunds,

    async run(): Promise<void> {
      while (!ending.isOver) {
        if (chores.size < MAX_OPEN && !isCalm) chore(order(random.fork()))
        await sleep(random.below(MAX_PAUSE_MS))
      }
    },

    /**
     * No other orders than these, one after the other: each is paid and refunded at once, by the
     * bank, which accepts a refund and makes it later. What is saved for it is saved alone.
     */
    async calmly(until: Promise<unknown>): Promise<void> {
      isCalm = true
      void until.then(() => {
        isCalm = false
      })
      while (isCalm && !ending.isOver) {
        const names = { reference: `order-${++orders}`, description: 'refunded at once' }
        const money = { amount: 25_000, currency: 'IQD' }
        const request = { gateway: 'fib', ...money, ...names } as const
        const id = await charge({ ...request, returnUrl: 'https://shop.example' })
        if (id === undefined) continue
        await simulator.act(id, 'pay')
        const transactionId = transactions.get(id) ?? ''
        await refunds.ask({ gateway: 'fib', transactionId, amount: 25_000, reason: 'refund 0' })
      }
    },

    /** Whether each gateway has made a payment since then. */
    hasChargedSince: (time: number): boolean =>
      charged.size === GATEWAYS && [...charged.values()].every((at) => at > time),

    /** Resolves when nothing is under way any more, and the gateways do their work again. */
    async rest(): Promise<void> {
      while (chores.size > 0) await Promise.all(chores)
      await simulator.everywhere({})
    },

    onEvent(event: ShopEvent): void {
      const { id } = event.data.transaction ?? {}
      const isChange = ['PaymentRefunded', 'RefundAmountChanged', 'AlertSettled']
      if (id !== undefined && isChange.includes(event.type)) looks.changed(id)
      chore(refunds.onEvent(event))
    },
  }
}
