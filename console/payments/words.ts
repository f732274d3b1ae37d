// The texts of the payments view. Its two largest parts have their own: attention/words.ts and
// story/words.ts.

import type { PaymentStatus, WebhookEvent } from '../../api/types.ts'
import { count } from '../words.ts'

export const paymentWords = {
  title: 'Payments',
  missingScope: 'Your token lacks the scope payments:read, which is needed to see payments.',
  notConfigured: {
    title: 'Payments are not configured',
    lead:
      'Set LIBSQL_URL and the variables of a gateway; docs/payments.md lists them. ' +
      '`npm start` needs none of them: it includes a database and simulated gateways.',
  },
  safeAgain: 'Pressing again is safe: it cannot happen twice.',

  freshness: {
    asOf: (time: string) => `As of ${time}`,
    notReached: (time: string) => `Not updated since ${time}`,
    neverReached: 'Not loaded',
    hint: 'Updated every five seconds while the page is visible.',
    late: 'The update takes longer than it should.',
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

  actions: {
    acknowledge: 'Acknowledge',
    acknowledgeOf: (title: string) => `Acknowledge: ${title}`,
    reference: 'Reference at the gateway',
    referenceOf: (title: string) => `Reference at the gateway: ${title}`,
    redeliver: 'Send again',
    redeliverOf: (event: string, endpoint: string) => `Send again: ${event} to ${endpoint}`,
    sentAgain: 'It is being sent again.',
  },

  copy: {
    button: (what: string) => `Copy: ${what}`,
    done: 'Copied',
    failed: 'Not copied: the browser does not allow it.',
  },

  gateways: {
    title: 'Gateways',
    none: 'No gateway is configured.',
    kinds: { charge: 'Charges', refund: 'Refunds', status: 'Checks' },
    closed: 'Circuits closed',
    failing: (n: number) => `${count(n, 'call', 'calls')} in a row failed`,
    open: (time: string) => `circuit open until ${time}`,
    openHint: (n: number) =>
      `After ${count(n, 'failed call', 'failed calls')} the gateway is not called for these.`,
    probing: 'circuit half open, the next call is a test',
    refunds: 'refunds',
    noRefunds: 'no refunds',
    anyCurrency: 'any currency',
    currencies: (n: number) => count(n, 'currency', 'currencies'),
    local: 'simulated',
    driver: (name: string) => `driver ${name}`,
  },

  rates: {
    title: 'Webhooks per minute',
    none: 'No webhooks in the last hour.',
    summary: (n: number) => `${count(n, 'webhook', 'webhooks')} in the last hour`,
    plot: 'Plot of webhooks per minute in the last hour. The table below has the same data.',
    table: 'As a table',
    minute: 'Minute',
  },

  outcomes: {
    applied: 'applied',
    unchanged: 'unchanged',
    parked: 'parked',
    illegal: 'illegal',
    rejected: 'rejected',
    late_payment: 'late',
  } satisfies Record<WebhookEvent['outcome'], string>,

  list: {
    title: 'Transactions',
    filters: 'Filters',
    search: 'Search by reference or id',
    status: 'Status',
    gateway: 'Gateway',
    any: 'all',
    onlyReference: (reference: string) => `Only ${reference}`,
    clear: 'Show all',
    reference: 'Reference',
    amount: 'Amount',
    paid: 'paid',
    age: 'Age',
    none: 'No payments yet.',
    noneFound: 'No payment matches.',
    more: 'Load more',
    loadingMore: 'Loading more…',
    unreadable: 'Unreadable',
    shown: (n: number, hasMore: boolean) =>
      `${count(n, 'payment', 'payments')}${hasMore ? ', and more' : ''}`,
  },

  charge: {
    open: 'Make a test charge',
    lead: 'Uses a simulated gateway: no real money moves.',
    gateway: 'Gateway',
    amount: 'Amount',
    currency: 'Currency',
    description: 'Description',
    example: 'A lamp',
    submit: 'Charge',
    working: 'Charging…',
    badAmount: (currency: string) => `This is not a valid amount in ${currency}.`,
    leaving: 'Opening the payment page…',
    done: 'The charge was created. Pay it in the app of the bank with this code:',
    doneWithoutPage: 'The charge was created, but there is no payment page.',
    doneBefore: 'This was charged before. The status of the payment is now',
    deepLink: 'Open the app of the bank',
    page: 'Open the payment page',
    see: 'Show the payment',
  },

  refund: {
    open: 'Refund…',
    title: (reference: string) => `Refund ${reference}`,
    amount: (currency: string) => `Amount in ${currency}`,
    left: (amount: string) => `${amount} can be refunded.`,
    whole: (amount: string, gateway: string) =>
      `${gateway} supports full refunds only. The full amount of ${amount} is refunded.`,
    reason: 'Reason',
    next: 'Continue',
    confirm: (amount: string, gateway: string) =>
      `${gateway} will refund ${amount} to the payer. This cannot be undone.`,
    submit: (amount: string) => `Refund ${amount}`,
    back: 'Back',
    working: 'Refunding…',
    badAmount: 'This amount cannot be refunded.',
    noReason: 'Enter a reason.',
  },
} as const
