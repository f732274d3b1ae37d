// A charge and a refund beside the guard of their gateway: each admitted call ends with one report.

import { beforeEach, describe, expect, it } from 'vitest'
import { end, settle } from '../../../../libraries/testing/fake-clock.ts'
import type { GatewayCall } from '../../../../worker/payments/gateways/gateway.ts'
import type { Verdict } from '../../../../worker/payments/gateways/guard.ts'
import { request } from '../../../support/payments.ts'
import { type PaymentsSetup, setUpPayments } from '../../../support/payments-setup.ts'

const ask = (call: GatewayCall) =>
  call.send({ endpoint: 'pay', method: 'POST', url: 'https://bank.example/', isIdempotent: false })

let setup: PaymentsSetup
let status: number
let reported: Verdict[]
/** The gateway answers after that. */
let gate: Promise<void> | undefined
/** Calls that were admitted and not reported. */
let open: number

beforeEach(() => {
  status = 200
  gate = undefined
  reported = []
  open = 0
  setup = setUpPayments({
    async fetch() {
      await gate
      return Response.json({}, { status })
    },
    gateway: {
      charge: async ({ externalReferenceId: id }: { externalReferenceId: string }, call: never) => {
        await ask(call)
        return { ok: true, gatewayTransactionId: id, redirectUrl: 'https://bank.example/pay' }
      },
      refund: async (_: unknown, call: never) => {
        await ask(call)
        return { ok: true, isDone: true }
      },
    },
  })
  const { admit, report } = setup.guard
  setup.guard.admit = async (...given) => {
    const admission = await admit(...given)
    if (admission.ok) open++
    return admission
  }
  setup.guard.report = (gateway, kind, verdict, ...rest) => {
    open--
    reported.push(verdict)
    return report(gateway, kind, verdict, ...rest)
  }
})

const charge = (reference = 'order-1') => setup.payments.charge(request({ reference }))

describe('a charge', () => {
  it('reports that its gateway answered, and nothing of it if it is not called', async () => {
    const first = Promise.withResolvers<void>()
    gate = first.promise
    const charging = charge()
    await settle()
    await expect(end(setup.clock, charge())).rejects.toThrow('under way')
    first.resolve()
    await charging
    await charge()
    await expect(setup.payments.charge(request({ amount: 1 }))).rejects.toMatchObject({
      code: 'reference_conflict',
    })
    await setup.quiet()
    const called = reported.filter((verdict) => verdict !== 'neutral')
    expect(called).toEqual(['success'])
    // It has looked several times.
    expect(reported.length).toBeGreaterThan(3)
    expect(open).toBe(0)
  })

  it('opens the circuit with its fifth failure, and then stores nothing but finds what there is', async () => {
    const before = await charge()
    status = 503
    for (let n = 2; n < 7; n++) await expect(charge(`order-${n}`)).rejects.toThrow('answered 503')
    await setup.quiet()
    expect(setup.events.filter(({ name }) => name === 'CircuitOpened')).toEqual([
      { name: 'CircuitOpened', payload: { gateway: 'bank', kind: 'charge' } },
    ])
    const refused = { code: 'gateway_unavailable', retryAfterMs: expect.any(Number) }
    await expect(charge('order-7')).rejects.toMatchObject(refused)
    expect(
      await setup.payments.queries.transactions({ reference: 'order-7' }, { limit: 9 }),
    ).toEqual([])
    expect(await charge()).toEqual(before)
    expect(open).toBe(0)
  })

  it('that the ledger does not begin in time gives its admission back', async () => {
    setup.payments.ledger.beginCharge = () => new Promise(() => undefined)
    const refused = expect(charge()).rejects.toMatchObject({ code: 'ledger_unavailable' })
    await settle()
    await setup.clock.advance(12_000)
    await refused
    expect([open, reported]).toEqual([0, ['neutral']])
  })
})

describe('a refund', () => {
  const refund = (amount: number, transactionId: string) =>
    setup.payments.refund('bank', { transactionId, amount, reason: 'Broken' })

  it('that is not possible calls nothing, and reports that to the guard', async () => {
    const { transactionId, gatewayTransactionId = '' } = await charge()
    await setup.webhook({ gatewayTransactionId })
    reported = []
    await expect(refund(25_001, transactionId)).rejects.toMatchObject({ code: 'invalid_argument' })
    await expect(refund(1, 'nobody')).rejects.toMatchObject({ code: 'invalid_argument' })
    expect([open, reported]).toEqual([0, ['neutral', 'neutral']])
    await refund(25_000, transactionId)
    expect([open, reported.at(-1)]).toEqual([0, 'success'])
  })

  it('is not claimed while the circuit is open, and an impossible one is refused as always', async () => {
    const { transactionId, gatewayTransactionId = '' } = await charge()
    await setup.webhook({ gatewayTransactionId })
    for (let n = 0; n < 5; n++) await setup.guard.report('bank', 'refund', 'failure')
    await expect(refund(1, transactionId)).rejects.toMatchObject({ code: 'gateway_unavailable' })
    await expect(refund(25_001, transactionId)).rejects.toMatchObject({ code: 'invalid_argument' })
    expect((await setup.payments.queries.story(transactionId))?.refunds).toEqual([])
  })
})
