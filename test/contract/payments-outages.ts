// Gateways that fail: for a while, permanently, and, worst, those that carry out a request without
// an answer.

import { describe, expect, it, vi } from 'vitest'
import type { Transaction } from '../../worker/payments/domain/schemas.ts'
import { PATIENT } from '../support/patience.ts'
import { freshReference, order, type PaymentSystem } from '../support/payment-system.ts'
import type { Payments } from './payments.ts'

export interface SilentCharge {
  reference: string
  request: Record<string, unknown>
  answer: Promise<Response>
  tookMs: Promise<number>
}

/** Charges without an answer. Each takes as long as the timeout of a gateway call. */
export interface Silent {
  redirect: SilentCharge
  fib: SilentCharge
}

export const startSilent = async (system: PaymentSystem): Promise<Silent> => ({
  redirect: await startSilentCharge(system, 'redirect'),
  fib: await startSilentCharge(system, 'fib'),
})

/** Answers when the gateway has made it; its own answer stays out, for `times` requests. */
export async function startSilentCharge(
  system: PaymentSystem,
  gateway: 'redirect' | 'fib',
  times?: number,
): Promise<SilentCharge> {
  const request = order({ gateway })
  const reference = String(request.reference)
  const { simulator } = system
  const limit = times === undefined ? {} : { times }
  const endpoints = ['init', 'create']
  await simulator.faults(reference, { timeout: true, endpoints, ...limit })
  const startedAt = performance.now()
  const answer = system.post('/charges', request)
  const tookMs = answer.then(() => performance.now() - startedAt)
  await vi.waitUntil(async () => (await simulator.payments(reference)).length === 1, PATIENT)
  return { reference, request, answer, tookMs }
}

