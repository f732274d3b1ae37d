// docs/drivers.md promises that a driver is one file and two lines, and shows a whole one: here it
// is held to both.

import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { acme } from '../../examples/worker/acme.ts'
import {
  callback,
  charge,
  fixtures,
  PAID,
  payment,
  refund,
  settings,
} from '../../examples/worker/acme-fixtures.ts'
import config from '../../examples/worker/signalbox.config.ts'
import { gatewayContract } from '../../libraries/testing/gateway-contract.ts'
import { readPayments } from '../../worker/payments/config/payments-config.ts'
import { GatewayUnavailableException } from '../../worker/payments/domain/exceptions.ts'
import { DRIVERS } from '../../worker/payments/gateways/registry.ts'
import { FakeGatewayCall } from '../support/fake-gateway-call.ts'

const ENV = {
  LIBSQL_URL: 'http://127.0.0.1:8080',
  ACME_API_KEY: 'key-1',
  ACME_SIGNING_SECRET: 'secret-1',
}
const gateway = acme.create('acme', settings)

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

  it('shows the test that the package runs', async () => {
    const test = await readFile('examples/worker/acme.test.ts', 'utf8')
    expect(doc).toContain(`\n\`\`\`ts\n${test}\`\`\`\n`)
  })

  it('names each fixture of a test', () => {
    for (const name of Object.keys(fixtures))
      expect(doc).toMatch(new RegExp(`^\\| .*\`${name}\``, 'm'))
  })

  it('names every driver that comes with it', () => {
    for (const name of Object.keys(DRIVERS)) expect(doc).toContain(`\`${name}\``)
  })

  it('is right that a file, two lines and two variables are all', () => {
    expect(config.payments).toMatchObject({
      drivers: { acme },
      gateways: { acme: { driver: 'acme' } },
    })
    for (const line of ['drivers: { acme },', "gateways: { acme: { driver: 'acme' } },"]) {
      expect(doc).toContain(line)
    }
    const { faults, payments } = readPayments(ENV, config)
    expect(faults).toEqual([])
    expect(payments?.gateways.get('acme')?.currencies).toEqual(['IQD', 'USD'])
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
    expect(gateway.chargeProblem?.(rest)).toBe('acme needs a returnUrl.')
    expect(gateway.chargeProblem?.(charge)).toBeUndefined()
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
    const found = new FakeGatewayCall({ status: 200, body: { ...payment, refunded: 1_250 } })
    expect(await gateway.checkStatus(refund, found)).toMatchObject({ status: 'Refunded' })
    const gone = new FakeGatewayCall({ status: 404, body: {} })
    expect(await gateway.checkStatus(refund, gone)).toEqual({ known: false })
  })

  it('makes one refund of a repeated one, and tells a refusal from an unknown outcome', async () => {
    const begun = new FakeGatewayCall({ status: 201, body: { id: 'r-1', state: 'under_way' } })
    const answer = { ok: true, isDone: false, gatewayRefundId: 'r-1' }
    expect(await gateway.refund(refund, begun)).toEqual(answer)
    expect(begun.requests[0]?.headers).toMatchObject({ 'idempotency-key': 'rf-1' })
    const body = { code: 'too_late', message: 'Too late.' }
    const refused = new FakeGatewayCall({ status: 422, body })
    const error = { rawCode: 'too_late' }
    expect(await gateway.refund(refund, refused)).toMatchObject({ ok: false, error })
    for (const reply of [
      { status: 409, body },
      { status: 201, body: { id: 'r-1', state: 'no such word' } },
    ]) {
      await expect(gateway.refund(refund, new FakeGatewayCall(reply))).rejects.toThrow(
        GatewayUnavailableException,
      )
    }
  })
})

describe('the contract of a gateway, for the driver in docs/drivers.md', () => {
  it.each(gatewayContract(fixtures))('$name', ({ run }) => run())
})
