// What may happen during a replacement and after it: payments, other replacements, late answers.

import { describe, expect, it } from 'vitest'
import { pause } from '../../../../worker/shared/clock.ts'
import { end } from '../../../support/fake-clock.ts'
import { openRoom, reported, unavailable } from '../../../support/payments-room.ts'
import {
  again,
  alertsOf,
  answerLost,
  attemptsOf,
  DAY_MS,
  keyed,
  order,
  pageLost,
  tryCharge,
} from './lost-charge.ts'

describe('money for a replaced charge', () => {
  it('paid on the old page is a late payment, beside the paid new one', async () => {
    const { room, first, events, quiet } = await pageLost()
    const second = await tryCharge(room, again, keyed)
    const { gatewayTransactionId } = second as { gatewayTransactionId: string }
    await room.webhook({ gatewayTransactionId })
    await room.webhook({ gatewayTransactionId: 'gateway-1' })
    expect(await attemptsOf(room)).toMatchObject([{ status: 'Cancelled' }, { status: 'Paid' }])
    expect(await alertsOf(room)).toEqual([
      { kind: 'double_payment', transactionId: first },
      { kind: 'late_payment', transactionId: first },
    ])
    await quiet()
    expect(events.filter(({ name }) => name === 'PaymentSucceeded')).toHaveLength(1)
  })

  it('paid on the old page is found a day later if its webhook was lost', async () => {
    const { room, first, payments, clock, script } = await pageLost()
    await tryCharge(room, again, keyed)
    script.status = () => reported('Paid')
    await clock.advance(DAY_MS - 60_000)
    const [, second] = await attemptsOf(room)
    await payments.ledger.settleCheck({ transactionId: second?.id ?? '', now: clock.now() })
    await payments.sweeper.sweep()
    expect(await alertsOf(room)).toEqual([])
    await clock.advance(60_000)
    await payments.sweeper.sweep()
    expect(await alertsOf(room)).toEqual([{ kind: 'late_payment', transactionId: first }])
    expect(await payments.sweeper.sweep()).toMatchObject({ checked: 0 })
    // Its webhook arrives late, for the same money.
    await room.webhook({ gatewayTransactionId: 'gateway-1' })
    expect(await alertsOf(room)).toHaveLength(1)
  })

  it('paid on the old page is one late payment, though the gateway reports it again a day later', async () => {
    const { room, first, payments, clock, script } = await pageLost()
    await tryCharge(room, again, keyed)
    await room.webhook({ gatewayTransactionId: 'gateway-1' })
    script.status = () => reported('Paid')
    await clock.advance(DAY_MS)
    expect(await payments.sweeper.sweep()).toHaveProperty('checked', 2)
    const [, second] = await attemptsOf(room)
    expect(await alertsOf(room)).toEqual([
      { kind: 'double_payment', transactionId: second?.id },
      { kind: 'late_payment', transactionId: first },
    ])
  })

  it('of another amount, which is rejected, prevents a replacement and is an alert', async () => {
    const { room, first, script } = await pageLost({}, keyed, 'reject')
    script.status = () => reported('Paid', { amount: 12_000 })
    expect(await tryCharge(room, again, keyed)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await attemptsOf(room)).toMatchObject([{ id: first, status: 'Pending' }])
    expect(await alertsOf(room)).toEqual([{ kind: 'amount_mismatch', transactionId: first }])
  })

  it('that arrives during the status check prevents a replacement: the charge is Paid', async () => {
    const { room, first, script, charged } = await pageLost()
    script.status = (() =>
      room.webhook({ gatewayTransactionId: 'gateway-1' }).then(() => reported('Pending'))) as never
    expect(await tryCharge(room, again, keyed)).toMatchObject({
      ...{ isNew: false, status: 'Paid', transactionId: first },
    })
    expect(charged).toHaveLength(1)
  })
})

describe('replacements at the same time', () => {
  it.each([
    ['its page', pageLost],
    ['its answer', answerLost],
  ])('of a charge that lost %s are one new attempt', async (_what, lost) => {
    const { room } = await lost()
    const answers = await Promise.all(Array.from({ length: 5 }, () => tryCharge(room, again)))
    const done = answers.filter((answer) => 'status' in answer)
    expect(new Set(done.map(({ transactionId }) => transactionId)).size).toBe(1)
    for (const answer of answers) {
      if (!('status' in answer)) expect(answer).toMatchObject({ code: 'in_progress' })
    }
    const attempts = await attemptsOf(room)
    expect(attempts.map(({ status }) => status)).toEqual(['Cancelled', 'Pending'])
  })

  it('can replace a new attempt whose own answer was lost', async () => {
    const { room, script } = await answerLost()
    const { charge } = script
    script.charge = unavailable
    const second = await tryCharge(room, again)
    const [, open] = await attemptsOf(room)
    expect(second).toMatchObject({ code: 'gateway_unavailable', transactionId: open?.id })
    await room.clock.advance(1)
    script.charge = charge
    expect(await tryCharge(room, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await attemptsOf(room)).toMatchObject([
      { attempt: 1, status: 'Cancelled' },
      { attempt: 2, status: 'Cancelled' },
      { attempt: 3, status: 'Pending' },
    ])
  })

  it('fail within 20 s when the ledger is slow', async () => {
    const lost = await pageLost()
    const { room, first, script, clock } = lost
    script.status = () => reported('Paid')
    const { webhook } = room.payments.ledger
    room.payments.ledger.webhook = async (arrival) => {
      await pause(clock, 60_000)
      return await webhook(arrival)
    }
    const startedAt = clock.now()
    const answer = await end(clock, tryCharge(room, again, keyed))
    expect(answer).toMatchObject({ code: 'ledger_unavailable' })
    expect(clock.now() - startedAt).toBeLessThanOrEqual(20_000)
    expect(await attemptsOf(room)).toMatchObject([{ id: first, status: 'Pending' }])
  })

  it('are refused as in progress while the charge is under way', async () => {
    const room = openRoom({ gateway: { chargeIsIdempotent: false } })
    const { promise, resolve } = Promise.withResolvers<never>()
    room.script.charge = () => promise
    const first = tryCharge(room, order)
    await expect.poll(() => room.charged.length).toBe(1)
    expect(await tryCharge(room, again)).toMatchObject({ code: 'in_progress' })
    resolve({ ok: true, gatewayTransactionId: 'bank-1' } as never)
    expect(await first).toMatchObject({ isNew: true, status: 'Pending' })
  })

  it('leave no page to the late answer of a replaced charge', async () => {
    const room = openRoom({ gateway: { chargeIsIdempotent: false } })
    const { script, clock, charged } = room
    const { charge } = script
    const { promise, resolve } = Promise.withResolvers<never>()
    script.charge = () => promise
    const first = tryCharge(room, order)
    await expect.poll(() => charged.length).toBe(1)
    // No caller waits so long, but an edge that was suspended does not know that.
    await clock.advance(60_000)
    script.charge = charge
    expect(await tryCharge(room, again)).toMatchObject({ isNew: true, status: 'Pending' })
    const late = { ok: true, gatewayTransactionId: 'late-1', redirectUrl: 'https://bank.example/1' }
    resolve(late as never)
    const answer = await first
    expect(answer).toMatchObject({ status: 'Cancelled', error: { code: 'replaced' } })
    expect(answer).not.toHaveProperty('redirectUrl')
    // A payment there is found by that id.
    await room.webhook({ gatewayTransactionId: 'late-1' })
    expect(await alertsOf(room)).toMatchObject([{ kind: 'late_payment' }, { kind: 'unsettled' }])
  })
})
