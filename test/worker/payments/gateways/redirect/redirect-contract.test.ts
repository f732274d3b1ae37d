// The contract of a gateway, and that the simulator agrees.

import { describe, expect, it } from 'vitest'
import { gatewayContract } from '../../../../../libraries/testing/gateway-contract.ts'
import { CALL_TIMEOUT_MS, openCall } from '../../../../../worker/payments/gateways/client.ts'
import type { GatewayCall } from '../../../../../worker/payments/gateways/gateway.ts'
import { createGuard } from '../../../../../worker/payments/gateways/guard.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import {
  bytes,
  CHARGE,
  claims,
  inBody,
  NAMES,
  received,
  SETTINGS,
  sign,
} from '../../../../support/redirect-fixtures.ts'
import {
  API_KEY,
  CLIENT,
  type SimulatorSetup,
  setUpSimulator,
} from '../../../../support/simulator.ts'
import { fixtures } from './redirect-fixtures.ts'

describe('the contract of a gateway, for redirect', () => {
  it.each(gatewayContract(fixtures))('$name', ({ run }) => run())
})

const silent = () => undefined

function shopAt({ url }: SimulatorSetup) {
  const client = { client_id: CLIENT.id, client_secret: CLIENT.secret }
  const shop = redirect.create('shop', { ...SETTINGS, base_url: url, api_key: API_KEY, ...client })
  const base = { clock: hostClock, log: silent, fetch }
  const guard = createGuard({ gateways: new Map([['shop', shop]]), store: new Map(), ...base })
  const deps = { ...base, guard, notify: silent, key: 'shop' }
  const deadlineAt = hostClock.elapsed() + CALL_TIMEOUT_MS
  return { shop, call: () => openCall({ ...deps, deadlineAt }) }
}

async function charged(setup: SimulatorSetup) {
  const { shop, call } = shopAt(setup)
  const answer = await shop.charge(CHARGE, call())
  if (!answer.ok) throw new Error(answer.error.message)
  const names = { ...NAMES, gatewayTransactionId: answer.gatewayTransactionId }
  return { shop, call, answer, names }
}

describe('while the API key is changed', () => {
  it('callbacks are verified with each of the two, and with no other', async () => {
    const next = 'the-next-key-that-signs-callbacks-32'
    const api_key = `${next} ${SETTINGS.api_key}`
    const shop = redirect.create('shop', { ...SETTINGS, api_key })
    const call = { warn: silent } as unknown as GatewayCall
    const by = async (key: string) =>
      shop.handleWebhook(inBody(await sign(claims(), bytes(key))), call)
    for (const key of [next, SETTINGS.api_key]) {
      expect(await by(key)).toMatchObject({ status: 'Paid' })
    }
    for (const key of ['another-key-of-32-bytes-or-longer', api_key]) {
      await expect(by(key)).rejects.toMatchObject({ code: 'invalid_webhook_signature' })
    }
  })
})

describe('redirect and the simulator', () => {
  it('charge, report the payment, and refund it', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, answer, names } = await charged(setup)
    expect(answer.redirectUrl).toContain(setup.url)
    expect(answer.expiresAt).toBeGreaterThan(Date.now())
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Pending' })

    await setup.act(names.gatewayTransactionId, 'pay')
    const [body = ''] = await setup.merchant.got(1)
    expect(await shop.handleWebhook(received(body), call())).toMatchObject({
      gatewayTransactionId: names.gatewayTransactionId,
      reference: CHARGE.reference,
      externalReferenceId: CHARGE.externalReferenceId,
      status: 'Paid',
      amount: CHARGE.amount,
    })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Paid', amount: 25_000 })

    const asked = { refundId: 'rf-1', earlier: 'none', refundAmount: 25_000 } as const
    const refund = { ...names, ...asked, reason: 'Broken' }
    expect(await shop.refund(refund, call())).toMatchObject({ ok: true, isDone: true })
    const callback = (await setup.merchant.got(2))[1] ?? ''
    expect(await shop.handleWebhook(received(callback), call())).toMatchObject({
      status: 'Refunded',
    })
  })

  it('make one transaction of a repeated charge', async () => {
    await using setup = await setUpSimulator()
    const { shop, call, names } = await charged(setup)
    await expect(shop.charge(CHARGE, call())).rejects.toMatchObject({
      code: 'gateway_unavailable',
      gatewayTransactionId: names.gatewayTransactionId,
    })
  })

  it('agree that a payment that was never made is unknown', async () => {
    await using setup = await setUpSimulator()
    const { shop, call } = shopAt(setup)
    expect(await shop.checkStatus(NAMES, call())).toEqual({ known: false })
  })
})
