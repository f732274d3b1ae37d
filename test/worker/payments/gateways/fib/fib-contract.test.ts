// The contract of a gateway, and that the simulator agrees.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gatewayContract } from '../../../../../libraries/testing/gateway-contract.ts'
import {
  GatewayUnavailableException,
  InvalidWebhookSignatureException,
} from '../../../../../worker/payments/domain/exceptions.ts'
import { createClient } from '../../../../../worker/payments/gateways/client.ts'
import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import type { GatewayCall } from '../../../../../worker/payments/gateways/gateway.ts'
import { createGuard } from '../../../../../worker/payments/gateways/guard.ts'
import { hostClock } from '../../../../../worker/shared/clock.ts'
import { webhookRequest } from '../../../../support/payments.ts'
import { CLIENT, type SimulatorSetup, setUpSimulator } from '../../../../support/simulator.ts'
import { fixtures } from './fib-fixtures.ts'
import { charge, names, SETTINGS } from './fib-setup.ts'

describe('the contract of a gateway, for fib', () => {
  it.each(gatewayContract(fixtures))('$name', ({ run }) => run())
})

let setup: SimulatorSetup
beforeAll(async () => {
  setup = await setUpSimulator()
})
afterAll(() => setup[Symbol.asyncDispose]())

function open(client_secret = CLIENT.secret) {
  const login = { client_id: CLIENT.id, client_secret }
  const bank = fib.create('fib', { ...SETTINGS, base_url: setup.url, ...login })
  const common = { clock: hostClock, fetch, log: () => undefined }
  const guard = createGuard({ ...common, gateways: new Map([['fib', bank]]), store: new Map() })
  const client = createClient({ ...common, guard, notify: () => undefined })
  const run = <T>(work: (call: GatewayCall) => Promise<T>) => client.run(bank, 'charge', work)

  /** A payment, its names, and what the simulator calls back with once `act` is done to it. */
  async function charged() {
    const long = { ...charge, description: '💡'.repeat(100), callbackUrl: setup.callback }
    const answer = await run((call) => bank.charge({ ...long, now: Date.now() }, call))
    if (!answer.ok) throw new Error(answer.error.message)
    return { answer, names: { ...names, gatewayTransactionId: answer.gatewayTransactionId } }
  }
  const receiveCallback = (body: string) =>
    run((call) => bank.handleWebhook(webhookRequest(body, Date.now()), call))
  return { bank, run, charged, receiveCallback }
}

/** Those of a payment: one of another test may come late. */
const callbacks = (id: string): string[] =>
  setup.merchant.bodies.filter((body) => body.includes(id))

/** The payment's callback after so many, once it has arrived. */
async function callbackAfter(count: number, id: string): Promise<string> {
  await expect.poll(() => callbacks(id).length).toBeGreaterThan(count)
  return callbacks(id)[count] ?? ''
}

/** The callback that `act` causes. */
async function callbackOf(id: string, action: string): Promise<string> {
  const before = callbacks(id).length
  await setup.act(id, action)
  return await callbackAfter(before, id)
}

describe('FIB, simulated', () => {
  it('makes a charge, is paid, sends a callback, and returns the status', async () => {
    const { bank, run, charged, receiveCallback } = open()
    const { answer, names } = await charged()
    expect(answer).toMatchObject({
      readableCode: expect.any(String),
      qrCode: expect.any(String),
      deepLink: expect.any(String),
      expiresAt: expect.any(Number),
    })
    const id = names.gatewayTransactionId
    expect(await receiveCallback(await callbackOf(id, 'pay'))).toMatchObject({
      status: 'Paid',
      amount: 25_000,
      currency: 'IQD',
      gatewayTransactionId: id,
      eventId: `${id}:PAID`,
    })
    expect(await run((call) => bank.checkStatus(names, call))).toMatchObject({ status: 'Paid' })
  })

  it('accepts a refund, and reports when the money was sent', async () => {
    const { bank, run, charged, receiveCallback } = open()
    const { names } = await charged()
    const id = names.gatewayTransactionId
    await callbackOf(id, 'pay')
    const before = callbacks(id).length
    const asked = { refundId: '01R', earlier: 'none', refundAmount: 25_000 } as const
    const refund = { ...names, ...asked, reason: 'Broken' }
    expect(await run((call) => bank.refund(refund, call))).toEqual({ ok: true, isDone: false })
    const statuses: string[] = []
    while (!statuses.includes('Refunded')) {
      const payload = await receiveCallback(await callbackAfter(before + statuses.length, id))
      statuses.push('status' in payload ? payload.status : 'ignored')
    }
    expect(statuses.at(-1)).toBe('Refunded')
    expect(await run((call) => bank.refund(refund, call))).toMatchObject({ ok: false })
  })

  it.each([
    ['cancel', 'Cancelled'],
    ['expire', 'Expired'],
    ['fail', 'Failed'],
  ])('tells by %s that a payment is %s', async (action, status) => {
    const { charged, receiveCallback } = open()
    const { names } = await charged()
    const body = await callbackOf(names.gatewayTransactionId, action)
    expect(await receiveCallback(body)).toMatchObject({ status })
  })

  it('cancels an open payment', async () => {
    const { bank, run, charged } = open()
    const { names } = await charged()
    await run((call) => bank.cancel(names, call))
    expect(await run((call) => bank.checkStatus(names, call))).toMatchObject({
      status: 'Cancelled',
    })
  })

  it('does not know an invented payment', async () => {
    const { receiveCallback } = open()
    const body = JSON.stringify({ id: '00000000-0000-4000-8000-000000000000', status: 'PAID' })
    await expect(receiveCallback(body)).rejects.toThrow(InvalidWebhookSignatureException)
  })

  it('is unavailable while our client is refused, and no callback counts as forged', async () => {
    const { names } = await open().charged()
    const body = JSON.stringify({ id: names.gatewayTransactionId, status: 'PAID' })
    await expect(open('another secret').receiveCallback(body)).rejects.toThrow(
      GatewayUnavailableException,
    )
  })
})
