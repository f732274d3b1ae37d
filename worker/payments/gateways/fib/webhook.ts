// Webhooks of the bank: it does not sign them, so one is only a hint to read the payment from it.

import * as z from 'zod'

/** Strangers may send it, and it becomes part of a URL that is called with our token. */
const PAYMENT_ID = /^[A-Za-z0-9-]{1,64}$/

/** The id in a callback; undefined when there is none that the bank could have sent. */
export function idIn(body: string): string | undefined {
  try {
    const { id } = z
      .object({ id: z.string().regex(PAYMENT_ID).toLowerCase() })
      .parse(JSON.parse(body))
    return id
  } catch {
    // Not JSON, or no id: the bank does not send this.
    return undefined
  }
}
