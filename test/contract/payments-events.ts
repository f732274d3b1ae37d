// All events of the tests before: signed, and delivered as often as they should be.

import { describe, expect, it, vi } from 'vitest'
import type { Host } from '../../tools/harness/hosts.ts'
import type { AlertRecord } from '../../worker/payments/domain/types.ts'
import { PATIENT } from '../support/patience.ts'
import { byText, type PaymentSystem, SECRETS } from '../support/payment-system.ts'

export function eventsContract(host: Host, system: () => PaymentSystem): void {
  describe(`events on ${host}`, () => {
    it('are all verified by the standardwebhooks package', () => {
      const { events } = system().receiver
      expect(events.filter(({ forged }) => forged !== undefined)).toEqual([])
      for (const { timestamp } of events) expect(new Date(timestamp).toISOString()).toBe(timestamp)
      const types = ['AlertRaised', 'CircuitOpened', 'PaymentRefunded', 'WebhookReceived']
      expect([...new Set(events.map(({ type }) => type))]).toEqual(expect.arrayContaining(types))
    })

    it('of the lifecycle were each accepted once, one for each change of a payment', async () => {
      const expected = await system().database.query(
        `SELECT transaction_id || ' ' || type || ' ' || (payload ->> '$.transaction.status') AS told
          FROM payment_outbox WHERE type NOT LIKE 'Alert%' ORDER BY told`,
      )
      const wanted = expected.map(({ told }) => told)
      const taken = () =>
        system()
          .receiver.events.filter(({ status, data }) => status < 300 && data.transaction)
          .filter(({ type }) => !type.startsWith('Alert'))
          .map(({ type, data }) => `${data.transaction?.id} ${type} ${data.transaction?.status}`)
          .sort(byText)
      await vi.waitUntil(() => taken().length >= wanted.length, PATIENT)
      expect(taken()).toEqual(wanted)
      expect(new Set(wanted).size).toBe(wanted.length)

      // Every row has one PaymentInitiated, and an event for each of its changes. A payment with two
      // refunds was PartiallyRefunded before.
      const [row] = await system().database.query(
        `SELECT (SELECT COUNT(*) FROM payment_transactions) AS rows,
          (SELECT COUNT(*) FROM payment_transactions WHERE status <> 'Pending')
            + (SELECT COUNT(*) FROM payment_transactions WHERE status = 'Refunded')
            + (SELECT COUNT(*) FROM (SELECT 1 FROM payment_refunds WHERE status = 'succeeded'
                GROUP BY transaction_id HAVING COUNT(*) > 1)) AS moves`,
      )
      expect(wanted).toHaveLength(Number(row?.rows) + Number(row?.moves))
    })

    it('include each alert, with the data of the API', async () => {
      const { alerts } = await system().get<{ alerts: AlertRecord[] }>('/alerts?all=true&limit=200')
      const raised = alerts
        // That its endpoint does not take events is reported to the listeners only.
        .filter(({ kind }) => !['delivery_dead', 'endpoint_gone'].includes(kind))
        .map(({ acknowledgedAt: _, acknowledgedBy: __, gatewayReference: ___, ...alert }) => alert)
      const taken = () =>
        system().receiver.events.flatMap(({ type, status, data: { alert } }) =>
          type === 'AlertRaised' && status < 300 && alert ? [alert] : [],
        )
      // One that is raised again has a later time each time: the list has it as it was raised last.
      const last = () => {
        const inTime = taken().toSorted((a, b) => byText(a.createdAt, b.createdAt))
        return new Map(inTime.map((alert) => [alert.id, alert]))
      }
      const times = (list: readonly { createdAt: string }[]) =>
        list.map(({ createdAt }) => createdAt).sort(byText)
      await vi.waitUntil(() => times([...last().values()]).join() === times(raised).join(), PATIENT)
      const byId = (a: { id: string }, b: { id: string }) => byText(a.id, b.id)
      const settled = new Set(
        system().receiver.events.flatMap(({ type, data: { alert } }) =>
          type === 'AlertSettled' && alert ? [alert.id] : [],
        ),
      )
      // What ended one stands in its detail, and was told with that.
      const shown = (list: readonly { id: string }[]) =>
        list.filter(({ id }) => !settled.has(id)).toSorted(byId)
      expect(shown([...last().values()])).toEqual(shown(raised))
      expect(raised.length).toBeGreaterThan(1)
    })

    it('also reach the listener of signalbox.config.ts, once each', async () => {
      const paid = await system().database.query(
        `SELECT t.reference FROM payment_outbox o JOIN payment_transactions t
          ON t.id = o.transaction_id WHERE o.type = 'PaymentSucceeded' ORDER BY t.reference`,
      )
      const printed = async () => {
        const lines = (await system().log()).matchAll(/^PaymentSucceeded ([^:]+): \d+ [A-Z]{3}$/gm)
        return [...lines].map(([, reference = '']) => reference).sort(byText)
      }
      await vi.waitUntil(async () => (await printed()).length >= paid.length, PATIENT)
      expect(await printed()).toEqual(paid.map(({ reference }) => reference))
      expect(paid.length).toBeGreaterThan(5)
    })

    it.skipIf(host === 'workerd')('are counted, and so are webhooks and alerts', async () => {
      const text = await (await fetch(system().metricsUrl)).text()
      for (const series of [
        'signalbox_deliveries_total{subscriber="endpoint",outcome="delivered"}',
        'signalbox_deliveries_total{subscriber="endpoint",outcome="failed"}',
        'signalbox_webhooks_total{gateway="redirect",outcome="applied"}',
        'signalbox_webhooks_total{gateway="fib",outcome="applied"}',
        'signalbox_webhooks_total{gateway="stripe",outcome="duplicate"}',
        'signalbox_alerts_raised_total{kind="late_payment"}',
        'signalbox_ledger_group_seconds_count',
        'process_resident_memory_bytes',
      ]) {
        const line = text.split('\n').find((each) => each.startsWith(`${series} `))
        expect([series, Number(line?.slice(series.length))]).toEqual([series, expect.any(Number)])
        expect([series, Number(line?.slice(series.length)) > 0]).toEqual([series, true])
      }
    })

    it('are all delivered, and no secret is in the log or the database', async () => {
      expect(await system().sweep()).toMatchObject({ delivered: 0, undelivered: 0, failed: 0 })
      const raw = await system().database.query('SELECT raw, error FROM payment_webhook_events')
      const { events } = system().receiver
      const text = `${await system().log()}${JSON.stringify([raw, events])}`
      const { redirect, fib, stripe } = SECRETS
      const secrets = [redirect.api_key, redirect.client_secret, fib.client_secret]
      for (const secret of [...secrets, stripe.secret_key, stripe.webhook_secret]) {
        expect(text.includes(secret)).toBe(false)
      }
      expect(text).not.toMatch(/eyJ[\w-]+\.[\w-]+\.[\w-]/)
    })
  })
}
