// Texts for open issues: alerts, and webhook events that wait for their payment. Pure.

import type {
  Alert,
  AlertKind,
  Unreadable,
  WebhookEvent,
  WebhookRates,
} from '../../libraries/api/types.ts'
import { timeOf } from '../ui/format.ts'
import { money, STATUSES } from './format.ts'
import { isUnreadable } from './story.ts'

/** What the sentence of an alert names, as texts. */
interface AlertFacts {
  amount: string
  expected: string
  /** A time. */
  since: string
  /** What the gateway reported last. */
  reported: string
  event: string
  endpoint: string
  /** The gateway of the other payment of this order. */
  otherGateway: string
  /** In brackets: which refund it is, and who asked for it, as far as that is known. */
  refund: string
  /** How a dispute has ended, as the gateway says it. */
  outcome: string
}

/** How long an event is tried: TRIED_FOR_MS of worker/shared/outgoing.ts. */
export const TRIED_FOR = 'for a day'

interface AlertTexts {
  title: string
  /** In a line that counts them: `3 late, 1 twice`. */
  short: string
  /** A person may pay money back by hand: the reference of that can be entered and is kept. */
  hasReference: boolean
  sentence(facts: AlertFacts): string
  todo: string
}

export const ALERTS = {
  late_payment: {
    title: 'Late payment',
    short: 'late',
    hasReference: true,
    sentence: ({ amount }) =>
      `${amount} arrived for a payment that had already failed, expired or been cancelled.`,
    todo:
      'Deliver the order, or refund the payment: with the button in its details or, if the ' +
      'gateway does not refund, by hand. Then enter the reference of that and acknowledge.',
  },
  double_payment: {
    title: 'An order was paid twice',
    short: 'twice',
    hasReference: true,
    sentence: ({ amount, otherGateway }) =>
      `${amount} was paid for an order that has another payment at ${otherGateway}.`,
    todo: 'Refund one of the two payments. The alert ends with the refund.',
  },
  id_mismatch: {
    title: 'The ids of an event contradict',
    short: 'contradicting',
    hasReference: false,
    sentence: ({ amount }) =>
      `An event over ${amount} names this payment, and another one by a second id.`,
    todo:
      'Nothing was changed, and the gateway is asked. Look both ids up at the gateway: another ' +
      'system may share the account, or answers may be mixed up.',
  },
  amount_mismatch: {
    title: 'A different amount was paid',
    short: 'other amount',
    hasReference: true,
    sentence: ({ amount, expected }) => `${amount} was paid instead of ${expected}.`,
    todo: 'Compare it with the order. Then collect the rest, or refund the payment.',
  },
  refund_mismatch: {
    title: 'A different amount was refunded',
    short: 'other refund',
    hasReference: false,
    sentence: ({ amount, expected }) =>
      `The gateway reports a refund of ${amount} instead of ${expected}.`,
    todo: 'Check the refund at the gateway, and settle the difference by hand.',
  },
  refund_failed: {
    title: 'A refund failed',
    short: 'refund failed',
    hasReference: true,
    sentence: ({ amount, refund }) => `The gateway could not refund ${amount}${refund}.`,
    todo: 'Refund the amount again, or by hand.',
  },
  dispute: {
    title: 'A payment is disputed',
    short: 'disputed',
    hasReference: true,
    sentence: ({ amount }) => `The payer’s bank asks for ${amount} back.`,
    todo: 'Answer the dispute at the gateway, before its deadline there.',
  },
  inquiry: {
    title: 'A payment is asked about',
    short: 'asked about',
    hasReference: true,
    sentence: ({ amount }) =>
      `The payer’s bank asks about ${amount}. It has taken no money back yet.`,
    todo: 'Answer the inquiry at the gateway, before its deadline there, or refund the payment.',
  },
  dispute_ended: {
    title: 'A dispute has ended',
    short: 'dispute ended',
    hasReference: true,
    sentence: ({ amount, outcome }) => `That about ${amount} has ended: ${outcome}.`,
    todo: 'Nothing is left to answer.',
  },
  unsettled: {
    title: 'A payment has no final status',
    short: 'open too long',
    hasReference: false,
    sentence: ({ amount, since, reported }) =>
      `${amount} has been open since ${since}. The gateway last reported ${reported}.`,
    todo: 'Check it at the gateway.',
  },
  refund_unsettled: {
    title: 'A refund has no final status',
    short: 'refund open',
    hasReference: false,
    sentence: ({ amount, refund, since, reported }) =>
      `A refund of ${amount}${refund} has been open since ${since}. ` +
      `The gateway last reported ${reported}.`,
    todo: 'Check it at the gateway. Do not refund again before you know the result.',
  },
  unreadable: {
    title: 'A payment or its webhooks cannot be read',
    short: 'unreadable',
    hasReference: false,
    sentence: () => 'Its status may be out of date.',
    todo:
      'Check the payment at the gateway. Repair a row in the database; for a webhook, ask the ' +
      'gateway what it has changed.',
  },
  endpoint_gone: {
    title: 'The endpoint wants no more events',
    short: 'endpoint gone',
    hasReference: false,
    sentence: ({ event, endpoint }) => `${endpoint} does not accept ${event}.`,
    todo:
      `Repair the endpoint, or set PAYMENT_EVENTS_URL. Events are tried again ${TRIED_FOR}, and ` +
      'the alert ends when one is accepted.',
  },
  listener_dead: {
    title: 'A listener failed',
    short: 'listener failed',
    hasReference: false,
    sentence: ({ event }) => `The listeners have failed to process ${event} ${TRIED_FOR}.`,
    todo: 'Fix the listener, and do its work for this order by hand.',
  },
  delivery_dead: {
    title: 'An event was not delivered',
    short: 'not delivered',
    hasReference: false,
    sentence: ({ event, endpoint }) => `${endpoint} has not accepted ${event} ${TRIED_FOR}.`,
    todo: 'Fix the endpoint, then send the event again.',
  },
} satisfies Record<AlertKind | 'refund_mismatch' | 'inquiry' | 'dispute_ended', AlertTexts>

