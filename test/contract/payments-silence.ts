// Gateways that did what they were asked and never said so: the worst that a timeout can mean.

import { describe, expect, it, vi } from 'vitest'
import type { Transaction } from '../../worker/payments/transaction.ts'
import { order, type PaymentSystem } from '../support/payment-system.ts'
import { PATIENT } from '../support/system.ts'
import type { Payments } from './payments.ts'

interface SilentCharge {
  reference: string
  request: Record<string, unknown>
  answer: Promise<Response>
}

/** Charges whose answers never come. They take as long as a gateway is waited for. */
export interface Silent {
  redirect: SilentCharge
  fib: SilentCharge
}

export async function startSilent(system: PaymentSystem): Promise<Silent> {
  const start = async (gateway: string, endpoints: string[]): Promise<SilentCharge> => {
    const request = order({ gateway })
    const reference = String(request.reference)
    const { simulator } = system
    await simulator.faults(reference, { timeout: true, endpoints })
    const answer = system.post('/charges', request)
    await vi.waitUntil(async () => (await simulator.payments(reference)).length === 1, PATIENT)
    // Only the first try gets as far; whatever comes after it meets an outage.
    await simulator.faults(reference, { outage: 502, endpoints })
    return { reference, request, answer }
  }
  const [redirect, fib] = [await start('redirect', ['init']), await start('fib', ['create'])]
  return { redirect, fib }
}

export function silentContract({ host, system }: Payments, silent: () => Silent): void {
  const rowOf = async (reference: string) => {
    const path = `/transactions?reference=${reference}`
    const { transactions } = await system().get<{ transactions: Transaction[] }>(path)
    expect(transactions).toHaveLength(1)
    return transactions[0]
  }
  const timeouts = (gateway: string) =>
    system().receiver.events.filter(
      ({ type, data }) => type === 'GatewayTimeout' && data.gateway === gateway,
    )

  describe(`silent gateways on ${host}`, () => {
    it('leave a charge that can be asked for again to the sweeper, which charges nobody twice', async () => {
      const { reference, request, answer } = silent().redirect
      const { simulator, receiver } = system()
      const silence = await answer
      expect(silence.status).toBe(503)
      expect(silence.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
      expect(await silence.json()).toMatchObject({ code: 'gateway_unavailable' })
      const pending = await rowOf(reference)
      expect(pending).toMatchObject({ status: 'Pending', attempt: 1 })
      expect(pending).not.toHaveProperty('gatewayTransactionId')
      await vi.waitUntil(() => timeouts('redirect').length > 0, PATIENT)
      expect(timeouts('redirect').map(({ data }) => data)).toEqual([
        { gateway: 'redirect', endpoint: 'transaction/init', durationMs: expect.any(Number) },
      ])
      expect(timeouts('redirect')[0]?.data.durationMs).toBeGreaterThanOrEqual(15_000)

      await simulator.faults(reference, {})
      const id = pending?.id ?? ''
      await system().passTime(id)
      expect(await system().sweep()).toMatchObject({ chargedAgain: 1, failed: 0 })
      const [payment, ...others] = await simulator.payments(reference)
      expect(others).toEqual([])
      expect(await rowOf(reference)).toMatchObject({
        status: 'Pending',
        gatewayTransactionId: payment?.id,
      })
      const again = await system().post('/charges', request)
      expect([again.status, await again.json()]).toMatchObject([
        201,
        { transactionId: id, gatewayTransactionId: payment?.id },
      ])
      await simulator.act(payment?.id ?? '', 'pay')
      expect(await rowOf(reference)).toMatchObject({ id, status: 'Paid' })
      await vi.waitUntil(() => receiver.of(id).length === 2, PATIENT)
      expect(receiver.typesOf(id)).toEqual(['PaymentInitiated', 'PaymentSucceeded'])
    })

    it('are never asked again for a charge that they would make twice', async () => {
      const { reference, request, answer } = silent().fib
      const { simulator } = system()
      expect((await answer).status).toBe(503)
      const pending = await rowOf(reference)
      expect(pending).toMatchObject({ status: 'Pending' })
      await simulator.faults(reference, {})
      const again = await system().post('/charges', request)
      expect([again.status, await again.json()]).toMatchObject([
        503,
        { code: 'gateway_unavailable' },
      ])
      expect(again.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/)
      await system().passTime(pending?.id ?? '')
      await system().sweep()
      expect(await simulator.payments(reference)).toHaveLength(1)
      expect(await rowOf(reference)).toMatchObject({ status: 'Pending' })
      expect(timeouts('fib').map(({ data }) => data.endpoint)).toEqual(['payments'])
    })
  })
}
