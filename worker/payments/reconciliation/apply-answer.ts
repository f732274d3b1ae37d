// What a gateway says of a payment when it is asked: applied by the ledger, by the same graph and
// the same rule of amounts as a webhook.

import type { Clock } from '../../shared/clock.ts'
import type { Log } from '../../shared/log.ts'
import { drawId } from '../domain/new-id.ts'
import type { Transaction } from '../domain/transaction.ts'
import type { AnyGateway } from '../gateways/gateway.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { maskedPayload } from '../masking/mask.ts'
import { type KnownStatus, missedBefore, payloadOf } from './verdict.ts'

export interface ApplyDeps {
  ledger: Pick<Ledger, 'webhook'>
  onMismatch: 'log' | 'reject'
  clock: Clock
  log: Log
}

/**
 * Applies what is news of the payment, and before it what must have happened and was missed. True:
 * it moved. Rejects with what the ledger rejects with.
 */
export async function applyAnswer(
  deps: ApplyDeps,
  gateway: AnyGateway,
  transaction: Transaction,
  answer: KnownStatus,
): Promise<boolean> {
  const missed = missedBefore(transaction, answer)
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
    id: drawId(now),
    payload,
    onMismatch,
    ...(correlationId !== undefined && { correlationId }),
    receivedAt: now,
  })
  const isDone = outcome === 'applied'
  const about = { transactionId, gateway: transaction.gateway, correlationId }
  const fields = { ...about, eventId: payload.eventId, status, outcome }
  log(isDone ? 'info' : 'warn', `payments.check.${outcome}`, fields)
  if (isMismatch && outcome !== 'duplicate') {
    log('warn', 'payments.webhook.amount_mismatch', { ...fields, amount, currency })
  }
  return isDone
}
