// The end of an open payment: its gateway is asked once more about it, and to cancel it. A
// person wants that, or a charge with `replace`, whose order has one open already. Only the gateway
// decides: it may be paid at this very moment. One at another gateway only the shop can end.

import { within } from '../../shared/clock.ts'
import type { ClosingBegun, ClosingStart } from '../acts/close-charge.ts'
import { checkedInMs } from '../domain/check-times.ts'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
  PaymentConflictException,
  PaymentsPausedException,
} from '../domain/exceptions.ts'
import { newId } from '../domain/new-id.ts'
import {
  closedBy,
  isUnpayable,
  type OpenAnswer,
  type OpenCharge,
  type Purpose,
  type Replacement,
  type Standing,
  standingOf,
  standingUnnamed,
} from '../domain/open-charge.ts'
import { isOfAnother } from '../domain/payment.ts'
import type { TransactionRow } from '../domain/rows.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import { CALL_PATIENCE_MS, DAY_MS } from '../domain/time.ts'
import type { ChargeRequest, PaymentResponse } from '../domain/types.ts'
import type { OperationContext } from '../facade.ts'
import {
  type AnyGateway,
  type GatewayCall,
  gatewayOf,
  isClosable,
  type KnownStatus,
  type StoredPayment,
  type SupportsCancel,
  storedPayment,
  supportsCancel,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import { maskError } from '../mask.ts'
import {
  applyAnswer,
  type Deadlines,
  deadlinesOf,
  inProgress,
  inTime,
  levelOf,
  type OperationDeps,
} from './operation.ts'

/**
 * By our id. The payment, which has ended without money; undefined: its id is unknown. Throws
 * PaymentConflictException (`not_cancellable`, `in_progress`), PaymentsPausedException,
 * GatewayUnavailableException when the outcome is unknown, LedgerUnavailable.
 */
export async function cancel(
  deps: OperationDeps,
  transactionId: string,
  { correlationId, by }: OperationContext = {},
): Promise<TransactionRow | undefined> {
  const { ledger, gateways, queries, clock } = deps
  const deadlines = deadlinesOf(clock.elapsed())
  const known = await queries.byId(transactionId)
  if (!known) return undefined
  const gateway = gatewayOf(gateways, known.gateway)
  const begun = await startClosing(deps, gateway, deadlines, {
    transactionId,
    purpose: 'cancel',
    correlationId,
    by,
    unseenIsUnpayable: gateway.unseenIsUnpayable ?? false,
  })
  const { start } = begun
  if (begun.state === 'ended') return begun.transaction
  if (begun.state !== 'begun') throw conflictOf(gateway, begun, known, start.now)
  const open = { transaction: begun.transaction, isPageOpen: true }
  const asking = askAgain(deps, gateway, open, 'cancel', deadlines.askUntil)
  const { standing, answer, refusal } = await inTime(deps, deadlines.answerUntil, asking)
  if (standing === 'unpaid' && answer) {
    await inTime(deps, deadlines.answerUntil, applyAnswer(deps, open.transaction, answer))
  }
  // A webhook may have ended it meanwhile, or it was paid.
  const row = await inTime(deps, deadlines.answerUntil, ledger.endClosing(start))
  if (UNPAID_ENDS.includes(row.status)) return row
  if (row.status !== 'Pending') throw conflictOf(gateway, { state: 'paid' }, row, start.now)
  if (refusal) {
    throw notCancellable(row, `${gateway.key} does not cancel it: ${maskError(refusal).message}`)
  }
  throw notClosed(gateway, row, clock.now())
}

const notCancellable = ({ id: transactionId }: TransactionRow, why: string) =>
  new PaymentConflictException('not_cancellable', why, { transactionId })

function conflictOf(
  gateway: AnyGateway,
  begun: Exclude<ClosingBegun, { state: 'ended' | 'begun' | 'paused' }>,
  row: TransactionRow,
  now: number,
): Error {
  switch (begun.state) {
    case 'paid':
      return notCancellable(row, 'It was paid. Refund it instead.')
    case 'foreign':
      return notCancellable(row, 'Another installation made this payment: this database is a copy.')
    case 'unsupported':
      return notCancellable(
        row,
        `${gateway.key} cannot cancel a payment: it stays open until it expires there.`,
      )
    case 'in_progress':
      return inProgress('This payment is being charged or closed.', begun.until - now)
    case 'unknown':
      return notClosed(gateway, row, now)
  }
}

/** A cancel that is repeated asks its gateway at once: a person may wait for it. */
const LONGEST_WAIT_MS = 30_000

/** Its gateway has reported no end of this payment, or cannot be reached. */
const notClosed = ({ key }: AnyGateway, row: TransactionRow, now: number) =>
  new GatewayUnavailableException(`${key} has not reported that this payment is cancelled.`, {
    transactionId: row.id,
    retryAfterMs: Math.min(checkedInMs(row.next_check_at ?? undefined, now), LONGEST_WAIT_MS),
  })

/**
 * What may be replaced of it; `again`: it has ended, or was paid, which is applied. Throws
 * GatewayUnavailableException if the page of another request may still be paid.
 */
export async function toReplace(
  deps: OperationDeps,
  gateway: AnyGateway,
  open: OpenCharge,
  deadlines: Deadlines,
): Promise<Replacement | 'nothing' | 'again'> {
  const { transaction, isPageOpen } = open
  const { id: transactionId, gateway_transaction_id: gatewayId } = transaction
  const end = { transactionId, purpose: 'replace', unseenIsUnpayable: false } as const
  const isClosing = isPageOpen && gatewayId !== null
  const closing = isClosing ? await startClosing(deps, gateway, deadlines, end) : undefined
  if (closing?.state === 'in_progress') {
    throw inProgress('The open payment is being closed.', closing.until - closing.start.now)
  }
  if (closing?.state === 'ended' || closing?.state === 'paid') return 'again'
  if (closing && closing.state !== 'begun') return 'nothing'
  const asking = askAgain(deps, gateway, open, 'replace', deadlines.askUntil)
  const { standing, refusal } = await inTime(deps, deadlines.beginUntil, asking)
  const now = deps.clock.now()
  switch (standing) {
    case 'open':
      if (!isPageOpen || !isClosable(gateway)) return 'nothing'
      if (closing) await inTime(deps, deadlines.answerUntil, deps.ledger.endClosing(closing.start))
      // Its page stays open as long as its gateway refuses: waiting would not help.
      if (refusal) return 'nothing'
      throw notClosed(gateway, transaction, now)
    case 'paid':
      return 'again'
    case 'unpaid':
      return {
        transactionId,
        eventId: newId(now),
        ...(gatewayId !== null && { nextCheckAt: now + DAY_MS }),
        ...(isUnpayable(transaction, gateway) && { isUnpayable: true }),
        ...(closing && { closedBy: closedBy(closing.start) }),
      }
  }
}

type Closing = Exclude<ClosingBegun, { state: 'paused' }> & { start: ClosingStart }

/** Throws PaymentsPausedException. */
async function startClosing(
  deps: OperationDeps,
  gateway: AnyGateway,
  { beginUntil }: Deadlines,
  closing: Omit<ClosingStart, 'id' | 'isClosable' | 'now' | 'until'>,
): Promise<Closing> {
  const now = deps.clock.now()
  const until = now + CALL_PATIENCE_MS
  const start = { ...closing, id: newId(now), isClosable: isClosable(gateway), now, until }
  const begun = await inTime(deps, beginUntil, deps.ledger.beginClosing(start))
  if (begun.state === 'paused') throw new PaymentsPausedException(begun)
  return { ...begun, start }
}

interface GatewayAnswer extends OpenAnswer {
  /** The gateway's last one. */
  answer?: KnownStatus
}

/**
 * Asks its gateway, which also cancels it if it can. If it was paid after all, that is applied.
 * `deadlineAt`, in ms: the gateway is not awaited after that.
 */
async function askAgain(
  deps: OperationDeps,
  gateway: AnyGateway,
  { transaction, isPageOpen }: OpenCharge,
  purpose: Purpose,
  deadlineAt: number,
): Promise<GatewayAnswer & { standing: Standing }> {
  if (transaction.gateway_transaction_id === null) {
    return { standing: standingUnnamed(transaction, gateway) }
  }
  const answered = await statusAfterCancel(deps, gateway, transaction, purpose, deadlineAt)
  const { answer } = answered
  if (answer && isOfAnother(transaction, answer)) {
    await applyAnswer(deps, transaction, answer)
    return { standing: 'open' }
  }
  const standing = standingOf(answered, isPageOpen)
  if (standing === 'paid' && answer) await applyAnswer(deps, transaction, answer)
  return { standing, ...answered }
}

async function statusAfterCancel(
  { client, log }: OperationDeps,
  gateway: AnyGateway,
  open: TransactionRow,
  purpose: Purpose,
  deadlineAt: number,
): Promise<GatewayAnswer> {
  if (!supportsStatusCheck(gateway)) return {}
  const payment = storedPayment(open)
  const ask = async (call: GatewayCall): Promise<GatewayAnswer> => {
    const answer = await gateway.checkStatus(payment, call)
    if (!answer.known) return {}
    const isPending = answer.status === 'Pending' && !isOfAnother(open, answer)
    if (!isPending || !supportsCancel(gateway)) return { answer }
    if (answer.cancelRefusal) return { answer, refusal: answer.cancelRefusal }
    if (answer.isBeingPaid) return { answer }
    const refused = await cancelAt(gateway, payment, call)
    // It may have been paid just before, so the gateway is asked again.
    const last = await gateway.checkStatus(payment, call)
    return { ...(last.known && { answer: last }), ...refused }
  }
  try {
    return await client.run(gateway, 'charge', ask, { deadlineAt })
  } catch (error) {
    const { id: transactionId, correlation_id: correlationId } = open
    const about = { gateway: gateway.key, transactionId, correlationId }
    log(levelOf(error), `payments.${purpose}.no_answer`, { ...about, error: String(error) })
    return {}
  }
}

async function cancelAt(
  gateway: SupportsCancel,
  payment: StoredPayment,
  call: GatewayCall,
): Promise<Pick<OpenAnswer, 'refusal'>> {
  try {
    await gateway.cancel(payment, call)
    return {}
  } catch (error) {
    if (!(error instanceof GatewayRefusedException)) throw error
    return { refusal: error.error }
  }
}

/** Only the shop knows whether the payer may still pay there. */
export async function openElsewhere(
  { queries, references, clock, log }: OperationDeps,
  { gateway, reference }: ChargeRequest,
  { answerUntil }: Deadlines,
): Promise<Pick<PaymentResponse, 'otherOpen'>> {
  if (references === 'per-gateway') return {}
  try {
    const waitMs = Math.max(answerUntil - clock.elapsed(), 0)
    const reading = () => queries.openElsewhere({ gateway, reference }, clock.now())
    const otherOpen = await within(clock, waitMs, reading)
    return otherOpen.length > 0 ? { otherOpen } : {}
  } catch (error) {
    // The payer gets the page all the same.
    log('warn', 'payments.replace.others_unknown', { error: String(error) })
    return {}
  }
}
