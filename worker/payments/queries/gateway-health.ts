// The gateways as an operator sees them: their configuration and the state of their circuits.

import type { GatewayHealth } from '../domain/types.ts'
import {
  type AnyGateway,
  isClosable,
  supportsRefund,
  supportsStatusCheck,
} from '../gateways/gateway.ts'
import type { GatewayGuard } from '../gateways/guard.ts'
import type { Account } from '../gateways/registry.ts'

export interface HealthDeps {
  gateways: ReadonlyMap<string, AnyGateway>
  accounts: ReadonlyMap<string, Account>
  guard: Pick<GatewayGuard, 'health'>
}

/** In the order of the configuration. */
export async function gatewayHealth(deps: HealthDeps): Promise<GatewayHealth[]> {
  const { gateways, accounts, guard } = deps
  const breakers = await guard.health([...gateways.keys()])
  return [...gateways].flatMap(([key, gateway]) => {
    const account = accounts.get(key)
    const breaker = breakers[key]
    return account && breaker ? { key, ...account, breaker, ...capabilitiesOf(gateway) } : []
  })
}

const capabilitiesOf = (gateway: AnyGateway) => ({
  ...refundsOf(gateway),
  supportsStatusCheck: supportsStatusCheck(gateway),
  findsLostForS: Math.floor(gateway.chargeRepeatableForMs / 1_000),
  supportsCancel: isClosable(gateway),
  ...(gateway.currencies !== 'any' && { currencies: gateway.currencies }),
})

function refundsOf(gateway: AnyGateway): Pick<GatewayHealth, 'supportsRefund' | 'refunds'> {
  const canRefund = supportsRefund(gateway) && gateway.refundProblem?.() === undefined
  return canRefund ? { supportsRefund: true, refunds: gateway.refunds } : { supportsRefund: false }
}
