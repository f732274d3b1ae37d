// A charge: it is stored, then the gateway is called, then its answer is stored. After a crash or a
// timeout in between, the sweeper finds the row and asks the gateway.

import { requestHash } from '../../shared/sha256.ts'
import { DAY_MS, unknownCheckAt } from '../domain/check-schedule.ts'
import { GatewayUnavailableException } from '../domain/exceptions.ts'
import type { ChargeEnd } from '../domain/finish-charge.ts'
import { newId } from '../domain/new-id.ts'
import { CALL_PATIENCE_MS } from '../domain/payment.ts'
import type { Replacement } from '../domain/replace-charge.ts'
import { UNPAID_ENDS } from '../domain/status.ts'
import type {
  AskedCharge,
  ChargeRequest,
  PaymentResponse,
  Transaction,
} from '../domain/transaction.ts'
import type { OperationContext } from '../facade.ts'
import type { AnyGateway } from '../gateways/gateway.ts'
import { chargeResult, failedCharge } from '../gateways/outcome.ts'
import type { ChargeBegun } from '../ledger/ledger.ts'
import { type AskDeps, askAgain } from './ask-again.ts'
import { answerAtOnce, isExpiredPage, responseNow } from './charge-response.ts'
import { checkCharge } from './check-charge.ts'
import {
  type Answered,
  callGateway,
  type Deadlines,
  deadlinesOf,
  failureOf,
  inTime,
  type OperationDeps,
} from './operation.ts'

export interface ChargeDeps extends OperationDeps, Pick<AskDeps, 'onMismatch'> {
  /** The gateway's callback URL. `origin`: the address that this request came to. */
  callbackUrl(gateway: string, origin: string | undefined): string | undefined
}

export interface ChargeContext extends OperationContext {
  /** Our own address, as the request shows it. */
  origin?: string
}

export interface Charged {
  response: PaymentResponse
  /** The gateway was called for it now. False: it is a payment that existed before. */
  isNew: boolean
}

/**
 * Throws InvalidArgumentException, PaymentConflictException, GatewayRefusedException,
 * GatewayUnavailableException (the outcome may be unknown), LedgerUnavailable.
 */
export type Charge = (request: AskedCharge, context?: ChargeContext) => Promise<Charged>

export function createCharge(deps: ChargeDeps): Charge {
  return async (asked, context = {}) => {
    const { request, gateway, ...options } = checkCharge(asked, deps.gateways, context)
    // Without the phone: a country has so few numbers that the hash could be reversed.
    const { customerPhone: _, ...hashed } = request
    const deadlines = deadlinesOf(deps.clock.elapsed())
    const hash = await requestHash(hashed)
    const { isReplacing, isRepeat } = options
    const order = { request, gateway, context, deadlines, hash, isRepeat }
    const first = await tryOnce(deps, order)
    const { stranded } = first
    if (!isReplacing || !stranded) return first.answer()
    const asking = askAgain(deps, gateway, stranded, deadlines.askedBy)
    switch (await inTime(deps, deadlines.begunBy, asking)) {
      case 'wait':
        return first.answer()
      case 'apply':
        return (await tryOnce(deps, order)).answer()
      case 'replace': {
        const now = deps.clock.now()
        const isNamed = stranded.gatewayTransactionId !== undefined
        const replaced = await tryOnce(deps, order, {
          transactionId: stranded.id,
          eventId: newId(now),
          ...(isNamed && { nextCheckAt: now + DAY_MS }),
        })
        return replaced.answer()
      }
    }
  }
}

/** A valid request, for all of its tries. */
interface Order {
  request: ChargeRequest
  gateway: AnyGateway
  context: ChargeContext
  deadlines: Deadlines
  hash: string
  isRepeat: boolean
}

interface Tried {
  /** Throws as `Charge` does. */
  answer(): Charged
  /** It is open and cannot be paid: it has no page and no code, or they have expired. */
  stranded?: Transaction
}

