// The part of the contract about values: what a driver makes of amounts, currencies, times, ids and
// words, in what it sends and in what it reads, while nothing fails.

import assert from 'node:assert/strict'
import { decimalsOf } from '../../worker/payments/domain/money.ts'
import type { PaymentStatus } from '../../worker/payments/domain/status.ts'
import type { VerifiedWebhook } from '../../worker/payments/domain/types.ts'
import type { GatewayCharge } from '../../worker/payments/gateways/gateway.ts'
import { rawMask } from '../../worker/payments/mask.ts'
import { isSecretName } from '../../worker/shared/secrets.ts'
import type { GatewayEvent, GatewayFixtures, HeldPayment } from './gateway-fixtures.ts'
import { type Answer, GatewaySetup, json, type Sent } from './gateway-setup.ts'

/** In minor units. Divisible by ten, since a gateway may not take a last digit of three. */
const ANOTHER_AMOUNT = 12_340
const PART = 120
const UNKNOWN_STATE = 'a_word_that_nobody_knows'
/** Years before the test runs, and an hour before the callback is received. */
const SENT_AT = 1_700_000_000_000
const RECEIVED_AT = SENT_AT + 3_600_000
const YEAR_MS = 365 * 24 * 3_600_000
const UNKNOWN = { code: 'gateway_unavailable' }
const FORGED = { code: 'invalid_webhook_signature' }

/** What no gateway says of a charge. It proves nothing, so its outcome is unknown. */
const NO_REFUSALS = [400, 401, 403, 404, 409, 410, 422]

