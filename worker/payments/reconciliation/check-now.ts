// Checks one payment with its gateway at once, for a host application that does not want to wait
// for the next sweep.

import { CHECK_CLAIM_MS } from '../domain/check-schedule.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
} from '../domain/exceptions.ts'
import { supportsStatusCheck } from '../gateways/gateway.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { createReconcile, type ReconcileDeps } from './reconcile.ts'

/**
 * By our id. Applies the gateway's answer like a webhook; does nothing for an unknown id.
 * Throws GatewayUnavailableException when the gateway does not answer, PaymentConflictException
 * while the payment is being charged, InvalidArgumentException when its gateway cannot be asked.
 */
export type CheckNow = (transactionId: string) => Promise<void>

export interface CheckNowDeps extends ReconcileDeps {
  ledger: ReconcileDeps['ledger'] & Pick<Ledger, 'claimCheck'>
}

export function createCheckNow(deps: CheckNowDeps): CheckNow {
  const { ledger, gateways, clock } = deps
  const reconcile = createReconcile(deps)
  return async (transactionId) => {
    const now = clock.now()
    const claimed = await ledger.claimCheck({ transactionId, now, until: now + CHECK_CLAIM_MS })
    if (claimed.state === 'unknown_transaction') return
    if (claimed.state === 'in_progress') {
      throw new PaymentConflictException('in_progress', 'This payment is being charged.', {
        retryAfterMs: claimed.until - now,
      })
    }
    const { check } = claimed
    // The row is unreadable, so the gateway cannot be asked.
    if ('invalid' in check) throw new InvalidArgumentException(check.invalid)
    const { gateway: key } = check.transaction
    const gateway = gateways.get(key)
    if (!gateway) throw new InvalidArgumentException(`There is no gateway ${key}.`)
    if (!supportsStatusCheck(gateway)) {
      throw new InvalidArgumentException(`${key} does not support status checks.`)
    }
    const { result } = await reconcile(check)
    if (result === 'unreachable') {
      const message = `${key} did not return the status of this payment.`
      throw new GatewayUnavailableException(message, { transactionId })
    }
  }
}
