// What waits to be done, as SQL conditions: for loading it, and for asking whether there is any.
// The rules are in acts/check.ts, acts/dispatch.ts and acts/webhook.ts; a property holds these
// to them.

import { MAX_RETRY_MS } from '../../../shared/outgoing.ts'
import { LEASE_MS } from '../../acts/store.ts'
import { MAX_WAIT_MS, MIN_WAIT_MS } from '../../domain/check-times.ts'
import { BEHIND_MS } from '../../domain/time.ts'

const hasCome = (column: string, longestMs: number, by = ':now') =>
  `(${column} <= ${by} OR ${column} > :now + ${longestMs + BEHIND_MS})`

const isFree = (alias: string) => `${hasCome(`${alias}.next_attempt_at`, MAX_RETRY_MS, ':due_by')}
  AND (${alias}.leased_until IS NULL OR ${hasCome(`${alias}.leased_until`, LEASE_MS)})`

const isAhead = (column: string) => `${column} > :now + ${BEHIND_MS}`

/**
 * Whether a row of payment_transactions is to be checked. All that wait are read for it, which are
 * only the open ones.
 */
export const CHECK_DUE = `(${hasCome('next_check_at', MAX_WAIT_MS)}
  OR (next_check_at > :now + ${MIN_WAIT_MS + BEHIND_MS}
    AND (${['created_at', 'updated_at', 'last_check_at'].map(isAhead).join(' OR ')}
      OR EXISTS (SELECT 1 FROM payment_refunds r
        WHERE r.transaction_id = payment_transactions.id AND ${isAhead('r.updated_at')}))))`

/** Whether an outbox row `o` and a delivery `d` are to be dispatched. */
export const LISTENERS_DUE = `o.done_at IS NULL AND ${isFree('o')}`
export const DELIVERY_DUE = `d.status = 'pending' AND ${isFree('d')}`

/** Whether a delivery `d` waits for its endpoint: `k` is the endpoint, `now` and `since`. */
export const WAITS_FOR = `d.status = 'pending' AND d.attempts > 0 AND d.endpoint = k.value ->> 0
  AND d.next_attempt_at > k.value ->> 1 AND d.created_at >= k.value ->> 2`

export const HAS_DUE_EVENT = `(EXISTS (SELECT 1 FROM payment_outbox o WHERE ${LISTENERS_DUE})
  OR EXISTS (SELECT 1 FROM payment_deliveries d WHERE ${DELIVERY_DUE}))`

/**
 * Whether a webhook event `e` can be applied, as the rule decides. The plus keeps the last
 * lookup from the index of gateway ids, which would find every payment without one.
 */
export const PARKED_WITH_PAYMENT = `e.outcome = 'parked' AND (
  EXISTS (SELECT 1 FROM payment_transactions t WHERE t.gateway = e.gateway
    AND t.gateway_transaction_id = e.gateway_transaction_id)
  OR EXISTS (SELECT 1 FROM payment_transactions t WHERE t.gateway = e.gateway
    AND t.external_reference_id = e.external_reference_id)
  OR EXISTS (SELECT 1 FROM payment_transactions t WHERE t.gateway = e.gateway
    AND t.reference = e.reference AND +t.gateway_transaction_id IS NULL
    AND e.external_reference_id IS NULL AND t.amount = e.amount AND t.currency = e.currency))`

export const HAS_PARKED = `EXISTS (SELECT 1 FROM payment_webhook_events e
  WHERE ${PARKED_WITH_PAYMENT})`
