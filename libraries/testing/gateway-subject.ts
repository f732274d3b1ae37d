// What the cases of the contract share: the driver under test, a gateway that holds a payment,
// where it fails, and the calls of the driver.

import assert from 'node:assert/strict'
import { decimalsOf } from '../../worker/payments/domain/money.ts'
import type { PaymentStatus } from '../../worker/payments/domain/status.ts'
import type {
  AnyGateway,
  ChargeAnswer,
  GatewayCall,
  GatewayCharge,
  GatewayRefund,
  RefundAnswer,
  StatusAnswer,
  StoredPayment,
  WebhookRequest,
} from '../../worker/payments/gateways/gateway.ts'
import { isEqual, jsonIn } from './gateway-edits.ts'
import type { GatewayEvent, GatewayFixtures, HeldPayment } from './gateway-fixtures.ts'
import { assertAsked, names } from './gateway-requests.ts'
import { type Answer, GatewaySetup, type Sent, sentOf } from './gateway-setup.ts'

/** Years before the test runs, and an hour before the callback is received. */
export const SENT_AT = 1_700_000_000_000
const HOUR_MS = 3_600_000
export const RECEIVED_AT = SENT_AT + HOUR_MS

export const UNAVAILABLE = { code: 'gateway_unavailable' }
export const REFUSED = { code: 'gateway_refused' }
export const FORGED = { code: 'invalid_webhook_signature' }

/** In minor units. Divisible by ten, since a gateway may not take a last digit of three. */
const ANOTHER_AMOUNT = 12_340
export const PART = 120
/** Words that no gateway has. The second is found in every object that is used as a table. */
export const UNKNOWN_STATES = ['a_word_that_nobody_knows', 'constructor']

/** A sentence, and what rejects with an AssertionError if the driver breaks it. */
export type It = (name: string, run: () => Promise<void>) => void

/** Where a gateway fails. Its other requests are answered as usual. */
export interface Faults {
  everywhere?: Answer
  /** Everywhere but at the request for an access token. */
  withToken?: Answer
  atMoney?: Answer
  atCancel?: Answer
}

/** A method of the driver that changes something at the gateway. */
export interface Act {
  name: 'charge' | 'refund' | 'cancellation'
  /** Our id of it, by which the gateway knows a repetition. */
  id?: string
  held: HeldPayment
  isIt(sent: Sent): boolean
  /** The gateway fails there alone. */
  faultAt(answer: Answer): Faults
  run(setup: GatewaySetup, call?: GatewayCall, earlier?: 'none' | 'unknown'): Promise<unknown>
}

export interface HeldState {
  status: PaymentStatus
  held: HeldPayment
  /** What the driver must read: the sum of the refunds, once there are some. */
  amount: number
}

export class Subject {
  readonly fixtures: GatewayFixtures
  readonly gateway: AnyGateway
  /** The charge, paid. */
  readonly own: HeldPayment
  readonly event: GatewayEvent = { id: 'event-1', at: SENT_AT, edit: (raw) => raw }

  constructor(fixtures: GatewayFixtures) {
    const { driver, settings, charge, ids, states } = fixtures
    this.fixtures = fixtures
    this.gateway = driver.create('shop', settings)
    const { reference, externalReferenceId, amount, currency } = charge
    const decimals = decimalsOf(currency)
    const money = { amount, currency, decimals, refunded: 0 }
    this.own = { id: ids[0], reference, externalReferenceId, state: states.Paid, ...money }
  }

  get isSigned(): boolean {
    return this.fixtures.signs !== 'nothing'
  }

  isMoney = (sent: Sent): boolean => this.fixtures.isMoney(sent)

