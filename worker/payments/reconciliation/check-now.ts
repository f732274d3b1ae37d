// Checks one payment with its gateway at once, for a host application that does not want to wait
// for the next sweep.

import { CHECK_CLAIM_MS } from '../domain/check-times.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import { isRepeatable } from '../domain/open-charge.ts'
import { gatewayOf, supportsStatusCheck } from '../gateways/gateway.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { createReconcile, type ReconcileDeps } from './reconcile.ts'

/**
 * By our id. Applies the gateway's answer like a webhook; does nothing for an unknown id. `by`: the
 * subject that asks for it.
 * Throws GatewayUnavailableException when the gateway does not answer, PaymentConflictException
 * while the payment is being charged, InvalidArgumentException when its gateway cannot be asked.
 */
export type CheckNow = (transactionId: string, by?: string) => Promise<void>

export interface CheckNowDeps extends ReconcileDeps {
  ledger: ReconcileDeps['ledger'] & Pick<Ledger, 'claimCheck'>
}

export function createCheckNow(deps: CheckNowDeps): CheckNow {
  const { ledger, gateways, clock } = deps
  const reconcile = createReconcile(deps)
  return async (transactionId, by) => {
    const now = clock.now()
    const claimed = await ledger.claimCheck({
      transactionId,
      now,
      until: now + CHECK_CLAIM_MS,
      ...(by !== undefined && { asked: { id: newId(now), by } }),
    })
    if (claimed.state === 'unknown_transaction') return
    if (claimed.state === 'in_progress') {
      throw new PaymentConflictException('in_progress', 'This payment is being charged.', {
        retryAfterMs: claimed.until - now,
      })
    }
    if (claimed.state === 'foreign') {
      const why = 'Another installation made this payment, and checks it: this database is a copy.'
      throw new InvalidArgumentException(why)
    }
    const { check } = claimed
    const { gateway: key } = check.transaction
    const gateway = gatewayOf(gateways, key)
    if (!supportsStatusCheck(gateway)) {
      throw new InvalidArgumentException(`${key} does not support status checks.`)
    }
    const { gateway_transaction_id: id, status } = check.transaction
    const isFound = status === 'Pending' && isRepeatable(check.transaction, gateway, now)
    if (id === null && !isFound) {
      const why = `${key} has given no id of this payment, and cannot be asked by ours.`
      throw new InvalidArgumentException(`${why} Look for its amount there.`)
    }
    const { result } = await reconcile(check)
    if (result === 'unreachable') {
      const message = `${key} did not return the status of this payment.`
      throw new GatewayUnavailableException(message, { transactionId })
    }
  }
}
