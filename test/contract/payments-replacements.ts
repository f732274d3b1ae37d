// Charges whose page or code was lost, replaced over HTTP: once, and only unpaid ones.

import { describe, expect, it, vi } from 'vitest'
import type { Transaction } from '../../worker/payments/domain/schemas.ts'
import type { AlertRecord } from '../../worker/payments/queries/queries.ts'
import { PATIENT } from '../support/patience.ts'
import { byText, type PaymentSystem } from '../support/payment-system.ts'
import type { Payments } from './payments.ts'
import { type Silent, type SilentCharge, startSilentCharge } from './payments-outages.ts'

/** Charges that their gateway made, and whose answers never came. */
export interface Stranded {
  replaced: SilentCharge
  paid: SilentCharge
  code: SilentCharge
}

export const startStranded = async (system: PaymentSystem): Promise<Stranded> => ({
  // The gateway answers the second try, so that its circuit stays closed for the other tests.
  replaced: await startSilentCharge(system, 'redirect', 1),
  paid: await startSilentCharge(system, 'redirect', 1),
  code: await startSilentCharge(system, 'fib'),
})

const DAY_MS = 86_400_000

interface Answer {
  http: number
  code?: string
  status?: string
  transactionId: string
  gatewayTransactionId: string
  redirectUrl?: string
}

export function replacementsContract(
  { host, system }: Payments,
  stranded: () => Stranded,
  silent: () => Silent,
): void {
  const rowsOf = async (reference: string) => {
    const path = `/transactions?reference=${reference}`
    const { transactions } = await system().get<{ transactions: Transaction[] }>(path)
    return transactions.toSorted((a, b) => a.attempt - b.attempt)
  }
  const charge = async (request: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const answer = await system().post('/charges', request, headers)
    return { http: answer.status, ...((await answer.json()) as Omit<Answer, 'http'>) }
  }
  const alertsOf = async (id: string) => {
    const { alerts } = await system().get<{ alerts: AlertRecord[] }>('/alerts?limit=200')
    return alerts.filter(({ transactionId }) => transactionId === id).map(({ kind }) => kind)
  }
  /** The gateway answers again, and the first call of the charge is over. */
  const ended = async ({ reference, answer }: SilentCharge) => {
    expect((await answer).status).toBe(503)
    await system().simulator.faults(reference, {})
    const [first] = await rowsOf(reference)
    if (!first) throw new Error(`${reference} was not stored`)
    return first
  }

  describe(`charges whose page was lost on ${host}`, () => {
    it('are replaced by one new payment, with any number of requests at once', async () => {
      const { simulator, receiver } = system()
      const { request, reference } = stranded().replaced
      const first = await ended(stranded().replaced)
      const [lost] = await simulator.payments(reference)
      expect(await charge(request)).toMatchObject({ http: 503, transactionId: first.id })

      const again = { ...request, replace: true }
      const answers = await Promise.all([charge(again), charge(again), charge(again)])
      const done = answers.filter(({ http }) => http < 300)
      expect(done.map(({ http }) => http).filter((http) => http === 201)).toHaveLength(1)
      const [second] = done
      for (const { http, code, transactionId } of answers) {
        if (http === 409) expect(code).toBe('in_progress')
        else expect(transactionId).toBe(second?.transactionId)
      }
      expect(second?.redirectUrl).toContain(`/pay/${second?.gatewayTransactionId}`)
      expect(await rowsOf(reference)).toMatchObject([
        { id: first.id, status: 'Cancelled', gatewayTransactionId: lost?.id },
        { id: second?.transactionId, status: 'Pending', attempt: 2 },
      ])
      expect(await simulator.payments(reference)).toHaveLength(2)
      await vi.waitUntil(() => receiver.of(first.id).length === 2, PATIENT)
      expect(receiver.typesOf(first.id).toSorted(byText)).toEqual([
        'PaymentCancelled',
        'PaymentInitiated',
      ])

      // Repeated, it is the same page; paid on both pages, it is one payment and an alert.
      expect(await charge(again)).toEqual({ ...second, http: 200 })
      await simulator.act(second?.gatewayTransactionId ?? '', 'pay')
      await simulator.act(lost?.id ?? '', 'pay')
      expect(await rowsOf(reference)).toMatchObject([{ status: 'Cancelled' }, { status: 'Paid' }])
      expect(await alertsOf(first.id)).toEqual(['double_payment', 'late_payment'])
      expect(await charge(again)).toMatchObject({ http: 200, status: 'Paid' })
    })

    it('are Paid if the gateway says so, and nothing else is charged', async () => {
      const { simulator } = system()
      const { request, reference } = stranded().paid
      const first = await ended(stranded().paid)
      const [lost] = await simulator.payments(reference)
      await simulator.faults(reference, { lost: true })
      await simulator.act(lost?.id ?? '', 'pay')
      await simulator.faults(reference, { outage: 502, endpoints: ['inquiry'] })
      expect(await charge({ ...request, replace: true })).toMatchObject({
        ...{ http: 503, code: 'gateway_unavailable', transactionId: first.id },
      })
      expect(await rowsOf(reference)).toMatchObject([{ status: 'Pending' }])
      await simulator.faults(reference, {})
      expect(await charge({ ...request, replace: true })).toMatchObject({
        ...{ http: 200, status: 'Paid', transactionId: first.id },
      })
      expect(await simulator.payments(reference)).toHaveLength(1)
    })

    it('at the bank are replaced at once, and a late payment raises an alert', async () => {
      const { simulator } = system()
      const { request, reference } = stranded().code
      const first = await ended(stranded().code)
      const [lost] = await simulator.payments(reference)
      const key = { 'Idempotency-Key': crypto.randomUUID() }
      expect(await charge(request)).toMatchObject({ http: 503, transactionId: first.id })
      const second = await charge({ ...request, replace: true }, key)
      expect(second).toMatchObject({ http: 201, readableCode: expect.any(String) })
      expect(await charge(request, key)).toEqual({ ...second, http: 200 })
      expect(await alertsOf(first.id)).toEqual(['unsettled'])
      await simulator.act(lost?.id ?? '', 'pay')
      expect(await alertsOf(first.id)).toEqual(['late_payment', 'unsettled'])
      expect(await rowsOf(reference)).toMatchObject([
        { id: first.id, status: 'Cancelled', error: { code: 'replaced' } },
        { id: second.transactionId, status: 'Pending', attempt: 2 },
      ])
    })

    // The bank stores no id of ours, so this payment cannot be checked. `npm run prove` found this.
    it('at the bank raise an alert a day later, because they may have been paid unnoticed', async () => {
      const { simulator } = system()
      const { reference } = silent().fib
      const { id } = await ended(silent().fib)
      const [lost] = await simulator.payments(reference)
      await simulator.faults(reference, { lost: true })
      await simulator.act(lost?.id ?? '', 'pay')
      await system().database.query(
        'UPDATE payment_transactions SET created_at = created_at - :age WHERE id = :id',
        { age: 2 * DAY_MS, id },
      )
      await system().passTime(id)
      await system().sweep()
      expect(await rowsOf(reference)).toMatchObject([{ status: 'Expired' }])
      expect(await alertsOf(id)).toEqual(['unsettled'])
    })
  })
}
