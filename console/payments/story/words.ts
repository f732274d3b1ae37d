// The texts of one payment: its facts, its history, and its replacement if it cannot be paid.

import type { DurableEvent } from '../../../worker/payments/domain/status.ts'
import type {
  DeliveryRecord,
  EventRecord,
  RefundRecord,
} from '../../../worker/payments/queries/queries.ts'
import { count } from '../../words.ts'

export const storyWords = {
  back: 'All payments',
  unknown: 'There is no payment with this id.',
  unreadableEntry: 'This entry cannot be read',
  unknownHint: 'It may be in another database, or the link is incomplete.',
  timeline: 'What happened',
  facts: 'Facts',
  id: 'Our id',
  gatewayId: 'The gateway’s id',
  externalId: 'External reference',
  correlation: 'Correlation id',
  attempt: 'Attempt',
  repeat: 'Charged again',
  onPurpose: 'on purpose (repeat)',
  created: 'Created',
  updated: 'Last change',
  paid: 'Paid at',
  paidAmount: 'Paid',
  expires: 'Expires',
  refunded: 'Refunded',
  description: 'Description',
  gateway: 'Gateway',
  pay: 'Open the payment page',
  initiated: 'Charge of',
  refused: 'The gateway refused the charge',
  webhook: 'Webhook',
  check: 'Status check',
  becomes: ' becomes ',
  reports: (status: string) => `reports ${status}`,
  mismatch: 'not the requested amount',
  refundMismatch: 'not the amount that was paid or refunded',
  outcomes: {
    applied: 'Applied',
    unchanged: 'No change',
    parked: 'Parked until its payment appears',
    illegal: 'Ignored: not possible from the current status',
    rejected: 'Rejected: different amount or currency',
    late_payment: 'Too late: the status stays',
  } satisfies Record<EventRecord['outcome'], string>,
  eventId: 'Event',
  occurred: (time: string) => `happened ${time}`,
  raw: 'Data of the gateway (secrets are masked)',
  events: {
    PaymentInitiated: 'Event: the payment was initiated',
    PaymentSucceeded: 'Event: the payment succeeded',
    PaymentFailed: 'Event: the payment failed',
    PaymentCancelled: 'Event: the payment was cancelled or expired',
    PaymentRefunded: 'Event: the payment was refunded',
    AlertRaised: 'Event: an alert was raised',
    AlertSettled: 'Event: an alert was settled',
  } satisfies Record<DurableEvent, string>,
  delivered: (time: string) => `Delivered to listeners ${time}`,
  undelivered: 'Not delivered to listeners yet',
  deliveries: {
    pending: 'pending',
    delivered: 'delivered',
    dead: 'failed for good',
  } satisfies Record<DeliveryRecord['status'], string>,
  attempts: (n: number) => count(n, 'attempt', 'attempts'),
  next: (time: string) => `next ${time}`,
  answered: (status: number) => `answered ${status}`,
  refund: 'Refund of',
  refundStates: {
    claimed: 'in progress',
    accepted: 'accepted, not refunded yet',
    succeeded: 'refunded',
    failed: 'failed',
  } satisfies Record<RefundRecord['status'], string>,
  settled: (time: string) => `last change ${time}`,
  acknowledged: (by: string, time: string) => `Acknowledged by ${by}, ${time}`,

  stranded: {
    title: 'Nobody can pay this',
    lead: 'The payment page or code of this charge never came back, or it has expired.',
    explanation: (gateway: string) =>
      `${gateway} is asked once more. Only if this payment is certainly not paid, it is ` +
      'cancelled, and the order gets a new payment. Money that comes for the old one after ' +
      'that is shown as a late payment.',
    replace: 'Replace this payment',
  },
} as const
