// Translates between First Iraqi Bank's format and ours. No calls.

import * as z from 'zod'
import type { PaymentError } from '../../domain/exceptions.ts'
import { fromMinor, moneyIn } from '../../domain/money.ts'
import type { PaymentStatus } from '../../domain/status.ts'
import type { ReportedRefund } from '../../domain/types.ts'
import { optionalText } from '../fields.ts'
import type { GatewayCall, GatewayCharge, GatewayReply } from '../gateway.ts'
import { coded, refusal, truncate, unexpectedReply } from '../reply.ts'

/** The bank refuses a longer description. */
const MAX_DESCRIPTION_CHARS = 50

/** The bank spells an id in more than one case, and means the same payment. */
const paymentId = z.string().min(1).toLowerCase()

/** The answer to a new payment. */
export const created = z.object({
  paymentId,
  readableCode: optionalText,
  qrCode: optionalText,
  validUntil: optionalText,
  personalAppLink: optionalText,
})
/** The answer to a status request. */
export const stored = z.object({
  paymentId: paymentId.optional().catch(undefined),
  status: z.string().min(1),
  /** Undefined: it is no amount. */
  amount: z
    .object({ amount: z.union([z.number(), z.string()]), currency: z.string() })
    .transform(({ amount, currency }) => moneyIn(amount, currency)),
  decliningReason: optionalText,
})
const refused = z.object({
  errors: z.array(z.object({ code: optionalText, title: optionalText, detail: optionalText })),
})

/** The body for a new payment, without the configured durations. */
export const paymentOf = ({
  amount,
  currency,
  description,
  callbackUrl,
  returnUrl,
}: GatewayCharge) => ({
  monetaryValue: { amount: fromMinor(amount, currency), currency },
  description: truncate(MAX_DESCRIPTION_CHARS, description),
  ...(callbackUrl !== undefined && { statusCallbackUrl: callbackUrl }),
  ...(returnUrl !== undefined && { redirectUri: returnUrl }),
})

export function meaningOf(
  status: string,
  reason: string | undefined,
  call: GatewayCall,
): { status: PaymentStatus; error?: PaymentError; isBeingPaid?: boolean } {
  switch (status) {
    case 'UNPAID':
      return { status: 'Pending' }
    case 'PAID':
    // Requested and not yet sent: the shop still has the money.
    case 'REFUND_REQUESTED':
      return { status: 'Paid' }
    case 'REFUNDED':
      return { status: 'Refunded' }
    case 'DECLINED':
      if (reason === 'PAYMENT_EXPIRATION') return { status: 'Expired' }
      if (reason === 'PAYMENT_CANCELLATION') return { status: 'Cancelled' }
      return {
        status: 'Failed',
        error: coded('declined', reason, 'The bank declined the payment.'),
      }
    default:
      call.warn('payments.fib.unknown_status', { status })
      return { status: 'Pending', isBeingPaid: true }
  }
}

/** The bank refunds all of a payment, once, and has no id of it. Undefined: it was not paid. */
export function refundsIn(status: string, amount: number): ReportedRefund[] | undefined {
  switch (status) {
    case 'PAID':
      return []
    case 'REFUND_REQUESTED':
      return [{ amount, status: 'accepted' }]
    case 'REFUNDED':
      return [{ amount, status: 'succeeded' }]
    default:
      return undefined
  }
}

/**
 * The bank's own. Of any other 4xx, such as a proxy's, it is not known what was done: throws
 * GatewayUnavailableException.
 */
export function refusalIn(endpoint: string, reply: GatewayReply): PaymentError {
  const [error] = refused.safeParse(reply.body).data?.errors ?? []
  if (!error) throw unexpectedReply(endpoint, reply)
  return refusal(error.code ?? String(reply.status), error.detail ?? error.title)
}
