// The port of a payment gateway. A driver is one short file: it builds requests, reads answers, and
// leaves timeouts, retries, tokens and the breaker to the call that it is given.

import type { PaymentError } from '../domain/exceptions.ts'
import type { VerifiedWebhook } from '../domain/payload.ts'
import type { PaymentStatus } from '../domain/status.ts'
import type { ChargeRequest } from '../domain/transaction.ts'

/** How a driver reaches its gateway. */
export interface GatewayCall {
  /**
   * Answers what the gateway answered, a refusal (4xx) included. Throws
   * GatewayUnavailableException after a timeout, a lost connection, a 5xx, 408, 425 or 429, an
   * HTML page or anything else that is not JSON, whatever its status.
   */
  send(request: GatewayRequest): Promise<GatewayReply>
  /** A line for the operator, like `payments.redirect_gateway.unknown_status`. */
  warn(event: string, fields: Record<string, unknown>): void
}

export interface GatewayRequest {
  /** Its name in events and logs, like `transaction/init`: without ids or secrets. */
  endpoint: string
  method: 'GET' | 'POST'
  /** Absolute. */
  url: string
  headers?: Record<string, string>
  /** The body: one of the two, or none. */
  json?: unknown
  form?: Record<string, string>
  /**
   * The gateway does the same once, however often it is asked. Only then is it asked again after
   * a failure: anything else could charge or refund twice.
   */
  isIdempotent: boolean
  /** Sends the driver's access token along, and a fresh one after a `401`. */
  withToken?: boolean
  /**
   * In `handleWebhook`: the callback carries what only we could have written, and it names this
   * payment. The driver has checked that. Without it the request shares one small budget with all
   * that strangers cause.
   */
  provenFor?: string
}

export interface GatewayReply {
  status: number
  /** Parsed JSON; undefined when the body was empty. */
  body: unknown
}

/** A charge as a driver gets it: validated, with its names. */
export interface GatewayCharge extends ChargeRequest {
  externalReferenceId: string
  /** Where this gateway is to call back; undefined when nobody knows our own address. */
  callbackUrl: string | undefined
  /** ms. */
  now: number
}

export type ChargeAnswer =
  | {
      ok: true
      gatewayTransactionId: string
      redirectUrl?: string
      /** ms */
      expiresAt?: number
      qrCode?: string
      readableCode?: string
      deepLink?: string
    }
  /** A definite refusal: the gateway made no payment. */
  | { ok: false; error: PaymentError }

/** A webhook request, its body read once and untouched. */
export interface WebhookRequest {
  headers: Headers
  query: URLSearchParams
  body: string
  /** ms */
  receivedAt: number
}

/** Verified, and about nothing that moves a payment. */
export interface IgnoredWebhook {
  ignored: string
}

export interface Gateway {
  /** Key of the configuration. */
  readonly key: string
  /**
   * Fields of what it sends that are the payer's own: `wallet number` is `walletNumber`,
   * `wallet_number` and `payerWalletNumber`. They are masked before anything is stored or told, as
   * secrets, phone numbers, card numbers and IBANs are without being named.
   */
  readonly privateFields: readonly string[]
  /** Fields, spelled exactly, that bring back what the host application gave: never masked. */
  readonly echoedFields: readonly string[]
  /** Three capital letters each. */
  readonly currencies: readonly string[] | 'any'
  /** A repeated charge with the same external reference is the same charge to the gateway. */
  readonly chargeIsIdempotent: boolean
  /**
   * Throws InvalidArgumentException before any call, GatewayUnavailableException when the outcome
   * is unknown.
   */
  charge(charge: GatewayCharge, call: GatewayCall): Promise<ChargeAnswer>
  /**
   * Verifies before it parses. Throws InvalidWebhookSignatureException when the request does not
   * prove where it comes from; anything else it throws asks the gateway to try again.
   */
  handleWebhook(
    request: WebhookRequest,
    call: GatewayCall,
  ): Promise<VerifiedWebhook | IgnoredWebhook>
}