export const AN_EVENT = 'an event'
export const AN_ENDPOINT = 'An endpoint'

/** `error`: the text of a gateway or an endpoint. `now` in ms. */
export function alertText({ kind, detail }: Alert, now: number) {
  const { error, lastStatus } = detail
  const { title, sentence, todo }: AlertTexts = ALERTS[textsOf(kind, detail)]
  const reported = sentence(factsOf(detail, now))
  return {
    title,
    // The error, if there is one, contains the status as well.
    sentence:
      lastStatus === undefined || error ? reported : `${reported} It last answered ${lastStatus}.`,
    error: typeof error === 'string' ? error : error?.message,
    todo,
  }
}

/** `3 late, 1 twice, 2 disputed`: the most urgent first. */
export function countedText(alerts: Iterable<Alert | Unreadable>): string {
  const counts = new Map<keyof typeof ALERTS, number>()
  for (const alert of alerts) {
    const texts = isUnreadable(alert) ? 'unreadable' : textsOf(alert.kind, alert.detail)
    counts.set(texts, (counts.get(texts) ?? 0) + 1)
  }
  const names = (Object.keys(ALERTS) as (keyof typeof ALERTS)[]).filter((name) => counts.has(name))
  return names.map((name) => `${counts.get(name)} ${ALERTS[name].short}`).join(', ')
}

/** A mismatch of a refund has texts of its own, and a dispute those of its state. */
function textsOf(
  kind: AlertKind,
  { gatewayStatus, outcome, inquiry }: Alert['detail'],
): keyof typeof ALERTS {
  const isOfRefund = gatewayStatus === 'Refunded' || gatewayStatus === 'PartiallyRefunded'
  if (kind === 'amount_mismatch' && isOfRefund) return 'refund_mismatch'
  if (kind !== 'dispute') return kind
  if (outcome !== undefined) return 'dispute_ended'
  return inquiry ? 'inquiry' : kind
}

function factsOf(detail: Alert['detail'], now: number): AlertFacts {
  const { amount, currency, expectedAmount, expectedCurrency, since, gatewayStatus } = detail
  return {
    amount: amountOf(amount, currency),
    expected: amountOf(expectedAmount, expectedCurrency),
    since: since === undefined ? '' : timeOf(Date.parse(since), now),
    reported:
      gatewayStatus === undefined || gatewayStatus === 'none' ? 'nothing' : STATUSES[gatewayStatus],
    event: detail.type ?? AN_EVENT,
    endpoint: detail.endpoint ?? AN_ENDPOINT,
    otherGateway: detail.otherGateway ?? 'a gateway',
    refund: refundOf(detail),
    outcome: detail.outcome ?? '',
  }
}

function refundOf({ refundId, askedBy }: Alert['detail']): string {
  const parts = [
    ...(refundId === undefined ? [] : [`refund ${refundId}`]),
    ...(askedBy === undefined ? [] : [`asked for by ${askedBy}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

const amountOf = (amount: number | undefined, currency: string | undefined): string =>
  amount === undefined || currency === undefined ? 'An amount' : money(amount, currency)

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
export function parkedLong(events: Iterable<WebhookEvent | Unreadable>, now: number): Parked[] {
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

export type RefusedGroup = WebhookRates['refused'][number]

/** Refused webhooks, by gateway and reason. `at`: of the last one. */
export function refusedOf({ refused }: WebhookRates): RefusedGroup[] {
  const groups = new Map<string, RefusedGroup>()
  for (const row of refused) {
    const name = `${row.reason} ${row.gateway}`
    const { at, count } = groups.get(name) ?? { at: '', count: 0 }
    groups.set(name, { ...row, at: row.at > at ? row.at : at, count: row.count + count })
  }
  return [...groups.values()]
}

export const REFUSALS = {
  invalid: {
    sentence: 'Their signature or token is wrong. They were answered 401, and nothing was stored.',
    todo:
      'If the gateway sent them, the secret that is configured here is not the one that it signs ' +
      'with: compare them. If strangers sent them, there is nothing to do.',
  },
  stale: {
    sentence:
      'Their time is too old or impossible. They were answered 400, and the gateway is asked ' +
      'about their payments instead.',
    todo:
      'Compare the clock of this machine with the right time. A gateway that repeats the events ' +
      'of an outage stops by itself.',
  },
  error: {
    sentence: 'They could not be read. They were answered 500, and the gateway sends them again.',
    todo: 'The log says why, in its lines payments.webhook.failed, .unreadable and .limited.',
  },
} as const
