// The sweeper asks gateways for payments whose webhooks were lost or stale.

import { describe, expect, it } from 'vitest'
import { GatewayUnavailableException } from '../../../../worker/payments/domain/exceptions.ts'
import type { AnyGateway } from '../../../../worker/payments/gateways/gateway.ts'
import { reported } from '../../../support/payments-setup.ts'
import { DAY, HOUR, MINUTE, reports, setUpSweep, silent } from './sweep-setup.ts'

describe('a payment whose webhook was lost', () => {
  it.each([
    ['Paid', 'PaymentSucceeded'],
    ['Failed', 'PaymentFailed'],
    ['Cancelled', 'PaymentCancelled'],
    ['Expired', 'PaymentCancelled'],
  ])('is %s when its gateway reports it, with one %s', async (status, event) => {
    const { charge, pass, moves, story, lines } = setUpSweep({ gateway: reports(status) })
    const id = await charge()
    await pass(4 * MINUTE)
    expect(moves()).toEqual([])
    await pass(MINUTE)
    expect(moves()).toEqual([event])
    const { transaction, webhookEvents } = await story(id)
    expect(transaction.status).toBe(status)
    const eventId = `recheck:${id}:${status}:25000`
    const correlationId = 'correlation-1'
    expect(webhookEvents).toMatchObject([{ eventId, outcome: 'applied', correlationId }])
    const fields = { transactionId: id, correlationId, status }
    expect(lines).toContainEqual(
      expect.objectContaining({
        event: 'payments.check.applied',
        fields: expect.objectContaining(fields),
      }),
    )
    await pass(DAY)
    expect(moves()).toEqual([event])
  })

  it.each([
    ['Refunded', 25_000],
    ['PartiallyRefunded', 5_000],
  ] as const)('and that is now %s was also Paid', async (status, refunded) => {
    const answer = { known: true, status, amount: refunded, currency: 'IQD', raw: {} } as const
    const { charge, pass, moves, story } = setUpSweep({
      gateway: { checkStatus: async () => answer },
    })
    const id = await charge()
    await pass(5 * MINUTE)
    expect(moves()).toEqual(['PaymentSucceeded', 'PaymentRefunded'])
    const { transaction } = await story(id)
    expect(transaction).toMatchObject({ status, refundedAmount: refunded })
  })

  it('does not change twice when the webhook arrives later', async () => {
    const { charge, pass, moves, webhook } = setUpSweep({ gateway: reports('Paid') })
    const id = await charge()
    await pass(5 * MINUTE)
    expect((await webhook(id, 'Paid')).outcome).toBe('unchanged')
    expect(moves()).toEqual(['PaymentSucceeded'])
  })

  it('stores the gateway’s answer, masked', async () => {
    const raw = { customerMsisdn: '9647801234567', status: 'SUCCESS' }
    const { charge, pass, story } = setUpSweep({ gateway: reports('Paid', { raw } as object) })
    const id = await charge()
    await pass(5 * MINUTE)
    const [event] = (await story(id)).webhookEvents
    expect(event?.raw).toEqual({ customerMsisdn: '[redacted]', status: 'SUCCESS' })
  })

  it('is not changed by a rejected amount, and raises an alert', async () => {
    const gateway = reports('Paid', { amount: 1 } as object)
    const { charge, pass, moves, story, lines } = setUpSweep({ gateway, onMismatch: 'reject' })
    const id = await charge()
    await pass(5 * DAY)
    const { transaction, alerts, webhookEvents } = await story(id)
    expect(transaction.status).toBe('Pending')
    expect(moves()).toEqual([])
    expect(webhookEvents).toMatchObject([{ outcome: 'rejected' }])
    expect(alerts.map(({ kind }) => kind)).toEqual(['amount_mismatch', 'unsettled'])
    const logged = lines.filter(({ event }) => event === 'payments.webhook.amount_mismatch')
    expect(logged).toMatchObject([{ fields: { transactionId: id, amount: 1, currency: 'IQD' } }])
  })

  it('is checked again soon after its expiry', async () => {
    const times: number[] = []
    const { charge, pass, clock } = setUpSweep({
      gateway: {
        checkStatus: async () => {
          times.push((clock.now() - 1_000_000) / MINUTE)
          return { known: true, status: 'Pending', amount: 0, currency: 'IQD', raw: {} }
        },
      },
    })
    await charge({ expiresAt: clock.now() + 15 * MINUTE })
    await pass(HOUR)
    expect(times).toEqual([5, 10, 16, 32])
  })

  it.each<[string, Partial<AnyGateway>, boolean]>([
    ['does not answer', silent, false],
    ['is not called because its circuit is open', reports('Paid'), true],
    ['does not know it', { checkStatus: async () => ({ known: false }) }, false],
    ['has no status check', {}, false],
    [
      'throws an unexpected error',
      { checkStatus: () => Promise.reject(new TypeError('oops')) },
      false,
    ],
  ])('raises one alert after days when its gateway %s', async (_why, gateway, opens) => {
    let isOpen = false
    const { charge, pass, story } = setUpSweep({ gateway, isCircuitOpen: () => isOpen })
    const id = await charge()
    isOpen = opens
    await pass(3 * DAY)
    expect((await story(id)).alerts).toEqual([])
    await pass(2 * DAY)
    const { alerts, transaction } = await story(id)
    expect(alerts).toMatchObject([
      { kind: 'unsettled', transactionId: id, detail: { amount: 25_000, currency: 'IQD' } },
    ])
    expect(transaction.status).toBe('Pending')
  })
})

