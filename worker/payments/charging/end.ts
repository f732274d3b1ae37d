// The end of an open payment: its gateway is asked once more about it, and told to cancel it. A
// person wants that, or a charge with `replace`, whose order has one open already. Only the gateway
// decides: it may be paid at this very moment.

import { within } from '../../shared/clock.ts'
import { isOfAnother } from '../acts/answer.ts'
import type { NewCharge } from '../acts/begin-charge.ts'
import type { ClosingBegun, ClosingStart } from '../acts/close-charge.ts'
import { type FoundCharge, type OpenCharge, openBy } from '../acts/find-charge.ts'
import type { ChargeResult } from '../acts/finish-charge.ts'
import { checkedInMs, DAY_MS } from '../domain/check-times.ts'
import type { References } from '../domain/double-payment.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  PaymentConflictException,
  type PaymentError,
  PaymentsPausedException,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import {
  type AskedAgain,
  closedBy,
  isUnsent,
  type Replacement,
  type WayOut,
  wayOut,
} from '../domain/open-charge.ts'
import { CALL_PATIENCE_MS } from '../domain/payment.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import type { ChargeRequest, PaymentResponse } from '../domain/types.ts'
import type { OperationContext } from '../facade.ts'
import {
  type AnyGateway,
  type GatewayCall,
  gatewayOf,
  isClosable,
  type KnownStatus,
  type StatusAnswer,
  type StoredPayment,
  type SupportsCancel,
  supportsCancel,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { storedPayment } from '../gateways/outcome.ts'
import { maskError } from '../mask.ts'
import type { PaymentQueries } from '../queries/queries-libsql.ts'
import type { ApplyAnswer } from '../reconciliation/reconcile.ts'
import {
  type Answered,
  type Deadlines,
  deadlinesOf,
  inTime,
  type OperationDeps,
} from './operation.ts'

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
    const begun = await beginClosing(deps, gateway, deadlines, {
      transactionId,
      purpose: 'cancel',
      correlationId,
      by,
      unseenIsUnpayable: gateway.unseenIsUnpayable ?? false,
    })
    const { asked } = begun
    if (begun.state === 'ended') return begun.transaction
    if (begun.state !== 'begun') throw refusal(gateway, begun, known, asked.now)
    const asking = close(deps, gateway, begun.transaction, deadlines.askedBy)
    const closed = await inTime(deps, deadlines.answeredBy, asking)
    const { row = known, refusal: no } = closed
    if (UNPAID_ENDS.includes(row.status)) return row
    if (row.status !== 'Pending') {
      throw refusal(gateway, { state: 'paid' }, row, asked.now)
    }
    await inTime(deps, deadlines.answeredBy, ledger.endClosing(asked))
    if (no) throw refusal(gateway, { state: 'refused', error: no }, row, asked.now)
    throw notClosed(gateway, row, clock.now())
  }
}

type Closing = Exclude<ClosingBegun, { state: 'paused' }> & { asked: ClosingStart }

/** Throws PaymentsPausedException. */
async function beginClosing(
  { clock, ledger, later }: OperationDeps,
  gateway: AnyGateway,
  { begunBy }: Deadlines,
  closing: Omit<ClosingStart, 'id' | 'isClosable' | 'now' | 'until'>,
): Promise<Closing> {
  const now = clock.now()
  const until = now + CALL_PATIENCE_MS
  const asked = { ...closing, id: newId(now), isClosable: isClosable(gateway), now, until }
  const begun = await inTime({ clock, later }, begunBy, ledger.beginClosing(asked))
  if (begun.state === 'paused') throw new PaymentsPausedException(begun)
  return { ...begun, asked }
}

