// Payments as the API and the host application see them, and what a gateway reports of one. Types
// only. Those of the API are generated from the OpenAPI document, which the schemas of `charging/`
// and `api/` make.

import type * as api from '../../../libraries/api/types.ts'
import type { PaymentError } from './exceptions.ts'
import type { PassingEvent } from './status.ts'

export type Metadata = api.Metadata

/** One attempt to be paid. Amounts in minor units, times in ISO 8601. */
export type Transaction = api.Transaction

/** What was paid, as the gateway reported it. */
export type Paid = api.Paid

/** A charge as the API takes it. */
export type FullChargeRequest = api.ChargeRequest

/** What the host application asks to be paid. */
export type ChargeRequest = Omit<FullChargeRequest, 'replace' | 'repeat'>

/** The answer to a charge: the payment as it is, and how to pay it while that is possible. */
export type PaymentResponse = api.PaymentResponse

/** What a gateway answered when it made a payment. */
export type OpenedPayment = PaymentResponse & { gatewayTransactionId: string }

/** In process the gateway is that of the driver; over HTTP the request names it. */
export type RefundRequest = Omit<api.RefundRequest, 'gateway'>

export type RefundResult = api.RefundResult

/** A gateway's event, as it is stored and dispatched. */
export type WebhookPayload = Readonly<api.WebhookPayload>

/** What a gateway reports of a payment: by a webhook, or when it is asked. Nothing is masked. */
export type Report = Pick<
  WebhookPayload,
  'externalReferenceId' | 'status' | 'amount' | 'currency' | 'error' | 'raw'
> & {
  readonly gatewayTransactionId?: string
  /** With `Pending`: its page can no longer be paid, so it is not offered any more. */
  readonly isPageClosed?: boolean
  /** All refunds of the payment, where the driver has read them: they count, and not the sum. */
  readonly refunds?: RefundSet
  /** With `Refunded` and `PartiallyRefunded`: what was paid before, if the driver has read it. */
  readonly paidAmount?: number
  /** A dispute of the payment, where the driver has read it: `status` is that of the payment. */
  readonly disputes?: DisputeSet
}

/** As a driver makes it. */
export type VerifiedWebhook = Omit<WebhookPayload, 'occurredAt'> &
  Report & {
    /** ms. NaN if the gateway sent no time: then it is asked instead. */
    readonly occurredAt: number
    /** That began the payment, if the gateway returns it. */
    readonly installation?: string
  }

/** A refund as its gateway reports it. */
export interface ReportedRefund {
  /** Its id at the gateway. Missing: the gateway makes one at a time, and gives none. */
  id?: string
  /** Ours, where the gateway carries it. */
  refundId?: string
  /** Minor units. */
  amount: number
  /** `accepted`: not made yet. A cancelled one is `failed`, with the code `refund_cancelled`. */
  status: 'accepted' | 'succeeded' | 'failed'
  /** Why it failed. */
  error?: PaymentError
}

/** All refunds of one payment, read together. */
export interface RefundSet {
  /** When the read began, in ms: a set never overwrites one whose read began later. */
  readAt: number
  /** Minor units: what was captured by then, where the payment is captured in parts. */
  captured?: number
  refunds: readonly ReportedRefund[]
}

/** A dispute, or one of the chargebacks that are one dispute. */
export interface ReportedDispute {
  /** Its id at the gateway. */
  id: string
  /** Minor units. */
  amount: number
  currency: string
  /** `unknown`: a word that the driver does not know; what has ended stays so. */
  state: 'open' | 'ended' | 'unknown'
  /** How it has ended, in the gateway's word. */
  outcome?: string
  /** When it ended, in ms. */
  endedAt?: number
  /** The bank only asks, and has taken nothing. */
  isInquiry?: boolean
  /** The bank has the money. Missing: the gateway does not report it, and what is booked stays. */
  isOut?: boolean
}

/** One dispute of a payment, which is one alert, with all that the gateway has of it. */
export interface DisputeSet {
  /** The gateway's id of it. */
  id: string
  /** When the read began, in ms: a set never overwrites one whose read began later. */
  readAt: number
  /** It was not read: an event carried it, made at some time of the second `readAt`. */
  isCopy?: boolean
  parts: readonly ReportedDispute[]
  /** Why the payer asks for it, in the gateway's own text. */
  error?: PaymentError
}

/** An open alert, as its payment shows it. */
export type OpenAlert = api.OpenAlert
export type AlertDetail = api.AlertDetail
export type RaisedAlert = api.RaisedAlert
/** Once it was acknowledged. */
export type SettledAlert = api.SettledAlert
/** What the host application gets of each event, by its name. */
export type PaymentEvents = api.PaymentEvents

/** An invalid row of a list. */
export type Unreadable = api.Unreadable
export type Listed<Item> = Item | Unreadable

export type EventRecord = api.WebhookEvent
export type RefundRecord = api.Refund
/** A durable event with its deliveries. */
export type StoredEvent = api.StoredEvent
export type DeliveryRecord = api.Delivery
export type AlertRecord = api.Alert
export type AuditRecord = api.AuditRecord
export type Note = api.Note
export type Movement = api.Movement
export type MovementSum = api.MovementSum
export type MovementDay = api.MovementDay
/** Of a settlement that is compared with the books. */
export type SettledRow = api.Settlement['rows'][number]
export type WebhookRates = api.WebhookRates
export type WebhookRate = WebhookRates['minutes'][number]
export type FailingEndpoint = api.FailingEndpoint

/** What is known of a payment beside it. Oldest first. */
interface StoryParts {
  webhookEvents: EventRecord
  refunds: RefundRecord
  events: StoredEvent
  alerts: AlertRecord
  audit: AuditRecord
  notes: Note
}

/**
 * One payment with its webhook events, refunds, events and alerts.
 * @forTests A story without an unreadable row.
 */
export type Story = { transaction: Transaction; check: CheckTimes } & {
  [Part in keyof StoryParts]: StoryParts[Part][]
}

/** A story in which any part may be an unreadable row. */
export type ListedStory = { transaction: Listed<Transaction>; check: CheckTimes } & {
  [Part in keyof StoryParts]: Listed<StoryParts[Part]>[]
}

/** One gateway as `GET /api/payments/gateways` shows it. */
export type GatewayHealth = api.Gateway
/** By kind of call. */
export type Breakers = GatewayHealth['breaker']
export type BreakerHealth = Breakers['charge']

/** What may be asked for of a payment now. */
export type Can = api.TransactionStory['can']

/** When the gateway was last asked about a payment, and when it is asked next. */
export type CheckTimes = api.TransactionStory['check']

/** Since when payments are paused, and who asked for that. */
export type PauseRecord = api.Pause

export type SweepReport = api.SweepReport

/** Passes an event on to its subscribers, once. Answers at once, and never throws. */
export type Notify = <Name extends PassingEvent>(name: Name, payload: PaymentEvents[Name]) => void

/** `per-gateway`: each gateway is a shop of its own, and may use the references of another. */
export type References = 'shared' | 'per-gateway'
