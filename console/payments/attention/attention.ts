// Texts for what needs a person: open alerts, and webhook events that wait for their payment. Pure.

import type { Alert, PaymentStatus, WebhookEvent } from '../../../api/types.ts'
import { timeOf } from '../../ui/time-text.ts'
import { isUnreadable, type Listed } from '../feed/story.ts'
import { money } from '../money-text.ts'
import { paymentWords } from '../words.ts'
import { type AlertFacts, attentionWords } from './words.ts'

export interface AlertText {
  title: string
  sentence: string
  /** The error text of a gateway or an endpoint. */
  error?: string
  todo: string
}

/** `now` in ms. */
export function alertText({ kind, detail }: Alert, now: number): AlertText {
  const { error, lastStatus } = detail
  // A mismatch of a refund has other texts than one of a payment.
  const isOfRefund = kind === 'amount_mismatch' && isRefund(detail.gatewayStatus)
  const { title, sentence, todo } = attentionWords.alerts[isOfRefund ? 'refund_mismatch' : kind]
  const errorText = typeof error === 'string' ? error : error?.message
  const reported = sentence(factsOf(detail, now))
  return {
    title,
    // The error, if there is one, contains the status as well.
    sentence:
      lastStatus === undefined || error
        ? reported
        : `${reported} ${attentionWords.lastStatus(lastStatus)}`,
    ...(errorText && { error: errorText }),
    todo,
  }
}

const isRefund = (status: Alert['detail']['gatewayStatus']): boolean =>
  status === 'Refunded' || status === 'PartiallyRefunded'

function factsOf(detail: Alert['detail'], now: number): AlertFacts {
  return {
    amount: amountOf(detail.amount, detail.currency),
    expected: amountOf(detail.expectedAmount, detail.expectedCurrency),
    since: detail.since === undefined ? '' : timeOf(Date.parse(detail.since), now),
    reported: statusOf(detail.gatewayStatus),
    event: detail.type ?? attentionWords.anEvent,
    endpoint: detail.endpoint ?? attentionWords.anEndpoint,
    otherGateway: detail.otherGateway ?? attentionWords.aGateway,
  }
}

const amountOf = (amount: number | undefined, currency: string | undefined): string =>
  amount === undefined || currency === undefined
    ? attentionWords.someMoney
    : money(amount, currency)

const statusOf = (status: PaymentStatus | 'none' | undefined): string =>
  status === undefined || status === 'none' ? attentionWords.nothing : paymentWords.status[status]

/** A webhook may arrive before the response to its charge. Such an event waits only a moment. */
const PARKED_MS = 5 * 60_000

export interface Parked {
  gateway: string
  /** Newest first. */
  events: readonly WebhookEvent[]
  /** ISO 8601, of the oldest. */
  since: string
}

/** Events that have waited long, by gateway. Unreadable rows are not among them. `now` in ms. */
export function parkedLong(events: Iterable<Listed<WebhookEvent>>, now: number): Parked[] {
  const byGateway = new Map<string, WebhookEvent[]>()
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
