// docs/drivers.md promises that a driver is one file and two lines, and shows a whole one: here it
// is held to both.

import { createHmac } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { acme } from '../../examples/worker/acme.ts'
import config from '../../examples/worker/signalbox.config.ts'
import { readPayments } from '../../worker/payments/config.ts'
import {
  GatewayUnavailableException,
  InvalidArgumentException,
} from '../../worker/payments/domain/exceptions.ts'
import type { GatewayCharge } from '../../worker/payments/gateways/gateway.ts'
import { DRIVERS } from '../../worker/payments/gateways/registry.ts'
import { gatewayContract } from '../contract/gateway.ts'
import { FakeGatewayCall } from '../support/fake-gateway-call.ts'
import { type Answer, json } from '../support/gateway-setup.ts'

const ENV = {
  LIBSQL_URL: 'http://127.0.0.1:8080',
  ACME_API_KEY: 'key-1',
  ACME_SIGNING_SECRET: 'secret-1',
}
const settings = {
  base_url: 'https://api.acme.example',
  api_key: 'key-1',
  signing_secret: 'secret-1',
}
const gateway = acme.create('acme', settings)

const charge: GatewayCharge = {
  gateway: 'acme',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  amount: 1_250,
  currency: 'USD',
  description: 'Two lamps',
  returnUrl: 'https://shop.test/back',
  callbackUrl: undefined,
  now: 1_700_000_000_000,
}
const payment = { id: 'p-1', order: 'order-7', state: 'paid', amount: 1_250, currency: 'USD' }
const names = {
  gatewayTransactionId: 'p-1',
  externalReferenceId: 'ext-7',
  reference: 'order-7',
  amount: 1_250,
  currency: 'USD',
}

const sign = (time: string, body: string, secret = 'secret-1') =>
  createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')

function callback(body: string, changes: { time?: string; signature?: string } = {}) {
  const { time = '1700000000', signature = sign(time, body) } = changes
  return {
    headers: new Headers({ 'acme-time': time, 'acme-signature': signature }),
    query: new URLSearchParams(),
    body,
    receivedAt: 1_700_000_005_000,
  }
}
const PAID = JSON.stringify({ event: 'e-1', payment })

describe('docs/drivers.md', () => {
  let doc = ''
  let source = ''
  beforeAll(async () => {
    doc = await readFile('docs/drivers.md', 'utf8')
    source = await readFile('examples/worker/acme.ts', 'utf8')
  })

  it('shows the driver that is tested here', () => {
    expect(doc).toContain(`\n\`\`\`ts\n${source}\`\`\`\n`)
  })

  it('names every driver that comes with it', () => {
    for (const name of Object.keys(DRIVERS)) expect(doc).toContain(`\`${name}\``)
  })

  it('is right that a file, two lines and two variables are all', () => {
    const wrong: string[] = []
    expect(config.payments).toMatchObject({
      drivers: { acme },
      gateways: { acme: { driver: 'acme' } },
    })
    for (const line of ['drivers: { acme },', "gateways: { acme: { driver: 'acme' } },"]) {
      expect(doc).toContain(line)
    }
    const read = readPayments(ENV, config, wrong)
    expect(wrong).toEqual([])
    expect(read?.gateways.get('acme')?.currencies).toEqual(['IQD', 'USD'])
  })
})

describe('its driver', () => {
  it('sends the payer to the page of a payment that it made once', async () => {
    const page = 'https://acme.example/pay/p-1'
    const call = new FakeGatewayCall({ status: 201, body: { id: 'p-1', page } })
    expect(await gateway.charge(charge, call)).toEqual({
      ok: true,
      gatewayTransactionId: 'p-1',
      redirectUrl: page,
    })
    expect(call.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'ext-7' })
  })

  it('tells a refusal from an unknown outcome, and asks nothing that cannot be', async () => {
    const no = { status: 422, body: { code: 'too_small', message: 'Too small.' } }
    expect(await gateway.charge(charge, new FakeGatewayCall(no))).toMatchObject({
      ok: false,
      error: { rawCode: 'too_small' },
    })
    for (const reply of [
      { status: 404, body: {} },
      { status: 201, body: { id: 'p-1' } },
    ]) {
      await expect(gateway.charge(charge, new FakeGatewayCall(reply))).rejects.toThrow(
        GatewayUnavailableException,
      )
    }
    const { returnUrl: _, ...rest } = charge
    await expect(gateway.charge(rest, new FakeGatewayCall())).rejects.toThrow(
      InvalidArgumentException,
    )
  })

  it('reads a signed callback', async () => {
    expect(await gateway.handleWebhook(callback(PAID), new FakeGatewayCall())).toEqual({
      gateway: 'acme',
      gatewayTransactionId: 'p-1',
      reference: 'order-7',
      status: 'Paid',
      amount: 1_250,
      currency: 'USD',
      eventId: 'e-1',
      occurredAt: 1_700_000_000_000,
      raw: JSON.parse(PAID),
    })
  })

  it('moves nothing for a word that it does not know, and says so', async () => {
    for (const state of ['on_hold', 'constructor']) {
      const call = new FakeGatewayCall()
      const body = JSON.stringify({ event: 'e-2', payment: { ...payment, state } })
      expect(await gateway.handleWebhook(callback(body), call)).toMatchObject({ status: 'Pending' })
      expect(call.warnings).toEqual([{ event: 'payments.acme.unknown_status', fields: { state } }])
    }
  })

  it('asks about a payment, and about one that is not there', async () => {
    const found = new FakeGatewayCall({ status: 200, body: { ...payment, state: 'refunded' } })
    expect(await gateway.checkStatus(names, found)).toMatchObject({ status: 'Refunded' })
    const gone = new FakeGatewayCall({ status: 404, body: {} })
    expect(await gateway.checkStatus(names, gone)).toEqual({ known: false })
  })
})

const healthy: Answer = ({ method }) =>
  method === 'POST' ? json({ id: 'p-1', page: 'https://acme.example/pay/p-1' }) : json(payment)

gatewayContract('the driver in docs/drivers.md', {
  driver: acme,
  settings,
  charge,
  healthy,
  isMoney: ({ method }) => method === 'POST',
  isSigned: true,
  genuine: async () => ({
    first: callback(PAID),
    raw: JSON.parse(PAID),
    again: callback(PAID, { time: '1700000060' }),
    other: callback(PAID.replace('e-1', 'e-2')),
  }),
  forged: async () => ({
    'no signature': { ...callback(PAID), headers: new Headers() },
    'half a signature': callback(PAID, { signature: sign('1700000000', PAID).slice(32) }),
    'another secret': callback(PAID, { signature: sign('1700000000', PAID, 'key-1') }),
    'another body': { ...callback(PAID), body: PAID.replace('1250', '1') },
    'another time': callback(PAID, { time: '1700000001', signature: sign('1700000000', PAID) }),
    'a body that cannot be parsed': callback('{', { signature: '0'.repeat(64) }),
  }),
})
