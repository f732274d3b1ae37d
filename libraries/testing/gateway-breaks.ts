// The part of the contract about money that cannot be read: an amount or a currency that is missing
// or makes no sense. What is none is not read as one.

import assert from 'node:assert/strict'
import type { WebhookRequest } from '../../worker/payments/gateways/gateway.ts'
import {
  changedAt,
  isEqual,
  jsonOf,
  numbersThatDiffer,
  replaying,
  without,
} from './gateway-edits.ts'
import type { HeldPayment } from './gateway-fixtures.ts'
import type { GatewaySetup } from './gateway-setup.ts'
import { type It, type Subject, UNAVAILABLE } from './gateway-subject.ts'

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

type Change = (one: unknown, other: unknown, own: HeldPayment) => unknown

/** `other` is the same about a payment of another amount. */
const BREAKS: Record<string, Change> = {
  ...Object.fromEntries(
    Object.entries(BROKEN).map(([what, broken]): [string, Change] => [
      `amount ${what}`,
      (one, other) => changedAt(one, numbersThatDiffer(one, other), broken),
    ]),
  ),
  'currency that is missing': (one, _, { currency }) =>
    without(one, (text) => text.toUpperCase() === currency),
}

export function breaksOf(subject: Subject, it: It): void {
  for (const [what, change] of Object.entries(BREAKS)) {
    if (subject.gateway.checkStatus) {
      it(`reads no ${what} when it asks`, async () => {
        const gateway = new BrokenGateway(subject, change)
        const outcome = await subject.check(gateway.setup).catch(asIs)
        // A gateway of one currency may write none.
        if (gateway.isBroken) assert.equal(Object(outcome).code, UNAVAILABLE.code)
      })
    }

    it(`reads no ${what} in a genuine callback, and names its payment`, async () => {
      const gateway = new BrokenGateway(subject, change)
      const outcome = await subject.receive(gateway.setup, await gateway.callback()).catch(asIs)
      if (gateway.isBroken) assertUnreadable(outcome, subject)
    })
  }
}

/** Holds a paid payment, and writes it so that it cannot be read. */
class BrokenGateway {
  readonly setup: GatewaySetup
  /** It has written what is broken. */
  isBroken = false
  readonly #subject: Subject
  readonly #dearer: HeldPayment
  readonly #change: Change

  constructor(subject: Subject, change: Change) {
    const { own, fixtures } = subject
    this.#subject = subject
    this.#dearer = { ...own, amount: own.amount + 1_230 }
    this.#change = change
    const everywhere = replaying(
      (request) => fixtures.healthy(request, own),
      async (body, request) =>
        this.#broken(body, await jsonOf(await fixtures.healthy(request, this.#dearer))),
    )
    this.setup = subject.setup(own, { everywhere })
  }

  async callback(): Promise<WebhookRequest> {
    const { own, fixtures, event, isSigned } = this.#subject
    const [sound, dearer] = await Promise.all(
      [own, this.#dearer].map((held) => fixtures.callback(held, event)),
    )
    if (!sound) assert.fail('There is no callback about a paid payment')
    if (!isSigned) return sound.request
    const raw = this.#broken(sound.raw, dearer?.raw)
    const made = await fixtures.callback(own, { ...event, edit: <Raw>() => raw as Raw })
    assert.deepEqual(made?.raw, raw, 'the fixture `callback` sends and signs event.edit(raw)')
    return made?.request ?? sound.request
  }

  #broken(one: unknown, other: unknown): unknown {
    const broken = this.#change(one, other, this.#subject.own)
    if (!isEqual(broken, one)) this.isBroken = true
    return broken
  }
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
