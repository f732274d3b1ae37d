// The contract of drivers, for those that are included: their healthy gateway is the simulation.

import { describe, expect, it } from 'vitest'
import { gatewayContract } from '../../../../libraries/testing/gateway-contract.ts'
import { fixtures as fib } from './fib/fib-fixtures.ts'
import { fixtures as mollie } from './mollie/mollie-fixtures.ts'
import { fixtures as redirect } from './redirect/redirect-fixtures.ts'
import { fixtures as stripe } from './stripe/stripe-fixtures.ts'

const INCLUDED = Object.entries({ fib, mollie, redirect, stripe })

describe.each(INCLUDED)('the contract of a gateway, for %s', (_, fixtures) => {
  it.each(gatewayContract(fixtures))('$name', ({ run }) => run())
})

it('the contract is played with currencies of two decimals and of none', () => {
  const names = gatewayContract(mollie).map(({ name }) => name)
  expect(names).toContain('sends amounts in JPY, and both references')
  expect(names).toContain('sends amounts in EUR, and both references')
})
