// The port of a payment gateway. A driver is one short file: it builds requests and reads replies.
// The call that it gets handles timeouts, retries, tokens and the breaker.

import { InvalidArgumentException, type PaymentError } from '../domain/exceptions.ts'
import type { Earlier } from '../domain/open-charge.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { ChargeRequest, Report, VerifiedWebhook } from '../domain/types.ts'
import type { MaskedFields } from '../mask.ts'

/** How a driver reaches its gateway. */
export interface GatewayCall {
  /**
   * Resolves to the gateway's reply, a refusal (4xx) included. Throws GatewayUnavailableException
   * after a timeout, a lost connection, a 5xx, 408, 425 or 429, and for an HTML page or anything
   * else that is not JSON, with any status.
   */
  send(request: GatewayRequest): Promise<CountedReply>
  /** Logs a warning, such as `payments.redirect_gateway.unknown_status`. */
  warn(event: string, fields: Record<string, unknown>): void
}

export interface GatewayRequest {
  /** Its name in events and logs, such as `transaction/init`: without ids or secrets. */
  endpoint: string
  method: 'GET' | 'POST' | 'DELETE'
  /** Absolute. */
  url: string
  headers?: Record<string, string>
  /** The body: one of the two, or none. */
  json?: unknown
  form?: Record<string, string>
  /**
   * A repeated request has the same effect as one. Only such a request is repeated after a failure:
   * repeating any other could charge or refund twice.
   */
  isIdempotent: boolean
  /** Sends the driver's access token, and a new one after a `401`. */
  withToken?: boolean
  /**
   * In `handleWebhook`: what the callback is proven for, so that its requests are counted by that:
   * a payment for which it has a proof that only we could have written, or an event that the
   * gateway has signed. The driver has checked it. Without it, the request is counted against the
   * small limit that all unproven callbacks share.
   */
  provenFor?: string
}

export interface GatewayReply {
  status: number
  /** When the request was sent that this answers, in ms. */
  sentAt: number
  /** Parsed JSON; undefined when the body was empty. */
  body: unknown
  /** OAuth's code of a refusal, such as `insufficient_scope`, of the body or WWW-Authenticate. */
  authError?: string
}

export interface CountedReply extends GatewayReply {
  /** How many tries of this call had no definite answer: each may have been carried out. */
  unanswered: number
}

