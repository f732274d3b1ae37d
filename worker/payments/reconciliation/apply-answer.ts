// Applies a gateway's answer about a payment: the ledger uses the same rules as for a webhook.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { newId } from '../domain/new-id.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { AnyGateway } from '../gateways/gateway.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { maskedPayload } from '../masking/mask.ts'
import { type KnownStatus, missedPayment, payloadOf } from './verdict.ts'

export interface ApplyDeps {
  ledger: Pick<Ledger, 'webhook'>
  onMismatch: 'log' | 'reject'
  clock: Clock
  log: Log
}

/**
 * Applies the answer, and first a missed payment that must have come before it. True: the payment
 * changed. Rejects with the ledger's errors.
 */
export async function applyAnswer(
  deps: ApplyDeps,
  gateway: AnyGateway,
  transaction: Transaction,
  answer: KnownStatus,
): Promise<boolean> {
  const missed = missedPayment(transaction, answer)
  if (missed) await applyOne(deps, gateway, transaction, missed)
  return await applyOne(deps, gateway, transaction, answer)
}

async function applyOne(
  { ledger, onMismatch, clock, log }: ApplyDeps,
  gateway: AnyGateway,
  transaction: Transaction,
  answer: KnownStatus,
): Promise<boolean> {
  const { id: transactionId, correlationId } = transaction
  const { status, amount, currency } = answer
  const now = clock.now()
  const payload = maskedPayload(payloadOf(transaction, answer, now), gateway)
  const { outcome, isMismatch } = await ledger.webhook({
    id: newId(now),
    payload,
    transactionId,
    onMismatch,
    ...(correlationId !== undefined && { correlationId }),
    receivedAt: now,
  })
  const isApplied = outcome === 'applied'
  const ids = { transactionId, gateway: transaction.gateway, correlationId }
  const fields = { ...ids, eventId: payload.eventId, status, outcome }
  log(isApplied ? 'info' : 'warn', `payments.check.${outcome}`, fields)
  if (isMismatch && outcome !== 'duplicate') {
    log('warn', 'payments.webhook.amount_mismatch', { ...fields, amount, currency })
  }
  return isApplied
}
