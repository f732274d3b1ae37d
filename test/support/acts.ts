// Runs an act on rows in memory, for tests of what it decides.

import {
  type Act,
  type Changes,
  type Rules,
  type Stored,
  WorkingSet,
} from '../../worker/payments/acts/act.ts'
import type { Answer } from '../../worker/payments/acts/answer.ts'
import type { Payment } from '../../worker/payments/domain/payment.ts'
import type { PaymentStatus } from '../../worker/payments/domain/status.ts'
import { NOW } from './payment-rows.ts'

/** Every event has a listener, and no endpoint. */
export const RULES: Rules = {
  subscribers: { hasListeners: () => true, endpointFor: () => undefined },
  references: 'shared',
}

/** What an act answers, and the rows that it leaves. */
export function decided<Answer>(act: Act<Answer>, loaded: Changes, stored: Partial<Stored> = {}) {
  const rows = new WorkingSet({ installation: 'ours', ...stored }, loaded)
  const answer = act.decide(rows)
  const events = rows.changesOf('outbox').inserted
  const alerts = rows.changesOf('alerts').inserted.map(({ detail, ...row }) => ({
    ...row,
    detail: JSON.parse(detail ?? '{}'),
  }))
  /** Those that are about what changed, and not about an alert. */
  const changes = events.filter(({ type }) => type !== 'AlertRaised' && type !== 'AlertSettled')
  return { answer, rows, events: changes, alerts }
}

export const rowsOf = ({ transaction, ...rows }: Payment): Changes => ({
  transactions: [transaction],
  ...rows,
})

export type Reported = Answer['report']

export const tells = (status: PaymentStatus, amount = 25_000): Reported => ({
  status,
  amount,
  currency: 'IQD',
  raw: { status: 'SUCCESS' },
})

/** A gateway's answer about a payment, which was asked for a moment ago. */
export const answerOf = (report: Reported): Answer => ({
  id: '01ANSWER',
  report,
  askedAt: NOW - 9,
  onMismatch: 'log',
})