  #isToken({ method, path }: Sent): boolean {
    const token = this.gateway.tokenRequest?.()
    if (!token) return false
    const { pathname, search } = new URL(token.url)
    return method === token.method && path === pathname + search
  }

  isCancel = (sent: Sent): boolean =>
    this.fixtures.isCancel?.(sent) ?? (sent.method !== 'GET' && names(sent, this.own.id))

  /** `answered`: the bodies of its answers. */
  setup(
    held = this.own,
    { everywhere, withToken, atMoney, atCancel }: Faults = {},
  ): GatewaySetup & { answered: string[] } {
    const answered: string[] = []
    const setup = new GatewaySetup(this.gateway, async (request) => {
      const sent = await sentOf(request)
      const answer =
        everywhere ??
        (this.#isToken(sent) ? undefined : withToken) ??
        (this.isCancel(sent) ? atCancel : undefined) ??
        (this.isMoney(sent) ? atMoney : undefined)
      const response = await (answer?.(request) ?? this.fixtures.healthy(request, held))
      answered.push(await response.clone().text())
      return response
    })
    return Object.assign(setup, { answered })
  }

  async charge(
    setup: GatewaySetup,
    more: Partial<GatewayCharge> = {},
    call: GatewayCall = setup.call(),
  ): Promise<ChargeAnswer> {
    const { charge } = this.fixtures
    const callbackUrl = charge.callbackUrl ?? 'https://edge.test/payments/webhooks/shop'
    return await setup.end(this.gateway.charge({ ...charge, callbackUrl, ...more }, call))
  }

  async refund(
    setup: GatewaySetup,
    more: Partial<GatewayRefund> = {},
    call: GatewayCall = setup.call(),
  ): Promise<RefundAnswer> {
    const { gateway, fixtures } = this
    if (!gateway.refund || !fixtures.refund) assert.fail('It makes no refunds')
    return await setup.end(gateway.refund({ ...fixtures.refund, ...more }, call))
  }

  /** The stored payment is the charge, whatever the gateway holds. */
  async check(setup: GatewaySetup, gatewayTransactionId = this.own.id): Promise<StatusAnswer> {
    if (!this.gateway.checkStatus) assert.fail('It reads no status')
    return await setup.end(
      this.gateway.checkStatus(this.#stored(gatewayTransactionId), setup.call()),
    )
  }

  async cancel(
    setup: GatewaySetup,
    gatewayTransactionId = this.own.id,
    call: GatewayCall = setup.call(),
  ): Promise<void> {
    if (!this.gateway.cancel) assert.fail('It cancels nothing')
    await setup.end(this.gateway.cancel(this.#stored(gatewayTransactionId), call))
  }

  async receive(setup: GatewaySetup, request: WebhookRequest) {
    return await setup.end(this.gateway.handleWebhook(request, setup.call()))
  }

  /** A genuine callback about a paid payment. */
  async genuine(): Promise<WebhookRequest> {
    const made = await this.fixtures.callback(this.own, this.event)
    return made?.request ?? assert.fail('There is no callback about a paid payment')
  }

  async forged(): Promise<Record<string, WebhookRequest>> {
    return await this.fixtures.forged(await this.genuine())
  }

  get open(): HeldPayment {
    return { ...this.own, state: this.fixtures.states.Pending }
  }

  /** The payment in another currency or of another amount. */
  holding(currency: string, amount: number): HeldPayment {
    return { ...this.own, amount, currency, decimals: decimalsOf(currency) }
  }

  /**
   * A payment in each state that the gateway has. It differs from the charge in all that a driver
   * could copy from there.
   */
  get states(): HeldState[] {
    const { states, charge } = this.fixtures
    const { currencies } = this.gateway
    const known = currencies === 'any' ? [] : currencies
    const foreign = charge.currency === 'USD' ? 'EUR' : 'USD'
    const currency = known.find((code) => code !== charge.currency) ?? foreign
    const other = this.holding(currency, ANOTHER_AMOUNT)
    return (Object.entries(states) as [PaymentStatus, string][]).map(([status, state]) => {
      const isPart = status === 'PartiallyRefunded'
      const refunded = isPart ? PART : status === 'Refunded' ? other.amount : 0
      return { status, held: { ...other, state, refunded }, amount: refunded || other.amount }
    })
  }

  /** What it reads of this payment when it asks for it. */
  async statusOf(held: HeldPayment) {
    const setup = this.setup(held)
    const status = await this.check(setup, held.id)
    if (!status.known) assert.fail('It does not know the payment')
    assertAsked(setup.sent, held.id)
    return { status, warnings: setup.lines, answered: setup.answered }
  }

  /** What it reads of a genuine callback about this payment. Undefined: there is none. */
  async payloadOf(held: HeldPayment, event = this.event) {
    const made = await this.fixtures.callback(held, event)
    if (!made) return undefined
    const setup = this.setup(held)
    const payload = await this.receive(setup, { ...made.request, receivedAt: event.at + HOUR_MS })
    if (!('eventId' in payload)) assert.fail(`It is no event: ${JSON.stringify(payload)}`)
    if (!this.isSigned) assertAsked(setup.sent, held.id)
    const raws = made.raw === undefined ? setup.answered.map(jsonIn) : [made.raw]
    return { payload, isRaw: raws.some((raw) => isEqual(raw, payload.raw)) }
  }

  /** What it supports of them. */
  get acts(): Act[] {
    const { charge, refund } = this.fixtures
    const atMoney = {
      held: this.own,
      isIt: this.isMoney,
      faultAt: (atMoney: Answer) => ({ atMoney }),
    }
    const acts: Act[] = [
      {
        name: 'charge',
        id: charge.externalReferenceId,
        ...atMoney,
        run: (setup, call, earlier = 'none') => this.charge(setup, { earlier }, call),
      },
    ]
    if (refund) {
      acts.push({
        name: 'refund',
        id: refund.refundId,
        ...atMoney,
        run: (setup, call, earlier = 'none') => this.refund(setup, { earlier }, call),
      })
    }
    if (this.gateway.cancel) {
      acts.push({
        name: 'cancellation',
        held: this.open,
        isIt: this.isCancel,
        faultAt: (atCancel) => ({ atCancel }),
        run: (setup, call) => this.cancel(setup, this.own.id, call),
      })
    }
    return acts
  }

  #stored(gatewayTransactionId: string): StoredPayment {
    return { ...this.fixtures.charge, gatewayTransactionId }
  }
}
