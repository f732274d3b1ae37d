// What can be done about payments, as the edge is asked for it. Each rejects with an ApiProblem.

import type {
  ChargeRequest,
  PaymentResponse,
  RefundRequest,
  RefundResult,
} from '../../../worker/payments/domain/transaction.ts'
import { ask } from '../../data/http.ts'

const API = '/api/payments'

export const acknowledge = (alertId: string): Promise<void> =>
  ask(`${API}/alerts/${encodeURIComponent(alertId)}/acknowledge`, { method: 'POST' })

export const redeliver = (deliveryId: string): Promise<void> =>
  ask(`${API}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`, { method: 'POST' })

export const charge = (request: ChargeRequest, key: string): Promise<PaymentResponse> =>
  ask(`${API}/charges`, { method: 'POST', body: request, headers: { 'Idempotency-Key': key } })

export const refund = (
  request: RefundRequest & { gateway: string },
  key: string,
): Promise<RefundResult> =>
  ask(`${API}/refunds`, { method: 'POST', body: request, headers: { 'Idempotency-Key': key } })
