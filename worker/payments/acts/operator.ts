// What an operator does that calls no gateway: acknowledges an alert, or takes that back; writes a
// note on a payment; pauses payments, and resumes them. Pure.

import { acknowledgeAlert, isPaidTwice, isSettler, opened, withAlerts } from '../domain/alerts.ts'
import { isPartWhole } from '../domain/capture.ts'
import { newId } from '../domain/new-id.ts'
import { heldAmount, unchanged } from '../domain/payment.ts'
import { type AlertRow, NOTES, type NoteRow } from '../domain/rows.ts'
import { isAhead } from '../domain/time.ts'
import type { Act, AskedBy, Pause, Rules, WorkingSet } from './act.ts'
import { othersOf, recordAudit, storeWithBooks } from './store.ts'

interface Acknowledged {
  id: string
  by: string
  now: number
  /** The gateway's id of what a person did about it. */
  gatewayReference?: string | undefined
}

/** Late money that was refunded by hand may have been one of two payments of its order. */
export function acknowledge(
  { id, by, now, gatewayReference }: Acknowledged,
  rules: Rules,
): Act<boolean> {
  // A token may have any subject, and this name would be that of a settlement without a person.
  const person = isSettler(by) ? `token ${by}` : by
  return {
    keys: [['alertId', id]],
    decide(rows) {
      const alert = rows.get('alerts', id)
      if (!alert) return false
      const acknowledged = acknowledgeAlert(alert, person, now, gatewayReference)
      if (acknowledged !== alert) recordOf(rows, 'acknowledge', alert, { by, now })
      storeAlert(rows, acknowledged, now, rules)
      return true
    },
  }
}

/** A person notices a wrong press at once; later, the shop has acted on the end of the alert. */
const UNDO_MS = 60_000

/**
 * Opens an alert again that was acknowledged just now. One that is open stays as it is; one whose
 * matter has ended since stays settled.
 */
export function reopen(
  { id, by, now }: Omit<Acknowledged, 'gatewayReference'>,
  rules: Rules,
): Act<'unknown' | 'too_late' | 'open'> {
  return {
    keys: [['alertId', id]],
    decide(rows) {
      const alert = rows.get('alerts', id)
      if (!alert) return 'unknown'
      const { acknowledged_at: at, acknowledged_by: who } = alert
      if (at === null) return 'open'
      // By a clock that was set back, it is not known how long ago it was.
      const isOver = now - at > UNDO_MS || isAhead(at, now)
      if (isOver || isSettler(who) || hasEnded(rows, alert, rules)) return 'too_late'
      recordOf(rows, 'reopen', alert, { by, now })
      storeAlert(rows, opened(alert, now), now, rules)
      return 'open'
    },
  }
}

/** What settles an open alert, and passes by one that a person has acknowledged. */
function hasEnded(rows: WorkingSet, alert: AlertRow, { references }: Rules): boolean {
  const payment = rows.payment(alert.transaction_id ?? undefined)
  if (!payment) return false
  const { transaction } = payment
  switch (alert.kind) {
    case 'late_payment':
      return heldAmount(payment) <= 0
    case 'double_payment':
      return !isPaidTwice([payment, ...othersOf(rows, transaction, references)])
    case 'amount_mismatch':
      return isPartWhole(alert, transaction)
    case 'unsettled': {
      const { status, paid_at, gateway_transaction_id: gatewayId } = transaction
      return paid_at !== null || (status !== 'Pending' && gatewayId !== null)
    }
    default:
      return false
  }
}

function recordOf(
  rows: WorkingSet,
  action: 'acknowledge' | 'reopen',
  { id: about, kind: detail, transaction_id }: AlertRow,
  { by, now }: { by: string; now: number },
): void {
  recordAudit(rows, { id: newId(now), by }, { action, transaction_id, about, detail, at: now })
}

function storeAlert(rows: WorkingSet, alert: AlertRow, now: number, rules: Rules): void {
  const payment = rows.payment(alert.transaction_id ?? undefined)
  if (payment) {
    const decision = unchanged(withAlerts(payment, [alert]))
    storeWithBooks(rows, { before: payment, decision, now }, rules)
  } else {
    rows.put({ alerts: [alert] })
  }
}

interface Written extends Required<AskedBy> {
  transactionId: string
  text: string
  now: number
}

/** `id`: of the note, generated once. Undefined: there is no payment with this id. */
export function writeNote({ id, by, transactionId, text, now }: Written): Act<NoteRow | undefined> {
  return {
    keys: [['payment', transactionId]],
    decide(rows) {
      if (!rows.payment(transactionId)) return undefined
      const note = NOTES.row({ id, transaction_id: transactionId, text, by, created_at: now })
      rows.put({ notes: [note] })
      // Its text may name the payer, and the audit trail never forgets.
      const entry = { action: 'note', transaction_id: transactionId, about: id, at: now } as const
      recordAudit(rows, { id, by }, entry)
      return note
    },
  }
}

interface Switched extends AskedBy {
  now: number
}

/** A save like another, so what was decided before it is decided again. A pause stays as it is. */
export function pause({ now, ...asked }: Switched): Act<Pause> {
  return {
    keys: [],
    decide(rows) {
      if (rows.pause) return rows.pause
      const pause = { since: now, by: asked.by }
      rows.pause = pause
      recordAudit(rows, asked, { at: now, action: 'pause' })
      return pause
    },
  }
}

/** Answers what has ended with it. */
export function resume({ now, ...asked }: Switched): Act<Pause | undefined> {
  return {
    keys: [],
    decide(rows) {
      const { pause } = rows
      if (!pause) return undefined
      rows.pause = undefined
      recordAudit(rows, asked, { at: now, action: 'resume' })
      return pause
    },
  }
}
