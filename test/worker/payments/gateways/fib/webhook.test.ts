import { describe, expect, it } from 'vitest'
import { InvalidWebhookSignatureException } from '../../../../../worker/payments/domain/exceptions.ts'
import { fib } from '../../../../../worker/payments/gateways/fib/fib.ts'
import { asked, FakeGatewayCall } from '../../../../support/fake-gateway-call.ts'
import {
  BASE,
  bank,
  callback,
  callbackOf,
  charge,
  created,
  ID,
  SETTINGS,
  stored,
} from './fib-setup.ts'

describe('a callback of FIB', () => {
  it.each([
    ['UNPAID', null, 'Pending', 'UNPAID'],
    ['PAID', null, 'Paid', 'PAID', []],
    ['DECLINED', 'PAYMENT_EXPIRATION', 'Expired', 'DECLINED:PAYMENT_EXPIRATION'],
    ['DECLINED', 'PAYMENT_CANCELLATION', 'Cancelled', 'DECLINED:PAYMENT_CANCELLATION'],
    ['REFUND_REQUESTED', null, 'Paid', 'REFUND_REQUESTED', ['accepted']],
    ['REFUNDED', null, 'Refunded', 'REFUNDED', ['succeeded']],
  ])('has the status that the bank returns for it: %s %s is %s', async (...row) => {
    const [status, decliningReason, ours, event, refunds] = row
    const answer = stored(status, { decliningReason })
    const call = new FakeGatewayCall(answer)
    // The status in the callback is ignored.
    const request = callbackOf(ID, 'SOMETHING_ELSE')
    expect(await bank.handleWebhook(request, call)).toEqual({
      gateway: 'fib',
      gatewayTransactionId: ID,
      reference: '',
      status: ours,
      amount: 25_000,
      currency: 'IQD',
      eventId: `${ID}:${event}`,
      occurredAt: request.receivedAt,
      ...(refunds && {
        refunds: { readAt: 0, refunds: refunds.map((each) => ({ amount: 25_000, status: each })) },
      }),
      raw: answer.body,
    })
    expect(asked(call)).toEqual([`GET ${BASE}/protected/v1/payments/${ID}/status`])
    expect(call.requests[0]?.withToken).toBe(true)
  })

  /** The query of the callback URL that the bank gets with a charge. */
  async function callbackQuery(gateway: typeof bank): Promise<URLSearchParams> {
    const call = new FakeGatewayCall({ status: 201, body: created })
    await gateway.charge(charge, call)
    const json = call.requests[0]?.json as { statusCallbackUrl: string } | undefined
    return new URL(json?.statusCallbackUrl ?? '').searchParams
  }

  it('has our external reference from the callback URL', async () => {
    const request = { ...callbackOf(ID), query: await callbackQuery(bank) }
    const read = await bank.handleWebhook(request, new FakeGatewayCall(stored('PAID')))
    const { externalReferenceId } = charge
    expect(read).toMatchObject({ externalReferenceId, gatewayTransactionId: ID })
  })

  it('uses the limit of the payment that its URL proves, or that of unproven callbacks', async () => {
    const query = await callbackQuery(bank)
    const proven = new FakeGatewayCall(stored('PAID'))
    await bank.handleWebhook({ ...callbackOf(ID), query }, proven)
    expect(proven.requests[0]?.provenFor).toBe(charge.externalReferenceId)
    query.set('proof', '0'.repeat(64))
    for (const stranger of [query, new URLSearchParams()]) {
      const call = new FakeGatewayCall(stored('PAID'))
      await bank.handleWebhook({ ...callbackOf(ID), query: stranger }, call)
      expect(call.requests[0]).not.toHaveProperty('provenFor')
    }
  })

  it.each([
    ['no proof', { proof: undefined }],
    ['an empty proof', { proof: '' }],
    ['a made up proof', { proof: '0'.repeat(64) }],
    ['the proof of another reference', { reference: '6f1c1a5e-0000-5000-8000-000000000008' }],
  ])(
    'has no external reference with %s, so that other payments cannot pay an order',
    async (_, own) => {
      const query = await callbackQuery(bank)
      for (const [name, value] of Object.entries(own)) {
        if (value === undefined) query.delete(name)
        else query.set(name, value)
      }
      const call = new FakeGatewayCall(stored('PAID'))
      const read = await bank.handleWebhook({ ...callbackOf(ID), query }, call)
      expect(read).toMatchObject({ gatewayTransactionId: ID })
      expect(read).not.toHaveProperty('externalReferenceId')
    },
  )

  it('has no external reference with the URL of another gateway in the same account', async () => {
    const query = await callbackQuery(fib.create('fib-b', SETTINGS))
    const call = new FakeGatewayCall(stored('PAID'))
    const read = await bank.handleWebhook({ ...callbackOf(ID), query }, call)
    expect(read).not.toHaveProperty('externalReferenceId')
  })

  it('is a failure with the bank’s reason when it declined', async () => {
    const call = new FakeGatewayCall(stored('DECLINED', { decliningReason: 'LIMIT' }))
    expect(await bank.handleWebhook(callbackOf(ID), call)).toMatchObject({
      status: 'Failed',
      eventId: `${ID}:DECLINED:LIMIT`,
      error: { code: 'declined', rawCode: 'LIMIT' },
    })
  })

  it('is Pending and logged when its status is unknown', async () => {
    const call = new FakeGatewayCall(stored('ON_HOLD'))
    expect(await bank.handleWebhook(callbackOf(ID), call)).toMatchObject({ status: 'Pending' })
    expect(call.warnings).toEqual([
      { event: 'payments.fib.unknown_status', fields: { status: 'ON_HOLD' } },
    ])
  })

  it.each([
    ['no JSON', callback('paid')],
    ['an empty body', callback('')],
    ['an array', callback('[]')],
    ['null', callback('null')],
    ['no id', callback('{"status":"PAID"}')],
    ['an id that is not a string', callbackOf(7)],
    ['an empty id', callbackOf('')],
    ['an id that climbs the path', callbackOf('../../admin')],
    ['an id with a slash', callbackOf('a/b')],
    ['an id with a line break', callbackOf(`${ID}\n`)],
    ['an id that is too long', callbackOf('x'.repeat(65))],
    ['a huge body', callbackOf('x'.repeat(200_000))],
  ])('is refused with %s, and the bank is not called', async (_, request) => {
    const call = new FakeGatewayCall()
    await expect(bank.handleWebhook(request, call)).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
    expect(call.requests).toEqual([])
  })

  it.each([404, 400])('is refused when the bank does not know its id (%i)', async (status) => {
    const call = new FakeGatewayCall({ status, body: { errors: [] } })
    await expect(bank.handleWebhook(callbackOf(ID), call)).rejects.toThrow(
      InvalidWebhookSignatureException,
    )
  })

  it.each([0.5, -25_000])(
    'names its payment and no amount after %d dinars, so that a person hears of it',
    async (dinars) => {
      const amount = { amount: dinars, currency: 'IQD' }
      const call = new FakeGatewayCall(stored('PAID', { amount }))
      const read = await bank.handleWebhook(callbackOf(ID), call)
      expect(read).toMatchObject({ gatewayTransactionId: ID, unreadable: 'amount' })
    },
  )

  it('is to be sent again if the bank answers about another payment', async () => {
    const call = new FakeGatewayCall(stored('PAID', { paymentId: 'another' }))
    await expect(bank.handleWebhook(callbackOf(ID), call)).rejects.toThrow(/another payment/)
  })

  it.each([
    ['callback', ID.toUpperCase(), ID],
    ['bank', ID, ID.toUpperCase()],
  ])('has one payment id, however the %s spells it', async (_, called, answered) => {
    const call = new FakeGatewayCall(stored('PAID', { paymentId: answered }))
    expect(await bank.handleWebhook(callbackOf(called), call)).toMatchObject({
      gatewayTransactionId: ID,
      eventId: `${ID}:PAID`,
    })
  })
})
