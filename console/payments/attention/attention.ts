// Texts for what needs a person: open alerts, and webhook events that wait for their payment. Pure.

import type { Listed } from '../../../worker/payments/domain/listed.ts'
import type { PaymentStatus } from '../../../worker/payments/domain/status.ts'
import type { AlertRecord, EventRecord } from '../../../worker/payments/queries/queries.ts'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { isUnreadable } from '../feed/story.ts'
import { money } from '../money-text.ts'

export interface AlertText {
  title: string
  sentence: string
  /** The error text of a gateway or an endpoint. */
  error?: string
  todo: string
}

/** `now` in ms. */
export function alertText({ kind, detail }: AlertRecord, now: number): AlertText {
  const { attention: texts } = words.payments
  const of = kind === 'amount_mismatch' && isRefund(detail.said) ? 'refund_mismatch' : kind
  const { error } = detail
  const errorText = typeof error === 'string' ? error : error?.message
  return {
    title: texts.kinds[of],
    sentence: sentenceOf(of, detail, now),
    ...(errorText && { error: errorText }),
    todo: texts.todo[of],
  }
}

/** A mismatch of a refund has other texts than one of a payment. */
type AlertTextKind = AlertRecord['kind'] | 'refund_mismatch'

const isRefund = (said: AlertRecord['detail']['said']): boolean =>
  said === 'Refunded' || said === 'PartiallyRefunded'

function sentenceOf(kind: AlertTextKind, detail: AlertRecord['detail'], now: number): string {
  const { attention: texts } = words.payments
  const amount = amountOf(detail.amount, detail.currency)
  const since = detail.since === undefined ? '' : timeOf(Date.parse(detail.since), now)
  switch (kind) {
    case 'late_payment':
      return texts.latePayment(amount)
    case 'amount_mismatch':
      return texts.mismatch(amount, amountOf(detail.expectedAmount, detail.expectedCurrency))
    case 'refund_mismatch':
      return texts.refundMismatch(amount, amountOf(detail.expectedAmount, detail.expectedCurrency))
    case 'refund_failed':
      return texts.refundFailed(amount)
    case 'unsettled':
      return texts.unsettled(amount, since, statusOf(detail.said))
    case 'unreadable':
      return texts.unreadable
    case 'refund_unsettled':
      return texts.refundUnsettled(amount, since, statusOf(detail.said))
    case 'listener_dead':
      return texts.listenerDead(detail.type ?? texts.anEvent)
    case 'delivery_dead': {
      const sentence = texts.deliveryDead(
        detail.type ?? texts.anEvent,
        detail.endpoint ?? texts.anEndpoint,
      )
      const { lastStatus } = detail
      // The error, if there is one, contains the status as well.
      return lastStatus === undefined || detail.error
        ? sentence
        : `${sentence} ${texts.lastStatus(lastStatus)}`
    }
  }
}

const amountOf = (amount: number | undefined, currency: string | undefined): string =>
  amount === undefined || currency === undefined
    ? words.payments.attention.someMoney
    : money(amount, currency)

const statusOf = (said: PaymentStatus | 'nothing' | undefined): string =>
  said === undefined || said === 'nothing'
    ? words.payments.attention.nothing
    : words.payments.status[said]

/** A webhook may arrive before the response to its charge. Such an event waits only a moment. */
const PARKED_MS = 5 * 60_000

export interface Parked {
  gateway: string
  /** Newest first. */
  events: readonly EventRecord[]
  /** ISO 8601, of the oldest. */
  since: string
}

/** Events that have waited long, by gateway. Unreadable rows are not among them. `now` in ms. */
export function parkedLong(events: Iterable<Listed<EventRecord>>, now: number): Parked[] {
  const byGateway = new Map<string, EventRecord[]>()
  for (const event of events) {
    if (isUnreadable(event)) continue
    if (now - Date.parse(event.receivedAt) < PARKED_MS) continue
    byGateway.set(event.gateway, [...(byGateway.get(event.gateway) ?? []), event])
  }
  return [...byGateway].map(([gateway, of]) => ({
    gateway,
    events: of,
    since: of.at(-1)?.receivedAt ?? '',
  }))
}
