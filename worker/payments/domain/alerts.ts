// Alerts: what only a person can settle. Pure.

import type { AlertDetail } from './raised-alert.ts'
import type { AlertRow, TransactionRow } from './rows.ts'
import type { AlertKind } from './status.ts'

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
