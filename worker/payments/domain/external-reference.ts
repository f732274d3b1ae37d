// Our name for a payment at its gateway: derived and not drawn, so that a charge which is asked for
// again, whoever does it, names the same payment.

import { v5 } from 'uuid'

/** Drawn once. Another one would rename every payment that a gateway may still be asked about. */
const NAMESPACE = '2b06684f-c0f2-441b-923c-5be583813473'

/** UUIDv5 of the gateway, the caller's key or else the order, and the attempt. */
export function externalReference(
  charge: { gateway: string; reference: string; idempotencyKey?: string },
  attempt: number,
): string {
  const { gateway, reference, idempotencyKey } = charge
  // As JSON, so that no key can be written that reads like somebody's order, nor two orders alike.
  const key = idempotencyKey === undefined ? reference : { key: idempotencyKey }
  // Two gateways may share an account: without the gateway one payment there would pay two here.
  return v5(JSON.stringify([gateway, key, attempt]), NAMESPACE)
}
