// The contract of a gateway, for Mollie.

import { describe, expect, it } from 'vitest'
import { gatewayContract } from '../../../../../libraries/testing/gateway-contract.ts'
import { fixtures } from './mollie-fixtures.ts'

describe('the contract of a gateway, for mollie', () => {
  it.each(gatewayContract(fixtures))('$name', ({ run }) => run())

  it('is played with currencies of two decimals and of none', () => {
    const names = gatewayContract(fixtures).map(({ name }) => name)
    expect(names).toContain('sends amounts in JPY, and both references')
    expect(names).toContain('sends amounts in EUR, and both references')
  })
})