/** Names of a stored payment, as its gateway is asked about it. */
export interface StoredNames {
  gatewayTransactionId: string
  externalReferenceId: string
  reference: string
  amount: number
  currency: string
}

/** Without it a payment cannot be given back through us. */
export interface SupportsRefund {
  /** `full`: only all of a payment at once. */
  readonly refunds: 'full' | 'partial'
  /** Why no refund can be made as this gateway is configured; undefined when it can. */
  refundProblem?(): string | undefined
  refund(refund: GatewayRefund, call: GatewayCall): Promise<RefundAnswer>
}

export interface GatewayRefund extends StoredNames {
  /** Ours: the same however often this refund is repeated. */
  refundId: string
  /** What to give back, in minor units. Of a gateway that is `full`: what was charged. */
  refundAmount: number
  reason: string
}

export type RefundAnswer =
  /** `isDone` false: taken, and the gateway tells later when the money went. */
  | { ok: true; isDone: boolean; gatewayRefundId?: string }
  /** A definite refusal. */
  | { ok: false; error: PaymentError }

/** Without it a payment whose webhook was lost stays open until a person looks. */
export interface SupportsStatusCheck {
  checkStatus(names: StoredNames, call: GatewayCall): Promise<StatusAnswer>
}

export type StatusAnswer =
  | {
      known: true
      status: PaymentStatus
      /** As in a VerifiedWebhook. */
      amount: number
      currency: string
      /** Minor units, with `PartiallyRefunded`: what was paid, where the gateway tells that too. */
      paidAmount?: number
      error?: PaymentError
      /**
       * With `Pending`: a payer may be paying at this moment, or has paid and the money is on its
       * way. True also for a word that the driver does not know. A payment is then not replaced.
       */
      isBeingPaid?: boolean
      /**
       * The gateway has a refund on its list, and the money is still there. False: it keeps such a
       * list, and there is none on it. Missing: it does not tell.
       */
      isRefundRequested?: boolean
      /** The gateway's untouched answer; absent where it was not asked. */
      raw?: unknown
    }
  /** The gateway knows no such payment. */
  | { known: false }

/** Without it a payment ends by itself alone. */
export interface SupportsCancel {
  cancel(names: StoredNames, call: GatewayCall): Promise<void>
}

/** Without it calls carry what the driver puts into their headers. */
export interface SupportsAccessToken {
  /** The request for a new token; it is sent without one. */
  tokenRequest(): GatewayRequest
}

export type AnyGateway = Gateway &
  Partial<SupportsRefund & SupportsStatusCheck & SupportsCancel & SupportsAccessToken>

export const supportsRefund = (gateway: AnyGateway): gateway is Gateway & SupportsRefund =>
  gateway.refund !== undefined

export const supportsStatusCheck = (
  gateway: AnyGateway,
): gateway is Gateway & SupportsStatusCheck => gateway.checkStatus !== undefined

export const supportsCancel = (gateway: AnyGateway): gateway is Gateway & SupportsCancel =>
  gateway.cancel !== undefined

/** What a driver's file exports, and the registry lists. */
export interface Driver {
  /** Environment variables are this and a setting's name in capitals: `STRIPE_` + `SECRET_KEY`. */
  envPrefix: string
  /**
   * Every setting it knows. One without a default must be given, unless it is optional. Its
   * `base_url`, on loopback, tells a simulator from the gateway.
   */
  settings: Readonly<Record<string, Setting>>
  /** Why these settings cannot work, a sentence each; none: they can. */
  check?(settings: Settings): string[]
  create(key: string, settings: Settings): AnyGateway
}

export type Setting = { default: string } | { optional: true } | { required: true }
/** Values by name; an optional one that is not set is missing. */
export type Settings = Readonly<Record<string, string>>
