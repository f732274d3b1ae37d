// The part of the contract about amounts: in each number of decimals they are sent and read as they
// are, and what is none is not read as one.

import assert from 'node:assert/strict'
import { decimalsOf } from '../../worker/payments/domain/money.ts'
import type { VerifiedWebhook } from '../../worker/payments/domain/types.ts'
import type { GatewayCharge, StatusAnswer } from '../../worker/payments/gateways/gateway.ts'
import { changedAt, jsonOf, numbersThatDiffer, replaying } from './gateway-edits.ts'
import { assertHas, bodyOf } from './gateway-requests.ts'
import { type HeldState, type It, type Subject, UNAVAILABLE } from './gateway-subject.ts'

/**
 * By the number of decimals, in minor units: what floats break (19.99 times 100 is 1998.99…; so it
 * is with 8.29, 1.13, 1.005 and 2.01), and last an amount with a thousand.
 */
const AMOUNTS: Readonly<Record<number, readonly number[]>> = {
  0: [113, 1_999, 1_234_560],
  2: [113, 829, 1_999, 1_234_560],
  3: [1_005, 2_010, 4_020, 12_345_670],
}
/** Every gateway may report one that it was not asked for. */
const READ = ['JPY', 'IQD', 'EUR', 'KWD']

const amountsIn = (currency: string): readonly number[] => AMOUNTS[decimalsOf(currency)] ?? []

/** What stands in the place of an amount, which was a number or its text. */
const BROKEN: Record<string, (amount: string | number) => unknown> = {
  'that is missing': () => undefined,
  'that is null': () => null,
  'that is empty': () => '',
  'that is a word': () => 'none',
  'that has a unit behind it': (amount) => `${amount} units`,
  'below zero': (amount) => (typeof amount === 'string' ? `-${amount}` : -amount),
  'with more decimals than its currency': (amount) =>
    typeof amount === 'number'
      ? amount + 0.0001
      : `${amount}${amount.includes('.') ? '' : '.'}0001`,
  'that is a list': (amount) => [amount],
}

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

  for (const [what, broken] of Object.entries(BROKEN)) {
    const dearer = { ...own, amount: own.amount + 1_230 }
    const breakIn = (one: unknown, other: unknown) =>
      changedAt(one, numbersThatDiffer(one, other), broken)
    const replies = replaying(
      (request) => fixtures.healthy(request, own),
      async (body, request) => breakIn(body, await jsonOf(await fixtures.healthy(request, dearer))),
    )

    if (gateway.checkStatus) {
      it(`reads no amount ${what} when it asks`, async () => {
        const setup = subject.setup(own, { everywhere: replies })
        await assert.rejects(subject.check(setup), UNAVAILABLE)
      })
    }

    it(`reads no amount ${what} in a genuine callback, and names its payment`, async () => {
      const [sound, other] = await Promise.all(
        [own, dearer].map((held) => fixtures.callback(held, subject.event)),
      )
      const raw = breakIn(sound?.raw, other?.raw)
      const edit = <Raw>() => raw as Raw
      const made = await fixtures.callback(own, { ...subject.event, edit })
      if (!made) assert.fail('There is no callback about a paid payment')
      if (subject.isSigned) {
        assert.deepEqual(made.raw, raw, 'the fixture `callback` sends and signs event.edit(raw)')
      }
      const setup = subject.setup(own, { everywhere: replies })
      assertUnreadable(await subject.receive(setup, made.request).catch(asIs), subject)
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

/** The gateway is asked about this payment, and the operator reads of it. */
function assertUnreadable(outcome: unknown, { own }: Subject): void {
  const read = Object(outcome) as Partial<Record<string, unknown>>
  assert.ok(!('ignored' in read), 'a genuine callback about money is not ignored')
  const isEvent = 'eventId' in read
  assert.ok(!isEvent || !Number.isSafeInteger(read.amount), `it reads ${read.amount}`)
  assert.ok(isEvent || read.unreadable !== undefined, '`unreadable` says what cannot be read')
  const isNamed =
    read.gatewayTransactionId === own.id || read.externalReferenceId === own.externalReferenceId
  assert.ok(isNamed, 'it names the payment, by an id')
}

const asIs = (error: unknown): unknown => error
