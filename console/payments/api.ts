// Requests that change payments, and the idempotency key that makes it safe to repeat them. Each
// rejects with an ApiProblem.

import type {
  ChargeRequest,
  PaymentResponse,
  RefundRequest,
  RefundResult,
} from '../../worker/payments/domain/transaction.ts'
import { ApiProblem, ask, problemText } from '../data/http.ts'
import { words } from '../words.ts'

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

export class IdempotencyKey {
  readonly #draw: () => string
  #known: { request: string; key: string } | undefined

  /** `draw`: a key that nobody has used. */
  constructor(draw: () => string) {
    this.#draw = draw
  }

  of(request: unknown): string {
    const text = JSON.stringify(request)
    if (this.#known?.request !== text) this.#known = { request: text, key: this.#draw() }
    return this.#known.key
  }

  /** The request has been answered for good. */
  settle(): void {
    this.#known = undefined
  }
}

/** What is said of a failure: whether it may be pressed again is what somebody wonders then. */
export const sayFailure = (problem: unknown): string =>
  isRefusal(problem) ? problemText(problem) : `${problemText(problem)} ${words.payments.safeAgain}`

/**
 * Whether nothing came of it and nothing will: the same request under another key is another try.
 * After anything else the gateway may have done it, and only the same key is safe.
 */
export const isRefusal = (problem: unknown): boolean =>
  problem instanceof ApiProblem && REFUSALS.includes(problem.code)

const REFUSALS: readonly string[] = ['invalid_argument', 'gateway_refused']
