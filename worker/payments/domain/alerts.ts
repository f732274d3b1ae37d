// What only a person can settle. Pure.

import type { PaymentError } from './exceptions.ts'
import type { AlertRow } from './rows.ts'
import type { AlertKind, DurableEvent, PaymentStatus } from './status.ts'

/** What happened, as far as it is known. Amounts are in minor units. */
export interface AlertDetail {
  /** The host application's, of the payment. */
  reference?: string
  /** What the gateway's event told; without one, of the payment or the refund it is about. */
  amount?: number
  currency?: string
  /** What was asked for or, of a refund, what was paid of it: beside what the event told. */
  expectedAmount?: number
  expectedCurrency?: string
  /** The gateway's event that raised it. */
  eventId?: string
  /** Our name for the refund, or else the gateway's. */
  refundId?: string
  /** ISO 8601: open since. */
  since?: string
  /** Of a refund with another amount: what its event told. Else what the gateway answered last. */
  said?: PaymentStatus | 'nothing'
  /** The event that was not delivered: its id and its type. */
  event?: string
  type?: DurableEvent
  /** What can be sent again, and where to. */
  deliveryId?: string
  endpoint?: string
  lastStatus?: number
  /** The gateway's, or why an event was not taken. */
  error?: PaymentError | string
}

/** An alert as the host application gets it. */
export interface RaisedAlert {
  id: string
  kind: AlertKind
  gateway: string
  /** Ours. */
  transactionId: string
  detail: AlertDetail
  /** ISO 8601. */
  createdAt: string
}

/** An alert that a decision raises. Its id is given when it is stored. */
export interface Alert {
  kind: AlertKind
  /** What it is about: with the kind it is unique. */
  subject: string
  gateway: string
  transactionId: string
  detail: AlertDetail
  createdAt: number
}

/**
 * The row of a raised alert. `known` is the alert of this kind and subject: while it is open
 * nothing changes, and once it was acknowledged it is opened again.
 */
export function raiseAlert(
  alert: Alert,
  known: AlertRow | undefined,
  newId: () => string,
): AlertRow | undefined {
  if (known && known.acknowledged_at === null) return undefined
  return {
    id: known?.id ?? newId(),
    kind: alert.kind,
    subject: alert.subject,
    gateway: alert.gateway,
    transaction_id: alert.transactionId,
    detail: JSON.stringify(alert.detail),
    created_at: alert.createdAt,
    acknowledged_at: null,
    acknowledged_by: null,
  }
}

/** Seen by a person: the first one is kept. */
export const acknowledgeAlert = (row: AlertRow, by: string, now: number): AlertRow =>
  row.acknowledged_at === null ? { ...row, acknowledged_at: now, acknowledged_by: by } : row
