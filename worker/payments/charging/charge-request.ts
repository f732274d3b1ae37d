// What a charge is asked for with, and what of it is refused before anything is stored or asked.

import * as z from 'zod'
import { checkFields, line } from '../../shared/fields.ts'
import { InvalidArgumentException } from '../domain/exceptions.ts'
import { CURRENCY, MAX_AMOUNT } from '../domain/money.ts'
import type { ChargeRequest } from '../domain/types.ts'
import type { OperationContext } from '../facade.ts'
import { type AnyGateway, gatewayOf } from '../gateways/gateway.ts'

const METADATA_CHARS = 4_096
export const metadataSchema = z
  .record(z.string().max(64), z.union([z.string(), z.number(), z.boolean(), z.null()]))
  .refine((data) => JSON.stringify(data).length <= METADATA_CHARS, 'must fit into 4 KiB')
  .describe('Up to 4 KiB. It is returned in every event.')

const isPage = (text: string): boolean => {
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

const httpUrl = z
  .string()
  .max(2_048)
  .refine(isPage, 'must be an http(s) URL without white space and without a user')
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

/**
 * Before anything is stored or asked. Throws InvalidArgumentException, with a sentence that names
 * every fault.
 */
export function validCharge(
  asked: unknown,
  gateways: ReadonlyMap<string, AnyGateway>,
  { idempotencyKey }: OperationContext = {},
): { request: ChargeRequest; gateway: AnyGateway; isReplacing: boolean; isRepeat: boolean } {
  const checked = checkFields(chargeSchema, given(asked))
  if (!checked.ok) throw new InvalidArgumentException(checked.error)
  const { replace: isReplacing = false, repeat: isRepeat = false, ...request } = checked.value
  if (isRepeat && isReplacing) {
    throw new InvalidArgumentException('repeat and replace are two things: send one of them.')
  }
  if (isRepeat && idempotencyKey === undefined) {
    // Without one, a charge that is sent again could not be told from another payment.
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
