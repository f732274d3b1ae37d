// The maintenance switch: while payments are paused nothing new is begun, and what was begun is
// settled.

import { describe, expect, it } from 'vitest'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import { reported, setUpPayments, unavailable } from '../../../support/payments-setup.ts'
import { again, answerLost, attemptsOf, keyed, order, pageLost, tryCharge } from './lost-charge.ts'

const PAUSED = { code: 'paused' }
const other = { ...order, reference: 'order-2' }

type Setup = ReturnType<typeof setUpPayments>

const asked = ({ clock }: Setup, id = '1') => ({ id: `act-${id}`, by: 'ada', now: clock.now() })
const pause = (setup: Setup) => setup.payments.ledger.pause(asked(setup))
const resume = (setup: Setup) => setup.payments.ledger.resume(asked(setup, '2'))

const failure = (work: Promise<unknown>) =>
  work.then(
    () => ({ code: 'it was done' }),
    (error: unknown) => error as { code: string },
  )

async function paid(setup: Setup): Promise<string> {
  const { transactionId, gatewayTransactionId = '' } = await setup.payments.charge(order)
  await setup.webhook({ gatewayTransactionId })
  return transactionId
}

const refund = (setup: Setup, transactionId: string, idempotencyKey = 'refund-1') => {
  const request = { transactionId, amount: 1_000, reason: 'Broken' }
  return setup.payments.refund('bank', request, { idempotencyKey })
}

const unsent = (): never => {
  throw new GatewayUnavailableException('no access token', { isUnsent: true })
}

/** The gateway's calls of this kind wait for `answer`. */
function hold({ script }: Setup, kind: 'charge' | 'refund') {
  const called = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const answers = script[kind] as (asked: unknown) => never
  script[kind] = async (asked: unknown) => {
    called.resolve()
    await gate.promise
    return answers(asked)
  }
  return { called: called.promise, answer: () => gate.resolve() }
}

describe('While payments are paused', () => {
  it('no charge is stored or sent, until they go on', async () => {
    const setup = setUpPayments()
    await pause(setup)
    expect(await tryCharge(setup, order)).toMatchObject(PAUSED)
    expect(setup.charged).toEqual([])
    expect(await attemptsOf(setup)).toEqual([])
    expect(setup.eventNames()).toEqual([])
    await resume(setup)
    expect(await tryCharge(setup, order)).toMatchObject({ isNew: true })
  })

  it('no refund is stored or sent', async () => {
    const setup = setUpPayments()
    const id = await paid(setup)
    await pause(setup)
    expect(await failure(refund(setup, id))).toMatchObject({ ...PAUSED, transactionId: id })
    expect(setup.refunded).toEqual([])
    expect((await setup.payments.queries.story(id))?.refunds).toEqual([])
    await resume(setup)
    expect(await refund(setup, id)).toMatchObject({ success: true })
  })

  it('no open payment is cancelled, at its gateway or here', async () => {
    let cancels = 0
    const gateway = { cancel: async () => void cancels++ }
    const setup = setUpPayments({ gateway })
    const { transactionId: sent } = await setup.payments.charge(order)
    await pause(setup)
    setup.script.status = () => reported('Pending')
    expect(await failure(setup.payments.cancel(sent))).toMatchObject(PAUSED)
    expect(cancels).toBe(0)
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Pending' }])
  })

  it('what never reached its gateway is not ended here either', async () => {
    const setup = setUpPayments()
    setup.script.charge = unsent
    const { transactionId = '' } = (await tryCharge(setup, order)) as { transactionId?: string }
    await pause(setup)
    expect(await failure(setup.payments.cancel(transactionId))).toMatchObject(PAUSED)
    await resume(setup)
    expect(await setup.payments.cancel(transactionId)).toMatchObject({ status: 'Cancelled' })
  })

  it('no open payment is replaced, and its page is not closed', async () => {
    let cancels = 0
    const charged = await pageLost({ cancel: async () => void cancels++ })
    const { setup, first } = charged
    await pause(setup)
    const replacing = await tryCharge(setup, again, keyed)
    expect(replacing).toMatchObject({ ...PAUSED, transactionId: first })
    const changed = await tryCharge(setup, { ...again, amount: 50_000 })
    expect(changed).toMatchObject({ ...PAUSED, transactionId: first })
    expect(cancels).toBe(0)
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Pending' }])
  })

  it('what was made before is answered as it is now', async () => {
    const setup = setUpPayments()
    const id = await paid(setup)
    const refunded = await refund(setup, id)
    await pause(setup)
    expect(await tryCharge(setup, order)).toMatchObject({ isNew: false, transactionId: id })
    expect(await refund(setup, id)).toEqual(refunded)
    expect(await failure(refund(setup, id, 'refund-2'))).toMatchObject(PAUSED)
    expect(await failure(setup.payments.cancel(id))).toMatchObject({ code: 'not_cancellable' })
    const wrong = { ...order, amount: 0 }
    expect(await tryCharge(setup, wrong)).toMatchObject({ code: 'invalid_argument' })
  })

  it('webhooks, checks and deliveries go on', async () => {
    const setup = setUpPayments()
    const first = await setup.payments.charge(order)
    const second = await setup.payments.charge(other)
    await pause(setup)
    const { gatewayTransactionId = '' } = first
    expect(await setup.webhook({ gatewayTransactionId })).toMatchObject({ status: 200 })
    setup.script.status = () => reported('Paid')
    await setup.payments.checkNow(second.transactionId, 'ada')
    await setup.quiet()
    expect(setup.eventNames().filter((name) => name === 'PaymentSucceeded')).toHaveLength(2)
  })

  it('an open circuit is no other answer', async () => {
    const setup = setUpPayments()
    setup.script.charge = unavailable
    for (let at = 0; at < 9; at++) await tryCharge(setup, { ...order, reference: `lost-${at}` })
    expect(await tryCharge(setup, order)).toMatchObject({ code: 'gateway_unavailable' })
    await pause(setup)
    expect(await tryCharge(setup, order)).toMatchObject(PAUSED)
  })
})

