// The redirect driver with a gateway of the test.

import type { GatewayCharge, Settings } from '../../../../../worker/payments/gateways/gateway.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import { type Answer, GatewayBed, json } from '../../../../support/gateway-bed.ts'
import { CHARGE, gateway, NAMES, REFUND, SETTINGS } from '../../../../support/redirect-fixtures.ts'

export const UNAVAILABLE = { code: 'gateway_unavailable' }
/** The gateway has made it, and does not return the page again. */
export const WITHOUT_PAGE = { ...UNAVAILABLE, gatewayTransactionId: 'gt-1' }
export const INVALID = { code: 'invalid_argument' }
export const DUPLICATE = 'EXTERNAL_REFERENCE_ALREADY_EXISTS'

type Own = Parameters<typeof gateway>[0]

export function shop(own?: Own, settings: Settings = SETTINGS) {
  const driver = redirect.create('shop', settings)
  const bed = new GatewayBed(driver, gateway(own))
  return {
    bed,
    charge: (more: Partial<GatewayCharge> = {}) =>
      bed.end(driver.charge({ ...CHARGE, ...more }, bed.call())),
    refund: (more: object = {}) => bed.end(driver.refund({ ...REFUND, ...more }, bed.call())),
    check: () => bed.end(driver.checkStatus(NAMES, bed.call())),
    /** The body of the request that opens a transaction. */
    async opening(more?: Partial<GatewayCharge>): Promise<unknown> {
      await this.charge(more)
      return JSON.parse(bed.sent.at(-1)?.body ?? '')
    },
  }
}
export const answering =
  (body: unknown, status = 200): Answer =>
  () =>
    json(body, status)
