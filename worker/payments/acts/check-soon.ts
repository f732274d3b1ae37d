// A webhook that cannot be used, since it is too old or cannot be read: its payment is soon checked
// with its gateway, and a person must know where more of its kind may be lost. Pure.

import { alertAbout, raiseAlert } from '../domain/alerts.ts'
import { newId } from '../domain/new-id.ts'
import {
  type Alert,
  type Decision,
  type Payment,
  unchanged,
  withCheckBy,
  withPaymentCheckBy,
  withTransaction,
} from '../domain/payment.ts'
import type { Act, Key, Rules } from './act.ts'
import { store } from './store.ts'
import { type EventIds, keysOfIds, matchIn, paymentIdsIn } from './webhook.ts'

interface SoonChecked {
  gateway: string
  ids: EventIds
  now: number
  /** An event with these ids. One that is final raises an alert, also without a payment. */
  unreadable?: UnreadableEvent | undefined
}

export function checkSoon(
  { gateway, ids: asked, now, unreadable }: SoonChecked,
  rules: Rules,
): Act<undefined> {
  const ids = paymentIdsIn(gateway, asked)
  const { gatewayTransactionId: about } = asked
  const alert = unreadable?.isFinal && unreadableAlert(unreadable, gateway, about, now)
  const alertKeys: Key[] = alert ? [['alert', alert.kind, alert.subject]] : []
  return {
    keys: [...keysOfIds(ids), ...alertKeys],
    decide(rows) {
      const matched = matchIn(rows, ids)
      if (!matched) {
        const known = rows.all('alerts').find(({ subject }) => subject === alert?.subject)
        const raised = alert && raiseAlert(alert, known, () => newId(now))
        if (raised) rows.put({ alerts: [raised] })
        return undefined
      }
      const { payment, others } = matched
      const decision = unreadable
        ? rememberUnreadable(payment, unreadable, now)
        : unchanged(withPaymentCheckBy(payment, now))
      store(rows, decision, rules)
      rows.put({ transactions: others.map((other) => withCheckBy(other, now)) })
      return undefined
    },
  }
}

/** A webhook that is genuine and could not be read. */
export interface UnreadableEvent {
  /** Generated once for each time it is received. */
  id: string
  /** The fields, without their values. */
  why: string
  /** It will not be repeated: a person must know at once. */
  isFinal?: true
}

/** For one whose payment is not known. `about`: the gateway's id of what it is about. */
function unreadableAlert(
  { id, why }: UnreadableEvent,
  gateway: string,
  about: string | undefined,
  now: number,
): Alert {
  return {
    kind: 'unreadable',
    subject: about === undefined ? id : `${gateway} ${about}`,
    gateway,
    transactionId: null,
    createdAt: now,
    detail: {
      error: `A webhook cannot be read: ${why}.`,
      ...(about !== undefined && { gatewayTransactionId: about }),
    },
  }
}

/**
 * The gateway is asked instead. It will repeat the event: from the second on a person must know,
 * because all later events of this kind may be lost, too.
 */
function rememberUnreadable(payment: Payment, unreadable: UnreadableEvent, now: number): Decision {
  const { payment: remembered, alerts } = unreadableTwice(payment, unreadable, 'webhooks', now)
  return { payment: withPaymentCheckBy(remembered, now), events: [], alerts }
}

/** The first time, the gateway may only be in disorder. */
export function unreadableTwice(
  payment: Payment,
  { id: event, why, isFinal }: UnreadableEvent,
  what: 'webhooks' | 'status',
  now: number,
): Pick<Decision, 'payment' | 'alerts'> {
  const { transaction } = payment
  const first = transaction.unreadable_event ?? event
  const error = `Its ${what} cannot be read: ${why}.`
  const subject = `${transaction.id} event`
  const alert = alertAbout(transaction, 'unreadable', now, { error }, subject)
  return {
    payment: withTransaction(payment, { unreadable_event: first }),
    alerts: first === event && !isFinal ? [] : [alert],
  }
}
