// What a charge must be before anything is stored or asked. Pure.

import { z } from 'zod'
import { InvalidArgumentException } from '../domain/exceptions.ts'
import { isAmount, isCurrency } from '../domain/money.ts'
import type { ChargeRequest } from '../domain/transaction.ts'
import type { AnyGateway } from '../gateways/gateway.ts'
import { faultsOf, wellFormed } from './operation.ts'

const METADATA_CHARS = 4_096

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it keeps out.
const CONTROL = /[\u0000-\u001f\u007f]/
const line = (maxChars: number) =>
  wellFormed(maxChars).refine((text) => !CONTROL.test(text), 'must not hold control characters')
const httpUrl = z
  .string()
  .max(2_048)
  .refine(
    (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
    'must be an http(s) URL',
  )

const chargeSchema = z.strictObject({
  gateway: z.string().min(1),
  reference: line(255),
  amount: z.int().positive().refine(isAmount, 'must have 15 digits at most'),
  currency: z.string().refine(isCurrency, 'must be three capital letters'),
  description: line(500),
  returnUrl: httpUrl.optional(),
  customerPhone: line(32).optional(),
  metadata: z
    .record(z.string().max(64), z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .refine((data) => JSON.stringify(data).length <= METADATA_CHARS, 'must fit into 4 KiB')
    .optional(),
  replace: z.boolean().optional(),
})

/** Throws InvalidArgumentException, with a sentence that names every fault. */
export function checkCharge(
  asked: unknown,
  gateways: ReadonlyMap<string, AnyGateway>,
): { request: ChargeRequest; gateway: AnyGateway; isReplacing: boolean } {
  const parsed = chargeSchema.safeParse(asked)
  if (!parsed.success) throw new InvalidArgumentException(faultsOf(parsed.error))
  // What was left out must be missing, not undefined: both would be different requests.
  const { replace: isReplacing = false, ...charge } = parsed.data
  const request = JSON.parse(JSON.stringify(charge)) as ChargeRequest
  const gateway = gateways.get(request.gateway)
  if (!gateway) throw new InvalidArgumentException(`There is no gateway ${request.gateway}.`)
  const { currencies } = gateway
  if (currencies !== 'any' && !currencies.includes(request.currency)) {
    throw new InvalidArgumentException(
      `${gateway.key} takes ${currencies.join(', ')}, not ${request.currency}.`,
    )
  }
  return { request, gateway, isReplacing }
}
