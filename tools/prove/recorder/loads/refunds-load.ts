// The shop's own rules of refunds: some of what was paid goes back, and all that was paid twice or
// late. A refund that failed is asked for again.

import type { ShopEvent } from '../system.ts'
import { isInParts, partsOf } from './desk.ts'
import type { LoadPlan } from './load.ts'
import type { ShopRequests } from './shop-requests.ts'

const REFUNDED = 0.3
const REFUNDED_TWICE = 0.2
const GOES_BACK = ['late_payment', 'double_payment']
/** A share of late money is sent back by hand, which the gateway does not know. */
const BY_HAND = 0.3
/** A share of failed refunds: the shop asks again, once for each payment. */
const REFUNDED_AGAIN = 0.6
/** So many old refunds, months later. */
const REPEATED = 40

interface Refund {
  gateway: string
  transactionId: string
  amount: number
  reason: string
}

type Data = Required<ShopEvent['data']>

export class Refunds {
  readonly #plan: Pick<LoadPlan, 'random' | 'ending'>
  readonly #shop: ShopRequests
  /** Those that were answered, and what was sent back by hand. */
  readonly #done: Refund[] = []
  readonly #askedAgain = new Set<string>()

  constructor(plan: Pick<LoadPlan, 'random' | 'ending'>, shop: ShopRequests) {
    this.#plan = plan
    this.#shop = shop
  }

  async ask(asked: Refund): Promise<void> {
    const { reason, ...of } = asked
    const key = `${reason} of ${of.transactionId}`
    const line = { kind: 'refund', ...of } as const
    const answer = await this.#shop.untilDone({ path: '/refunds', body: asked, key, line })
    if (answer && !this.#plan.ending.isOver) this.#done.push(asked)
  }

  /** What goes back because of this event. */
  async onEvent({ type, data: { transaction, alert } }: ShopEvent): Promise<void> {
    if (transaction && alert && type === 'AlertRaised') await this.#onAlert(transaction, alert)
    if (transaction && type === 'PaymentSucceeded') await this.#onPaid(transaction)
  }

  /** Months later: old ones with the same keys, and new ones of what was sent back by hand. */
  async repeat(): Promise<void> {
    for (const asked of this.#done.slice(-REPEATED)) await this.ask(asked)
  }

  async #onPaid({ id, gateway, amount, paid }: Data['transaction']): Promise<void> {
    const { random } = this.#plan
    if (!paid || random.next() >= REFUNDED) return
    const times = random.next() < REFUNDED_TWICE ? 2 : 1
    const parts = partsOf(gateway, isInParts(gateway) ? paid.amount : amount, random)
    const all = Array.from({ length: times }, () => parts).flat()
    const of = { gateway, transactionId: id }
    await Promise.all(
      all.map((part, n) => this.ask({ ...of, amount: part, reason: `refund ${n}` })),
    )
  }

  async #onAlert(of: Data['transaction'], { id, kind, createdAt, detail }: Data['alert']) {
    const { id: transactionId, gateway } = of
    const { random } = this.#plan
    const amount = isInParts(gateway) ? (of.paid?.amount ?? detail.amount ?? of.amount) : of.amount
    const whole = { gateway, transactionId, amount }
    if (kind === 'late_payment' && random.next() < BY_HAND) {
      await this.#sendBack(id, { ...whole, reason: 'refund once more' })
    } else if (GOES_BACK.includes(kind)) {
      await this.ask({ ...whole, reason: `refund for ${kind} ${createdAt}` })
    } else if (kind === 'refund_failed' && !this.#askedAgain.has(transactionId)) {
      if (random.next() >= REFUNDED_AGAIN) return
      this.#askedAgain.add(transactionId)
      const failed = isInParts(gateway) && detail.amount !== undefined && { amount: detail.amount }
      await this.ask({ ...whole, ...failed, reason: 'refund again' })
    }
  }

  /** By a bank transfer. */
  async #sendBack(alertId: string, asked: Refund): Promise<void> {
    const path = `/alerts/${alertId}/acknowledge`
    const body = { gatewayReference: `transfer for ${alertId}` }
    const line = { kind: 'acknowledge', alertId } as const
    const answer = await this.#shop.untilDone({ path, body, line })
    if (answer) this.#done.push(asked)
  }
}