async function tryOnce(deps: ChargeDeps, order: Order, replaces?: Replacement): Promise<Tried> {
  const begun = await begin(deps, order, replaces)
  if (begun.state !== 'begun') {
    const now = deps.clock.now()
    const isStranded =
      begun.state === 'unknown' ||
      (begun.state === 'answered' && isExpiredPage(begun.transaction, begun.opened, now))
    return {
      answer: () => ({ response: answerAtOnce(begun, order.request, now), isNew: false }),
      ...(isStranded && { stranded: begun.transaction }),
    }
  }
  const called = await call(deps, order, begun)
  const { result, transaction } = called
  const { alert } = begun.transaction
  const answer = () => ({ ...responseOf(order.gateway, called), ...(alert && { alert }) })
  const isPageLost = result.kind === 'unknown' && result.gatewayTransactionId !== undefined
  return {
    answer: () => ({ response: answer(), isNew: true }),
    ...(isPageLost && { stranded: transaction }),
  }
}

async function begin(
  deps: ChargeDeps,
  { request, gateway, context, deadlines, hash, isRepeat }: Order,
  replaces?: Replacement,
): Promise<ChargeBegun> {
  const now = deps.clock.now()
  const { idempotencyKey, correlationId } = context
  const beginning = deps.ledger.beginCharge({
    id: newId(now),
    request,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...{ isRepeat, requestHash: hash },
    ...(correlationId !== undefined && { correlationId }),
    chargeIsIdempotent: gateway.chargeIsIdempotent,
    ...(replaces && { replaces }),
    now,
    until: now + CALL_PATIENCE_MS,
  })
  return await inTime(deps, deadlines.begunBy, beginning, (late) => abandon(deps, late))
}

/** It began too late for its caller. The gateway was not called: the same request may call it. */
async function abandon({ ledger, clock }: ChargeDeps, begun: ChargeBegun): Promise<void> {
  if (begun.state !== 'begun') return
  const now = clock.now()
  await ledger.finishCharge({
    transactionId: begun.transaction.id,
    eventId: newId(now),
    now,
    verdict: 'neutral',
    result: { kind: 'unsent', nextCheckAt: unknownCheckAt(now) },
  })
}

async function call(
  deps: ChargeDeps,
  { request, gateway, context, deadlines }: Order,
  begun: Extract<ChargeBegun, { state: 'begun' }>,
): Promise<Answered<ChargeEnd['result']>> {
  const { ledger, clock } = deps
  const { id: transactionId, externalReferenceId } = begun.transaction
  const callbackUrl = deps.callbackUrl(gateway.key, context.origin)
  return await callGateway<ChargeEnd['result']>(deps, gateway, {
    ...{ name: 'charge', begun, deadlines },
    async ask(gatewayCall) {
      const charge = { ...request, externalReferenceId, callbackUrl, now: clock.now() }
      const answer = await gateway.charge(charge, gatewayCall)
      return chargeResult(request, begun.transaction, answer, clock.now())
    },
    failed: (error) => failedCharge(error, unknownCheckAt(clock.now())),
    store: (result, called) =>
      ledger.finishCharge({ transactionId, eventId: newId(called.now), ...called, result }),
  })
}

function responseOf(gateway: AnyGateway, called: Answered<ChargeEnd['result']>): PaymentResponse {
  const { result, transaction, now } = called
  if (result.kind !== 'answered') throw failureOf(gateway, { ...called, result })
  if (transaction.gatewayTransactionId !== result.answer.gatewayTransactionId) {
    // The ledger has kept nothing of it, and has raised an alert.
    const failure = new GatewayUnavailableException(
      `${gateway.key} answered about another payment.`,
    )
    const { nextCheckAt } = result
    throw failureOf(gateway, { ...called, failure, result: { kind: 'unknown', nextCheckAt } })
  }
  // It came so late that another attempt has replaced this one: two pages could both be paid.
  if (UNPAID_ENDS.includes(transaction.status)) return responseNow(transaction, result.answer, now)
  return result.answer
}
