// The part of the contract about amounts: in each number of decimals they are sent and read as they
// are.

import assert from 'node:assert/strict'
import { decimalsOf } from '../../worker/payments/domain/money.ts'
import type { VerifiedWebhook } from '../../worker/payments/domain/types.ts'
import type { GatewayCharge, StatusAnswer } from '../../worker/payments/gateways/gateway.ts'
import { assertHas, bodyOf } from './gateway-requests.ts'
import type { HeldState, It, Subject } from './gateway-subject.ts'

/**
 * By the number of decimals, in minor units: what floats break (19.99 times 100 is 1998.99…; so it
 * is with 8.29, 1.13, 1.005 and 2.01), and last more than 32 bits hold.
 */
const AMOUNTS: Readonly<Record<number, readonly number[]>> = {
  0: [113, 1_999, 3_000_000_000],
  2: [113, 829, 1_999, 3_000_000_000],
  3: [1_005, 2_010, 4_020, 3_000_000_000],
}
/** Every gateway may report one that it was not asked for. */
const READ = ['JPY', 'IQD', 'EUR', 'KWD']

const amountsIn = (currency: string): readonly number[] => AMOUNTS[decimalsOf(currency)] ?? []

export function amountsOf(subject: Subject, it: It): void {
  const { gateway, fixtures, own } = subject
  const takes = ({ amount, currency }: Pick<GatewayCharge, 'amount' | 'currency'>) =>
    gateway.chargeProblem?.({ ...fixtures.charge, amount, currency }) === undefined

  for (const currency of sentIn(subject)) {
    it(`sends amounts in ${currency}, and both references`, async () => {
      for (const amount of [...amountsIn(currency), own.amount]) {
        const asked = { ...fixtures.charge, amount, currency }
        if (!takes(asked)) continue
        const setup = subject.setup(subject.holding(currency, amount))
        const answer = await subject.charge(setup, asked)
        if (!answer.ok) assert.fail(`It refused: ${answer.error.message}`)
        const [request] = setup.sent.filter(subject.isMoney)
        if (!request) assert.fail('It makes no payment')
        assertHas(bodyOf(request), fixtures.sent(asked))
      }
    })

    const { refund, sentRefund } = fixtures
    if (!refund || !sentRefund) continue
    it(`sends the amounts of refunds in ${currency}`, async () => {
      const whole = amountsIn(currency).at(-1) ?? own.amount
      for (const amount of amountsIn(currency)) {
        const paid = gateway.refunds === 'partial' ? whole : amount
        const asked = { ...refund, amount: paid, currency, refundAmount: amount }
        if (!takes({ amount, currency })) continue
        const setup = subject.setup(subject.holding(currency, paid))
        await subject.refund(setup, asked)
        const [request] = setup.sent.filter(subject.isMoney)
        if (!request) assert.fail('It makes no refund')
        assertHas(bodyOf(request), sentRefund(asked))
      }
    })
  }

  for (const currency of READ) {
    const decimals = `${decimalsOf(currency)} decimals`
    if (gateway.checkStatus) {
      it(`reads amounts in ${currency}, of ${decimals}, when it asks`, async () => {
        for (const state of heldIn(subject, currency)) {
          assertMoney((await subject.statusOf(state.held)).status, state)
        }
      })
    }

    it(`reads amounts in ${currency}, of ${decimals}, in a callback`, async () => {
      for (const state of heldIn(subject, currency)) {
        const read = await subject.payloadOf(state.held)
        if (read) assertMoney(read.payload, state)
      }
    })
  }
}

/** Those that it takes: one for each number of decimals. */
function sentIn({ gateway: { currencies }, own }: Subject): string[] {
  const known = currencies === 'any' ? READ : currencies
  const byDecimals = new Map(known.toReversed().map((code) => [decimalsOf(code), code]))
  return [...new Set([own.currency, ...byDecimals.values()])]
}

/** Each amount as what was paid, as a refunded part, and as all that was refunded. */
function heldIn(subject: Subject, currency: string): HeldState[] {
  const { Paid, PartiallyRefunded, Refunded } = subject.fixtures.states
  const whole = amountsIn(currency).at(-1) ?? 0
  return amountsIn(currency).flatMap((amount) => {
    const paid = subject.holding(currency, amount)
    const states: HeldState[] = [{ status: 'Paid', held: { ...paid, state: Paid }, amount }]
    if (PartiallyRefunded !== undefined && amount < whole) {
      const held = { ...paid, state: PartiallyRefunded, amount: whole, refunded: amount }
      states.push({ status: 'PartiallyRefunded', held, amount })
    }
    if (Refunded !== undefined) {
      states.push({
        status: 'Refunded',
        held: { ...paid, state: Refunded, refunded: amount },
        amount,
      })
    }
    return states
  })
}

type Read = VerifiedWebhook | Extract<StatusAnswer, { known: true }>

function assertMoney(read: Read, { status, held, amount }: HeldState): void {
  const { currency, decimals, refunded } = held
  const what = `${status} of ${amount} in ${currency}`
  const fixtures = `(the fixtures write it with ${decimals} decimals)`
  assert.equal(read.status, status, what)
  assert.equal(read.currency, currency, what)
  assert.equal(read.amount, amount, `${what}: amount ${fixtures}`)
  assert.equal(read.paidAmount ?? held.amount, held.amount, `${what}: paidAmount ${fixtures}`)
  const { refunds, captured = held.amount } = read.refunds ?? {}
  assert.equal(captured, held.amount, `${what}: captured ${fixtures}`)
  const made = refunds?.filter((refund) => refund.status === 'succeeded')
  const sum = made?.reduce((total, refund) => total + refund.amount, 0)
  assert.equal(sum ?? refunded, refunded, `${what}: the sum of refunds ${fixtures}`)
}
