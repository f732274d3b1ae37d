// The log events that are counted, with the fields that metrics.ts needs. Logged through `counted`,
// a renamed event or field does not compile; else it would stop a metric in silence.

import type { Fields, Level, Log } from '../shared/log.ts'
import type { AlertKind, CallKind, Outcome } from './domain/status.ts'

type Stored = { [Name in `payments.webhook.${Outcome}`]: { gateway: string } }

export interface CountedEvents extends Stored {
  'payments.webhook.answered': { gateway: string; outcome: string; ms: number }
  'payments.ledger.committed': { operations: number; ms: number }
  'payments.ledger.retry': object
  'payments.alert.raised': { kind: AlertKind }
  'payments.gateway.circuit': { gateway: string; kind: CallKind; isOpen: boolean }
  'payments.gateway.reported': {
    gateway: string
    kind: CallKind
    verdict: 'success' | 'failure' | 'neutral'
  }
  'payments.gateway.circuit_opened': { gateway: string; kind: CallKind }
  'payments.event.dispatched': {
    subscriber: 'listeners' | 'endpoint'
    outcome: 'delivered' | 'failed' | 'dead'
  }
  /** The read that each sweep begins with: nothing is read for the numbers alone. */
  'payments.sweep.waiting': {
    hasPayments: boolean
    events: Record<'listeners' | 'endpoint', { count: number; oldestAt?: number }>
    alerts: Partial<Record<AlertKind, number>>
    now: number
  }
  /** Also of one that had nothing to do. */
  'payments.sweep.ended': { failed: number }
}

export const counted = <Name extends keyof CountedEvents>(
  log: Log,
  level: Level,
  event: Name,
  fields: CountedEvents[Name] & Fields,
): void => log(level, event, fields)
