// Payments and events for tests: each test gives only the fields that matter to it.

import type { PendingEvent } from '../../worker/payments/domain/outbox.ts'
import type { DurableEvent } from '../../worker/payments/domain/status.ts'
import type {
  ChargeRequest,
  PaymentEvents,
  Transaction,
} from '../../worker/payments/domain/types.ts'
import type { Log } from '../../worker/shared/log.ts'

export const request = (own: Partial<ChargeRequest> = {}): ChargeRequest => ({
  gateway: 'bank',
  reference: 'order-1',
  amount: 25_000,
  currency: 'IQD',
  description: 'Two books',
  ...own,
})

export const transaction = (own: Partial<Transaction> = {}): Transaction => ({
  id: '01TX',
  gateway: 'bank',
  reference: 'order-1',
  attempt: 1,
  externalReferenceId: 'external-1',
  status: 'Pending',
  amount: 25_000,
  currency: 'IQD',
  refundedAmount: 0,
  refundRevision: 0,
  correlationId: 'correlation-1',
  createdAt: '2026-03-01T10:00:00.000Z',
  updatedAt: '2026-03-01T10:00:00.000Z',
  ...own,
})

export const pendingEvent = ({
  payload = { transaction: transaction({ status: 'Paid' }) },
  ...own
}: Partial<Omit<PendingEvent, 'payload'>> & {
  payload?: PaymentEvents[DurableEvent]
} = {}): PendingEvent => ({
  outboxId: '01OUT',
  type: 'PaymentSucceeded',
  transactionId: payload.transaction.id,
  payload: JSON.stringify(payload),
  correlationId: 'correlation-1',
  createdAt: 0,
  ...own,
})

export interface Logged {
  level: string
  event: string
  fields: Record<string, unknown>
}

/** A log that records its lines, as they are written. */
export function keptLog(): { log: Log; lines: Logged[] } {
  const lines: Logged[] = []
  const log: Log = (level, event, fields) => {
    if (level !== 'debug') lines.push({ level, event, fields })
  }
  return { lines, log }
}
