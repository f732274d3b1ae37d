// What a charge must be before anything is stored or asked.

import { checkFields } from '../../shared/fields.ts'
import { InvalidArgumentException } from '../domain/exceptions.ts'
import type { ChargeRequest } from '../domain/types.ts'
import type { OperationContext } from '../facade.ts'
import { type AnyGateway, gatewayOf } from '../gateways/gateway.ts'
import { chargeSchema } from '../request-schemas.ts'

/** Throws InvalidArgumentException, with a sentence that names every fault. */
export function checkCharge(
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
