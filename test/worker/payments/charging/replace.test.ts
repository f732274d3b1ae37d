// The way out for a charge whose page nobody ever got, and what money may do meanwhile and after.

import { describe, expect, it } from 'vitest'
import {
  GatewayRefusedException,
  GatewayUnavailableException,
} from '../../../../worker/payments/domain/exceptions.ts'
import type { PaymentStatus } from '../../../../worker/payments/domain/status.ts'
import type { StatusAnswer } from '../../../../worker/payments/gateways/gateway.ts'
import { pause } from '../../../../worker/shared/clock.ts'
import { end } from '../../../support/fake-clock.ts'
import { openRoom, type Room, unavailable } from '../../../support/payments-room.ts'

const order = {
  ...{ gateway: 'bank', reference: 'order-1', amount: 25_000, currency: 'IQD' },
  description: 'A lamp',
}
const again = { ...order, replace: true }
const keyed = { idempotencyKey: 'key-1' }
const DAY_MS = 86_400_000

const says = (status: PaymentStatus, more: object = {}) =>
  ({ known: true, status, amount: 25_000, currency: 'IQD', raw: {}, ...more }) as StatusAnswer

const noPage = (): never => {
  const options = { gatewayTransactionId: 'gateway-1' }
  throw new GatewayUnavailableException('It has this charge, and gives no page.', options)
}

const answerOf = (room: Room, request: object, context = {}) =>
  room.payments
    .chargeOrFind(request as typeof order, context)
    .then(({ response, isNew }) => ({ isNew, ...response }))
    .catch((error: { code: string; transactionId?: string }) => error)

/** All attempts, the oldest first, as far as a replacement touches them. */
async function attemptsOf(room: Room) {
  const rows = await room.payments.queries.transactions({}, { limit: 99 })
  return rows
    .sort((a, b) => a.attempt - b.attempt)
    .map(({ id, attempt, status, error }) => ({
      ...{ id, attempt, status },
      ...(error && { error: error.code }),
    }))
}

const alertsOf = async ({ payments }: Room) =>
  (await payments.queries.alerts({}, { limit: 99 })).map(({ kind, transactionId }) => ({
    ...{ kind, transactionId },
  }))

/** As the gateway tells of it, signed. */
async function tell(room: Room, payload: object) {
  const webhook = { headers: new Headers(), query: new URLSearchParams(), receivedAt: 0 }
  const common = { gateway: 'bank', gatewayTransactionId: '', reference: '', status: 'Paid' }
  const money = { amount: 25_000, currency: 'IQD', occurredAt: room.clock.now(), raw: {} }
  const body = JSON.stringify({ ...common, ...money, eventId: crypto.randomUUID(), ...payload })
  await room.payments.receive('bank', { ...webhook, body }, 'correlation-2')
}

/** Charged, named by its gateway, and its page lost on the way. */
async function pageLost(
  gateway: object = {},
  context: object = keyed,
  onMismatch: 'log' | 'reject' = 'log',
) {
  const room = openRoom({ gateway, onMismatch })
  const { script, clock } = room
  const { charge } = script
  script.charge = noPage
  const { transactionId = '' } = (await answerOf(room, order, context)) as { transactionId: string }
  script.charge = charge
  script.status = () => says('Pending')
  // Ids sort by their time.
  await clock.advance(1)
  await room.quiet()
  room.told.splice(0)
  return { ...room, room, first: transactionId }
}

/** Charged at a bank that must not be asked twice, whose answer was lost: it named nothing. */
async function codeLost() {
  const room = openRoom({ gateway: { chargeIsIdempotent: false } })
  const { script, clock } = room
  const { charge } = script
  script.charge = unavailable
  const { transactionId = '' } = (await answerOf(room, order)) as { transactionId: string }
  script.charge = charge
  await clock.advance(1)
  await room.quiet()
  room.told.splice(0)
  return { ...room, room, first: transactionId }
}

