// Helpers for tests of faults: many payments at once, and webhooks of which no answer may come.

import { ulid } from 'ulid'
import { webhookOf } from '../../simulator/one-webhook.ts'
import type { Action } from '../../simulator/payments.ts'
import type { EncodedWebhook } from '../../simulator/webhooks.ts'
import type { PaymentsDatabase } from '../../tools/harness/database.ts'
import { type Edge, LAST } from './edge.ts'
import { type PaymentSystem, SECRETS } from './payment-system.ts'

/** A payment in the database: a charge that the redirect gateway has answered. */
export interface Seeded {
  id: string
  reference: string
  gatewayTransactionId: string
}

const AMOUNT = 25_000

/** Inserts pending payments, without the calls for their charges. */
export async function seed(database: PaymentsDatabase, count: number): Promise<Seeded[]> {
  const seeded = Array.from({ length: count }, () => {
    const id = ulid()
    return { id, reference: `order-${id}`, gatewayTransactionId: `gateway-${id}` }
  })
  await database.query(
    `INSERT INTO payment_transactions (id, gateway, reference, gateway_transaction_id,
        external_reference_id, amount, currency, created_at, updated_at)
      SELECT value, 'redirect', 'order-' || value, 'gateway-' || value, 'external-' || value,
        ${AMOUNT}, 'IQD', :now, :now FROM json_each(:ids)`,
    { ids: JSON.stringify(seeded.map(({ id }) => id)), now: Date.now() },
  )
  return seeded
}

/** A webhook about the last of these actions, signed as by the gateway, with a new event id. */
export const signed = (
  { reference, gatewayTransactionId: id }: Pick<Seeded, 'reference' | 'gatewayTransactionId'>,
  actions: readonly Action[] = ['pay'],
  secret = SECRETS.redirect.api_key,
): Promise<EncodedWebhook> => {
  const names = { gateway: 'redirect', reference, description: '', expiresInMs: 0 } as const
  const order = { ...names, amount: AMOUNT, currency: 'IQD' }
  return webhookOf(order, actions, { id, eventId: `event-${ulid()}`, secret, now: Date.now() })
}

/** One attempt at a webhook. */
export interface Attempt {
  /** Undefined: there was no answer. */
  status: number | undefined
  /** The whole body. */
  word: string
  headers: Headers
  tookMs: number
}

export async function send(
  edge: Edge,
  callback: EncodedWebhook,
  key = 'redirect',
): Promise<Attempt> {
  const startedAt = performance.now()
  // A burst leaves no idle connections, which the edge may close while the next burst is sent.
  const headers = { ...callback.headers, ...LAST }
  const signal = AbortSignal.timeout(40_000)
  const init = { method: 'POST', ...callback, headers, signal }
  const since = () => performance.now() - startedAt
  try {
    const response = await edge.fetch(`/payments/webhooks/${key}`, init)
    const word = await response.text()
    return { status: response.status, word, headers: response.headers, tookMs: since() }
  } catch {
    // There was no connection, or the process died. A gateway cannot tell either.
    return { status: undefined, word: '', headers: new Headers(), tookMs: since() }
  }
}

/** The different answers, such as `503 unavailable`; `none` without an answer. */
export const answersOf = (attempts: readonly Attempt[]): string[] =>
  [...new Set(attempts.map(({ status, word }) => `${status ?? 'none'} ${word}`.trim()))].sort()

/** What is stored for these payments. All fields are `once` if each was paid once. */
export async function stored(database: PaymentsDatabase, payments: readonly Seeded[]) {
  const [row] = await database.query(
    `WITH mine AS (SELECT value AS id FROM json_each(:ids))
    SELECT
      (SELECT COUNT(*) FROM payment_transactions WHERE id IN mine AND status = 'Paid') AS paid,
      (SELECT COUNT(*) FROM payment_webhook_events WHERE transaction_id IN mine) AS events,
      (SELECT COUNT(*) FROM payment_webhook_events
        WHERE transaction_id IN mine AND outcome = 'applied') AS applied,
      (SELECT COUNT(*) FROM payment_outbox WHERE transaction_id IN mine) AS outboxed,
      (SELECT COUNT(DISTINCT transaction_id) FROM payment_outbox
        WHERE transaction_id IN mine AND type = 'PaymentSucceeded') AS succeeded`,
    { ids: JSON.stringify(payments.map(({ id }) => id)) },
  )
  return row
}

export const once = ({ length: n }: readonly Seeded[]) => ({
  paid: n,
  events: n,
  applied: n,
  outboxed: n,
  succeeded: n,
})

/** Payments whose success was not delivered to the host application with a valid signature. */
export function undelivered({ receiver }: PaymentSystem, payments: readonly Seeded[]): string[] {
  const delivered = new Set(
    receiver.events
      .filter(({ type, forged, status }) => type === 'PaymentSucceeded' && !forged && status < 300)
      .map(({ data }) => data.transaction?.id),
  )
  return payments.map(({ id }) => id).filter((id) => !delivered.has(id))
}

/** Makes deliveries due now that failed on a busy machine, instead of in some seconds. */
export async function sendAgain(system: PaymentSystem, edge = system.edge): Promise<void> {
  for (const table of ['payment_outbox', 'payment_deliveries']) {
    await system.database.query(`UPDATE ${table} SET next_attempt_at = 0`)
  }
  await endLeases(system.database)
  await system.sweep(edge)
}

/** Ends the leases of a killed Worker now, instead of in a minute. */
export async function endLeases(database: PaymentsDatabase): Promise<void> {
  for (const table of ['payment_outbox', 'payment_deliveries']) {
    await database.query(`UPDATE ${table} SET leased_until = 0 WHERE leased_until IS NOT NULL`)
  }
}
