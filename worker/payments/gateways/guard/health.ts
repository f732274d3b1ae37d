// The gateways as an operator sees them: what was configured, and how their circuits stand.

import type { Account } from '../../config.ts'
import { type AnyGateway, supportsRefund } from '../gateway.ts'
import type { GatewayDesk, GatewayHealth } from './guard.ts'

export interface HealthDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  accounts: ReadonlyMap<string, Account>
  desk: Pick<GatewayDesk, 'health'>
}

/** In the order of the configuration. */
export async function gatewayHealth(deps: HealthDeps): Promise<GatewayHealth[]> {
  const { gateways, accounts, desk } = deps
  const breakers = await desk.health([...gateways.keys()])
  return [...gateways].flatMap(([key, gateway]) => {
    const account = accounts.get(key)
    const breaker = breakers[key]
    return account && breaker ? { key, ...account, breaker, ...abilitiesOf(gateway) } : []
  })
}

const abilitiesOf = (gateway: AnyGateway) => ({
  ...refundsOf(gateway),
  ...(gateway.currencies !== 'any' && { currencies: gateway.currencies }),
})

function refundsOf(gateway: AnyGateway): Pick<GatewayHealth, 'supportsRefund' | 'refunds'> {
  const isAble = supportsRefund(gateway) && gateway.refundProblem?.() === undefined
  return isAble ? { supportsRefund: true, refunds: gateway.refunds } : { supportsRefund: false }
}
