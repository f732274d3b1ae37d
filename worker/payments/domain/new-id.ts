// Ids that are made here: ULIDs, which sort by their time, since lists are ordered by them (those
// of one millisecond rise, too), our name for a payment at its gateway, and the correlation id of a
// request that brings none.

import { monotonicFactory } from 'ulid'
import { v5 } from 'uuid'

const pool = new Uint8Array(1_024)
let used = pool.length

/**
 * The library asks for each of the 16 random characters by itself, and the runtime's generator
 * takes some 10 µs for each question, however little is asked for: by the kilobyte it takes none.
 */
function random(): number {
  if (used === pool.length) {
    crypto.getRandomValues(pool)
    used = 0
  }
  return (pool[used++] ?? 0) / 256
}

let last = 0
let next = monotonicFactory(random)

/** `now` in ms. */
export function newId(now: number): string {
  // A clock may be set back: each time begins anew.
  if (now !== last) next = monotonicFactory(random)
  last = now
  return next(now)
}

export const CORRELATION_ID = 'X-Correlation-Id'

/** A valid id is kept; anything else is replaced. */
export const CORRELATION_ID_PATTERN = /^[A-Za-z0-9_-]{8,64}$/

/** The id of the request's header if it is valid, else a new one. `now` in ms. */
export const correlationIdOf = (header: string | null | undefined, now: number): string =>
  header && CORRELATION_ID_PATTERN.test(header) ? header : newId(now)

/** Generated once. Another one would rename payments that were charged after a backup. */
const NAMESPACE = '2b06684f-c0f2-441b-923c-5be583813473'

/**
 * Our name for a payment at its gateway, a UUIDv5 of the gateway, the caller's key or else the
 * order, and the attempt, in the namespace of the installation: others may share its account, and
 * have an order of this name. It is derived, so that a restored backup gives a charge that it has
 * lost the same one.
 */
export function externalReference(
  charge: {
    installation: string
    gateway: string
    reference: string
    idempotencyKey?: string | undefined
  },
  attempt: number,
): string {
  const { installation, gateway, reference, idempotencyKey } = charge
  // As JSON, so that no key looks like an order, and no two orders look alike.
  const key = idempotencyKey === undefined ? reference : { key: idempotencyKey }
  // Two gateways may share an account: without the gateway one payment there would pay two here.
  return v5(JSON.stringify([gateway, key, attempt]), v5(installation, NAMESPACE))
}
