// The contract of every gateway driver, in the presence of any fault of its gateway: named cases,
// for the test runner of the caller.

import assert from 'node:assert/strict'
import { amountsOf } from './gateway-amounts.ts'
import { breaksOf } from './gateway-breaks.ts'
import { factsOf } from './gateway-facts.ts'
import type { GatewayFixtures } from './gateway-fixtures.ts'
import { idsOf } from './gateway-ids.ts'
import { outagesOf } from './gateway-outages.ts'
import { secretsOf } from './gateway-secrets.ts'
import { FORGED, type It, Subject } from './gateway-subject.ts'

export interface GatewayCase {
  /** A sentence. */
  name: string
  /** Rejects with an AssertionError if the driver breaks it. */
  run(): Promise<void>
}

/** What every driver must do, also while its gateway fails. Give each case to a test runner. */
export function gatewayContract(fixtures: GatewayFixtures): GatewayCase[] {
  const { driver, settings, refund } = fixtures
  const subject = new Subject(fixtures)
  const { gateway } = subject
  const cases: GatewayCase[] = []
  const it: It = (name, run) => cases.push({ name, run })

  it('works with its fixtures, and names the required settings', async () => {
    assert.deepEqual(driver.check?.(settings) ?? [], [])
    assert.match(driver.envPrefix, /^[A-Z][A-Z_]*_$/)
    const unknown = Object.keys(settings).filter((name) => !(name in driver.settings))
    assert.deepEqual(unknown, [])
    assert.equal(gateway.key, 'shop')
    assert.equal(refund !== undefined, gateway.refund !== undefined, 'refund and its fixture')
  })

  it('refuses every forged callback', async () => {
    const forged = Object.entries(await subject.forged())
    assert.notEqual(forged.length, 0)
    for (const [wrong, request] of forged) {
      const setup = subject.setup()
      await assert.rejects(subject.receive(setup, request), FORGED, wrong)
      if (subject.isSigned) assert.deepEqual(setup.sent, [], wrong)
    }
  })

  factsOf(subject, it)
  amountsOf(subject, it)
  breaksOf(subject, it)
  idsOf(subject, it)
  secretsOf(subject, it)
  outagesOf(subject, it)
  return cases
}
