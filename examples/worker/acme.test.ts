import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GatewaySetup, gatewayContract, json } from 'signalbox/testing'
import { acme } from './acme.ts'
import { charge, fixtures, settings } from './acme-fixtures.ts'

for (const { name, run } of gatewayContract(fixtures)) test(name, run)

test('a refusal is no unknown outcome', async () => {
  const refusing = () => json({ code: 'too_small', message: 'Too small.' }, 422)
  const setup = new GatewaySetup(acme.create('acme', settings), refusing)
  const answer = await setup.end(setup.gateway.charge(charge, setup.call()))
  assert.deepEqual(answer, {
    ok: false,
    error: { code: 'gateway_refused', rawCode: 'too_small', message: 'Too small.' },
  })
})
