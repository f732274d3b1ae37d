// Applies a gateway's answer about a payment: the ledger uses the same rules as for a webhook.

import type { Clock } from '../../shared/clock.ts'
import type { Fields, Log } from '../../shared/log.ts'
import { newId } from '../domain/new-id.ts'
import type { TransactionRow } from '../domain/rows.ts'
import type { AnyGateway } from '../gateways/gateway.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { webhookMask } from '../mask.ts'
import { type KnownStatus, payloadOf } from './answer.ts'

export interface ApplyDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  ledger: Pick<Ledger, 'webhook'>
  onMismatch: 'log' | 'reject'
  clock: Clock
  log: Log
}

/**
 * Applies the answer. `askedAt`, in ms: what happened since then may be missing in it. True: the
 * payment changed. Rejects with the ledger's errors.
 */
export type ApplyAnswer = (
  transaction: TransactionRow,
  answer: KnownStatus,
  askedAt?: number,
) => Promise<boolean>

export function createApply({ gateways, ledger, onMismatch, clock, log }: ApplyDeps): ApplyAnswer {
  const mask = webhookMask(gateways)
  return async (transaction, answer, askedAt = clock.now()) => {
    const { id: transactionId, gateway, correlation_id: correlationId } = transaction
    const { status } = answer
    const now = clock.now()
    const payload = mask(gateway, payloadOf(transaction, answer, askedAt))
    const { outcome } = await ledger.webhook({
      id: newId(now),
      payload,
      transactionId,
      onMismatch,
      ...(correlationId !== null && { correlationId }),
      receivedAt: now,
    })
    const isApplied = outcome === 'applied'
    const fields = { ...idsOf(transaction), eventId: payload.eventId, status, outcome }
    log(isApplied ? 'info' : 'warn', `payments.check.${outcome}`, fields)
    return isApplied
  }
}

/** As the log names a payment. */
export const idsOf = ({ id, gateway, correlation_id }: TransactionRow): Fields => ({
  transactionId: id,
  gateway,
  correlationId: correlation_id ?? undefined,
})
