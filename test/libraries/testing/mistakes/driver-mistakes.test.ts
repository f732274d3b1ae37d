// Mistakes in the included drivers and in that of the docs: one method does something else. The
// contract of drivers must find each, in the case that names it.

import { describe, expect, it } from 'vitest'
import { fixtures as acme } from '../../../../examples/worker/acme-fixtures.ts'
import { gatewayContract } from '../../../../libraries/testing/gateway-contract.ts'
import type { GatewayFixtures } from '../../../../libraries/testing/gateway-fixtures.ts'
import type { Driver } from '../../../../worker/payments/gateways/gateway.ts'
import { fixtures as fib } from '../../../worker/payments/gateways/fib/fib-fixtures.ts'
import { fixtures as mollie } from '../../../worker/payments/gateways/mollie/mollie-fixtures.ts'
import { fixtures as redirect } from '../../../worker/payments/gateways/redirect/redirect-fixtures.ts'
import { fixtures as stripe } from '../../../worker/payments/gateways/stripe/stripe-fixtures.ts'
import { CANCELLING, CHARGING, REFUNDING } from './acting.ts'
import type { Mistake } from './mistake.ts'
import { READING_AMOUNTS, READING_THE_REST, READING_WHAT_IS_BROKEN } from './reading.ts'
import { REVEALING } from './revealing.ts'

const DRIVERS = { acme, fib, mollie, redirect, stripe }
const MISTAKES: Record<string, Mistake> = {
  ...CHARGING,
  ...REFUNDING,
  ...CANCELLING,
  ...READING_AMOUNTS,
  ...READING_WHAT_IS_BROKEN,
  ...READING_THE_REST,
  ...REVEALING,
}

function mistaken(fixtures: GatewayFixtures, { plant }: Mistake): GatewayFixtures {
  const { driver } = fixtures
  const create: Driver['create'] = (key, settings) => {
    const sound = driver.create(key, settings)
    return { ...sound, ...plant(sound, fixtures) }
  }
  return { ...fixtures, driver: { ...driver, create } }
}

/** A case that names the mistake, and fails. Without it all pass: gateways/included.test.ts. */
async function failing(fixtures: GatewayFixtures, fails: string): Promise<string | undefined> {
  for (const { name, run } of gatewayContract(fixtures)) {
    const outcome = name.includes(fails) ? await run().catch(() => 'failed') : undefined
    if (outcome !== undefined) return name
  }
  return undefined
}

const possible = (fixtures: GatewayFixtures) => {
  const sound = fixtures.driver.create('shop', fixtures.settings)
  return Object.entries(MISTAKES).filter(([, { where }]) => where?.(sound, fixtures) ?? true)
}

describe.each(Object.entries(DRIVERS))('the contract of drivers, for %s', (name, fixtures) => {
  it.each(possible(fixtures))('finds %s', async (what, mistake) => {
    const found = await failing(mistaken(fixtures, mistake), mistake.fails)
    expect(found, `let in, in ${name}: ${what}`).toBeDefined()
  })
})

it('each mistake is made in a driver', () => {
  const made = new Set(
    Object.values(DRIVERS)
      .flatMap(possible)
      .map(([what]) => what),
  )
  expect(Object.keys(MISTAKES).filter((what) => !made.has(what))).toEqual([])
})
