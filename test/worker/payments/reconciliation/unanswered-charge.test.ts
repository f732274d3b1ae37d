// The sweeper settles charges whose answers were lost.

import { describe, expect, it } from 'vitest'
import type { ChargeEnd } from '../../../../worker/payments/acts/finish-charge.ts'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type {
  ChargeAnswer,
  GatewayCharge,
  StatusAnswer,
} from '../../../../worker/payments/gateways/gateway.ts'
import { DAY, HOUR, MINUTE, setUpSweep } from './sweep-setup.ts'

describe('a charge without an id of its gateway', () => {
  const answered: ChargeAnswer = {
    ok: true,
    gatewayTransactionId: 'g-9',
    redirectUrl: 'https://bank.example/9',
  }

  it('is repeated with the same external reference if that is safe', async () => {
    const charged: GatewayCharge[] = []
    const charge = async (asked: GatewayCharge) => {
      charged.push(asked)
      if (charged.length === 1) throw new GatewayUnavailableException('No answer.')
      return answered
    }
    const made = setUpSweep({
      gateway: { chargeRepeatableForMs: Number.MAX_SAFE_INTEGER, charge },
    })
    const id = await made.charge({ isAnswered: false })
    await made.pass(HOUR)
    const { transaction } = await made.story(id)
    expect(transaction).toMatchObject({ gatewayTransactionId: 'g-9', status: 'Pending' })
    expect(transaction.redirectUrl).toBe('https://bank.example/9')
    const { externalReferenceId } = transaction
    const same = { externalReferenceId, reference: 'order-1', amount: 25_000, currency: 'IQD' }
    expect(charged).toMatchObject([same, same])
  })

  it('that was never sent is stored as sent right before it is, and not while its circuit is open', async () => {
    const steps: string[] = []
    const charge = async () => {
      steps.push('sent')
      return answered
    }
    let isCircuitOpen = true
    const made = setUpSweep({
      gateway: { chargeRepeatableForMs: DAY, charge },
      isCircuitOpen: () => isCircuitOpen,
      intercept(method, [end]) {
        if (method === 'finishCharge') steps.push((end as ChargeEnd).result.kind)
      },
    })
    await made.charge({ isAnswered: false, isSent: false })
    await made.pass(2 * MINUTE)
    expect(steps).toEqual(['unsent'])
    isCircuitOpen = false
    await made.pass(HOUR)
    expect(steps).toEqual(['unsent', 'unknown', 'sent', 'answered'])
  })

  it('is checked by its id once the gateway has returned it, even without a page', async () => {
    let charges = 0
    const charge = () => {
      charges++
      const named = { gatewayTransactionId: 'g-9' }
      return Promise.reject(new GatewayUnavailableException('It is there.', named))
    }
    let status = 'Pending'
    const checkStatus = async () =>
      ({ known: true, status, amount: 25_000, currency: 'IQD', raw: '{}' }) as StatusAnswer
    const made = setUpSweep({
      gateway: { chargeRepeatableForMs: Number.MAX_SAFE_INTEGER, charge, checkStatus },
    })
    const id = await made.charge({ isAnswered: false })
    await made.pass(HOUR)
    const { transaction } = await made.story(id)
    expect(transaction).toMatchObject({ gatewayTransactionId: 'g-9', status: 'Pending' })
    expect(charges).toBe(1)
    status = 'Expired'
    await made.pass(2 * HOUR)
    expect((await made.story(id)).transaction.status).toBe('Expired')
    expect(made.moves()).toEqual(['PaymentCancelled'])
  })

  it('is Failed when the gateway refuses it for its earlier call too, with one event', async () => {
    const error = { code: 'declined', message: 'No.' }
    const charge = async (): Promise<ChargeAnswer> => ({ ok: false, error, coversEarlier: true })
    const made = setUpSweep({
      gateway: { chargeRepeatableForMs: Number.MAX_SAFE_INTEGER, charge },
    })
    const id = await made.charge({ isAnswered: false })
    await made.pass(2 * MINUTE)
    expect((await made.story(id)).transaction).toMatchObject({ status: 'Failed', error })
    expect(made.moves()).toEqual(['PaymentFailed'])
  })

  it.each([
    ['is never repeated if that could charge twice', 0, 0],
    ['is repeated while its gateway remembers it', 10 * MINUTE, 10 * MINUTE],
    ['is repeated without an answer', Number.MAX_SAFE_INTEGER, DAY],
  ])('%s, and expires after a day, with an alert', async (_what, chargeRepeatableForMs, lastMs) => {
    const charges: number[] = []
    const charge = ({ now }: GatewayCharge) => {
      charges.push(now)
      return Promise.reject(new GatewayUnavailableException('No answer.'))
    }
    const made = setUpSweep({ gateway: { chargeRepeatableForMs, charge } })
    const id = await made.charge({ isAnswered: false })
    await made.pass(DAY - MINUTE)
    expect((await made.story(id)).transaction.status).toBe('Pending')
    await made.pass(3 * MINUTE)
    const { transaction, webhookEvents, alerts } = await made.story(id)
    expect(transaction.status).toBe('Expired')
    expect(transaction).not.toHaveProperty('gatewayTransactionId')
    expect(webhookEvents).toMatchObject([{ eventId: `recheck:${id}:Expired:25000` }])
    expect(made.moves()).toEqual(['PaymentCancelled'])
    // The gateway may have the charge, and it may have been paid.
    const { createdAt: since } = transaction
    const detail = {
      reference: 'order-1',
      amount: 25_000,
      currency: 'IQD',
      since,
      gatewayStatus: 'none',
    }
    expect(alerts).toMatchObject([{ kind: 'unsettled', detail }])
    expect(charges.length > 0).toBe(chargeRepeatableForMs > 0)
    const began = Date.parse(since)
    expect(charges.every((at) => at - began < lastMs)).toBe(true)
  })

  it('expires without an alert if it was never sent', async () => {
    const made = setUpSweep({ gateway: { chargeRepeatableForMs: 0 } })
    const id = await made.charge({ isAnswered: false, isSent: false })
    await made.pass(DAY + 2 * MINUTE)
    const { transaction, alerts } = await made.story(id)
    expect(transaction.status).toBe('Expired')
    expect(alerts).toEqual([])
  })

  it('does not block another one', async () => {
    const made = setUpSweep()
    const ids = [await made.charge({ isAnswered: false }), await made.charge({ isAnswered: false })]
    await made.pass(DAY + 2 * MINUTE)
    const statuses = await Promise.all(ids.map(async (id) => (await made.story(id)).transaction))
    expect(statuses.map(({ status }) => status)).toEqual(['Expired', 'Expired'])
  })
})
