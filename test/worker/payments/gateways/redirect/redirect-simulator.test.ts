// The driver against the simulator, over real HTTP: what one says the other understands.

import { describe, expect, it } from 'vitest'
import { createCaller } from '../../../../../worker/payments/gateways/guard/caller.ts'
import { createGuard } from '../../../../../worker/payments/gateways/guard/guard-process.ts'
import { redirect } from '../../../../../worker/payments/gateways/redirect/redirect.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import { CHARGE, NAMES, received, SETTINGS } from '../../../../support/redirect-fixtures.ts'
import { API_KEY, CLIENT, openBed, type SimulatorBed } from '../../../../support/simulator.ts'

const silent = () => undefined

function shopAt({ url }: SimulatorBed) {
  const client = { client_id: CLIENT.id, client_secret: CLIENT.secret }
  const shop = redirect.create('shop', { ...SETTINGS, base_url: url, api_key: API_KEY, ...client })
  const base = { clock: hostClock, log: silent, fetch }
  const guard = createGuard({ gateways: new Map([['shop', shop]]), store: new Map(), ...base })
  const caller = createCaller({ guard, ...base, onTimeout: silent, onOpened: silent })
  return { shop, call: () => caller.startCall(shop) }
}

async function charged(bed: SimulatorBed) {
  const { shop, call } = shopAt(bed)
  const answer = await shop.charge(CHARGE, call())
  if (!answer.ok) throw new Error(answer.error.message)
  const names = { ...NAMES, gatewayTransactionId: answer.gatewayTransactionId }
  return { shop, call, answer, names }
}

describe('redirect and the simulator', () => {
  it('charge, report the payment, and refund it', async () => {
    await using bed = await openBed()
    const { shop, call, answer, names } = await charged(bed)
    expect(answer.redirectUrl).toContain(bed.url)
    expect(answer.expiresAt).toBeGreaterThan(Date.now())
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Pending' })

    await bed.act(names.gatewayTransactionId, 'pay')
    const [body = ''] = await bed.merchant.got(1)
    expect(await shop.handleWebhook(received(body), call())).toMatchObject({
      gatewayTransactionId: names.gatewayTransactionId,
      reference: CHARGE.reference,
      externalReferenceId: CHARGE.externalReferenceId,
      status: 'Paid',
      amount: CHARGE.amount,
    })
    expect(await shop.checkStatus(names, call())).toMatchObject({ status: 'Paid', amount: 25_000 })

    const refund = { ...names, refundId: 'rf-1', refundAmount: 25_000, reason: 'Broken' }
    expect(await shop.refund(refund, call())).toMatchObject({ ok: true, isDone: true })
    const told = (await bed.merchant.got(2))[1] ?? ''
    expect(await shop.handleWebhook(received(told), call())).toMatchObject({ status: 'Refunded' })
  })

  it('make one transaction of a repeated charge', async () => {
    await using bed = await openBed()
    const { shop, call, names } = await charged(bed)
    await expect(shop.charge(CHARGE, call())).rejects.toMatchObject({
      code: 'gateway_unavailable',
      gatewayTransactionId: names.gatewayTransactionId,
    })
  })

  it('agree that a payment that was never made is unknown', async () => {
    await using bed = await openBed()
    const { shop, call } = shopAt(bed)
    expect(await shop.checkStatus(NAMES, call())).toEqual({ known: false })
  })
})
