// Payments at Stripe: their status, cancellations and refunds.

import { describe, expect, it } from 'vitest'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
} from '../../../../../worker/payments/domain/exceptions.ts'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import { GatewayBed, json } from '../../../../support/gateway-bed.ts'
import { BASE, gateway, intent, made, names, no, ok, paid, refund } from './stripe-bed.ts'

describe('a payment at Stripe', () => {
  it.each([
    ['Pending', 1_250, made],
    ['Expired', 1_250, { ...made, status: 'expired' }],
    ['Paid', 1_250, { ...paid, payment_intent: intent({}) }],
    ['Paid', 1_250, { ...paid, payment_intent: 'pi_1' }],
    ['Paid', 1_250, { ...paid, payment_status: 'no_payment_required' }],
    ['PartiallyRefunded', 400, { ...paid, payment_intent: withRefunded(400) }],
    ['Refunded', 1_250, { ...paid, payment_intent: withRefunded(1_250) }],
    ['Pending', 1_250, unpaid('processing')],
    ['Failed', 1_250, unpaid('requires_payment_method')],
    ['Failed', 1_250, unpaid('canceled')],
  ])('is %s with %i', async (status, amount, body) => {
    const call = new FakeGatewayCall(ok(body))
    expect(await gateway.checkStatus(names, call)).toMatchObject({
      known: true,
      status,
      amount,
      currency: 'USD',
      raw: body,
    })
    expect(asked(call)).toEqual([
      `GET ${BASE}/v1/checkout/sessions/cs_test_1?expand[]=payment_intent.latest_charge`,
    ])
  })

  it('has the paid amount beside the refunded part', async () => {
    const body = { ...paid, payment_intent: withRefunded(400) }
    const answer = await gateway.checkStatus(names, new FakeGatewayCall(ok(body)))
    expect(answer).toMatchObject({ amount: 400, paidAmount: 1_250 })
  })

  it('fails with the reason of the bank', async () => {
    const call = new FakeGatewayCall(ok(unpaid('requires_payment_method')))
    expect(await gateway.checkStatus(names, call)).toMatchObject({
      error: { code: 'payment_failed', rawCode: 'debit_not_authorized', message: 'No.' },
    })
  })

  it('is unknown when Stripe does not know it, but not when our key is refused', async () => {
    const missing = no(404, { type: 'invalid_request_error', code: 'resource_missing' })
    expect(await gateway.checkStatus(names, new FakeGatewayCall(missing))).toEqual({ known: false })
    const denied = no(401, { type: 'invalid_request_error' })
    await expect(gateway.checkStatus(names, new FakeGatewayCall(denied))).rejects.toThrow(
      GatewayUnavailableException,
    )
  })

  it('is cancelled by expiring its session', async () => {
    const call = new FakeGatewayCall(ok({ ...made, status: 'expired' }))
    await gateway.cancel(names, call)
    expect(asked(call)).toEqual([`POST ${BASE}/v1/checkout/sessions/cs_test_1/expire`])
    const late = no(400, { type: 'invalid_request_error', message: 'Already complete.' })
    await expect(gateway.cancel(names, new FakeGatewayCall(late))).rejects.toThrow(
      GatewayRefusedException,
    )
  })

  function withRefunded(amount_refunded: number) {
    return intent({ latest_charge: { id: 'ch_1', amount_refunded } })
  }

  function unpaid(status: string) {
    const last_payment_error = { code: 'debit_not_authorized', message: 'No.' }
    const payment_intent = intent({
      status,
      amount_received: 0,
      latest_charge: null,
      last_payment_error,
    })
    return { ...made, status: 'complete', payment_intent }
  }
})

describe('a refund at Stripe', () => {
  const session = ok({ ...paid, payment_intent: 'pi_1' })

  it('refunds a part of the session’s payment, once for each refund id', async () => {
    const call = new FakeGatewayCall(session, ok({ id: 're_1', status: 'succeeded' }))
    expect(await gateway.refund(refund, call)).toEqual({
      ok: true,
      isDone: true,
      gatewayRefundId: 're_1',
    })
    expect(asked(call)).toEqual([
      `GET ${BASE}/v1/checkout/sessions/cs_test_1`,
      `POST ${BASE}/v1/refunds`,
    ])
    expect(call.requests[1]).toMatchObject({
      isIdempotent: true,
      headers: { 'idempotency-key': '01REFUND' },
      form: { payment_intent: 'pi_1', amount: '400', 'metadata[reason]': 'One was broken' },
    })
  })

  it.each(['pending', 'requires_action'])('is pending while %s', async (status) => {
    const call = new FakeGatewayCall(session, ok({ id: 're_1', status }))
    expect(await gateway.refund(refund, call)).toMatchObject({ ok: true, isDone: false })
  })

  it.each([
    ['it fails at once', ok({ id: 're_1', status: 'failed', failure_reason: 'unknown' })],
    ['it is too much', no(400, { code: 'charge_already_refunded', message: 'Already.' })],
  ])('is refused when %s', async (_, reply) => {
    expect(await gateway.refund(refund, new FakeGatewayCall(session, reply))).toMatchObject({
      ok: false,
    })
  })

  it('is not made if Stripe answers with another session', async () => {
    const other = new FakeGatewayCall(ok({ ...paid, id: 'cs_test_2', payment_intent: 'pi_2' }))
    await expect(gateway.refund(refund, other)).rejects.toThrow(GatewayUnavailableException)
    expect(asked(other)).toEqual([`GET ${BASE}/v1/checkout/sessions/cs_test_1`])
  })

  it('was never sent if Stripe does not return the session', async () => {
    const bed = new GatewayBed(gateway, () => json({}, 503))
    const failed = bed.end(gateway.refund(refund, bed.call()))
    await expect(failed).rejects.toMatchObject({ isUnsent: true })
  })

  it('is refused without a call when nothing was paid', async () => {
    const call = new FakeGatewayCall(ok(made))
    expect(await gateway.refund(refund, call)).toMatchObject({ ok: false })
    expect(call.requests).toHaveLength(1)
  })

  it('has an unknown outcome when Stripe does not answer', async () => {
    await expect(gateway.refund(refund, new FakeGatewayCall(session))).rejects.toThrow(
      GatewayUnavailableException,
    )
  })
})
