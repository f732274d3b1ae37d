// Payments and events for tests: each test gives only the fields that matter to it.

import type { PendingEvent } from '../../worker/payments/domain/events.ts'
import type { ChargeRequest, Transaction } from '../../worker/payments/domain/schemas.ts'
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
  correlationId: 'correlation-1',
  createdAt: '2026-03-01T10:00:00.000Z',
  updatedAt: '2026-03-01T10:00:00.000Z',
  ...own,
})

export const pendingEvent = (own: Partial<PendingEvent> = {}): PendingEvent => ({
  outboxId: '01OUT',
  type: 'PaymentSucceeded',
  payload: { transaction: transaction({ status: 'Paid' }) },
  correlationId: 'correlation-1',
  createdAt: 0,
  ...own,
})

export interface Logged {
  level: string
  event: string
  fields: Record<string, unknown>
}

/** A log that records its lines. */
export function keptLog(): { log: Log; lines: Logged[] } {
  const lines: Logged[] = []
  return { lines, log: (level, event, fields) => lines.push({ level, event, fields }) }
}
