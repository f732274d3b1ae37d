// The texts for what needs a person: alerts, and webhook events without a payment.

import type { AlertKind } from '../../../api/types.ts'
import { count } from '../../words.ts'

/** What the sentence of an alert names, as texts. */
export interface AlertFacts {
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
}

interface AlertTexts {
  title: string
  sentence(facts: AlertFacts): string
  todo: string
}

export const attentionWords = {
  title: 'Needs a person',
  none: 'Nothing needs a person.',
  story: 'Details',
  otherPayment: 'The other payment',
  storyOf: (reference: string) => `Details of ${reference}`,
  alerts: {
    late_payment: {
      title: 'Late payment',
      sentence: ({ amount }) =>
        `${amount} arrived for a payment that had already failed, expired or been cancelled.`,
      todo:
        'Deliver the order, or refund the payment: with the button in its details or, if the ' +
        'gateway does not refund, by hand. Then enter the reference of that and acknowledge.',
    },
    double_payment: {
      title: 'An order was paid twice',
      sentence: ({ amount, otherGateway }) =>
        `${amount} was paid for an order that has another payment at ${otherGateway}.`,
      todo: 'Refund one of the two payments. The alert ends with the refund.',
    },
    id_mismatch: {
      title: 'The ids of an event contradict',
      sentence: ({ amount }) =>
        `An event over ${amount} names this payment, and another one by a second id.`,
      todo:
        'Nothing was changed, and the gateway is asked. Look both ids up at the gateway: another ' +
        'system may share the account, or answers may be mixed up.',
    },
    amount_mismatch: {
      title: 'A different amount was paid',
      sentence: ({ amount, expected }) => `${amount} was paid instead of ${expected}.`,
      todo: 'Compare it with the order. Then collect the rest, or refund the payment.',
    },
    refund_mismatch: {
      title: 'A different amount was refunded',
      sentence: ({ amount, expected }) =>
        `The gateway reports a refund of ${amount} instead of ${expected}.`,
      todo: 'Check the refund at the gateway, and settle the difference by hand.',
    },
    refund_failed: {
      title: 'A refund failed',
      sentence: ({ amount }) => `The gateway could not refund ${amount}.`,
      todo: 'Try the refund again, or refund by hand.',
    },
    dispute: {
      title: 'A payment is disputed',
      sentence: ({ amount }) => `The payer’s bank asks for ${amount} back.`,
      todo: 'Answer the dispute at the gateway, before its deadline there.',
    },
    unsettled: {
      title: 'A payment has no final status',
      sentence: ({ amount, since, reported }) =>
        `${amount} has been open since ${since}. The gateway last reported ${reported}.`,
      todo: 'Check it at the gateway.',
    },
    refund_unsettled: {
      title: 'A refund has no final status',
      sentence: ({ amount, since, reported }) =>
        `A refund of ${amount} has been open since ${since}. ` +
        `The gateway last reported ${reported}.`,
      todo: 'Check it at the gateway. Do not refund again before you know the result.',
    },
    unreadable: {
      title: 'A payment or its webhooks cannot be read',
      sentence: () => 'Its status may be out of date.',
      todo:
        'Check the payment at the gateway. Repair a row in the database; for a webhook, ask the ' +
        'gateway what it has changed.',
    },
    listener_dead: {
      title: 'A listener failed',
      sentence: ({ event }) => `The listeners have failed to process ${event} for a day.`,
      todo: 'Fix the listener, and do its work for this order by hand.',
    },
    delivery_dead: {
      title: 'An event was not delivered',
      sentence: ({ event, endpoint }) => `${endpoint} has not accepted ${event} for a day.`,
      todo: 'Fix the endpoint, then send the event again.',
    },
  } satisfies Record<AlertKind | 'refund_mismatch', AlertTexts>,
  unreadableAlert: 'An alert cannot be read',
  unreadableEvent: 'A webhook event cannot be read',
  unreadableTodo: 'Repair its database row.',
  nothing: 'nothing',
  anEvent: 'an event',
  anEndpoint: 'An endpoint',
  aGateway: 'a gateway',
  someMoney: 'An amount',
  lastStatus: (status: number) => `It last answered ${status}.`,
  parked: (n: number, isMore: boolean) =>
    `${count(n, 'webhook', 'webhooks')}${isMore ? ' or more' : ''} without a payment`,
  parkedSentence: (gateway: string, since: string) =>
    `Verified events of ${gateway} are parked, the oldest since ${since}: ` +
    'no payment here matches them.',
  parkedTodo:
    'They are applied as soon as their payment appears. ' +
    'If another system uses the same account of the gateway, they may belong to it.',
  parkedList: 'Show events',
} as const
