// Cancels an open payment. Only its gateway decides: it may be paid at this very moment.

import type { ClosingBegun } from '../acts/close-charge.ts'
import {
  PaymentConflictException,
  type PaymentError,
  PaymentsPausedException,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import { CALL_PATIENCE_MS } from '../domain/payment.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import type { OperationContext } from '../facade.ts'
import { type AnyGateway, gatewayOf, isClosable } from '../gateways/gateway.ts'
import { maskError } from '../mask.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import { type AskDeps, askAgain, notClosed } from './ask-again.ts'
import { deadlinesOf, inTime, type OperationDeps } from './call.ts'

export interface CancelDeps extends OperationDeps, AskDeps {
  queries: Pick<PaymentQueries, 'byId'>
}

/**
 * By our id. The payment, which has ended without money; undefined: its id is unknown. Throws
 * PaymentConflictException (`not_cancellable`, `in_progress`), PaymentsPausedException,
 * GatewayUnavailableException when the outcome is unknown, LedgerUnavailable.
 */
export type Cancel = (
  transactionId: string,
  context?: OperationContext,
) => Promise<TransactionRow | undefined>

export function createCancel(deps: CancelDeps): Cancel {
  const { ledger, gateways, queries, clock } = deps
  return async (transactionId, { correlationId, by } = {}) => {
    const deadlines = deadlinesOf(clock.elapsed())
    const known = await queries.byId(transactionId)
    if (!known) return undefined
    const gateway = gatewayOf(gateways, known.gateway)
    const now = clock.now()
    const closing = { id: newId(now), transactionId, purpose: 'cancel' } as const
    const beginning = ledger.beginClosing({
      ...closing,
      ...(correlationId !== undefined && { correlationId }),
      ...(by !== undefined && { by }),
      isClosable: isClosable(gateway),
      unseenIsUnpayable: gateway.unseenIsUnpayable ?? false,
      now,
      until: now + CALL_PATIENCE_MS,
    })
    const begun = await inTime(deps, deadlines.begunBy, beginning)
    if (begun.state === 'paused') throw new PaymentsPausedException(begun)
    if (begun.state === 'ended') return begun.transaction
    if (begun.state !== 'begun') throw refusal(gateway, begun, known, now)
    const asking = close(deps, gateway, begun.transaction, deadlines.askedBy)
    const closed = await inTime(deps, deadlines.answeredBy, asking)
    const { row = known, refusal: no } = closed
    if (UNPAID_ENDS.includes(row.status)) return row
    if (row.status !== 'Pending') {
      throw refusal(gateway, { state: 'paid' }, row, now)
    }
    await inTime(deps, deadlines.answeredBy, ledger.endClosing(closing))
    if (no) throw refusal(gateway, { state: 'refused', error: no }, row, now)
    throw notClosed(gateway, row, clock.now())
  }
}

/** What the gateway reports is applied as from a webhook: it may be paid. */
async function close(
  deps: CancelDeps,
  gateway: AnyGateway,
  transaction: TransactionRow,
  deadlineAt: number,
): Promise<{ row?: TransactionRow; refusal?: PaymentError }> {
  const { id: transactionId } = transaction
  const open = { transaction, isPageOpen: true }
  const { way, answer, refusal } = await askAgain(deps, gateway, open, deadlineAt)
  if (way === 'replace' && answer) {
    await deps.applyAnswer(transaction, answer)
  }
  const row = await deps.queries.byId(transactionId)
  return { ...(row && { row }), ...(refusal && { refusal }) }
}

/** Its gateway does not cancel it. */
interface Refused {
  state: 'refused'
  error: PaymentError
}

function refusal(
  gateway: AnyGateway,
  begun: Exclude<ClosingBegun, { state: 'ended' | 'begun' | 'paused' }> | Refused,
  row: TransactionRow,
  now: number,
): Error {
  const { id: transactionId } = row
  const no = (message: string) =>
    new PaymentConflictException('not_cancellable', message, { transactionId })
  switch (begun.state) {
    case 'paid':
      return no('It was paid. Refund it instead.')
    case 'refused':
      return no(`${gateway.key} does not cancel it: ${maskError(begun.error).message}`)
    case 'foreign':
      return no('Another installation made this payment: this database is a copy.')
    case 'unsupported':
      return no(`${gateway.key} cannot cancel a payment: it stays open until it expires there.`)
    case 'in_progress':
      return new PaymentConflictException(
        'in_progress',
        'This payment is being charged or closed.',
        {
          retryAfterMs: begun.until - now,
        },
      )
    case 'unknown':
      return notClosed(gateway, row, now)
  }
}
