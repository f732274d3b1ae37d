// What a charge with `replace` does about a payment of its order that is open already: whether it
// is in the way, and whether it can be ended.

import { within } from '../../shared/clock.ts'
import {
  type FoundCharge,
  type NewCharge,
  type OpenCharge,
  openBy,
  type Replacement,
} from '../acts/begin-charge.ts'
import type { ChargeResult } from '../acts/finish-charge.ts'
import { DAY_MS } from '../domain/check-times.ts'
import type { References } from '../domain/double-payment.ts'
import { PaymentConflictException, PaymentsPausedException } from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import { closedBy, isUnsent } from '../domain/open-charge.ts'
import { CALL_PATIENCE_MS } from '../domain/payment.ts'
import type { ChargeRequest, PaymentResponse } from '../domain/types.ts'
import { type AnyGateway, isClosable } from '../gateways/gateway.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import { type AskDeps, askAgain, notClosed } from './ask-again.ts'
import { type Answered, type Deadlines, inTime, type OperationDeps } from './call.ts'

export interface ReplaceDeps extends OperationDeps, AskDeps {
  queries: Pick<PaymentQueries, 'openElsewhere'>
  references: References
}

/** What became of one try. */
export type Tried =
  | { kind: 'found'; begun: FoundCharge }
  | { kind: 'called'; begun: NewCharge; called: Answered<ChargeResult> }

/** What is in the way of another attempt. */
export function openIn(tried: Tried, now: number): OpenCharge | undefined {
  if (tried.kind === 'found') return openBy(tried.begun, now)
  const { result, transaction } = tried.called
  const isPageLost = result.kind === 'unknown' && result.gatewayTransactionId !== undefined
  return isPageLost ? { transaction, isPageOpen: false } : undefined
}

/**
 * What may be replaced of it; `again`: it has ended, or was paid, which is applied. Throws
 * GatewayUnavailableException if the page of another request may still be paid.
 */
export async function toReplace(
  deps: ReplaceDeps,
  gateway: AnyGateway,
  open: OpenCharge,
  deadlines: Deadlines,
): Promise<Replacement | 'nothing' | 'again'> {
  const { transaction, isPageOpen } = open
  const { id: transactionId, gateway_transaction_id: gatewayId } = transaction
  const startedAt = deps.clock.now()
  const closing = { id: newId(startedAt), transactionId, purpose: 'replace' } as const
  const isClosing = isPageOpen && gatewayId !== null
  if (isClosing) {
    const beginning = deps.ledger.beginClosing({
      ...closing,
      isClosable: isClosable(gateway),
      unseenIsUnpayable: false,
      now: startedAt,
      until: startedAt + CALL_PATIENCE_MS,
    })
    const begun = await inTime(deps, deadlines.begunBy, beginning)
    if (begun.state === 'paused') throw new PaymentsPausedException(begun)
    if (begun.state === 'in_progress') {
      throw new PaymentConflictException('in_progress', 'The open payment is being closed.', {
        retryAfterMs: begun.until - startedAt,
      })
    }
    if (begun.state !== 'begun') {
      return begun.state === 'ended' || begun.state === 'paid' ? 'again' : 'nothing'
    }
  }
  const asking = askAgain(deps, gateway, open, deadlines.askedBy)
  const { way, refusal } = await inTime(deps, deadlines.begunBy, asking)
  const now = deps.clock.now()
  switch (way) {
    case 'wait':
      if (!isPageOpen || !isClosable(gateway)) return 'nothing'
      if (isClosing) await inTime(deps, deadlines.answeredBy, deps.ledger.endClosing(closing))
      // Its page stays open as long as its gateway refuses: waiting would not help.
      if (refusal) return 'nothing'
      throw notClosed(gateway, transaction, now)
    case 'apply':
      return 'again'
    case 'replace': {
      const cannotBePaid = gateway.unseenIsUnpayable || isUnsent(transaction)
      return {
        transactionId,
        eventId: newId(now),
        ...(gatewayId !== null && { nextCheckAt: now + DAY_MS }),
        ...(gatewayId === null && cannotBePaid && { isUnpayable: true }),
        ...(isClosing && { closedBy: closedBy(closing) }),
      }
    }
  }
}

/** Only the shop knows whether the payer may still pay there. */
export async function openElsewhere(
  { queries, references, clock, log }: ReplaceDeps,
  { gateway, reference }: ChargeRequest,
  { answeredBy }: Deadlines,
): Promise<Pick<PaymentResponse, 'otherOpen'>> {
  if (references === 'per-gateway') return {}
  try {
    const waitMs = Math.max(answeredBy - clock.elapsed(), 0)
    const reading = () => queries.openElsewhere({ gateway, reference }, clock.now())
    const otherOpen = await within(clock, waitMs, reading)
    return otherOpen.length > 0 ? { otherOpen } : {}
  } catch (error) {
    // The payer gets the page all the same.
    log('warn', 'payments.replace.others_unknown', { error: String(error) })
    return {}
  }
}
