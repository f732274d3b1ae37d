// What needs a person, in sentences: open alerts, and webhook events that wait for their payment.
// Pure.

import type { PaymentStatus } from '../../../worker/payments/domain/status.ts'
import type { AlertRecord, EventRecord, Listed } from '../../../worker/payments/queries/queries.ts'
import { timeOf } from '../../ui/time-text.ts'
import { words } from '../../words.ts'
import { isUnreadable } from '../feed/unreadable.ts'
import { money } from '../money-text.ts'

export interface AlertSaid {
  title: string
  sentence: string
  /** The gateway's, or an endpoint's, own. */
  error?: string
  todo: string
}

/** `now` in ms. */
export function sayAlert({ kind, detail }: AlertRecord, now: number): AlertSaid {
  const { attention: say } = words.payments
  const of = kind === 'amount_mismatch' && isRefund(detail.said) ? 'refund_mismatch' : kind
  const { error } = detail
  const said = typeof error === 'string' ? error : error?.message
  return {
    title: say.kinds[of],
    sentence: sentenceOf(of, detail, now),
    ...(said && { error: said }),
    todo: say.todo[of],
  }
}

/** A mismatch says another thing of a refund than of a payment. */
type Matter = AlertRecord['kind'] | 'refund_mismatch'

const isRefund = (said: AlertRecord['detail']['said']): boolean =>
  said === 'Refunded' || said === 'PartiallyRefunded'

function sentenceOf(kind: Matter, detail: AlertRecord['detail'], now: number): string {
  const { attention: say } = words.payments
  const amount = amountOf(detail.amount, detail.currency)
  const since = detail.since === undefined ? '' : timeOf(Date.parse(detail.since), now)
  switch (kind) {
    case 'late_payment':
      return say.latePayment(amount)
    case 'amount_mismatch':
      return say.mismatch(amount, amountOf(detail.expectedAmount, detail.expectedCurrency))
    case 'refund_mismatch':
      return say.refundMismatch(amount, amountOf(detail.expectedAmount, detail.expectedCurrency))
    case 'refund_failed':
      return say.refundFailed(amount)
    case 'unsettled':
      return say.unsettled(amount, since, statusOf(detail.said))
    case 'unreadable':
      return say.unreadable
    case 'refund_unsettled':
      return say.refundUnsettled(amount, since, statusOf(detail.said))
    case 'listener_dead':
      return say.listenerDead(detail.type ?? say.anEvent)
    case 'delivery_dead': {
      const sentence = say.deliveryDead(
        detail.type ?? say.anEvent,
        detail.endpoint ?? say.anEndpoint,
      )
      const { lastStatus } = detail
      // What it answered stands in the error too, where there is one.
      return lastStatus === undefined || detail.error
        ? sentence
        : `${sentence} ${say.lastStatus(lastStatus)}`
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

/** A webhook that is faster than the answer to its charge finds its payment within a moment. */
const PARKED_MS = 5 * 60_000

export interface Parked {
  gateway: string
  /** Newest first. */
  events: readonly EventRecord[]
  /** ISO 8601, of the oldest. */
  since: string
}

/** What has waited for long, by gateway; of an unreadable one that is not known. `now` in ms. */
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