describe('a payment whose page is closed', () => {
  it('is asked about until money can no longer come, though that is weeks ahead', async () => {
    let until = 0
    const answer = () => ({ isBeingPaid: true, isPageClosed: true, payableUntil: until })
    const checkStatus = async () => reported('Pending', answer())
    const { charge, clock, pass, story } = setUpSweep({ gateway: { checkStatus } })
    const id = await charge()
    until = clock.now() + 28 * DAY
    await pass(27 * DAY)
    expect((await story(id)).alerts).toEqual([])
    await pass(3 * DAY)
    expect((await story(id)).alerts).toMatchObject([{ kind: 'unsettled' }])
  })
})

describe('a stale event for a payment with a final status', () => {
  it('is a late payment, and the gateway is asked until it answers', async () => {
    let checks = 0
    let isDown = true
    const { charge, webhook, stale, pass, story, queries } = setUpSweep({
      gateway: {
        async checkStatus() {
          checks++
          if (isDown) throw new GatewayUnavailableException('No answer.')
          return { known: true, status: 'Paid', amount: 25_000, currency: 'IQD' }
        },
      },
    })
    const id = await charge()
    await webhook(id, 'Failed')
    await stale(id)
    await pass(10 * MINUTE)
    expect(checks).toBe(1)
    isDown = false
    await pass(HOUR)
    expect(await queries.alerts({}, { limit: 9 })).toMatchObject([
      { kind: 'late_payment', transactionId: id, detail: { amount: 25_000 } },
    ])
    expect((await story(id)).transaction.status).toBe('Failed')
    await pass(DAY)
    expect(checks).toBe(2)
  })

  it('may be a refund that was made at the gateway', async () => {
    const { charge, webhook, stale, pass, story, moves } = setUpSweep({
      gateway: reports('Refunded'),
    })
    const id = await charge()
    await webhook(id, 'Paid')
    await stale(id)
    await pass(MINUTE)
    expect((await story(id)).transaction).toMatchObject({
      status: 'Refunded',
      refundedAmount: 25_000,
    })
    expect(moves()).toContain('PaymentRefunded')
  })

  it('is checked once when the gateway reports no change, or does not know it', async () => {
    for (const checkStatus of [
      reports('Paid').checkStatus,
      async () => ({ known: false }) as const,
    ]) {
      let checks = 0
      const counted = () => {
        checks++
        return checkStatus()
      }
      const { charge, webhook, stale, pass } = setUpSweep({ gateway: { checkStatus: counted } })
      const id = await charge()
      await webhook(id, 'Paid')
      await stale(id)
      await pass(DAY)
      expect(checks).toBe(1)
    }
  })
})
