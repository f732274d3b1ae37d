// What may happen during a replacement and after it: payments, other replacements, late answers.

import { describe, expect, it } from 'vitest'
import { end } from '../../../../libraries/testing/fake-clock.ts'
import { pause } from '../../../../worker/shared/clock.ts'
import { reported, setUpPayments, unavailable } from '../../../support/payments-setup.ts'
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
    const { setup, first, events, quiet } = await pageLost()
    const second = await tryCharge(setup, again, keyed)
    const { gatewayTransactionId } = second as { gatewayTransactionId: string }
    await setup.webhook({ gatewayTransactionId })
    await setup.webhook({ gatewayTransactionId: 'gateway-1' })
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Cancelled' }, { status: 'Paid' }])
    expect(await alertsOf(setup)).toEqual([
      { kind: 'double_payment', transactionId: first },
      { kind: 'late_payment', transactionId: first },
    ])
    await quiet()
    expect(events.filter(({ name }) => name === 'PaymentSucceeded')).toHaveLength(1)
  })

  it('paid on the old page is found a day later if its webhook was lost', async () => {
    const { setup, first, payments, clock, script } = await pageLost()
    await tryCharge(setup, again, keyed)
    script.status = () => reported('Paid')
    await clock.advance(DAY_MS - 60_000)
    const [, second] = await attemptsOf(setup)
    const at = { transactionId: second?.id ?? '', now: clock.now() }
    await payments.ledger.claimCheck({ ...at, until: clock.now() + DAY_MS })
    await payments.sweeper.sweep()
    expect(await alertsOf(setup)).toEqual([])
    await clock.advance(60_000)
    await payments.sweeper.sweep()
    expect(await alertsOf(setup)).toEqual([{ kind: 'late_payment', transactionId: first }])
    expect(await payments.sweeper.sweep()).toMatchObject({ checked: 0 })
    // Its webhook arrives late, for the same money.
    await setup.webhook({ gatewayTransactionId: 'gateway-1' })
    expect(await alertsOf(setup)).toHaveLength(1)
  })

  it('paid on the old page is one late payment, though the gateway reports it again a day later', async () => {
    const { setup, first, payments, clock, script } = await pageLost()
    await tryCharge(setup, again, keyed)
    await setup.webhook({ gatewayTransactionId: 'gateway-1' })
    script.status = () => reported('Paid')
    await clock.advance(DAY_MS)
    expect(await payments.sweeper.sweep()).toHaveProperty('checked', 2)
    const [, second] = await attemptsOf(setup)
    expect(await alertsOf(setup)).toEqual([
      { kind: 'double_payment', transactionId: second?.id },
      { kind: 'late_payment', transactionId: first },
    ])
  })

  it('of another amount, which is rejected, prevents a replacement and is an alert', async () => {
    const { setup, first, script } = await pageLost({}, keyed, 'reject')
    script.status = () => reported('Paid', { amount: 12_000 })
    expect(await tryCharge(setup, again, keyed)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await attemptsOf(setup)).toMatchObject([{ id: first, status: 'Pending' }])
    expect(await alertsOf(setup)).toEqual([{ kind: 'amount_mismatch', transactionId: first }])
  })

  it('that arrives during the status check prevents a replacement: the charge is Paid', async () => {
    const { setup, first, script, charged } = await pageLost()
    script.status = (() =>
      setup.webhook({ gatewayTransactionId: 'gateway-1' }).then(() => reported('Pending'))) as never
    expect(await tryCharge(setup, again, keyed)).toMatchObject({
      isNew: false,
      status: 'Paid',
      transactionId: first,
    })
    expect(charged).toHaveLength(1)
  })
})

describe('replacements at the same time', () => {
  it.each([
    ['its page', pageLost],
    ['its answer', answerLost],
  ])('of a charge that lost %s are one new attempt', async (_what, lost) => {
    const { setup } = await lost()
    const answers = await end(
      setup.clock,
      Promise.all(Array.from({ length: 5 }, () => tryCharge(setup, again))),
    )
    const done = answers.filter((answer) => 'status' in answer)
    expect(new Set(done.map(({ transactionId }) => transactionId)).size).toBe(1)
    for (const answer of answers) {
      if (!('status' in answer)) expect(answer).toMatchObject({ code: 'in_progress' })
    }
    const attempts = await attemptsOf(setup)
    expect(attempts.map(({ status }) => status)).toEqual(['Cancelled', 'Pending'])
  })

  it('can replace a new attempt whose own answer was lost', async () => {
    const { setup, script } = await answerLost()
    const { charge } = script
    script.charge = unavailable
    const second = await tryCharge(setup, again)
    const [, open] = await attemptsOf(setup)
    expect(second).toMatchObject({ code: 'gateway_unavailable', transactionId: open?.id })
    await setup.clock.advance(1)
    script.charge = charge
    expect(await tryCharge(setup, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await attemptsOf(setup)).toMatchObject([
      { attempt: 1, status: 'Cancelled' },
      { attempt: 2, status: 'Cancelled' },
      { attempt: 3, status: 'Pending' },
    ])
  })

  it('fail within 20 s when the ledger is slow', async () => {
    const lost = await pageLost()
    const { setup, first, script, clock } = lost
    script.status = () => reported('Paid')
    const { answer: record } = setup.payments.ledger
    setup.payments.ledger.answer = async (answered) => {
      await pause(clock, 60_000)
      return await record(answered)
    }
    const startedAt = clock.now()
    const answer = await end(clock, tryCharge(setup, again, keyed))
    expect(answer).toMatchObject({ code: 'ledger_unavailable' })
    expect(clock.now() - startedAt).toBeLessThanOrEqual(20_000)
    expect(await attemptsOf(setup)).toMatchObject([{ id: first, status: 'Pending' }])
  })

  it('are refused as in progress while the charge is under way', async () => {
    const setup = setUpPayments({ gateway: { chargeRepeatableForMs: 0 } })
    const { promise, resolve } = Promise.withResolvers<never>()
    setup.script.charge = () => promise
    const first = tryCharge(setup, order)
    await expect.poll(() => setup.charged.length).toBe(1)
    const second = end(setup.clock, tryCharge(setup, again))
    expect(await second).toMatchObject({ code: 'in_progress' })
    resolve({ ok: true, gatewayTransactionId: 'bank-1' } as never)
    expect(await first).toMatchObject({ isNew: true, status: 'Pending' })
  })

  it('leave no page to the late answer of a replaced charge', async () => {
    const setup = setUpPayments({ gateway: { chargeRepeatableForMs: 0 } })
    const { script, clock, charged } = setup
    const { charge } = script
    const { promise, resolve } = Promise.withResolvers<never>()
    script.charge = () => promise
    const first = tryCharge(setup, order)
    await expect.poll(() => charged.length).toBe(1)
    // No caller waits so long, but an edge that was suspended does not know that.
    await clock.advance(60_000)
    script.charge = charge
    expect(await tryCharge(setup, again)).toMatchObject({ isNew: true, status: 'Pending' })
    const late = { ok: true, gatewayTransactionId: 'late-1', redirectUrl: 'https://bank.example/1' }
    resolve(late as never)
    const answer = await first
    expect(answer).toMatchObject({ status: 'Cancelled', error: { code: 'replaced' } })
    expect(answer).not.toHaveProperty('redirectUrl')
    // A payment there is found by that id.
    await setup.webhook({ gatewayTransactionId: 'late-1' })
    expect(await alertsOf(setup)).toMatchObject([{ kind: 'late_payment' }])
  })
})
