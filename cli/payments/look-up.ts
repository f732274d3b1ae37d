// Reads the ids of a payment from the running system, by its reference.

import * as z from 'zod'
import { ask } from './ask.ts'

export interface Found {
  transactionId?: string
  externalReference?: string
  /** Shown to the user. */
  notice?: string
}

const listed = z.object({
  transactions: z.array(
    z.union([
      z.object({ id: z.string(), invalid: z.string() }),
      z.object({
        id: z.string(),
        status: z.string(),
        gatewayTransactionId: z.string().exactOptional(),
        externalReferenceId: z.string(),
      }),
    ]),
  ),
})

/** The newest payment with this reference. Without a token the edge is not asked. */
export async function lookUp(
  edge: string,
  token: string | undefined,
  gateway: string,
  reference: string,
): Promise<Found> {
  if (token === undefined || reference === '') return {}
  const query = new URLSearchParams({ gateway, reference, limit: '1' })
  const headers = { authorization: `Bearer ${token}` }
  const answer = await ask(`${edge}/api/payments/transactions?${query}`, { headers })
  if (!answer.ok || answer.status !== 200) {
    const why = answer.ok ? `the edge answered ${answer.status}` : answer.why
    return { notice: `The payment of ${reference} could not be looked up: ${why}.` }
  }
  const [payment] = listed.safeParse(parse(answer.text)).data?.transactions ?? []
  if (!payment) {
    return { notice: `There is no payment of ${reference} yet: its webhook will be parked.` }
  }
  if ('invalid' in payment) {
    return { notice: `The payment of ${reference} is ${payment.id}. ${payment.invalid}` }
  }
  const { id, status, gatewayTransactionId, externalReferenceId } = payment
  return {
    ...(gatewayTransactionId !== undefined && { transactionId: gatewayTransactionId }),
    externalReference: externalReferenceId,
    notice: `The payment of ${reference} is ${id}, ${status}.`,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not the answer of an edge: treated as no payment.
    return undefined
  }
}
