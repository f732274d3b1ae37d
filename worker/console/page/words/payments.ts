// What the payments view says; the key `payments` of the dictionary.

import type {
  AlertKind,
  DeliveryRecord,
  EventRecord,
  RefundRecord,
} from '../../../payments/ledger/records.ts'
import type { LifecycleEvent, PaymentStatus } from '../../../payments/status.ts'
import { formWords } from './payment-forms.ts'

type Count = (n: number, one: string, other: string) => string

export const paymentsWords = (count: Count) =>
  ({
    title: 'Payments',
    missingScope: 'Your token lacks the scope payments:read, so no payments are shown here.',
    notConfigured: {
      title: 'Payments are not configured',
      lead:
        'Set LIBSQL_URL and the variables of a gateway; docs/payments.md names them all. ' +
        '`npm start` needs none: it brings a database and simulated gateways.',
    },
    noAnswer: 'The edge does not answer.',
    close: 'Close',
    safeAgain: 'Pressing again is safe: it cannot happen twice.',

    freshness: {
      asOf: (time: string) => `As of ${time}`,
      notReached: (time: string) => `Not reached since ${time}`,
      neverReached: 'Not reached',
      hint: 'Asked again every five seconds while you look.',
      late: 'The answer takes longer than it should.',
    },

    status: {
      Pending: 'Pending',
      Paid: 'Paid',
      PartiallyRefunded: 'Partly refunded',
      Refunded: 'Refunded',
      Failed: 'Failed',
      Cancelled: 'Cancelled',
      Expired: 'Expired',
    } satisfies Record<PaymentStatus, string>,

    attention: {
      title: 'Needs a person',
      none: 'Nothing needs a person.',
      acknowledge: 'Acknowledge',
      acknowledgeOf: (title: string) => `Acknowledge: ${title}`,
      redeliver: 'Send again',
      redeliverOf: (event: string, endpoint: string) => `Send again: ${event} to ${endpoint}`,
      sentAgain: 'It is being sent again.',
      story: 'Its story',
      storyOf: (reference: string) => `The story of ${reference}`,
      kinds: {
        late_payment: 'Money came late',
        amount_mismatch: 'Another amount was paid',
        refund_failed: 'A refund failed',
        unsettled: 'A payment stays open',
        refund_unsettled: 'A refund stays open',
        listener_dead: 'A listener was not told',
        delivery_dead: 'An event was not delivered',
      } satisfies Record<AlertKind, string>,
      latePayment: (amount: string) =>
        `${amount} came for a payment that had already failed, been cancelled or expired.`,
      mismatch: (paid: string, asked: string) => `${paid} was paid where ${asked} was asked for.`,
      refundFailed: (amount: string) => `The gateway could not give back ${amount}.`,
      unsettled: (amount: string, since: string, said: string) =>
        `${amount} is open since ${since}; asked last, the gateway said ${said}.`,
      refundUnsettled: (amount: string, since: string, said: string) =>
        `Giving back ${amount} is under way since ${since}; asked last, the gateway said ${said}.`,
      nothing: 'nothing',
      listenerDead: (event: string) => `The listeners in process did not take ${event} for a day.`,
      deliveryDead: (event: string, endpoint: string) =>
        `${endpoint} did not take ${event} for a day.`,
      anEvent: 'an event',
      anEndpoint: 'An endpoint',
      someMoney: 'An amount',
      todo: {
        late_payment: 'Deliver the order, or give the money back at the gateway.',
        amount_mismatch: 'Compare it with the order, then ask for the rest or give it back.',
        refund_failed: 'Refund it again, or give it back by hand.',
        unsettled: 'Look it up at the gateway.',
        refund_unsettled: 'Ask the gateway what became of it. Do not refund it again before.',
        listener_dead: 'Mend the listener, and do by hand what it should have done for this order.',
        delivery_dead: 'Mend the endpoint, then send it again.',
      } satisfies Record<AlertKind, string>,
      lastStatus: (status: number) => `It last answered ${status}.`,
      error: (sentence: string) => `“${sentence}”`,
      parked: (n: number, isMore: boolean) =>
        `${count(n, 'webhook', 'webhooks')}${isMore ? ' or more' : ''} found no payment`,
      parkedSentence: (gateway: string, since: string) =>
        `Verified events of ${gateway} are parked, the oldest since ${since}: ` +
        'no payment here has their name.',
      parkedTodo:
        'They are applied as soon as their payment appears. ' +
        'Where another system shares the gateway’s account, they are its own.',
      parkedList: 'Which ones',
    },

    gateways: {
      title: 'Gateways',
      none: 'No gateway is configured.',
      closed: 'Answers',
      failing: (n: number) => `${count(n, 'call', 'calls')} in a row failed`,
      open: (time: string) => `Left alone until ${time}`,
      openHint: (n: number) =>
        `After ${count(n, 'call', 'calls')} that failed it is not called; ` +
        'charges are refused meanwhile.',
      probing: 'The next call tries it',
      refunds: 'refunds',
      noRefunds: 'no refunds',
      anyCurrency: 'any currency',
      currencies: (n: number) => count(n, 'currency', 'currencies'),
      local: 'simulated',
      driver: (name: string) => `driver ${name}`,
    },

    rates: {
      title: 'Webhooks per minute',
      none: 'No webhook came in the last hour.',
      summary: (n: number) => `${count(n, 'webhook', 'webhooks')} in the last hour`,
      plot: 'Plot of webhooks per minute in the last hour; the table below says the same.',
      table: 'As a table',
      minute: 'Minute',
      failed: 'The plot could not be loaded; the table has it all.',
    },
    outcomes: {
      applied: 'applied',
      unchanged: 'unchanged',
      parked: 'parked',
      illegal: 'illegal',
      rejected: 'rejected',
      late_payment: 'late',
    } satisfies Record<EventRecord['outcome'], string>,

    list: {
      title: 'Transactions',
      filters: 'Which transactions',
      search: 'Search by reference or id',
      status: 'Status',
      gateway: 'Gateway',
      any: 'all',
      onlyReference: (reference: string) => `Only ${reference}`,
      clear: 'Show all',
      reference: 'Reference',
      amount: 'Amount',
      age: 'Age',
      refunded: (amount: string) => `${amount} back`,
      none: 'No payments yet.',
      noneFound: 'No payment is like that.',
      more: 'Load more',
      loadingMore: 'Loading more…',
      shown: (n: number, hasMore: boolean) =>
        `${count(n, 'payment', 'payments')}${hasMore ? ', and more' : ''}`,
    },

    story: {
      back: 'All payments',
      unknown: 'There is no payment of this id.',
      unknownHint: 'It may stand in another database, or its address was cut.',
      timeline: 'What happened',
      facts: 'Facts',
      id: 'Our id',
      gatewayId: 'The gateway’s id',
      externalId: 'Our name for it there',
      correlation: 'Correlation id',
      attempt: 'Attempt',
      created: 'Begun',
      updated: 'Last change',
      paid: 'Paid at',
      expires: 'Expires',
      refunded: 'Given back',
      description: 'Description',
      gateway: 'Gateway',
      copy: (what: string) => `Copy: ${what}`,
      copied: 'Copied',
      notCopied: 'Not copied: the browser does not allow it.',
      pay: 'Open the page to pay on',
      initiated: 'Charge asked for',
      refused: 'The gateway refused it',
      webhook: 'Webhook',
      recheck: 'The gateway was asked',
      becomes: ' becomes ',
      says: (status: string) => `says ${status}`,
      mismatch: 'another amount than asked for',
      outcomes: {
        applied: 'Applied',
        unchanged: 'It was so already',
        parked: 'Parked until its payment appears',
        illegal: 'Not possible from there, so nothing moved',
        rejected: 'Rejected: another amount or currency',
        late_payment: 'Too late: nothing moved',
      } satisfies Record<EventRecord['outcome'], string>,
      eventId: 'Event',
      occurred: (time: string) => `happened ${time}`,
      raw: 'What the gateway sent, secrets masked',
      lifecycle: {
        PaymentInitiated: 'was initiated',
        PaymentSucceeded: 'succeeded',
        PaymentFailed: 'failed',
        PaymentCancelled: 'was cancelled or expired',
        PaymentRefunded: 'was refunded',
      } satisfies Record<LifecycleEvent, string>,
      told: (what: string) => `Told: the payment ${what}`,
      toldAt: (time: string) => `Listeners took it ${time}`,
      notTold: 'Listeners have not taken it yet',
      deliveries: {
        pending: 'on its way',
        delivered: 'delivered',
        dead: 'given up',
      } satisfies Record<DeliveryRecord['status'], string>,
      attempts: (n: number) => count(n, 'attempt', 'attempts'),
      next: (time: string) => `next ${time}`,
      answered: (status: number) => `answered ${status}`,
      refund: 'Refund of',
      refundStates: {
        claimed: 'under way',
        accepted: 'accepted, and not yet given back',
        succeeded: 'given back',
        failed: 'failed',
      } satisfies Record<RefundRecord['status'], string>,
      reason: (text: string) => `“${text}”`,
      settled: (time: string) => `last change ${time}`,
      alert: 'Alert',
      acknowledged: (by: string, time: string) => `Acknowledged by ${by}, ${time}`,
    },

    ...formWords,
  }) as const