export function outagesContract({ host, system }: Payments, silent: () => Silent): void {
  const rowsOf = async (reference: string) => {
    const path = `/transactions?reference=${reference}`
    return (await system().get<{ transactions: Transaction[] }>(path)).transactions
  }
  const rowOf = async (reference: string) => {
    const rows = await rowsOf(reference)
    expect(rows).toHaveLength(1)
    return rows[0]
  }
  const charge = async (request: unknown) => {
    const answer = await system().post('/charges', request)
    const { code, redirectUrl } = (await answer.json()) as { code?: string; redirectUrl?: string }
    return { status: answer.status, headers: answer.headers, code, redirectUrl }
  }
  const timeouts = (gateway: string) =>
    system().receiver.events.filter(
      ({ type, data }) => type === 'GatewayTimeout' && data.gateway === gateway,
    )

  describe(`silent gateways on ${host}`, () => {
    it('leave a charge to the sweeper, which finds it and does not charge twice', async () => {
      const { reference, request, answer, tookMs } = silent().redirect
      const { simulator } = system()
      const silence = await answer
      expect(silence.status).toBe(503)
      // One try takes 15 s. The limit of 20 s in all is tested elsewhere, with a fake clock.
      expect(await tookMs).toBeLessThan(40_000)
      // By then the sweeper has checked it: it runs each minute, and the check is due in 30 s.
      expect(Number(silence.headers.get('Retry-After'))).toBeGreaterThan(90)
      const pending = await rowOf(reference)
      expect(pending).toMatchObject({ status: 'Pending', attempt: 1 })
      expect(await silence.json()).toMatchObject({
        code: 'gateway_unavailable',
        transactionId: pending?.id,
      })
      expect(pending).not.toHaveProperty('gatewayTransactionId')
      await vi.waitUntil(() => timeouts('redirect').length > 0, PATIENT)
      for (const { data } of timeouts('redirect')) {
        expect(data).toMatchObject({ gateway: 'redirect', endpoint: 'transaction/init' })
      }
      expect(timeouts('redirect')[0]?.data.durationMs).toBeGreaterThan(14_900)

      await simulator.faults(reference, {})
      const id = pending?.id ?? ''
      // When the ledger saves the end of this charge, it may move the time of its check.
      const isFound = async () => {
        await system().passTime(id)
        expect(await system().sweep()).toMatchObject({ failed: 0 })
        return (await rowOf(reference))?.gatewayTransactionId !== undefined
      }
      await vi.waitUntil(isFound, PATIENT)
      const [payment, ...others] = await simulator.payments(reference)
      expect(others).toEqual([])
      expect(await rowOf(reference)).toMatchObject({
        status: 'Pending',
        gatewayTransactionId: payment?.id,
      })
      // The gateway returns the page once, and that answer is lost.
      for (let times = 0; times < 2; times++) {
        const again = await system().post('/charges', request)
        expect(again.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
        expect([again.status, await again.json()]).toMatchObject([
          503,
          { code: 'gateway_unavailable', transactionId: id },
        ])
      }
      await simulator.act(payment?.id ?? '', 'pay')
      expect(await rowOf(reference)).toMatchObject({ id, status: 'Paid' })
      const paid = await system().post('/charges', request)
      expect([paid.status, await paid.json()]).toMatchObject([
        200,
        { transactionId: id, gatewayTransactionId: payment?.id, status: 'Paid' },
      ])
      await system().expectEvents(id, ['PaymentInitiated', 'PaymentSucceeded'])
    })

    it('never get a charge again that they would make twice', async () => {
      const { reference, request, answer } = silent().fib
      const { simulator } = system()
      expect((await answer).status).toBe(503)
      const pending = await rowOf(reference)
      expect(pending).toMatchObject({ status: 'Pending' })
      await simulator.faults(reference, {})
      const again = await system().post('/charges', request)
      expect([again.status, await again.json()]).toMatchObject([
        503,
        { code: 'gateway_unavailable', transactionId: pending?.id },
      ])
      expect(again.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
      await system().passTime(pending?.id ?? '')
      await system().sweep()
      expect(await simulator.payments(reference)).toHaveLength(1)
      expect(await rowOf(reference)).toMatchObject({ status: 'Pending' })
      const endpoints = timeouts('fib').map(({ data }) => data.endpoint)
      expect(new Set(endpoints)).toEqual(new Set(['payments']))
    })
  })

  describe(`charges at failing gateways on ${host}`, () => {
    it('during an outage are 503, stay Pending, and are charged once after it', async () => {
      const request = order()
      const reference = String(request.reference)
      const { simulator } = system()
      await simulator.faults(reference, { outage: 200, endpoints: ['init'] })
      const out = await charge(request)
      expect(out).toMatchObject({ status: 503, code: 'gateway_unavailable' })
      expect(Number(out.headers.get('Retry-After'))).toBeGreaterThan(0)
      expect(await rowsOf(reference)).toMatchObject([{ status: 'Pending' }])
      await simulator.faults(reference, {})
      const again = await charge(request)
      expect(again).toMatchObject({ status: 201, redirectUrl: expect.any(String) })
      expect(await simulator.payments(reference)).toHaveLength(1)
      expect(await rowsOf(reference)).toHaveLength(1)
    })

    it('of a gateway that fails five times are not stored, and CircuitOpened fires once', async () => {
      const { simulator } = system()
      const stripe = (reference: string) =>
        order({ gateway: 'stripe', reference, currency: 'USD', returnUrl: 'https://shop.test/' })
      const references = Array.from({ length: 6 }, freshReference)
      for (const reference of references) await simulator.faults(reference, { outage: 503 })
      await Promise.all(references.map((reference) => charge(stripe(reference))))
      const before = await system().rows()
      const reference = freshReference()
      const refused = await charge(stripe(reference))
      expect(refused).toMatchObject({ status: 503, code: 'gateway_unavailable' })
      const retryAfter = Number(refused.headers.get('Retry-After'))
      expect(retryAfter).toBeGreaterThan(0)
      expect(retryAfter).toBeLessThanOrEqual(30)
      expect(await system().rows()).toEqual(before)
      expect(await rowsOf(reference)).toEqual([])
      const opened = () => system().receiver.events.filter(({ type }) => type === 'CircuitOpened')
      await vi.waitUntil(() => opened().length > 0, PATIENT)
      expect(opened().map(({ data }) => data)).toEqual([{ gateway: 'stripe', kind: 'charge' }])
    })
  })
}