/** What the gateway reports is applied as from a webhook: it may be paid. */
async function close(
  deps: CancelDeps,
  gateway: AnyGateway,
  transaction: TransactionRow,
  deadlineAt: number,
): Promise<{ row: TransactionRow | undefined; refusal: PaymentError | undefined }> {
  const { id: transactionId } = transaction
  const open = { transaction, isPageOpen: true }
  const { way, answer, refusal } = await askAgain(deps, gateway, open, deadlineAt)
  if (way === 'replace' && answer) {
    await deps.applyAnswer(transaction, answer)
  }
  const row = await deps.queries.byId(transactionId)
  return { row, refusal }
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
  const end = { transactionId, purpose: 'replace', unseenIsUnpayable: false } as const
  const isClosing = isPageOpen && gatewayId !== null
  const closing = isClosing ? await beginClosing(deps, gateway, deadlines, end) : undefined
  if (closing?.state === 'in_progress') {
    throw new PaymentConflictException('in_progress', 'The open payment is being closed.', {
      retryAfterMs: closing.until - closing.asked.now,
    })
  }
  if (closing?.state === 'ended' || closing?.state === 'paid') return 'again'
  if (closing && closing.state !== 'begun') return 'nothing'
  const asking = askAgain(deps, gateway, open, deadlines.askedBy)
  const { way, refusal } = await inTime(deps, deadlines.begunBy, asking)
  const now = deps.clock.now()
  switch (way) {
    case 'wait':
      if (!isPageOpen || !isClosable(gateway)) return 'nothing'
      if (closing) await inTime(deps, deadlines.answeredBy, deps.ledger.endClosing(closing.asked))
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
        ...(closing && { closedBy: closedBy(closing.asked) }),
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

export interface AskDeps extends Pick<OperationDeps, 'client' | 'log'> {
  applyAnswer: ApplyAnswer
}

export interface Asked {
  way: WayOut
  /** The gateway's last one. */
  answer?: KnownStatus
  /** The gateway does not cancel it, and says why. */
  refusal?: PaymentError
}

/**
 * If it was paid after all, that is applied, and this returns `apply`. `deadlineAt`, in ms: the
 * gateway is not awaited after that.
 */
async function askAgain(
  deps: AskDeps,
  gateway: AnyGateway,
  { transaction, isPageOpen }: OpenCharge,
  deadlineAt: number,
): Promise<Asked> {
  const { unseenIsUnpayable = false } = gateway
  const isRepeatable = gateway.chargeRepeatableForMs > 0
  const terms = { isRepeatable, unseenIsUnpayable, isPageOpen }
  if (transaction.gateway_transaction_id === null) {
    return {
      way: wayOut({ ...terms, hasGatewayId: false, isUnsent: isUnsent(transaction) }),
    }
  }
  const { answer, cancellation, refusal } = await statusOf(deps, gateway, transaction, deadlineAt)
  const known = answer?.known ? answer : undefined
  if (known && isOfAnother(transaction, known)) {
    await deps.applyAnswer(transaction, known)
    return { way: 'wait' }
  }
  const asked: AskedAgain = {
    ...terms,
    hasGatewayId: true,
    ...(known && { answer: known }),
    ...(cancellation && { cancellation }),
  }
  const way = wayOut(asked)
  if (way === 'apply' && known) await deps.applyAnswer(transaction, known)
  return { way, ...(known && { answer: known }), ...(refusal && { refusal }) }
}

/** Asked again, it is asked at once: somebody waits for it. */
const LONGEST_WAIT_MS = 30_000

/** Its gateway has reported no end of this payment, or cannot be reached. */
const notClosed = ({ key }: AnyGateway, row: TransactionRow, now: number) =>
  new GatewayUnavailableException(`${key} has not reported that this payment is cancelled.`, {
    transactionId: row.id,
    retryAfterMs: Math.min(checkedInMs(row.next_check_at ?? undefined, now), LONGEST_WAIT_MS),
  })

interface Status {
  /** Undefined: the gateway gave no answer. */
  answer?: StatusAnswer
  cancellation?: 'accepted' | 'refused'
  /** Why it was refused. */
  refusal?: PaymentError
}

async function statusOf(
  { client, log }: AskDeps,
  gateway: AnyGateway,
  open: TransactionRow,
  deadlineAt: number,
): Promise<Status> {
  if (!supportsStatusCheck(gateway)) return {}
  const payment = storedPayment(open)
  const ask = async (call: GatewayCall): Promise<Status> => {
    const answer = await gateway.checkStatus(payment, call)
    const isPending = answer.known && answer.status === 'Pending' && !isOfAnother(open, answer)
    if (!isPending || !supportsCancel(gateway)) return { answer }
    const { cancelRefusal: refusal, isBeingPaid } = answer
    if (refusal) return { answer, cancellation: 'refused', refusal }
    if (isBeingPaid) return { answer }
    const cancelled = await cancel(gateway, payment, call)
    // It may have been paid just before, so the gateway is asked again.
    return { answer: await gateway.checkStatus(payment, call), ...cancelled }
  }
  try {
    return await client.run(gateway, 'charge', ask, { deadlineAt })
  } catch (error) {
    const { id: transactionId, correlation_id: correlationId } = open
    // A driver's own error is a bug; a gateway that does not answer is normal.
    const level = error instanceof GatewayUnavailableException ? 'warn' : 'error'
    const about = { gateway: gateway.key, transactionId, correlationId }
    log(level, 'payments.replace.no_answer', { ...about, error: String(error) })
    return {}
  }
}

async function cancel(
  gateway: SupportsCancel,
  payment: StoredPayment,
  call: GatewayCall,
): Promise<Pick<Status, 'cancellation' | 'refusal'>> {
  try {
    await gateway.cancel(payment, call)
    return { cancellation: 'accepted' }
  } catch (error) {
    if (!(error instanceof GatewayRefusedException)) throw error
    return { cancellation: 'refused', refusal: error.error }
  }
}
