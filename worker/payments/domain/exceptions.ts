// What the public API throws. The names are the contract's; match `code`, never the message.

import type * as api from '../../../libraries/api/types.ts'
import type { PaymentConflict, Reason } from '../../shared/problem.ts'

/** A signature, token or callback that does not prove where it comes from. */
export class InvalidWebhookSignatureException extends Error {
  override readonly name = 'InvalidWebhookSignatureException'
  readonly code = 'invalid_webhook_signature'
}

interface FailureOptions {
  retryAfterMs?: number | undefined
  transactionId?: string | undefined
  cause?: unknown
}

/** What an operation of payments fails with. The API answers it by its code, with its message. */
export abstract class PaymentFailure extends Error {
  abstract readonly code: Reason
  /** When to try again, if that is known. */
  readonly retryAfterMs: number | undefined
  /** Ours, where the payment is stored. */
  readonly transactionId: string | undefined

  constructor(message: string, { cause, ...options }: FailureOptions = {}) {
    super(message, { cause })
    this.retryAfterMs = options.retryAfterMs
    this.transactionId = options.transactionId
  }

  /** For the log alone. Undefined: it is the caller's own doing. */
  get why(): unknown {
    return this.cause
  }
}

/**
 * The gateway did not answer, or not in its own format: a timeout, a 5xx, an HTML page, an answer
 * with a missing field. Whether it did what was requested is unknown.
 */
export class GatewayUnavailableException extends PaymentFailure {
  override readonly name: string = 'GatewayUnavailableException'
  readonly code: 'gateway_unavailable' | 'gateway_refused' | 'refund_failed' = 'gateway_unavailable'
  /** The gateway's, if it has made the payment, but answered without a page or a code. */
  readonly gatewayTransactionId: string | undefined
  /**
   * Nothing was sent that changes anything: the gateway gave no access token or no answer to a
   * question before, or there was no time left.
   */
  readonly isUnsent: boolean
  /** It answered, and these fields cannot be read: so it may be for good. No values. */
  readonly unreadable: string | undefined

  constructor(message: string, options: UnavailableOptions = {}) {
    super(message, options)
    this.gatewayTransactionId = options.gatewayTransactionId
    this.isUnsent = options.isUnsent ?? false
    this.unreadable = options.unreadable
  }

  override get why(): unknown {
    return this.cause ?? this.message
  }
}

interface UnavailableOptions extends FailureOptions {
  gatewayTransactionId?: string
  isUnsent?: boolean
  unreadable?: string | undefined
}

/** The gateway was not called: its callbacks have used up their limit. */
export class TooManyCallbacks extends GatewayUnavailableException {}

/**
 * For `catch`, where a gateway could not be asked about the payment that a webhook is about: the
 * webhook gets 500, and the payment is asked about soon, whether or not it is sent again. Not
 * beyond the limit: whatever id a stranger sends would be looked for.
 */
export const aboutPayment =
  (gatewayTransactionId: string) =>
  (error: unknown): never => {
    if (!(error instanceof GatewayUnavailableException)) throw error
    if (error instanceof TooManyCallbacks) throw error
    const { message, unreadable } = error
    const about = { cause: error, gatewayTransactionId, unreadable }
    throw new GatewayUnavailableException(message, about)
  }

/** The request is invalid: nothing was sent to the gateway. */
export class InvalidArgumentException extends PaymentFailure {
  override readonly name = 'InvalidArgumentException'
  readonly code = 'invalid_argument'
}

/** The gateway refused: nothing was charged or refunded. */
export class GatewayRefusedException extends GatewayUnavailableException {
  override readonly name = 'GatewayRefusedException'
  /** `refund_failed`: the refund of this key has ended, so only a new key refunds again. */
  override readonly code: 'gateway_refused' | 'refund_failed'
  readonly error: PaymentError

  constructor(
    error: PaymentError,
    {
      code = 'gateway_refused',
      ...options
    }: { transactionId?: string; code?: 'gateway_refused' | 'refund_failed' } = {},
  ) {
    super(error.message, options)
    this.code = code
    this.error = error
  }

  override get why(): unknown {
    return this.error.rawCode
  }
}

/** Payments are paused: nothing was stored, and nothing was sent to a gateway. */
export class PaymentsPausedException extends PaymentFailure {
  override readonly name = 'PaymentsPausedException'
  readonly code = 'paused'

  /** `transactionId`: of the payment that it is about, if that is stored. */
  constructor({ transactionId }: Pick<FailureOptions, 'transactionId'>) {
    super('Payments are paused for maintenance: nothing new is charged, refunded or cancelled.', {
      transactionId,
    })
  }
}

/** Why a payment, charge or refund failed. `code` is ours and stable, `rawCode` the gateway's. */
export type PaymentError = api.PaymentError

/**
 * The same request is under way, its key or order belongs to another one, the order is paid and the
 * key is new, or a payment cannot be cancelled.
 */
export class PaymentConflictException extends PaymentFailure {
  override readonly name = 'PaymentConflictException'
  readonly code: PaymentConflict

  constructor(code: PaymentConflict, message: string, options?: FailureOptions) {
    super(message, options)
    this.code = code
  }
}
