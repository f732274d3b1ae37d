// The part of the contract about facts: what a driver makes of a gateway's words, times and ids,
// and of its refusals, while nothing fails.

import assert from 'node:assert/strict'
import type { VerifiedWebhook } from '../../worker/payments/domain/types.ts'
import { isEqual, jsonIn } from './gateway-edits.ts'
import type { HeldPayment } from './gateway-fixtures.ts'
import { assertAsked, assertHas, bodyOf } from './gateway-requests.ts'
import {
  FORGED,
  type It,
  PART,
  RECEIVED_AT,
  REFUSED,
  SENT_AT,
  type Subject,
  UNAVAILABLE,
  UNKNOWN_STATES,
} from './gateway-subject.ts'

const YEAR_MS = 365 * 24 * 3_600_000

export function factsOf(subject: Subject, it: It): void {
  const { fixtures, gateway, own, open, states } = subject
  const { charge, refund, ids, refuses, refusesCancel = refuses, signs } = fixtures
  const withId = subject.acts.filter(({ id }) => id !== undefined)

  it('charges, and returns what the gateway made', async () => {
    const setup = subject.setup()
    const call = setup.call()
    const answer = await subject.charge(setup, {}, call)
    if (!answer.ok) assert.fail(`It refused: ${answer.error.message}`)
    assert.equal(setup.sent.filter(subject.isMoney).length, 1, 'one request')
    assert.equal(answer.gatewayTransactionId, own.id, 'the payment’s id')
    const { expiresAt = charge.now } = answer
    assert.ok(Math.abs(expiresAt - charge.now) < YEAR_MS, 'expiresAt is in ms')
    assert.notEqual(answer.redirectUrl, charge.returnUrl ?? '', 'redirectUrl: the gateway’s page')
    assert.equal(call.verdict(), 'success')
  })

  it('does not accept an answer without a payment id', async () => {
    const setup = subject.setup(own, { atMoney: () => Response.json({}) })
    await assert.rejects(subject.charge(setup), UNAVAILABLE)
  })

  it('reports a refusal of the gateway as one', async () => {
    for (const { name, run } of withId) {
      const setup = subject.setup(own, { atMoney: refuses })
      const answer = await run(setup)
      assert.equal(Object(answer).ok, false, `The refusal of a ${name} is definite`)
      assert.equal(setup.sent.filter(subject.isMoney).length, 1, 'one request')
    }
  })

  it('does not take a refusal for one of an earlier request, whose answer was lost', async () => {
    if (fixtures.repeatsFirstAnswer) return
    for (const { run } of withId) {
      const setup = subject.setup(own, { atMoney: refuses })
      const answer = await run(setup, setup.call(), 'unknown')
      assert.ok(!('coversEarlier' in Object(answer)), 'coversEarlier is not proven')
    }
  })

  for (const [way, answer] of Object.entries(fixtures.refunds ?? {})) {
    it(`tells a refund that is ${way} as that`, async () => {
      if (!refund) assert.fail('a refund is among the fixtures')
      const setup = subject.setup(own, { atMoney: answer })
      const asked = gateway.refunds === 'partial' ? { ...refund, refundAmount: PART } : refund
      const made = await subject.refund(setup, asked)
      if (!made.ok) assert.fail(`It refused: ${made.error.message}`)
      assert.equal(made.isDone, way === 'done', 'isDone')
      const [request, second] = setup.sent.filter(subject.isMoney)
      assert.equal(second, undefined, 'one request')
      const said = setup.answered[setup.sent.findIndex(subject.isMoney)]
      assert.ok(said?.includes(made.gatewayRefundId ?? ''), 'gatewayRefundId is in the answer')
      if (request && fixtures.sentRefund) assertHas(bodyOf(request), fixtures.sentRefund(asked))
    })
  }

  if (gateway.cancel) {
    it('cancels by one request', async () => {
      const setup = subject.setup(open)
      await subject.cancel(setup)
      assertAsked(setup.sent, own.id)
      assert.equal(
        setup.sent.filter(subject.isCancel).length,
        1,
        'one request (fixture `isCancel`)',
      )
    })

    it('reports that the gateway refuses to cancel, and does not ask again', async () => {
      const setup = subject.setup(open, { atCancel: refusesCancel })
      await assert.rejects(subject.cancel(setup), REFUSED, '(fixture `refusesCancel`)')
      assert.equal(setup.sent.filter(subject.isCancel).length, 1, 'one request')
    })
  }

  if (gateway.checkStatus) {
    it('reads the status, the amount and the currency of a payment', async () => {
      for (const { status, held, amount } of states) {
        const { status: read, answered } = await subject.statusOf(held)
        assert.equal(read.status, status, `the status of ${held.state}`)
        assert.equal(read.amount, amount, `the amount of ${held.state}`)
        assert.equal(read.currency, held.currency, `the currency of ${held.state}`)
        assertIds(read, held)
        const isSaid = answered.some((text) => isEqual(jsonIn(text), read.raw))
        assert.ok(isSaid || read.raw === undefined, `raw of ${held.state} is the answer, unchanged`)
      }
    })

    it('moves nothing for a status that it does not know, and logs it', async () => {
      for (const state of UNKNOWN_STATES) {
        const { status, warnings } = await subject.statusOf({ ...own, state })
        assert.equal(status.status, 'Pending')
        assert.equal(status.isBeingPaid, true, 'isBeingPaid: the payer may be paying')
        assert.notEqual(warnings.length, 0, 'call.warn')
      }
    })
  }

  it('reads a callback, with the gateway’s body unchanged', async () => {
    for (const { status, held, amount } of states) {
      const read = await subject.payloadOf(held)
      if (!read) continue
      const { payload, isRaw } = read
      assert.equal(payload.gateway, 'shop')
      assert.equal(payload.status, status, `the status of ${held.state}`)
      assert.equal(payload.amount, amount, `the amount of ${held.state}`)
      assert.equal(payload.currency, held.currency, `the currency of ${held.state}`)
      assert.ok(['', held.reference].includes(payload.reference), 'reference')
      assertIds(payload.isOtherId ? { ...payload, gatewayTransactionId: held.id } : payload, held)
      assert.ok(isRaw, 'raw is what the gateway sent, unchanged')
      assertTime(payload)
    }
  })

  it('moves nothing for a callback with a status that it does not know', async () => {
    for (const state of UNKNOWN_STATES) {
      const read = await subject.payloadOf({ ...own, state })
      assert.ok(!read || read.payload.status === 'Pending', 'Pending')
    }
  })

  it('gives one event the same id at every delivery, and other events other ids', async () => {
    const { event } = subject
    const idOf = async (held: HeldPayment, sent = event) =>
      (await subject.payloadOf(held, sent))?.payload.eventId ?? ''
    const id = await idOf(own)
    assert.notEqual(id, '')
    assert.equal(await idOf(own, { ...event, at: event.at + 60_000 }), id, 'a second delivery')
    const second = { ...event, id: 'event-2' }
    assert.notEqual(await idOf({ ...own, id: ids[1] }, second), id, 'of another payment')
    for (const { held } of states) {
      if (held.state === own.state && held.refunded === 0) continue
      assert.notEqual(await idOf({ ...held, id: own.id }, second), id, `of ${held.state}`)
    }
  })

  if (signs === 'body') {
    it('verifies the bytes that came, and not what they mean', async () => {
      const request = await subject.genuine()
      const body = request.body.replace(/[{&]/, '$& ')
      const spaced = { ...request, body, bytes: new TextEncoder().encode(body) }
      await assert.rejects(subject.receive(subject.setup(), spaced), FORGED)
    })
  }

  function assertTime({ occurredAt }: VerifiedWebhook): void {
    const isRead = signs === 'nothing' && occurredAt === RECEIVED_AT
    assert.ok(isRead || occurredAt === SENT_AT, 'occurredAt: in ms, of the event or its delivery')
  }
}

function assertIds(
  {
    gatewayTransactionId = '',
    externalReferenceId,
  }: Partial<Pick<VerifiedWebhook, 'gatewayTransactionId' | 'externalReferenceId'>>,
  held: HeldPayment,
): void {
  assert.ok(['', held.id].includes(gatewayTransactionId), 'gatewayTransactionId')
  const reference = externalReferenceId ?? held.externalReferenceId
  assert.equal(reference, held.externalReferenceId, 'externalReferenceId')
}
