// The read routes: lists in pages, the story of one payment, and its deliveries.

import { describe, expect, it, vi } from 'vitest'
import type { Transaction } from '../../worker/payments/domain/schemas.ts'
import type { GatewayHealth } from '../../worker/payments/gateways/guard/guard.ts'
import type {
  AlertRecord,
  EventRecord,
  WebhookRates,
} from '../../worker/payments/queries/queries.ts'
import { PATIENT } from '../support/patience.ts'
import { byText, order } from '../support/payment-system.ts'
import type { Payments } from './payments.ts'

export function queriesContract({ host, system }: Payments): void {
  const walk = async <Row extends { id: string }>(path: string, name: string, limit: number) => {
    const rows: Row[] = []
    let cursor: string | undefined
    do {
      const page: Record<string, Row[]> & { cursor?: string } = await system().get(
        `${path}limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`,
      )
      rows.push(...(page[name] ?? []))
      expect(page[name]?.length).toBeLessThanOrEqual(limit)
      cursor = page.cursor
    } while (cursor !== undefined)
    return rows
  }

  describe(`reads of payments on ${host}`, () => {
    it('list transactions newest first, by filter, in pages that neither repeat nor skip', async () => {
      const whole = await walk<Transaction>('/transactions?', 'transactions', 200)
      const ids = whole.map(({ id }) => id)
      expect(ids).toEqual([...ids].sort(byText).reverse())
      const pages = await walk<Transaction>('/transactions?', 'transactions', 7)
      expect(pages.map(({ id }) => id)).toEqual(ids)
      for (const status of ['Paid', 'Failed', 'Refunded'] as const) {
        const some = await walk<Transaction>(`/transactions?status=${status}&`, 'transactions', 5)
        expect(some.map(({ id }) => id)).toEqual(
          whole.filter((each) => each.status === status).map(({ id }) => id),
        )
        expect(some.length).toBeGreaterThan(0)
      }
      const bank = await walk<Transaction>('/transactions?gateway=fib&', 'transactions', 50)
      expect(new Set(bank.map(({ gateway }) => gateway))).toEqual(new Set(['fib']))
    })

    it('list webhook events by outcome and gateway', async () => {
      for (const outcome of ['applied', 'unchanged', 'illegal', 'rejected', 'late_payment']) {
        const query = `/webhook-events?outcome=${outcome}&`
        const events = await walk<EventRecord>(query, 'webhookEvents', 20)
        expect(new Set(events.map((event) => event.outcome))).toEqual(new Set([outcome]))
      }
      const all = await walk<EventRecord>('/webhook-events?gateway=stripe&', 'webhookEvents', 50)
      expect(new Set(all.map(({ gateway }) => gateway))).toEqual(new Set(['stripe']))
      // With the token in it, the callback could be sent again.
      expect(JSON.stringify(await walk('/webhook-events?', 'webhookEvents', 200))).not.toMatch(
        /eyJ/,
      )
    })

    it('find a payment by the beginning of its reference or an id', async () => {
      const { transactionId, gatewayTransactionId, reference } = await system().charged()
      for (const name of [transactionId, gatewayTransactionId, reference]) {
        const query = `/transactions?q=${encodeURIComponent(name.slice(0, -1))}&`
        const found = await walk<Transaction>(query, 'transactions', 50)
        expect(found.map(({ id }) => id)).toContain(transactionId)
      }
    })

    it('answer 304 when nothing has changed', async () => {
      const { transactionId } = await system().charged()
      // Only this payment: others may change meanwhile.
      const path = `/transactions?q=${transactionId}`
      const first = await system().api(path)
      const tag = first.headers.get('ETag') ?? ''
      expect(tag).toMatch(/^W\/"/)
      const again = await system().api(path, { headers: { 'If-None-Match': tag } })
      expect([again.status, await again.text()]).toEqual([304, ''])
    })

    it('show each gateway with its circuit, and whether it is simulated on this machine', async () => {
      const { gateways } = await system().get<{ gateways: GatewayHealth[] }>('/gateways')
      expect(gateways.slice(0, 3)).toMatchObject(
        ['redirect', 'fib', 'stripe'].map((key) => ({ key, driver: key, isLocal: true })),
      )
      for (const { breaker } of gateways) {
        expect(Object.keys(breaker)).toEqual(['charge', 'refund', 'status'])
        expect(breaker.charge.state).toMatch(/^(closed|open|probing)$/)
      }
    })

    it('count the webhooks of the last minutes', async () => {
      await system().paid()
      const read = () => system().get<WebhookRates>('/webhook-rates?minutes=10')
      const { from, to } = await read()
      expect(Date.parse(to) - Date.parse(from)).toBe(10 * 60_000)
      const hasApplied = async () =>
        (await read()).minutes.some(({ outcomes }) => (outcomes.applied ?? 0) > 0)
      await vi.waitUntil(hasApplied, PATIENT)
    })

    it.each([
      '/transactions?limit=0',
      '/transactions?limit=201',
      '/transactions?limit=x',
      '/transactions?status=paid',
      '/webhook-events?outcome=duplicate',
      '/webhook-rates?minutes=1441',
      '/alerts?all=yes',
    ])('answer %s with 422', async (path) => {
      const answer = await system().api(path)
      expect([answer.status, await answer.json()]).toMatchObject([
        422,
        { code: 'invalid_argument' },
      ])
    })

    it.each([
      ['/transactions?state=Paid', /"state".*status, gateway, reference, q, cursor, limit/],
      ['/transactions/01JZZZZZZZZZZZZZZZZZZZZZZZ?status=Paid', /"status".*takes none/],
      ['/webhook-events?status=Paid', /"status".*outcome, gateway/],
      ['/alerts?gateway=fib', /"gateway".*all/],
      ['/gateways?limit=1', /"limit".*takes none/],
      ['/webhook-rates?hours=1', /"hours".*minutes/],
      ['/transactions?status=Paid&status=Failed', /status.*once/],
    ])('answer %s with 400, instead of passing it over', async (path, says) => {
      const answer = await system().api(path)
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { code: 'unknown_filter', error: expect.stringMatching(says) as string },
      ])
    })

    it('answer 404 to unknown ids', async () => {
      const gone = await system().api('/transactions/01JZZZZZZZZZZZZZZZZZZZZZZZ')
      expect([gone.status, await gone.json()]).toMatchObject([404, { code: 'unknown_transaction' }])
      const nothing = await system().post('/deliveries/01JZZZZZZZZZZZZZZZZZZZZZZZ/redeliver')
      expect([nothing.status, await nothing.json()]).toMatchObject([
        404,
        { code: 'unknown_delivery' },
      ])
    })

    it('show the whole story of one payment', async () => {
      const { transactionId, gatewayTransactionId, reference } = await system().paid()
      const request = { gateway: 'redirect', transactionId, amount: 25_000, reason: 'Broken' }
      await system().post('/refunds', request, { 'X-Correlation-Id': 'refund-0001' })
      const isTold = async () => {
        const { events, webhookEvents } = await system().story(transactionId)
        const deliveries = events.flatMap((event) => event.deliveries)
        const done = deliveries.filter(({ status }) => status === 'delivered')
        return (
          webhookEvents.length === 2 && done.length === 3 && events.every((e) => e.listenersDoneAt)
        )
      }
      await vi.waitUntil(isTold, PATIENT)
      const { url } = system().receiver
      expect(await system().story(transactionId)).toMatchObject({
        id: transactionId,
        gateway: 'redirect',
        gatewayTransactionId,
        reference,
        status: 'Refunded',
        refundedAmount: 25_000,
        webhookEvents: [
          {
            outcome: 'applied',
            fromStatus: 'Pending',
            toStatus: 'Paid',
            raw: { eventType: 'STATUS_CHANGED' },
          },
          // It arrives before or after the refund's answer; the first of them changes the payment.
          { outcome: expect.stringMatching(/^(applied|unchanged)$/), toStatus: 'Refunded' },
        ],
        refunds: [{ status: 'succeeded', correlationId: 'refund-0001' }],
        events: ['PaymentInitiated', 'PaymentSucceeded', 'PaymentRefunded'].map((type) => ({
          type,
          payload: { transaction: { id: transactionId } },
          deliveries: [{ endpoint: url, status: 'delivered', attempts: 1, lastStatus: 204 }],
        })),
        alerts: [],
      })
    })
  })

  describe(`deliveries on ${host}`, () => {
    it('that are refused are repeated when their wait is over, with the same id', async () => {
      const { receiver } = system()
      const request = order()
      receiver.refuse(({ data }) =>
        data.transaction?.reference === request.reference ? 500 : undefined,
      )
      const { transactionId } = await system().charged(request)
      const waiting = async () => (await system().story(transactionId)).events[0]?.deliveries[0]
      await vi.waitUntil(async () => ((await waiting())?.attempts ?? 0) > 0, PATIENT)
      expect(await waiting()).toMatchObject({ status: 'pending', lastStatus: 500 })
      receiver.takeAll()
      // Nobody sweeps: the host calls by itself.
      await vi.waitUntil(async () => (await waiting())?.status === 'delivered', PATIENT)
      const attempts = receiver.of(transactionId)
      expect(await waiting()).toMatchObject({ attempts: attempts.length, lastStatus: 204 })
      expect(attempts.map(({ status }) => status).slice(-2)).toEqual([500, 204])
      expect(new Set(attempts.map(({ id, timestamp }) => `${id} ${timestamp}`)).size).toBe(1)
    })

    it('that are given up are dead with an alert, until a person sends them again', async () => {
      const { receiver } = system()
      const request = order()
      receiver.refuse(({ data }) =>
        data.transaction?.reference === request.reference ? 410 : undefined,
      )
      const { transactionId } = await system().charged(request)
      const delivery = async () => (await system().story(transactionId)).events[0]?.deliveries[0]
      await vi.waitUntil(async () => (await delivery())?.status === 'dead', PATIENT)
      const { alerts } = await system().get<{ alerts: AlertRecord[] }>('/alerts')
      const [alert, ...others] = alerts.filter((each) => each.transactionId === transactionId)
      expect(others).toEqual([])
      expect(alert).toMatchObject({
        kind: 'delivery_dead',
        detail: { reference: request.reference, type: 'PaymentInitiated', lastStatus: 410 },
      })
      await system().passTime(transactionId)
      await system().sweep()
      expect(receiver.of(transactionId)).toHaveLength(1)

      receiver.takeAll()
      const id = alert?.detail.deliveryId
      const again = await system().post(`/deliveries/${id}/redeliver`)
      expect([again.status, await again.json()]).toEqual([202, { redelivering: true }])
      await vi.waitUntil(async () => (await delivery())?.status === 'delivered', PATIENT)
      expect(receiver.typesOf(transactionId)).toEqual(['PaymentInitiated'])
      expect(receiver.of(transactionId)).toHaveLength(2)
    })
  })
}
