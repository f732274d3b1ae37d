// What a charge must be before anything is stored or asked. Pure.

import { InvalidArgumentException } from '../domain/exceptions.ts'
import { chargeSchema } from '../domain/requests.ts'
import type { ChargeRequest } from '../domain/transaction.ts'
import type { OperationContext } from '../facade.ts'
import type { AnyGateway } from '../gateways/gateway.ts'
import { faultsOf } from './operation.ts'

/** Throws InvalidArgumentException, with a sentence that names every fault. */
export function checkCharge(
  asked: unknown,
  gateways: ReadonlyMap<string, AnyGateway>,
  { idempotencyKey }: OperationContext = {},
): { request: ChargeRequest; gateway: AnyGateway; isReplacing: boolean; isRepeat: boolean } {
  const parsed = chargeSchema.safeParse(given(asked))
  if (!parsed.success) throw new InvalidArgumentException(faultsOf(parsed.error))
  const { replace: isReplacing = false, repeat: isRepeat = false, ...request } = parsed.data
  if (isRepeat && idempotencyKey === undefined) {
    // Without one, a charge that is sent again could not be told from another payment.
    throw new InvalidArgumentException('repeat: needs an Idempotency-Key.')
  }
  const gateway = gateways.get(request.gateway)
  if (!gateway) throw new InvalidArgumentException(`There is no gateway ${request.gateway}.`)
  const { currencies } = gateway
  if (currencies !== 'any' && !currencies.includes(request.currency)) {
    throw new InvalidArgumentException(
      `${gateway.key} takes ${currencies.join(', ')}, not ${request.currency}.`,
    )
  }
  return { request, gateway, isReplacing, isRepeat }
}

/** In process, a field may be there and undefined. It is the same request as one without it. */
function given(asked: unknown): unknown {
  if (typeof asked !== 'object' || asked === null) return asked
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
}