/** A charge as a driver gets it: validated, with its ids. */
export interface GatewayCharge extends ChargeRequest {
  externalReferenceId: string
  earlier: Earlier
  /**
   * The installation's id, for the metadata of a gateway that has some: `handleWebhook` returns it.
   * Absent: an older version began the charge, and repeated it must be the same.
   */
  installation?: string
  /** Where the gateway sends callbacks; undefined when our own address is not known. */
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
  | Refused

/** A definite refusal: the gateway made no payment, or no refund. */
export interface Refused {
  ok: false
  error: PaymentError
  /**
   * It made none by an earlier request for the same thing either. Without this, a refusal after a
   * request that had no definite answer leaves the outcome unknown: it may be refused because the
   * earlier one was carried out.
   */
  coversEarlier?: true
}

/** A webhook request, its body read once and untouched. */
export interface WebhookRequest {
  headers: Headers
  query: URLSearchParams
  /** As they came: a signature is checked over these, since decoding may change them. */
  bytes: Uint8Array<ArrayBuffer>
  /** The same as text, without a byte order mark. */
  body: string
  /** ms */
  receivedAt: number
}

/** A verified webhook that changes no payment. */
export interface IgnoredWebhook {
  /** Why, for the log. */
  ignored: string
}

/**
 * A verified webhook with a field that is missing or makes no sense, such as an amount that is no
 * number. The gateway repeats it, and is asked about the payment with its ids.
 */
export interface UnreadableWebhook
  extends Partial<
    Pick<VerifiedWebhook, 'gatewayTransactionId' | 'isOtherId' | 'externalReferenceId'>
  > {
  /** Which field, for the log and the alert. No values: they may be personal data. */
  unreadable: string
  /** Sent again it would stay so, such as when our key may not read what it is about. */
  isFinal?: true
}

export interface Gateway extends MaskedFields {
  /** Key of the configuration. */
  readonly key: string
  /**
   * Three capital letters each. A charge in another currency is refused before the driver is asked,
   * by `charge.ts`.
   */
  readonly currencies: readonly string[] | 'any'
  /**
   * For this long after its first request, a repeated charge with the same external reference is
   * the same charge for the gateway; in ms. 0: never. It is sent as JSON, so not Infinity.
   */
  readonly chargeRepeatableForMs: number
  /**
   * A charge whose page no payer saw cannot be paid. If the gateway never gave an id for it, it
   * is replaced without asking. Absent: it may be paid.
   */
  readonly unseenIsUnpayable?: boolean
  /**
   * Why the gateway would not take this charge, as a sentence; undefined: nothing is known. Asked
   * before anything is stored. Absent: it takes every one.
   */
  chargeProblem?(charge: ChargeRequest): string | undefined
  /**
   * `chargeProblem` had none. Throws InvalidArgumentException before any call,
   * GatewayUnavailableException when the outcome is unknown.
   */
  charge(charge: GatewayCharge, call: GatewayCall): Promise<ChargeAnswer>
  /**
   * Verifies before it parses. Throws InvalidWebhookSignatureException when the request is not
   * proven to come from the gateway. After any other error the gateway is asked to try again.
   */
  handleWebhook(
    request: WebhookRequest,
    call: GatewayCall,
  ): Promise<VerifiedWebhook | IgnoredWebhook | UnreadableWebhook>
}

/** What the driver needs of a stored payment to ask its gateway about it. */
export interface StoredPayment {
  gatewayTransactionId: string
  externalReferenceId: string
  reference: string
  amount: number
  currency: string
}

/** Throws InvalidArgumentException for a payment without a gateway id: it cannot be asked about. */
export function storedPayment(row: TransactionRow): StoredPayment {
  const { gateway_transaction_id: gatewayTransactionId, reference, amount, currency } = row
  if (gatewayTransactionId === null) {
    throw new InvalidArgumentException('This payment has no gateway id yet.')
  }
  const externalReferenceId = row.external_reference_id ?? ''
  return { gatewayTransactionId, externalReferenceId, reference, amount, currency }
}

/** Without it payments of this gateway cannot be refunded through us. */
export interface SupportsRefund {
  /** `full`: `refund` is only called for the whole payment. */
  readonly refunds: 'full' | 'partial'
  /** Why this configuration allows no refunds: `refund` is not called. Undefined: it does. */
  refundProblem?(): string | undefined
  refund(refund: GatewayRefund, call: GatewayCall): Promise<RefundAnswer>
}

export interface GatewayRefund extends StoredPayment {
  /** Our id; a repeated refund has the same one. */
  refundId: string
  earlier: Earlier
  /** In minor units. For a `full` gateway it is the charged amount. */
  refundAmount: number
  reason: string
}

export type RefundAnswer =
  /** `isDone` false: accepted; the gateway reports later that the money was sent. */
  { ok: true; isDone: boolean; gatewayRefundId?: string } | Refused

/** Without it a payment whose webhook was lost stays open until a person resolves it. */
export interface SupportsStatusCheck {
  checkStatus(payment: StoredPayment, call: GatewayCall): Promise<StatusAnswer>
}

/**
 * Its ids are those that the answer itself carries, of the same kinds as those of the charge. If
 * they are others, it is about another payment and changes nothing.
 */
export type KnownStatus = Report & {
  known: true
  /**
   * For `Pending`: the payer may be paying now, or has paid and the money is on its way. Also true
   * for a status that the driver does not know. Such a payment is not replaced.
   */
  isBeingPaid?: boolean
  /**
   * For `Pending`, in ms: until when money may still come, where that is later than its page shows.
   * No alert is raised before.
   */
  payableUntil?: number
  /** For `Pending`: the gateway would not cancel it, and why. `cancel` is not called. */
  cancelRefusal?: PaymentError
}

export type StatusAnswer =
  | KnownStatus
  /** The gateway does not know this payment. */
  | { known: false }

/** Without it, or without SupportsStatusCheck, an open payment stays so until it expires. */
export interface SupportsCancel {
  cancel(payment: StoredPayment, call: GatewayCall): Promise<void>
}

/** Without it the driver puts its own credentials into the headers. */
export interface SupportsAccessToken {
  /** The request for a new token; it is sent without one. */
  tokenRequest(): GatewayRequest
}

export type AnyGateway = Gateway &
  Partial<SupportsRefund & SupportsStatusCheck & SupportsCancel & SupportsAccessToken>

/** Throws InvalidArgumentException. */
export function gatewayOf(gateways: ReadonlyMap<string, AnyGateway>, key: string): AnyGateway {
  const gateway = gateways.get(key)
  if (gateway) return gateway
  const known = [...gateways.keys()].join(', ') || 'none'
  throw new InvalidArgumentException(`There is no gateway ${key}; configured: ${known}.`)
}

export const supportsRefund = (gateway: AnyGateway): gateway is Gateway & SupportsRefund =>
  gateway.refund !== undefined

/** And its configuration allows refunds. */
export const mayRefund = (gateway: AnyGateway): gateway is Gateway & SupportsRefund =>
  supportsRefund(gateway) && gateway.refundProblem?.() === undefined

export const supportsStatusCheck = (
  gateway: AnyGateway,
): gateway is Gateway & SupportsStatusCheck => gateway.checkStatus !== undefined

export const supportsCancel = (gateway: AnyGateway): gateway is Gateway & SupportsCancel =>
  gateway.cancel !== undefined

/** It can end an open payment, and report whether that has ended it. */
export const isClosable = (
  gateway: AnyGateway,
): gateway is Gateway & SupportsCancel & SupportsStatusCheck =>
  supportsCancel(gateway) && supportsStatusCheck(gateway)

/** What a driver's file exports, listed in the registry. */
export interface Driver {
  /** Environment variables are this plus a setting's name in capitals: `STRIPE_` + `SECRET_KEY`. */
  envPrefix: string
  /**
   * Every setting that the driver knows. A setting without a default is required, unless it is
   * optional. A `base_url` on loopback means that the gateway is a simulator.
   */
  settings: Readonly<Record<string, Setting>>
  /** What is wrong with these settings, one sentence each; empty if nothing is. */
  check?(settings: Settings): string[]
  /** The setting that verifies webhooks. Missing: they are not signed. */
  verifiesWith?: string
  /** Whether real money moves; undefined: the settings do not say. Not asked on loopback. */
  isLive?(settings: Settings): boolean | undefined
  /**
   * What the doctor says of secrets that `check` lets pass. All of them are set. `nameOf` is the
   * variable of a setting.
   */
  examine?(settings: Settings, nameOf: (setting: string) => string): Remark[]
  /** What the credentials must be allowed to read. For a driver without access tokens. */
  reads?(settings: Settings): CredentialReads
  create(key: string, settings: Settings): AnyGateway
}

export interface Remark {
  level: 'warn' | 'error'
  sentence: string
}

export interface CredentialReads {
  /** What sentences call the gateway. */
  name: string
  /** The setting with the credentials. */
  setting: string
  /** By what is read, such as `refunds`. */
  requests: Readonly<Record<string, { url: string; headers: Record<string, string> }>>
}

/** `testPrefix`: how a key of the gateway's test environment begins. */
export type Setting =
  | { default: string }
  | { optional: true }
  | { required: true; testPrefix?: string }
/** Values by name; an optional setting without a value is missing. */
export type Settings = Readonly<Record<string, string>>

export const errorRemark = (sentence: string): Remark => ({ level: 'error', sentence })
export const warningRemark = (sentence: string): Remark => ({ level: 'warn', sentence })
