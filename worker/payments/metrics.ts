// What is counted about payments, and what /healthz warns of, by the names of log events: no part
// knows that it is counted.

import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import type { Metrics } from '../shared/metrics.ts'
import type { CountedEvents } from './counted.ts'
import { ALERT_KINDS, CALL_KINDS, OUTCOMES, type Outcome } from './domain/status.ts'
import type { Verdict } from './gateways/guard.ts'
import type { WebhookAnswer } from './webhooks/receive.ts'

/**
 * What became of webhooks that were not stored; the outcome of a stored one is counted instead. The
 * key of an `unknown` gateway is anybody's text, and no label.
 */
const REFUSALS = Object.keys({
  duplicate: true,
  ignored: true,
  stale: true,
  invalid: true,
  error: true,
  unavailable: true,
  probe: true,
} satisfies Record<Exclude<WebhookAnswer['body'] | 'probe', 'ok' | 'unknown'>, true>)
const VERDICTS = ['success', 'failure', 'neutral'] as const satisfies Verdict[]
const SUBSCRIBERS = ['listeners', 'endpoint'] as const
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25]
/** Up to the maximum of group-commit.ts. */
const OPERATIONS = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** A log that counts, and passes every event on. `gateways`: the keys of the configuration. */
export function countingLog(metrics: Metrics, gateways: Iterable<string>, log: Log): Log {
  const gateway = [...gateways]
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
    'Stored events that this subscriber has not accepted, at the last sweep.',
    { subscriber: SUBSCRIBERS },
  )
  const outboxAge = metrics.gauge(
    'signalbox_outbox_oldest_seconds',
    'Age of the oldest of them, at the last sweep; 0 if there is none.',
    { subscriber: SUBSCRIBERS },
  )
  const hasPayments = metrics.gauge(
    'signalbox_has_payments',
    '1 if the database had a payment at the last sweep, else 0.',
    {},
  )
  const sweepFailures = metrics.gauge(
    'signalbox_sweep_failures',
    'Parts of the last sweep that failed; they are due again at the next one.',
    {},
  )

  const counters: Counters = {
    ...(Object.fromEntries(
      OUTCOMES.map((outcome) => [
        `payments.webhook.${outcome}`,
        ({ gateway }: { gateway: string }) => webhooks.add({ gateway, outcome }),
      ]),
    ) as Pick<Counters, `payments.webhook.${Outcome}`>),
    'payments.webhook.answered'({ gateway, outcome, ms }) {
      webhooks.add({ gateway, outcome })
      webhookSeconds.observe(ms / 1_000)
    },
    'payments.ledger.committed'({ operations, ms }) {
      groupSize.observe(operations)
      groupSeconds.observe(ms / 1_000)
    },
    'payments.ledger.retry': () => retries.add({}),
    'payments.alert.raised': ({ kind }) => raised.add({ kind }),
    'payments.gateway.circuit': ({ gateway, kind, isOpen }) =>
      circuits.set({ gateway, kind }, isOpen ? 1 : 0),
    'payments.gateway.reported'({ gateway, kind, verdict }) {
      calls.add({ gateway, verdict })
      if (verdict === 'success') circuits.set({ gateway, kind }, 0)
    },
    'payments.gateway.circuit_opened': ({ gateway, kind }) => circuits.set({ gateway, kind }, 1),
    'payments.event.dispatched': (labels) => deliveries.add(labels),
    'payments.sweep.ended': ({ failed }) => sweepFailures.set({}, failed),
    'payments.sweep.waiting'({ events, alerts, now, hasPayments: has }) {
      hasPayments.set({}, has ? 1 : 0)
      for (const subscriber of SUBSCRIBERS) {
        const { count, oldestAt = now } = events[subscriber]
        outboxEvents.set({ subscriber }, count)
        outboxAge.set({ subscriber }, Math.max(0, now - oldestAt) / 1_000)
      }
      for (const kind of ALERT_KINDS) open.set({ kind }, alerts[kind] ?? 0)
    },
  }
  return (level, event, fields) => {
    const { [event]: count }: Partial<Record<string, (fields: never) => void>> = counters
    count?.(fields as never)
    log(level, event, fields)
  }
}

/** A value that is no label is not counted. */
type Counters = { [Name in keyof CountedEvents]: (fields: CountedEvents[Name]) => void }

/** One may be a gateway's retry of an old event. */
const IN_A_ROW = 3
/** A gateway that repeats an event does so within this. */
const WITHIN_MS = 3_600_000
/** What was read, and was not too old. */
const FRESH: readonly string[] = ['ok', 'duplicate', 'unavailable']

const ANSWERED = 'payments.webhook.answered' satisfies keyof CountedEvents

/**
 * Whether every webhook is refused as stale: then the clock of this machine is wrong. It is no
 * failure of the service: who can send a webhook again that is old could take the shop out of its
 * proxy.
 */
export function staleWebhooks(clock: Pick<Clock, 'elapsed'>, log: Log) {
  let inARow = 0
  let lastAt = Number.NEGATIVE_INFINITY
  function answered({ outcome }: CountedEvents[typeof ANSWERED]): void {
    if (FRESH.includes(outcome)) inARow = 0
    if (outcome !== 'stale') return
    inARow++
    lastAt = clock.elapsed()
  }
  const watching: Log = (level, event, fields) => {
    if (event === ANSWERED) answered(fields as CountedEvents[typeof ANSWERED])
    log(level, event, fields)
  }
  return {
    /** Passes every event on. */
    log: watching,
    /** Sentences for /healthz. */
    warnings(): string[] {
      const isNow = inARow >= IN_A_ROW && clock.elapsed() - lastAt < WITHIN_MS
      if (!isNow) return []
      return [`The last ${inARow} webhooks were refused as stale: is this machine’s clock right?`]
    },
  }
}
