// What the contract of drivers must know of a gateway. Its author writes it from the gateway's
// documentation and not with the driver's code: else both have the same mistake.

import type {
  Driver,
  GatewayCharge,
  GatewayRefund,
  Settings,
  WebhookRequest,
} from '../../worker/payments/gateways/gateway.ts'
import type { Answer, Sent } from './gateway-setup.ts'

/** A payment as the gateway holds it. The fixtures write it in the gateway's own format. */
export interface HeldPayment {
  /** One of `ids`. */
  id: string
  reference: string
  externalReferenceId: string
  /** The gateway's own word: one of `states`, or one that nobody knows. */
  state: string
  /** In minor units: what was asked for, and what was paid once it was. */
  amount: number
  currency: string
  /** Of the currency: 1999 with two of them is 19.99. */
  decimals: number
  /** In minor units: the sum of the refunds that were made. */
  refunded: number
}

export interface GatewayEvent {
  /** For a gateway whose events have ids. */
  id: string
  /** When this delivery was sent, in whole seconds as ms. */
  at: number
  /** For a gateway that signs: what is sent, and signed, in place of the raw value. */
  edit<Raw>(raw: Raw): Raw
}

export interface GatewayFixtures {
  driver: Driver
  settings: Settings
  /** A charge that the gateway accepts. */
  charge: GatewayCharge
  /** A refund of the whole charge; missing if the driver does not support refunds. */
  refund?: GatewayRefund
  /** Ids of two payments, as the gateway writes them. */
  ids: readonly [string, string]
  /** The gateway's word for each of our statuses that it has; for refunds that of a paid one. */
  states: Readonly<
    { Pending: string; Paid: string } & Partial<
      Record<'Failed' | 'Cancelled' | 'Expired' | 'PartiallyRefunded' | 'Refunded', string>
    >
  >
  /** The healthy gateway, its token endpoint included. It holds, and makes, this payment. */
  healthy(request: Request, held: HeldPayment): Response | Promise<Response>
  /** Recognizes the requests that make a payment or a refund. */
  isMoney(sent: Sent): boolean
  /** Some fields of the body of the request that makes this payment, as the gateway wants them. */
  sent(charge: GatewayCharge): object
  /** Such fields of a request for a refund. Missing: its amount is not sent. */
  sentRefund?(refund: GatewayRefund): object
  /** How the gateway clearly refuses a charge or a refund. */
  refuses: Answer
  /** Recognizes the request that cancels a payment. Missing: it names one, and is no GET. */
  isCancel?(sent: Sent): boolean
  /** How the gateway clearly refuses to cancel. Missing: as it refuses a charge. */
  refusesCancel?: Answer
  /** Its answers to a refund: one that was made, one that is made later. */
  refunds?: { done?: Answer; accepted?: Answer }
  /**
   * It answers a repeated charge with its first answer, and documents that: only then is its
   * refusal proof that nothing was made before.
   */
  repeatsFirstAnswer?: true
  /**
   * What is signed: the whole body, a token in it, or nothing; then the driver reads the payment
   * from the gateway.
   */
  signs: 'body' | 'token' | 'nothing'
  /**
   * A genuine callback about a payment, and its raw value. Without one it is what the gateway
   * answers, as a rule where nothing is signed. Undefined: there is no callback for it.
   */
  callback(
    held: HeldPayment,
    event: GatewayEvent,
  ): Promise<{ request: WebhookRequest; raw?: unknown } | undefined>
  /** Values of the payer, or secret ones, in the raw value of a callback about a paid payment. */
  hidden: readonly string[]
  /** By their fault. `genuine`: a callback about a paid payment. */
  forged(genuine: WebhookRequest): Promise<Record<string, WebhookRequest>>
}
