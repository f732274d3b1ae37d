// Requests that change payments, and the idempotency key that makes it safe to repeat them. Each
// rejects with an ApiProblem.

import type {
  ChargeRequest,
  PaymentResponse,
  RefundRequest,
  RefundResult,
} from '../../api/types.ts'
import { ApiProblem, problemText, request as send } from '../data/http.ts'
import { paymentWords } from './words.ts'

const API = '/api/payments'

export const acknowledge = (alertId: string, gatewayReference: string): Promise<void> =>
  send(`${API}/alerts/${encodeURIComponent(alertId)}/acknowledge`, {
    method: 'POST',
    body: gatewayReference === '' ? {} : { gatewayReference },
  })

export const redeliver = (deliveryId: string): Promise<void> =>
  send(`${API}/deliveries/${encodeURIComponent(deliveryId)}/redeliver`, { method: 'POST' })

export const charge = (request: ChargeRequest, key: string): Promise<PaymentResponse> =>
  send(`${API}/charges`, { method: 'POST', body: request, headers: { 'Idempotency-Key': key } })

/**
 * Without a key: it means the open payment of this order, whose own key goes over to the new one.
 * Repeating it is safe: what was replaced is not stranded any more.
 */
export const replace = (request: ChargeRequest): Promise<PaymentResponse> =>
  send(`${API}/charges`, { method: 'POST', body: { ...request, replace: true } })

export const refund = (request: RefundRequest, key: string): Promise<RefundResult> =>
  send(`${API}/refunds`, { method: 'POST', body: request, headers: { 'Idempotency-Key': key } })

export class IdempotencyKey {
  readonly #newKey: () => string
  #known: { request: string; key: string } | undefined

  /** `newKey` returns a key that was never used. */
  constructor(newKey: () => string) {
    this.#newKey = newKey
  }

  of(request: unknown): string {
    const text = JSON.stringify(request)
    if (this.#known?.request !== text) this.#known = { request: text, key: this.#newKey() }
    return this.#known.key
  }

  /** The request has a final answer, so the next one gets a new key. */
  settle(): void {
    this.#known = undefined
  }
}

/** The sentence for a failure. It says whether the user may safely press the button again. */
export const failureText = (problem: unknown): string =>
  isRefusal(problem) ? problemText(problem) : `${problemText(problem)} ${paymentWords.safeAgain}`

/**
 * Whether the request certainly has no effect. Then the next try may use a new key. After any other
 * failure the gateway may have acted, and only the same key is safe.
 */
export const isRefusal = (problem: unknown): boolean =>
  problem instanceof ApiProblem && REFUSALS.includes(problem.code)

const REFUSALS: readonly string[] = ['invalid_argument', 'gateway_refused', 'already_paid']