/** Tells `it` each case. */
export function factsOf(
  fixtures: GatewayFixtures,
  it: (name: string, run: () => Promise<void>) => void,
): void {
  const { driver, settings, charge, refund, ids, states, healthy, isMoney, signs } = fixtures
  const gateway = driver.create('shop', settings)
  const { currencies } = gateway
  const own: HeldPayment = {
    id: ids[0],
    reference: charge.reference,
    externalReferenceId: charge.externalReferenceId,
    state: states.Paid,
    amount: charge.amount,
    currency: charge.currency,
    refunded: 0,
  }
  /** It differs from the charge in all that a driver could copy from there. */
  const other: HeldPayment = {
    ...own,
    amount: ANOTHER_AMOUNT,
    currency: anotherThan(charge.currency, currencies),
  }
  const first: GatewayEvent = { id: 'event-1', at: SENT_AT }

  const setupOf = (held: HeldPayment, atMoney?: Answer) =>
    new GatewaySetup(gateway, async (request) => {
      const { pathname, search } = new URL(request.url)
      const { method, headers } = request
      const body = await request.clone().text()
      const isIt = isMoney({ method, path: pathname + search, headers, body })
      return isIt && atMoney ? await atMoney(request) : await healthy(request, held)
    })

  async function statusOf(held: HeldPayment) {
    const setup = setupOf(held)
    const stored = { ...charge, gatewayTransactionId: held.id }
    const status = await setup.end(Promise.resolve(gateway.checkStatus?.(stored, setup.call())))
    if (!status?.known) assert.fail('It does not know the payment')
    assertAsked(setup.sent, held.id)
    return { status, warnings: setup.lines }
  }

  async function payloadOf(held: HeldPayment, event = first) {
    const made = await fixtures.callback(held, event)
    if (!made) return undefined
    const setup = setupOf(held)
    const request = { ...made.request, receivedAt: RECEIVED_AT }
    const payload = await setup.end(gateway.handleWebhook(request, setup.call()))
    if (!('eventId' in payload)) assert.fail(`It is no event: ${JSON.stringify(payload)}`)
    if (signs === 'nothing') assertAsked(setup.sent, held.id)
    return { payload, raw: made.raw, warnings: setup.lines }
  }

  /** A case for every payment that the gateway may hold. */
  const cases = (Object.entries(states) as [PaymentStatus, string][]).map(([status, state]) => {
    const isPart = status === 'PartiallyRefunded'
    const refunded = isPart ? PART : status === 'Refunded' ? other.amount : 0
    return { status, held: { ...other, state, refunded }, amount: refunded || other.amount }
  })

  for (const asked of chargesLike(charge, currencies)) {
    if (gateway.chargeProblem?.(asked) !== undefined) continue
    it(`sends ${asked.amount} ${asked.currency} and both references`, async () => {
      const setup = setupOf({ ...own, amount: asked.amount, currency: asked.currency })
      const answer = await setup.end(gateway.charge(asked, setup.call()))
      if (!answer.ok) assert.fail(`It refused: ${answer.error.message}`)
      assert.equal(answer.gatewayTransactionId, own.id, 'the payment’s id')
      const [request] = setup.sent.filter(isMoney)
      if (!request) assert.fail('It makes no payment')
      assertHas(bodyOf(request), fixtures.sent(asked))
      const { expiresAt = asked.now } = answer
      assert.ok(Math.abs(expiresAt - asked.now) < YEAR_MS, 'expiresAt is in ms')
    })
  }

  it('sends the external reference, by which a repeated charge is found again', async () => {
    const setup = setupOf(own)
    const callbackUrl = charge.callbackUrl ?? 'https://edge.test/payments/webhooks/shop'
    await setup.end(gateway.charge({ ...charge, callbackUrl }, setup.call()))
    const sent = setup.sent.filter(isMoney).map(textOf).join('\n')
    assert.ok(sent.includes(charge.externalReferenceId), 'externalReferenceId is not sent')
  })

  it('names each setting as a secret that is one', async () => {
    const setup = setupOf(own)
    await setup.end(gateway.charge(charge, setup.call()))
    // With the name of a scheme before it, or without.
    const sent = setup.sent.flatMap(({ headers }) => [...headers.values()])
    const isSent = (value: string) => sent.some((text) => text.split(' ').at(-1) === value)
    for (const [name, value] of Object.entries(settings)) {
      const isNamed = isSecretName(name) || /(_id|_url)$/.test(name)
      assert.ok(isNamed || !isSent(value), `${name} is sent like a secret: …_key, …_secret`)
    }
  })

  it('reports a refusal of the gateway as one', async () => {
    const setup = setupOf(own, fixtures.refuses)
    const answer = await setup.end(gateway.charge(charge, setup.call()))
    assert.equal(answer.ok, false, 'The refusal of a charge is definite')
    if (!refund) return
    const refusing = setupOf(own, fixtures.refuses)
    const refunded = await refusing.end(Promise.resolve(gateway.refund?.(refund, refusing.call())))
    assert.equal(refunded?.ok, false, 'The refusal of a refund is definite')
  })

  it('takes only the gateway’s own refusal for one, and not every 4xx', async () => {
    for (const status of NO_REFUSALS) {
      const setup = setupOf(own, () => json({}, status))
      await assert.rejects(setup.end(gateway.charge(charge, setup.call())), UNKNOWN, `${status}`)
      const refunded = async () => refund && (await gateway.refund?.(refund, setup.call()))
      if (refund) await assert.rejects(setup.end(refunded()), UNKNOWN, `${status} of a refund`)
    }
  })

  it('does not take a refusal for one of an earlier request, whose answer was lost', async () => {
    if (fixtures.repeatsFirstAnswer) return
    const setup = setupOf(own, fixtures.refuses)
    const lost = { earlier: 'unknown' } as const
    const answers = [
      await setup.end(gateway.charge({ ...charge, ...lost }, setup.call())),
      refund &&
        (await setup.end(Promise.resolve(gateway.refund?.({ ...refund, ...lost }, setup.call())))),
    ]
    for (const answer of answers) {
      assert.ok(!answer || !('coversEarlier' in answer), 'coversEarlier is not proven')
    }
  })

  if (gateway.checkStatus) {
    it('reads the status, the amount and the currency of a payment', async () => {
      for (const { status, held, amount } of cases) {
        const read = (await statusOf(held)).status
        assert.equal(read.status, status, `the status of ${held.state}`)
        assert.equal(read.amount, amount, `the amount of ${held.state}`)
        assert.equal(read.currency, held.currency, `the currency of ${held.state}`)
        assertIds(read, held)
      }
    })

    it('moves nothing for a status that it does not know, and logs it', async () => {
      const { status, warnings } = await statusOf({ ...own, state: UNKNOWN_STATE })
      assert.equal(status.status, 'Pending')
      assert.equal(status.isBeingPaid, true, 'isBeingPaid: the payer may be paying')
      assert.notEqual(warnings.length, 0, 'call.warn')
    })
  }

  for (const [way, answer] of Object.entries(fixtures.refunds ?? {})) {
    it(`tells a refund that is ${way} as that`, async () => {
      if (!refund) assert.fail('a refund is among the fixtures')
      const setup = setupOf(own, answer)
      const asked = gateway.refunds === 'partial' ? { ...refund, refundAmount: PART } : refund
      const made = await setup.end(Promise.resolve(gateway.refund?.(asked, setup.call())))
      if (!made?.ok) assert.fail(`It refused: ${made?.error.message}`)
      assert.equal(made.isDone, way === 'done', 'isDone')
      const [request, second] = setup.sent.filter(isMoney)
      assert.equal(second, undefined, 'one request')
      if (request && fixtures.sentRefund) assertHas(bodyOf(request), fixtures.sentRefund(asked))
    })
  }

  it('reads a callback, with the gateway’s body unchanged', async () => {
    for (const { status, held, amount } of cases) {
      const read = await payloadOf(held)
      if (!read) continue
      const { payload, raw } = read
      assert.equal(payload.gateway, 'shop')
      assert.equal(payload.status, status, `the status of ${held.state}`)
      assert.equal(payload.amount, amount, `the amount of ${held.state}`)
      assert.equal(payload.currency, held.currency, `the currency of ${held.state}`)
      assert.ok(['', held.reference].includes(payload.reference), 'reference')
      assertIds(payload.isOtherId ? { ...payload, gatewayTransactionId: held.id } : payload, held)
      assert.deepEqual(payload.raw, raw)
      assertTime(payload)
    }
  })

  it('moves nothing for a callback with a status that it does not know', async () => {
    const read = await payloadOf({ ...own, state: UNKNOWN_STATE })
    assert.ok(!read || read.payload.status === 'Pending', 'Pending')
  })

  it('gives one event the same id at every delivery, and other events other ids', async () => {
    const idOf = async (held: HeldPayment, event = first) =>
      (await payloadOf(held, event))?.payload.eventId ?? ''
    const id = await idOf(own)
    assert.notEqual(id, '')
    assert.equal(await idOf(own, { ...first, at: first.at + 60_000 }), id, 'a second delivery')
    const second = { ...first, id: 'event-2' }
    assert.notEqual(await idOf({ ...own, id: ids[1] }, second), id, 'of another payment')
    for (const { held } of cases) {
      if (held.state === own.state && held.refunded === 0) continue
      assert.notEqual(await idOf({ ...held, id: own.id }, second), id, `of ${held.state}`)
    }
  })

  it('names the fields with values of the payer, and hides none of the shop’s', async () => {
    const read = await payloadOf(own)
    if (!read) assert.fail('There is no callback about a paid payment')
    assert.notEqual(fixtures.hidden.length, 0)
    const before = JSON.stringify(read.payload.raw)
    const after = JSON.stringify(rawMask(gateway)(read.payload.raw))
    for (const value of fixtures.hidden) {
      assert.ok(before.includes(value), `${value} is in the callback`)
      assert.ok(!after.includes(value), `${value} is masked: privateFields`)
    }
    if (!before.includes(own.reference)) return
    assert.ok(after.includes(own.reference), 'the reference is not masked: echoedFields')
  })

  if (signs === 'body') {
    it('verifies the bytes that came, and not what they mean', async () => {
      const made = await fixtures.callback(own, first)
      if (!made) assert.fail('There is no callback about a paid payment')
      const body = made.request.body.replace(/[{&]/, '$& ')
      const setup = setupOf(own)
      const request = { ...made.request, body, bytes: new TextEncoder().encode(body) }
      await assert.rejects(setup.end(gateway.handleWebhook(request, setup.call())), FORGED)
    })
  }

  function assertTime({ occurredAt }: VerifiedWebhook): void {
    const isRead = signs === 'nothing' && occurredAt === RECEIVED_AT
    assert.ok(isRead || occurredAt === SENT_AT, 'occurredAt: in ms, of the event or its delivery')
  }
}

/** With each number of decimals that the gateway takes. */
function chargesLike(
  charge: GatewayCharge,
  currencies: readonly string[] | 'any',
): readonly GatewayCharge[] {
  const known = currencies === 'any' ? [charge.currency] : currencies
  const byDecimals = new Map(known.toReversed().map((code) => [decimalsOf(code), code]))
  const more = [...byDecimals.values()].map((currency) => ({
    ...charge,
    amount: ANOTHER_AMOUNT,
    currency,
  }))
  return [charge, ...more]
}

const anotherThan = (currency: string, known: readonly string[] | 'any'): string =>
  (known === 'any' ? [] : known).find((code) => code !== currency) ??
  (currency === 'USD' ? 'EUR' : 'USD')

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

function assertAsked(sent: readonly Sent[], id: string): void {
  assert.ok(
    sent.some((request) => textOf(request).includes(id)),
    'It asks about another payment',
  )
}

/** All text of a request, as it was before it was encoded. */
const textOf = ({ path, headers, body }: Sent): string =>
  [path, ...[...headers].flat(), body].map(decoded).join('\n')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function bodyOf({ body }: Sent): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Not JSON, so a form.
    return Object.fromEntries(new URLSearchParams(body))
  }
}

/** It may have more than the expected fields. */
function assertHas(actual: unknown, expected: unknown, path = 'the body'): void {
  if (typeof expected !== 'object' || expected === null) {
    assert.deepEqual(actual, expected, `${path} is ${JSON.stringify(actual)}`)
    return
  }
  for (const [name, value] of Object.entries(expected)) {
    assertHas((actual as Record<string, unknown> | null)?.[name], value, `${path}.${name}`)
  }
}
