// Payments and events for tests: each test gives only the fields that matter to it.

import type { PendingEvent } from '../../worker/payments/acts/dispatch.ts'
import type { PaymentsConfig } from '../../worker/payments/config/payments-config.ts'
import type { DurableEvent } from '../../worker/payments/domain/status.ts'
import type {
  ChargeRequest,
  PaymentEvents,
  Transaction,
  VerifiedWebhook,
} from '../../worker/payments/domain/types.ts'
import type { WebhookRequest } from '../../worker/payments/gateways/gateway.ts'
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

/** A gateway's event, as its driver reads it: 25,000 IQD are paid. */
export const verified = (own: Partial<VerifiedWebhook> = {}): VerifiedWebhook => ({
  gateway: 'bank',
  gatewayTransactionId: '',
  reference: '',
  status: 'Paid',
  amount: 25_000,
  currency: 'IQD',
  eventId: crypto.randomUUID(),
  occurredAt: 0,
  raw: {},
  ...own,
})

/** A webhook as a driver gets it. */
export const webhookRequest = (
  body: string,
  receivedAt: number,
  headers: Headers | Record<string, string> = {},
  query: string | [string, string][] | URLSearchParams = '',
): WebhookRequest => ({
  headers: new Headers(headers),
  query: new URLSearchParams(query),
  bytes: new TextEncoder().encode(body),
  body,
  receivedAt,
})

/** With these gateways, and all else as it is where nobody says anything. */
export const paymentsConfig = (
  own: Partial<PaymentsConfig> & Pick<PaymentsConfig, 'gateways'>,
): PaymentsConfig => ({
  accounts: new Map(),
  realGateways: new Set(),
  installation: undefined,
  routePrefix: 'payments/webhooks',
  middleware: [],
  toleranceMs: 300_000,
  eventKeysMs: undefined,
  operations: { onMismatch: 'log' },
  rules: { references: 'shared' },
  listeners: {},
  endpoint: undefined,
  database: { url: 'http://nowhere.example' },
  publicUrl: undefined,
  ledgerLocation: undefined,
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
