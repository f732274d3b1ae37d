// A charge: it is read and stored, then the gateway is called, then its answer is stored. After a
// crash or a timeout in between, the sweeper finds the row and asks the gateway.

import * as z from 'zod'
import { type Backoff, backoffMs, pause } from '../../shared/clock.ts'
import { checkFields, line } from '../../shared/fields.ts'
import { requestHash } from '../../shared/sha256.ts'
import { type ChargeBegun, type FoundCharge, type NewCharge, openBy } from '../acts/begin-charge.ts'
import type { ChargeResult } from '../acts/finish-charge.ts'
import { checkedInMs, unknownCheckAt } from '../domain/check-times.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
  PaymentConflictException,
  type PaymentError,
} from '../domain/exceptions.ts'
import { CURRENCY, MAX_AMOUNT } from '../domain/money.ts'
import { newId } from '../domain/new-id.ts'
import {
  earlierCall,
  isExpiredPage,
  type OpenCharge,
  type Replacement,
} from '../domain/open-charge.ts'
import { json, type TransactionRow, toTransaction } from '../domain/rows.ts'
import { CALL_PATIENCE_MS } from '../domain/time.ts'
import type {
  ChargeRequest,
  FullChargeRequest,
  OpenedPayment,
  PaymentResponse,
} from '../domain/types.ts'
import type { OperationContext } from '../facade.ts'
import { type AnyGateway, gatewayOf } from '../gateways/gateway.ts'
import { askCharge } from './ask-charge.ts'
import { openElsewhere, toReplace } from './end.ts'
import {
  type Answered,
  callGateway,
  type Deadlines,
  deadlinesOf,
  failureOf,
  inProgress,
  type OperationDeps,
  UNSENT_RETRY_MS,
  withAdmission,
} from './operation.ts'