describe('What was begun before payments were paused', () => {
  it('ends as usual: a charge that is at its gateway', async () => {
    const setup = setUpPayments()
    const charge = hold(setup, 'charge')
    const charging = tryCharge(setup, order)
    await charge.called
    await pause(setup)
    charge.answer()
    expect(await charging).toMatchObject({ isNew: true, redirectUrl: expect.any(String) })
  })

  it('ends as usual: a refund that is at its gateway', async () => {
    const setup = setUpPayments()
    const id = await paid(setup)
    const back = hold(setup, 'refund')
    const refunding = refund(setup, id)
    await back.called
    await pause(setup)
    back.answer()
    expect(await refunding).toMatchObject({ success: true })
  })

  it('ends as usual: a replacement that closes the page of another cart', async () => {
    let isClosed = false
    const setup = setUpPayments({
      gateway: {
        async cancel() {
          isClosed = true
          await pause(setup)
        },
      },
    })
    setup.script.status = () => reported(isClosed ? 'Cancelled' : 'Pending')
    await setup.payments.charge(order)
    await setup.clock.advance(1)
    const changed = await tryCharge(setup, { ...again, amount: 50_000 })
    expect(changed).toMatchObject({ isNew: true, redirectUrl: expect.any(String) })
    expect(await attemptsOf(setup)).toMatchObject([{ status: 'Cancelled' }, { status: 'Pending' }])
    expect(await tryCharge(setup, other)).toMatchObject(PAUSED)
  })

  it('is settled by the sweeper: a charge whose answer was lost is found', async () => {
    const setup = setUpPayments()
    const { charge } = setup.script
    setup.script.charge = unavailable
    await tryCharge(setup, order)
    setup.script.charge = charge
    await pause(setup)
    await setup.clock.advance(120_000)
    expect(await setup.payments.sweeper.sweep()).toMatchObject({ chargedAgain: 1 })
  })

  it('is not sent for the first time: a charge that never reached its gateway', async () => {
    const setup = setUpPayments()
    const { charge } = setup.script
    setup.script.charge = unsent
    await tryCharge(setup, order)
    setup.script.charge = charge
    const sent = setup.charged.length
    await pause(setup)
    await setup.clock.advance(120_000)
    expect(await setup.payments.sweeper.sweep()).toMatchObject({ checked: 1, chargedAgain: 0 })
    expect(await tryCharge(setup, order)).toMatchObject(PAUSED)
    expect(setup.charged).toHaveLength(sent)
    await resume(setup)
    await setup.clock.advance(3_600_000)
    expect(await setup.payments.sweeper.sweep()).toMatchObject({ chargedAgain: 1 })
  })

  it('is not called again where that may pay twice', async () => {
    const { setup, first } = await answerLost()
    await pause(setup)
    const found = await tryCharge(setup, order)
    expect(found).toMatchObject({ code: 'gateway_unavailable', transactionId: first })
  })
})
