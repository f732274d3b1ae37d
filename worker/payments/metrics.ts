// What is counted about payments: each function puts itself around a part, which does not know it.

import type { Clock } from '../shared/clock.ts'
import type { Metrics } from '../shared/metrics.ts'
import { ALERT_KINDS, CALL_KINDS, type CallKind, OUTCOMES } from './domain/status.ts'
import type { GatewayGuard, Verdict } from './gateways/guard/guard.ts'
import type { Ledger, Store } from './ledger/ledger.ts'
import type { Dispatch } from './outbox/dispatch.ts'
import type { PaymentQueries } from './queries/queries.ts'
import type { Receive } from './webhooks/receive.ts'

/** What an answer says that stored nothing, and what became of an event that was stored. */
const REFUSALS = ['duplicate', 'ignored', 'stale', 'invalid', 'error', 'unavailable'] as const
const VERDICTS = ['success', 'failure', 'neutral'] as const satisfies Verdict[]
const SUBSCRIBERS = ['listeners', 'endpoint'] as const
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]
/** Up to the maximum of group-commit.ts. */
const OPERATIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

export type PaymentsMetrics = ReturnType<typeof paymentsMetrics>

/** `gateways`: the keys of the configuration. */
export function paymentsMetrics(metrics: Metrics, gateways: readonly string[]) {
  const gateway = gateways
  const webhooks = metrics.counter('signalbox_webhooks_total', 'Webhooks of known gateways.', {
    gateway,
    outcome: [...OUTCOMES, ...REFUSALS],
  })
  const webhookSeconds = metrics.histogram(
    'signalbox_webhook_seconds',
    'From the whole body of a webhook to its answer.',
    SECONDS,
  )
  const groupSize = metrics.histogram(
    'signalbox_ledger_group_operations',
    'Operations in a group that the ledger committed.',
    OPERATIONS,
  )
  const groupSeconds = metrics.histogram(
    'signalbox_ledger_group_seconds',
    'To load, decide and save such a group.',
    SECONDS,
  )
  const retries = metrics.counter(
    'signalbox_ledger_retries_total',
    'Groups that the database did not take, and that were tried again.',
    {},
  )
  const calls = metrics.counter(
    'signalbox_gateway_calls_total',
    'Calls of a gateway after their retries; neutral says nothing about its health.',
    { gateway, verdict: VERDICTS },
  )
  const circuits = metrics.gauge(
    'signalbox_gateway_circuit_open',
    '1 from the failure that opened the circuit until a call succeeded, else 0.',
    { gateway, kind: CALL_KINDS },
  )
  const raised = metrics.counter('signalbox_alerts_raised_total', 'Alerts that were raised.', {
    kind: ALERT_KINDS,
  })
  const open = metrics.gauge(
    'signalbox_alerts_open',
    'Alerts that nobody has acknowledged, at the last sweep.',
    { kind: ALERT_KINDS },
  )
  const deliveries = metrics.counter(
    'signalbox_deliveries_total',
    'Attempts to deliver a stored event; failed ones are tried again, dead ones are given up.',
    { subscriber: SUBSCRIBERS, outcome: ['delivered', 'failed', 'dead'] },
  )
  const outboxEvents = metrics.gauge(
    'signalbox_outbox_events',
    'Stored events that they have not accepted yet, at the last sweep.',
    { subscriber: SUBSCRIBERS },
  )
  const outboxAge = metrics.gauge(
    'signalbox_outbox_oldest_seconds',
    'Age of the oldest of them, at the last sweep; 0 if there is none.',
    { subscriber: SUBSCRIBERS },
  )

  return {
    receive(receive: Receive, { elapsed }: Pick<Clock, 'elapsed'>): Receive {
      return async (key, request, correlationId) => {
        const startedAt = elapsed()
        const answer = await receive(key, request, correlationId)
        webhookSeconds.observe((elapsed() - startedAt) / 1_000)
        const { body } = answer
        if (body !== 'ok' && body !== 'unknown') webhooks.add({ gateway: key, outcome: body })
        return answer
      }
    },
    /** Of the webhooks that are answered `ok`: what became of them. */
    ledger: (ledger: Ledger): Ledger => ({
      ...ledger,
      async webhook(arrival) {
        const recorded = await ledger.webhook(arrival)
        const { outcome } = recorded
        if (outcome !== 'duplicate') webhooks.add({ gateway: arrival.payload.gateway, outcome })
        return recorded
      },
    }),
    guard: (
      guard: GatewayGuard,
      isOpen: (gateway: string, kind: CallKind) => boolean,
    ): GatewayGuard => {
      for (const key of gateways) {
        for (const kind of CALL_KINDS)
          circuits.set({ gateway: key, kind }, isOpen(key, kind) ? 1 : 0)
      }
      return {
        ...guard,
        async report(key, kind, verdict) {
          const reported = await guard.report(key, kind, verdict)
          calls.add({ gateway: key, verdict })
          if (reported.opened) circuits.set({ gateway: key, kind }, 1)
          else if (verdict === 'success') circuits.set({ gateway: key, kind }, 0)
          return reported
        },
      }
    },
    store: (store: Store): Store => ({
      ...store,
      async save(loaded, signal) {
        await store.save(loaded, signal)
        for (const { kind } of newAlerts(loaded)) raised.add({ kind })
      },
    }),
    group: {
      committed({ operations, ms }: { operations: number; ms: number }): void {
        groupSize.observe(operations)
        groupSeconds.observe(ms / 1_000)
      },
      retrying: () => retries.add({}),
    },
    dispatch:
      (dispatch: Dispatch): Dispatch =>
      async (pending) => {
        const outcomes = await dispatch(pending)
        for (const { listeners, delivery } of outcomes) {
          if (listeners) deliveries.add({ subscriber: 'listeners', outcome: outcomeOf(listeners) })
          if (delivery) deliveries.add({ subscriber: 'endpoint', outcome: outcomeOf(delivery) })
        }
        return outcomes
      },
    /** Of the read that each sweep begins with: nothing is read for the numbers alone. */
    waiting: ({ waiting }: Pick<PaymentQueries, 'waiting'>): Pick<PaymentQueries, 'waiting'> => ({
      async waiting(now) {
        const found = await waiting(now)
        for (const subscriber of SUBSCRIBERS) {
          const { count, oldestAt = now } = found.events[subscriber]
          outboxEvents.set({ subscriber }, count)
          outboxAge.set({ subscriber }, Math.max(0, now - oldestAt) / 1_000)
        }
        for (const kind of ALERT_KINDS) open.set({ kind }, found.alerts[kind] ?? 0)
        return found
      },
    }),
  }
}

const outcomeOf = ({ ok, nextAttemptAt }: { ok: boolean; nextAttemptAt?: number }) => {
  if (ok) return 'delivered'
  return nextAttemptAt === undefined ? 'dead' : 'failed'
}

/** An acknowledged alert that is opened again counts, too. */
const newAlerts = ({ rows }: Parameters<Store['save']>[0]) => {
  const { inserted, updated } = rows.changesOf('alerts')
  const reopened = updated.flatMap(({ before, after }) =>
    before.acknowledged_at !== null && after.acknowledged_at === null ? [after] : [],
  )
  return [...inserted, ...reopened]
}
