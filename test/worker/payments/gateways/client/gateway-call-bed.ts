// Requests to a gateway of the test, with the real guard and the real call.

import type { AnyGateway, GatewayRequest } from '../../../../../worker/payments/gateways/gateway.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import { type Answer, GatewayBed, json } from '../../../../support/gateway-bed.ts'
import { SETTINGS } from '../../../../support/redirect-fixtures.ts'

export const UNAVAILABLE = { code: 'gateway_unavailable' }
export const shop: AnyGateway = redirect.create('shop', SETTINGS)

export const ASK: GatewayRequest = {
  endpoint: 'things',
  method: 'GET',
  url: 'https://gateway.test/things/7?x=1',
  isIdempotent: true,
}
export const ONCE: GatewayRequest = { ...ASK, method: 'POST', json: { a: 1 }, isIdempotent: false }

/** Answers in this order, and then always with the last one. */
export function bedOf(...answers: Answer[]): GatewayBed {
  let count = 0
  const last = answers.at(-1) ?? (() => json({}))
  return new GatewayBed(shop, (request) => (answers[count++] ?? last)(request))
}