describe('a charge whose page was lost', () => {
  it('is replaced by another attempt, under another name, once it is surely not paid', async () => {
    const { room, first, charged, told, quiet } = await pageLost()
    const second = await answerOf(room, again, keyed)
    expect(second).toMatchObject({
      ...{ isNew: true, status: 'Pending', redirectUrl: 'https://bank.example/pay' },
      transactionId: expect.not.stringMatching(first),
    })
    const [named, renamed] = charged.map(({ externalReferenceId }) => externalReferenceId)
    expect(renamed).not.toBe(named)
    expect(await attemptsOf(room)).toMatchObject([
      { id: first, attempt: 1, status: 'Cancelled', error: 'replaced' },
      { attempt: 2, status: 'Pending' },
    ])
    await quiet()
    expect(told).toMatchObject([
      { name: 'PaymentCancelled', payload: { transaction: { id: first, status: 'Cancelled' } } },
      { name: 'PaymentInitiated', payload: { transaction: { attempt: 2 } } },
    ])
    expect(await alertsOf(room)).toEqual([])
  })

  it.each([
    ['its key', keyed, keyed],
    ['its order', {}, {}],
    ['a key that only the first call gave', {}, keyed],
  ])('is found as the new attempt by %s, and never replaced twice', async (_what, given, later) => {
    const { room, charged } = await pageLost()
    const second = await answerOf(room, again, given)
    const calls = charged.length
    for (const request of [again, order, again]) {
      expect(await answerOf(room, request, later)).toEqual({ ...second, isNew: false })
    }
    expect(charged).toHaveLength(calls)
    expect(await attemptsOf(room)).toHaveLength(2)
  })

  it.each([
    ['gives no answer', unavailable],
    ['knows no such payment', (): StatusAnswer => ({ known: false })],
    ['says that somebody is paying', () => says('Pending', { isBeingPaid: true })],
    ['breaks', () => expect.fail('unforeseen')],
  ])('stays as it is when its gateway %s', async (_what, status) => {
    const { room, first, script, charged, told, quiet } = await pageLost()
    script.status = status as typeof script.status
    const refused = await answerOf(room, again, keyed)
    expect(refused).toMatchObject({ code: 'gateway_unavailable', transactionId: first })
    expect(refused).toHaveProperty('retryAfterMs', expect.any(Number))
    expect(await attemptsOf(room)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
    expect(charged).toHaveLength(1)
    await quiet()
    expect(told.map(({ name }) => name)).not.toContain('PaymentCancelled')
  })

  it('that was paid all the same is Paid, and nothing is charged', async () => {
    const { room, first, script, charged, told, quiet } = await pageLost()
    script.status = () => says('Paid')
    expect(await answerOf(room, again, keyed)).toMatchObject({
      ...{ isNew: false, status: 'Paid', transactionId: first },
      paid: { amount: 25_000, currency: 'IQD' },
    })
    expect(charged).toHaveLength(1)
    expect(await attemptsOf(room)).toEqual([{ id: first, attempt: 1, status: 'Paid' }])
    await quiet()
    expect(told).toMatchObject([{ name: 'PaymentSucceeded' }])
  })

  it.each(['Expired', 'Failed', 'Cancelled'] as const)(
    'that is %s there makes room for another attempt at once',
    async (status) => {
      const { room, script } = await pageLost()
      script.status = () => says(status)
      expect(await answerOf(room, again, keyed)).toMatchObject({ isNew: true, status: 'Pending' })
      expect(await attemptsOf(room)).toMatchObject([{ status: 'Cancelled' }, { attempt: 2 }])
    },
  )

  it('is replaced in the very call in which its gateway gives no page', async () => {
    const room = openRoom()
    const { script, charged } = room
    const { charge } = script
    script.charge = (asked) => (charged.length === 1 ? noPage() : charge(asked))
    script.status = () => says('Pending')
    expect(await answerOf(room, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await attemptsOf(room)).toMatchObject([{ status: 'Cancelled' }, { status: 'Pending' }])
  })

  it('is not replaced where a repeated charge brings its page', async () => {
    const room = openRoom()
    const { script } = room
    const { charge } = script
    script.charge = unavailable
    const { transactionId } = (await answerOf(room, order)) as { transactionId: string }
    expect(await answerOf(room, again)).toMatchObject({ code: 'gateway_unavailable' })
    script.charge = charge
    expect(await answerOf(room, again)).toMatchObject({ status: 'Pending', transactionId })
    expect(await attemptsOf(room)).toMatchObject([{ status: 'Pending' }])
  })

  it('asked for in another way is a conflict', async () => {
    const { room } = await pageLost()
    const other = { ...again, amount: 30_000 }
    expect(await answerOf(room, other, keyed)).toMatchObject({ code: 'idempotency_conflict' })
    expect(await answerOf(room, other)).toMatchObject({ code: 'reference_conflict' })
    expect(await attemptsOf(room)).toHaveLength(1)
  })
})

describe('a gateway that can cancel', () => {
  const cancelling = (cancel: () => Promise<void>, statuses: PaymentStatus[]) => {
    const cancelled: unknown[] = []
    const gateway = {
      cancel: async (names: unknown) => {
        cancelled.push(names)
        await cancel()
      },
      checkStatus: async () => says(statuses.shift() ?? 'Failed'),
    }
    return { gateway, cancelled }
  }

  it.each(['Cancelled', 'Pending', 'Expired'] as const)(
    'cancels the charge, and its next word is %s: it is replaced',
    async (after) => {
      const { gateway, cancelled } = cancelling(() => Promise.resolve(), ['Pending', after])
      const { room } = await pageLost(gateway)
      expect(await answerOf(room, again, keyed)).toMatchObject({ isNew: true })
      expect(cancelled).toMatchObject([{ gatewayTransactionId: 'gateway-1', amount: 25_000 }])
    },
  )

  it('cancels too late for a payer who was quicker: it is Paid', async () => {
    const no = () => Promise.reject(new GatewayRefusedException({ code: 'no', message: 'No.' }))
    const { gateway } = cancelling(no, ['Pending', 'Paid'])
    const { room, first } = await pageLost(gateway)
    const answer = await answerOf(room, again, keyed)
    expect(answer).toMatchObject({ isNew: false, status: 'Paid', transactionId: first })
  })

  it.each([
    ['refuses to cancel', new GatewayRefusedException({ code: 'no', message: 'No.' })],
    ['does not answer', new GatewayUnavailableException('Nobody answers.')],
  ])('%s: nothing changes', async (_what, error) => {
    const { gateway } = cancelling(() => Promise.reject(error), ['Pending', 'Pending'])
    const { room, first } = await pageLost(gateway)
    expect(await answerOf(room, again, keyed)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await attemptsOf(room)).toEqual([{ id: first, attempt: 1, status: 'Pending' }])
  })

  it('is not told to cancel what is paid, or is being paid', async () => {
    for (const status of [says('Paid'), says('Pending', { isBeingPaid: true })]) {
      const { gateway, cancelled } = cancelling(() => Promise.resolve(), [])
      const { room } = await pageLost({ ...gateway, checkStatus: async () => status })
      await answerOf(room, again, keyed)
      expect(cancelled).toEqual([])
    }
  })
})

describe('a charge whose bank never named it', () => {
  it('is replaced at once, and a person is told of it', async () => {
    const { room, first, charged } = await codeLost()
    expect(await answerOf(room, order)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await answerOf(room, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(charged).toHaveLength(2)
    expect(await attemptsOf(room)).toMatchObject([
      { id: first, status: 'Cancelled', error: 'replaced' },
      { attempt: 2, status: 'Pending' },
    ])
    expect(await alertsOf(room)).toEqual([{ kind: 'unsettled', transactionId: first }])
  })

  it('that is paid after all is a late payment: its callback carries our name', async () => {
    const { room, first, charged } = await codeLost()
    await answerOf(room, again)
    const [{ externalReferenceId = '' } = {}] = charged
    await tell(room, { gatewayTransactionId: 'bank-1', externalReferenceId })
    expect(await alertsOf(room)).toContainEqual({ kind: 'late_payment', transactionId: first })
    expect(await attemptsOf(room)).toMatchObject([{ status: 'Cancelled' }, { status: 'Pending' }])
  })

  it('is not replaced in the call that lost its answer', async () => {
    const room = openRoom({ gateway: { chargeIsIdempotent: false } })
    room.script.charge = unavailable
    expect(await answerOf(room, again)).toMatchObject({ code: 'gateway_unavailable' })
    expect(room.charged).toHaveLength(1)
    expect(await attemptsOf(room)).toMatchObject([{ attempt: 1, status: 'Pending' }])
  })
})

describe('money and a replaced charge', () => {
  it('paid on its old page is a late payment, beside the new one that is paid', async () => {
    const { room, first, told, quiet } = await pageLost()
    const second = await answerOf(room, again, keyed)
    const { gatewayTransactionId } = second as { gatewayTransactionId: string }
    await tell(room, { gatewayTransactionId })
    await tell(room, { gatewayTransactionId: 'gateway-1' })
    expect(await attemptsOf(room)).toMatchObject([{ status: 'Cancelled' }, { status: 'Paid' }])
    expect(await alertsOf(room)).toEqual([{ kind: 'late_payment', transactionId: first }])
    await quiet()
    expect(told.filter(({ name }) => name === 'PaymentSucceeded')).toHaveLength(1)
  })

  it('paid on its old page is found a day later where its webhook was lost', async () => {
    const { room, first, payments, clock, script } = await pageLost()
    await answerOf(room, again, keyed)
    script.status = () => says('Paid')
    await clock.advance(DAY_MS - 60_000)
    const [, second] = await attemptsOf(room)
    await payments.ledger.settleCheck({ transactionId: second?.id ?? '', now: clock.now() })
    await payments.sweeper.sweep()
    expect(await alertsOf(room)).toEqual([])
    await clock.advance(60_000)
    await payments.sweeper.sweep()
    expect(await alertsOf(room)).toEqual([{ kind: 'late_payment', transactionId: first }])
    expect(await payments.sweeper.sweep()).toMatchObject({ checked: 0 })
    // Its webhook comes in the end: it is the same money.
    await tell(room, { gatewayTransactionId: 'gateway-1' })
    expect(await alertsOf(room)).toHaveLength(1)
  })

  it('paid on its old page is one alert, though a day later the gateway says so again', async () => {
    const { room, first, payments, clock, script } = await pageLost()
    await answerOf(room, again, keyed)
    await tell(room, { gatewayTransactionId: 'gateway-1' })
    script.status = () => says('Paid')
    await clock.advance(DAY_MS)
    expect(await payments.sweeper.sweep()).toHaveProperty('checked', 2)
    expect(await alertsOf(room)).toEqual([{ kind: 'late_payment', transactionId: first }])
  })

  it('of another amount that is rejected replaces nothing: a person has to look', async () => {
    const { room, first, script } = await pageLost({}, keyed, 'reject')
    script.status = () => says('Paid', { amount: 12_000 })
    expect(await answerOf(room, again, keyed)).toMatchObject({ code: 'gateway_unavailable' })
    expect(await attemptsOf(room)).toMatchObject([{ id: first, status: 'Pending' }])
    expect(await alertsOf(room)).toEqual([{ kind: 'amount_mismatch', transactionId: first }])
  })

  it('that comes in while its gateway is asked wins: it is Paid, and nothing is charged', async () => {
    const { room, first, script, charged } = await pageLost()
    script.status = (() =>
      tell(room, { gatewayTransactionId: 'gateway-1' }).then(() => says('Pending'))) as never
    expect(await answerOf(room, again, keyed)).toMatchObject({
      ...{ isNew: false, status: 'Paid', transactionId: first },
    })
    expect(charged).toHaveLength(1)
  })
})

describe('replacements that meet', () => {
  it.each([
    ['a page', pageLost],
    ['a code', codeLost],
  ])('after %s was lost are one new attempt', async (_what, lost) => {
    const { room } = await lost()
    const answers = await Promise.all(Array.from({ length: 5 }, () => answerOf(room, again)))
    const done = answers.filter((answer) => 'status' in answer)
    expect(new Set(done.map(({ transactionId }) => transactionId)).size).toBe(1)
    for (const answer of answers) {
      if (!('status' in answer)) expect(answer).toMatchObject({ code: 'in_progress' })
    }
    const attempts = await attemptsOf(room)
    expect(attempts.map(({ status }) => status)).toEqual(['Cancelled', 'Pending'])
  })

  it('replace a new attempt whose own answer was lost, too', async () => {
    const { room, script } = await codeLost()
    const { charge } = script
    script.charge = unavailable
    const second = await answerOf(room, again)
    const [, open] = await attemptsOf(room)
    expect(second).toMatchObject({ code: 'gateway_unavailable', transactionId: open?.id })
    await room.clock.advance(1)
    script.charge = charge
    expect(await answerOf(room, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await attemptsOf(room)).toMatchObject([
      { attempt: 1, status: 'Cancelled' },
      { attempt: 2, status: 'Cancelled' },
      { attempt: 3, status: 'Pending' },
    ])
  })

  it('are given up where the ledger takes longer than a payer waits', async () => {
    const lost = await pageLost()
    const { room, first, script, clock } = lost
    script.status = () => says('Paid')
    const { webhook } = room.payments.ledger
    room.payments.ledger.webhook = async (arrival) => {
      await pause(clock, 60_000)
      return await webhook(arrival)
    }
    const startedAt = clock.now()
    const answer = await end(clock, answerOf(room, again, keyed))
    expect(answer).toMatchObject({ code: 'ledger_unavailable' })
    expect(clock.now() - startedAt).toBeLessThanOrEqual(20_000)
    expect(await attemptsOf(room)).toMatchObject([{ id: first, status: 'Pending' }])
  })

  it('wait for a charge that is still under way', async () => {
    const room = openRoom({ gateway: { chargeIsIdempotent: false } })
    const { promise, resolve } = Promise.withResolvers<never>()
    room.script.charge = () => promise
    const first = answerOf(room, order)
    await expect.poll(() => room.charged.length).toBe(1)
    expect(await answerOf(room, again)).toMatchObject({ code: 'in_progress' })
    resolve({ ok: true, gatewayTransactionId: 'bank-1' } as never)
    expect(await first).toMatchObject({ isNew: true, status: 'Pending' })
  })

  it('leave no page to an answer that comes when its charge is replaced already', async () => {
    const room = openRoom({ gateway: { chargeIsIdempotent: false } })
    const { script, clock, charged } = room
    const { charge } = script
    const { promise, resolve } = Promise.withResolvers<never>()
    script.charge = () => promise
    const first = answerOf(room, order)
    await expect.poll(() => charged.length).toBe(1)
    // Nobody waits for a call so long; an edge that was stopped meanwhile does not know that.
    await clock.advance(60_000)
    script.charge = charge
    expect(await answerOf(room, again)).toMatchObject({ isNew: true, status: 'Pending' })
    const late = { ok: true, gatewayTransactionId: 'late-1', redirectUrl: 'https://bank.example/1' }
    resolve(late as never)
    const answer = await first
    expect(answer).toMatchObject({ status: 'Cancelled', error: { code: 'replaced' } })
    expect(answer).not.toHaveProperty('redirectUrl')
    // Whoever pays there all the same is found by that name.
    await tell(room, { gatewayTransactionId: 'late-1' })
    expect(await alertsOf(room)).toMatchObject([{ kind: 'late_payment' }, { kind: 'unsettled' }])
  })
})

describe('a request to replace', () => {
  it('is a plain charge for an order that has none, and for one that came to nothing', async () => {
    const room = openRoom()
    const first = await answerOf(room, again)
    expect(first).toMatchObject({ isNew: true, status: 'Pending' })
    const { gatewayTransactionId } = first as { gatewayTransactionId: string }
    await tell(room, { gatewayTransactionId, status: 'Failed' })
    await room.clock.advance(1)
    expect(await answerOf(room, again)).toMatchObject({ isNew: true, status: 'Pending' })
    expect(await alertsOf(room)).toEqual([])
  })

  it('is answered with the page where one is known, and with Paid where it is paid', async () => {
    const room = openRoom()
    const first = await answerOf(room, order)
    expect(await answerOf(room, again)).toEqual({ ...first, isNew: false })
    const { gatewayTransactionId } = first as { gatewayTransactionId: string }
    await tell(room, { gatewayTransactionId })
    expect(await answerOf(room, again)).toMatchObject({ isNew: false, status: 'Paid' })
    expect(room.charged).toHaveLength(1)
  })

  it('is asked for by the builder, too', async () => {
    const { payments, room } = await pageLost({}, {})
    const bought = payments.for('order-1').driver('bank').amount(25_000, 'IQD')
    const builder = bought.description('A lamp')
    await expect(builder.charge()).rejects.toMatchObject({ code: 'gateway_unavailable' })
    expect(await builder.replace().charge()).toMatchObject({ status: 'Pending' })
    expect(await attemptsOf(room)).toHaveLength(2)
  })

  it('that is neither true nor false is invalid', async () => {
    const answer = await answerOf(openRoom(), { ...order, replace: 'yes' })
    expect(answer).toMatchObject({ code: 'invalid_argument' })
  })
})
