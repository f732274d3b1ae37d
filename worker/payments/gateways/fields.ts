// Fields that the replies of several gateways have. Not in `reply.ts`, which has no zod: an
// operator's own driver may have another version of it.

import * as z from 'zod'
import { moneyIn } from '../domain/money.ts'

/**
 * A text that may be missing. Some gateways write null or another type, which must not make a reply
 * invalid whose amounts are correct.
 */
export const optionalText = z.string().min(1).optional().catch(undefined)

/** An amount of its currency, as the gateway writes it: read in minor units. */
export const moneyOf = (value: z.ZodType<number | string>) =>
  z.object({ value, currency: z.string() }).transform(({ value, currency }, { addIssue }) => {
    const money = moneyIn(value, currency)
    if (money) return money
    addIssue('is not an amount')
    return z.NEVER
  })
