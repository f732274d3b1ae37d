// Webhooks of Mollie: unsigned, and no more than the id of a payment. So one is only a hint to read
// the payment.

import { sha256Hex } from '../../../shared/sha256.ts'
import type { Payment } from './wire.ts'

/** Strangers may send it, and it becomes part of a URL that is called with our key. */
const PAYMENT_ID = /^tr_[A-Za-z0-9]{1,64}$/

/** Undefined: Mollie does not send this. */
export function idIn(body: string): string | undefined {
  const [id, another] = new URLSearchParams(body).getAll('id')
  return id !== undefined && another === undefined && PAYMENT_ID.test(id) ? id : undefined
}

/**
 * Mollie's events have no ids: one is what there was to read. A payment may have hundreds of
 * refunds, so they are digested. They come last: a dispute is one alert, whatever is refunded.
 */
export async function eventIdOf(payment: Payment): Promise<string> {
  const { id, status, amountCaptured, _embedded } = payment
  const refunds = _embedded.refunds.map((refund) => `${refund.id} ${refund.status}`)
  const chargebacks = _embedded.chargebacks.map((each) => `${each.id} ${each.reversedAt ?? ''}`)
  const captured = amountCaptured ? `${status} ${amountCaptured.amount}` : status
  return [id, captured, await digest(chargebacks), await digest(refunds)].join(':')
}

const digest = async (texts: readonly string[]): Promise<string> =>
  texts.length === 0 ? '' : (await sha256Hex(texts.toSorted().join('\n'))).slice(0, 16)