const METADATA_CHARS = 4_096
export const metadataSchema = z
  .record(z.string().max(64), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .refine((data) => JSON.stringify(data).length <= METADATA_CHARS, 'must fit into 4 KiB')
  .describe('Up to 4 KiB. It is returned in every event.')

const isHttpUrl = (text: string): boolean => {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

const httpUrl = z
  .string()
  .max(2_048)
  .refine(isHttpUrl, 'must be an http(s) URL without white space and without a user')
  .meta({ format: 'uri' })

export const chargeSchema = z.strictObject({
  gateway: z.string().min(1).describe('Key of the configuration, such as `redirect`.'),
  reference: line(255).describe(
    'Your id of the order. Repeating the charge of an order is safe: it cannot be paid twice.',
  ),
  amount: z
    .int()
    .positive()
    .max(MAX_AMOUNT, 'must have 15 digits at most')
    .describe('Minor units: IQD 25,000 is 25000, USD 12.50 is 1250.'),
  currency: z.string().regex(CURRENCY, 'must be three capital letters'),
  description: line(500).describe('The text that the payer sees.'),
  returnUrl: httpUrl
    .describe('The page that the payer returns to; overrides the configured one.')
    .exactOptional(),
  cancelUrl: httpUrl
    .describe(
      'The page for a payer who does not pay; overrides the configured one. Without both, it is ' +
        '`returnUrl`.',
    )
    .exactOptional(),
  customerPhone: line(32).describe('Sent to the gateway, and not stored.').exactOptional(),
  metadata: metadataSchema.exactOptional(),
  replace: z
    .boolean()
    .describe(
      'If this charge was requested before, and its page or code was lost or has expired: once ' +
        'its gateway is certain that it is not paid, it is cancelled, and another attempt ' +
        'begins. An open charge of this order with another request is closed at its gateway ' +
        'first, where that can be cancelled. This field is not part of the comparison with the ' +
        'earlier request.',
    )
    .exactOptional(),
  repeat: z
    .boolean()
    .describe(
      'Charges an order again though it is paid: another payment, for its own ' +
        '`Idempotency-Key`, which it needs. An open payment of the order is returned as it is. ' +
        'This field is not part of the comparison with the earlier request.',
    )
    .exactOptional(),
})

interface ValidCharge {
  request: ChargeRequest
  gateway: AnyGateway
  isReplacing: boolean
  isRepeat: boolean
}

/**
 * Before anything is stored or asked. Throws InvalidArgumentException, with a sentence that names
 * every fault.
 * @forTests Each fault, and each charge that has none.
 */
export function validCharge(
  asked: unknown,
  gateways: ReadonlyMap<string, AnyGateway>,
  { idempotencyKey }: OperationContext = {},
): ValidCharge {
  const checked = checkFields(chargeSchema, given(asked))
  if (!checked.ok) throw new InvalidArgumentException(checked.error)
  const { replace: isReplacing = false, repeat: isRepeat = false, ...request } = checked.value
  if (isRepeat && isReplacing) {
    throw new InvalidArgumentException('repeat and replace are two things: send one of them.')
  }
  if (isRepeat && idempotencyKey === undefined) {
    // Without one, a charge that is sent again would look like another payment.
    throw new InvalidArgumentException('repeat needs an Idempotency-Key.')
  }
  const gateway = gatewayOf(gateways, request.gateway)
  const { currencies } = gateway
  if (currencies !== 'any' && !currencies.includes(request.currency)) {
    throw new InvalidArgumentException(
      `${gateway.key} takes ${currencies.join(', ')}, not ${request.currency}.`,
    )
  }
  const problem = gateway.chargeProblem?.(request)
  if (problem !== undefined) throw new InvalidArgumentException(problem)
  return { request, gateway, isReplacing, isRepeat }
}

/** In process, a field may be there and undefined. It is the same request as one without it. */
function given(asked: unknown): unknown {
  if (typeof asked !== 'object' || asked === null) return asked
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
}

export interface ChargeContext extends OperationContext {
  /** Our own address, as the request shows it. */
  origin?: string
}

/** With what all of its tries have in common. */
interface Order extends ValidCharge {
  hash: string
  context: ChargeContext
  deadlines: Deadlines
}

interface Charged {
  response: PaymentResponse
  /** The gateway was called for it now. False: it is a payment that existed before. */
  isNew: boolean
}

/**
 * Throws InvalidArgumentException, PaymentConflictException, PaymentsPausedException,
 * GatewayRefusedException, GatewayUnavailableException (the outcome may be unknown),
 * LedgerUnavailable.
 */
export async function charge(
  deps: OperationDeps,
  asked: FullChargeRequest,
  context: ChargeContext = {},
): Promise<Charged> {
  const valid = validCharge(asked, deps.gateways, context)
  // Without the phone: a country has so few numbers that the hash could be reversed.
  const { customerPhone: _, ...hashed } = valid.request
  const deadlines = deadlinesOf(deps.clock.elapsed())
  const order = { ...valid, hash: await requestHash(hashed), context, deadlines }
  const first = await tryInTurn(deps, order)
  if (!order.isReplacing) return answerTo(deps, order, first)
  const charged = answerTo(deps, order, await replaceOpen(deps, order, first))
  return {
    ...charged,
    response: { ...charged.response, ...(await openElsewhere(deps, valid.request, deadlines)) },
  }
}

/** What became of one try. */
type Tried =
  | { kind: 'found'; begun: FoundCharge }
  | { kind: 'called'; begun: NewCharge; called: Answered<ChargeResult> }

/** A double click: by then the first of two equal requests mostly has its page. */
const TURN_MS = 5_000
/** How often it is looked whether the other one has ended. */
const LOOKS: Backoff = { firstMs: 100, maxMs: 1_000 }

/** Waits for the same charge, if that is under way. */
async function tryInTurn(deps: OperationDeps, order: Order): Promise<Tried> {
  const { clock } = deps
  const endsAt = clock.elapsed() + TURN_MS
  for (let look = 1; ; look++) {
    const tried = await tryOnce(deps, order)
    const leftMs = endsAt - clock.elapsed()
    const isUnderWay = tried.kind === 'found' && tried.begun.state === 'in_progress'
    if (!isUnderWay || leftMs <= 0) return tried
    await pause(clock, Math.min(leftMs, backoffMs(look, LOOKS, clock.random())))
  }
}

async function tryOnce(deps: OperationDeps, order: Order, replaces?: Replacement): Promise<Tried> {
  const { request, gateway, context, deadlines } = order
  const { begun, admitted } = await withAdmission(deps, gateway, 'charge', deadlines, {
    begin: (mayCall) => begin(deps, order, mayCall, replaces),
    abandon: (late) => abandon(deps, late),
  })
  if (!admitted) return { kind: 'found', begun }
  const { transaction, earlier } = begun
  const { id: transactionId } = transaction
  const callbackUrl = deps.callbackUrl(gateway.key, context.origin)
  const asked = { transaction, request, earlier, callbackUrl, checkAt: unknownCheckAt }
  const called = await callGateway<ChargeResult>(deps, gateway, {
    name: 'charge',
    transaction,
    admitted,
    deadlines,
    ask: (call) => askCharge(gateway, call, asked, deps.clock),
    store: (result, now) =>
      deps.ledger.finishCharge({ transactionId, eventId: newId(now), now, result }),
  })
  return { kind: 'called', begun, called }
}

function begin(
  deps: OperationDeps,
  { request, gateway, context, hash, isRepeat, isReplacing }: Order,
  mayCall: boolean,
  replaces?: Replacement,
): Promise<ChargeBegun> {
  const now = deps.clock.now()
  const { idempotencyKey, correlationId, by } = context
  return deps.ledger.beginCharge({
    id: newId(now),
    request,
    mayCall,
    idempotencyKey,
    isRepeat,
    isReplacing,
    requestHash: hash,
    correlationId,
    by,
    // To be replaced, it is not sent again under its old name: its gateway may keep a failure.
    chargeRepeatableForMs:
      isReplacing && gateway.unseenIsUnpayable === true ? 0 : gateway.chargeRepeatableForMs,
    replaces,
    now,
    until: now + CALL_PATIENCE_MS,
  })
}

function abandon({ ledger, clock }: OperationDeps, { transaction, earlier }: NewCharge) {
  const now = clock.now()
  const nextCheckAt = unknownCheckAt(now)
  const kind = earlier === 'none' ? 'unsent' : 'unknown'
  const end = { transactionId: transaction.id, eventId: newId(now), now }
  return ledger.finishCharge({ ...end, result: { kind, nextCheckAt } })
}

/** If `first` has met an open charge that is in the way. */
async function replaceOpen(deps: OperationDeps, order: Order, first: Tried): Promise<Tried> {
  const { gateway, deadlines } = order
  const open = openIn(first, deps.clock.now())
  if (!open) return first
  const replaces = await toReplace(deps, gateway, open, deadlines)
  if (replaces === 'nothing') return first
  return await tryOnce(deps, order, replaces === 'again' ? undefined : replaces)
}

/** What is in the way of another attempt. */
function openIn(tried: Tried, now: number): OpenCharge | undefined {
  if (tried.kind === 'found') return openBy(tried.begun, now)
  const { result, transaction } = tried.called
  const isPageLost = result.kind === 'unknown' && result.gatewayTransactionId !== undefined
  return isPageLost ? { transaction, isPageOpen: false } : undefined
}

/** Throws as `charge` does. */
function answerTo({ clock }: OperationDeps, { request, gateway }: Order, tried: Tried): Charged {
  if (tried.kind === 'found') {
    return { response: responseFound(tried.begun, request, clock.now()), isNew: false }
  }
  const { alert } = toTransaction(tried.begun.transaction)
  const response = { ...responseCalled(gateway, tried.called), ...(alert && { alert }) }
  return { response, isNew: true }
}

/** What its gateway answered now. Throws as `charge` does. */
function responseCalled(gateway: AnyGateway, called: Answered<ChargeResult>): PaymentResponse {
  const { result, transaction, now } = called
  if (result.kind !== 'answered') throw failureOf(gateway, { ...called, result })
  if (transaction.gateway_transaction_id !== result.answer.gatewayTransactionId) {
    // The ledger has kept nothing of it, and has raised an alert.
    const failure = new GatewayUnavailableException(
      `${gateway.key} answered about another payment.`,
    )
    const { nextCheckAt } = result
    throw failureOf(gateway, { ...called, failure, result: { kind: 'unknown', nextCheckAt } })
  }
  // It came so late that its page is over, or that another attempt has replaced this one.
  return responseNow(transaction, now)
}

/** The answer about an earlier payment. Its page is left out if it can no longer be paid there. */
function responseNow(row: TransactionRow, now: number): PaymentResponse {
  const { id, status, gateway, reference, ...shown } = toTransaction(row)
  const opened = json<OpenedPayment>(row.charge_answer)
  const alerted = shown.alert && { alert: shown.alert }
  const isExpired = isExpiredPage(row, now)
  if (opened && status === 'Pending' && !isExpired) return { ...opened, ...alerted }
  const gatewayId = shown.gatewayTransactionId ?? opened?.gatewayTransactionId
  return {
    status,
    gateway,
    reference,
    transactionId: id,
    ...(gatewayId !== undefined && { gatewayTransactionId: gatewayId }),
    ...(shown.paid && { paid: shown.paid }),
    ...(shown.error && { error: shown.error }),
    ...(isExpired && { isStranded: true }),
    ...alerted,
  }
}

/** What was found without a call of the gateway. Throws as `charge` does. */
function responseFound(
  begun: FoundCharge,
  { gateway, reference }: ChargeRequest,
  now: number,
): PaymentResponse {
  switch (begun.state) {
    case 'answered': {
      const error = json<PaymentError>(begun.transaction.error)
      // An invalid request is as invalid now as it was the first time.
      if (error?.code === 'invalid_argument') throw new InvalidArgumentException(error.message)
      return responseNow(begun.transaction, now)
    }
    case 'in_progress':
      throw inProgress('The same charge is under way.', begun.until - now)
    case 'unknown': {
      const { id: transactionId, next_check_at } = begun.transaction
      throw new GatewayUnavailableException(
        `${gateway} has given no way to pay this charge; what became of it is being found out.`,
        {
          transactionId,
          retryAfterMs:
            earlierCall(begun.transaction) === 'none'
              ? UNSENT_RETRY_MS
              : checkedInMs(next_check_at ?? undefined, now),
        },
      )
    }
    case 'conflict': {
      const what = begun.fields.length > 0 ? begun.fields.join(', ') : 'request'
      throw begun.over === 'key'
        ? new PaymentConflictException(
            'idempotency_conflict',
            `This Idempotency-Key belongs to a charge with another ${what}.`,
          )
        : new PaymentConflictException(
            'reference_conflict',
            `${reference} has an open or paid payment with another ${what}.`,
          )
    }
    case 'already_paid': {
      const { transactionId } = begun
      throw new PaymentConflictException(
        'already_paid',
        `${reference} is paid already. With "repeat": true it is charged again.`,
        { transactionId },
      )
    }
  }
}
