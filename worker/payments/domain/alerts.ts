// Alerts: what only a person can settle. Pure.

import * as z from 'zod'
import type * as api from '../../../api/types.ts'
import type { AlertRow, TransactionRow } from './rows.ts'
import { alertKindSchema, paymentErrorSchema, statusSchema, timeSchema } from './schemas.ts'
import { type AlertKind, DURABLE_EVENTS } from './status.ts'

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
    gateway_reference: null,
  }
}

/**
 * The ids that its gateway `carried`, for the payment or for its charge, are not those of one
 * payment. `other`: the payment that one of them names.
 */
export function idMismatch(
  { id, gateway, reference }: TransactionRow,
  carried: { gatewayId: string | null; external: string | null },
  other: TransactionRow | undefined,
  detail: AlertDetail,
  createdAt: number,
): Alert {
  const { gatewayId, external } = carried
  return {
    kind: 'id_mismatch',
    // Other events with the same ids have the same cause.
    subject: [id, gatewayId, external].join(' '),
    ...{ gateway, transactionId: id, createdAt },
    detail: {
      ...{ reference, ...detail },
      ...(gatewayId !== null && { gatewayTransactionId: gatewayId }),
      ...(external !== null && { externalReferenceId: external }),
      ...(other && { otherTransactionId: other.id }),
    },
  }
}

/** Marks it as seen. The first person is kept. `gatewayReference`: of what was done about it. */
export const acknowledgeAlert = (
  row: AlertRow,
  by: string,
  now: number,
  gatewayReference: string | null = null,
): AlertRow =>
  row.acknowledged_at === null
    ? { ...row, acknowledged_at: now, acknowledged_by: by, gateway_reference: gatewayReference }
    : row

// An alert as the API, the events and the host application see it. The schemas describe it in the
// OpenAPI document, from which the types are generated.

export const alertDetailSchema = z
  .object({
    reference: z.string().describe('The host application’s, of the payment.'),
    amount: z.int().describe('Of the gateway’s event; without one, of the payment or the refund.'),
    currency: z.string(),
    expectedAmount: z.int().describe('What was requested or, of a refund, what was paid of it.'),
    expectedCurrency: z.string(),
    gatewayTransactionId: z.string().describe('Of an event whose ids contradict.'),
    externalReferenceId: z.string().describe('Of an event whose ids contradict.'),
    eventId: z.string().describe('The gateway’s event that raised it.'),
    otherTransactionId: z
      .string()
      .describe('Ours: the other payment of a paid order, or the one that contradicting ids name.'),
    otherGateway: z.string().describe('The gateway of that other payment.'),
    refundId: z.string().describe('Our id of the refund, or else the gateway’s.'),
    since: timeSchema.describe('Open since.'),
    gatewayStatus: z
      .union([statusSchema, z.literal('none')])
      .describe(
        'For a refund with a wrong amount, and for ids that contradict, the status of the event. ' +
          'Otherwise, what the gateway answered last.',
      ),
    event: z.string().describe('The id of the event that was not delivered.'),
    type: z.enum(DURABLE_EVENTS).describe('The type of the event that was not delivered.'),
    deliveryId: z.string().describe('What can be sent again.'),
    endpoint: z.string().describe('Where it can be sent again to.'),
    lastStatus: z.int(),
    error: z
      .union([paymentErrorSchema, z.string()])
      .describe('The gateway’s, or why an event was not taken, or cannot be read.'),
  })
  .exactPartial()
  .describe('What happened, as far as it is known. Amounts are in minor units.')

export const raisedAlertSchema = z.object({
  id: z.string(),
  kind: alertKindSchema,
  gateway: z.string(),
  transactionId: z.string().describe('Ours.'),
  detail: alertDetailSchema,
  createdAt: timeSchema,
})

/** Once it was acknowledged. */
export const settledAlertSchema = raisedAlertSchema.extend({
  acknowledgedAt: timeSchema,
  acknowledgedBy: z
    .string()
    .describe('The subject of a person’s token; `refund`: the payment was refunded.'),
  gatewayReference: z
    .string()
    .describe('The gateway’s id of what was done about it, such as a refund by hand.')
    .exactOptional(),
})

export type AlertDetail = api.AlertDetail

/** An alert as the host application gets it. */
export type RaisedAlert = api.RaisedAlert

export type SettledAlert = api.SettledAlert
