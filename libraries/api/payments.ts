// Describes the routes of payments, for the OpenAPI document.

import * as z from 'zod'
import {
  alertRecordSchema,
  alertsPageSchema,
  auditPageSchema,
  auditRecordSchema,
  deliveryRecordSchema,
  eventRecordSchema,
  eventsPageSchema,
  failingEndpointSchema,
  gatewayHealthSchema,
  gatewaysSchema,
  noteSchema,
  pauseSchema,
  refundRecordSchema,
  storedEventSchema,
  storySchema,
  sweepReportSchema,
  transactionsPageSchema,
  unreadableSchema,
  webhookRatesSchema,
} from '../../worker/payments/api/answers.ts'
import {
  movementDaySchema,
  movementDaysSchema,
  movementSchema,
  movementSumSchema,
  movementsSchema,
  settledSchema,
} from '../../worker/payments/api/books-answers.ts'
import { settlementSchema } from '../../worker/payments/api/books-hono.ts'
import {
  alertDetailSchema,
  alertKindSchema,
  openAlertSchema,
  paidSchema,
  paymentErrorSchema,
  paymentResponseSchema,
  raisedAlertSchema,
  refundResultSchema,
  requestedSchema,
  settledAlertSchema,
  statusSchema,
  transactionSchema,
} from '../../worker/payments/api/payment-schemas.ts'
import {
  alertsQuery,
  auditQuery,
  eventsQuery,
  movementDaysQuery,
  movementsQuery,
  noQuery,
  ratesQuery,
  transactionsQuery,
} from '../../worker/payments/api/query-parameters.ts'
import {
  acknowledgementSchema,
  noteAskedSchema,
  sendAllSchema,
} from '../../worker/payments/api/routes-hono.ts'
import { chargeSchema, metadataSchema } from '../../worker/payments/charging/charge.ts'
import { refundSchema } from '../../worker/payments/charging/refund.ts'
import type { Reason } from '../../worker/shared/problem.ts'
import { type Answer, type Description, type Operation, revalidated } from './operation.ts'

const refundAskedSchema = refundSchema.extend({ gateway: chargeSchema.shape.gateway })
const failingSchema = z.object({ endpoints: z.array(failingEndpointSchema) })
const acknowledgedSchema = z.object({ acknowledged: z.literal(true) })
const reopenedSchema = z.object({ acknowledged: z.literal(false) })
const resumedSchema = z.object({ resumed: z.literal(true) })
const redeliveringSchema = z.object({ redelivering: z.literal(true) })

const DATABASE: readonly Reason[] = ['ledger_unavailable', 'schema_mismatch', 'other_database']
const BODY: readonly Reason[] = ['invalid_argument', 'payload_too_large']
const GATEWAY: readonly Reason[] = ['gateway_unavailable', 'gateway_refused', 'paused']

const TEXTS = ['text/csv', 'application/jsonl']

const answer = (description: string, schema: z.ZodType): Answer => ({
  description,
  schema,
  headers: ['X-Correlation-Id', 'Cache-Control'],
})

const read = (
  of: Pick<Operation, 'id' | 'summary' | 'description' | 'path'>,
  query: z.ZodObject,
  schema: z.ZodType,
  failures: readonly Reason[] = ['invalid_argument'],
  texts?: typeof TEXTS,
): Operation => ({
  ...of,
  needs: 'payments:read',
  query,
  headers: ['If-None-Match', 'X-Correlation-Id'],
  answers: revalidated(schema, ['ETag', 'Cache-Control', 'X-Correlation-Id'], texts),
  failures: ['unknown_filter', ...failures, ...DATABASE],
})

type Written = Omit<Operation, 'needs' | 'failures'> & { failures?: readonly Reason[] }

const write = ({ headers = [], failures = [], ...of }: Written): Operation => ({
  ...of,
  needs: 'payments:write',
  headers: [...headers, 'X-Correlation-Id'],
  failures: [...(of.body ? BODY : ['payload_too_large' as const]), ...failures, ...DATABASE],
})

const OPERATIONS: Record<string, Operation> = {
  'POST /api/payments/charges': write({
    id: 'createCharge',
    summary: 'Charge an order',
    description:
      'Safe to send again at any time: the same order, or the same `Idempotency-Key`, cannot be ' +
      'charged twice. It is answered within 20 s.',
    headers: ['Idempotency-Key'],
    body: chargeSchema,
    answers: {
      201: answer('A new payment: send the payer to `redirectUrl`.', paymentResponseSchema),
      200: answer('The payment of a repeated charge, as it is now.', paymentResponseSchema),
    },
    failures: [
      'in_progress',
      'idempotency_conflict',
      'reference_conflict',
      'already_paid',
      ...GATEWAY,
    ],
  }),
  'POST /api/payments/refunds': write({
    id: 'createRefund',
    summary: 'Refund a payment',
    description: 'Give each refund its own `Idempotency-Key`: it can then be sent again.',
    headers: ['Idempotency-Key'],
    body: refundAskedSchema,
    answers: { 200: answer('The gateway accepted the refund.', refundResultSchema) },
    failures: ['in_progress', 'idempotency_conflict', 'refund_failed', ...GATEWAY],
  }),
  'GET /api/payments/transactions': read(
    {
      id: 'listTransactions',
      summary: 'Transactions, newest first, and a search in them',
      description: 'With `format=csv` or `jsonl` all that match, read while they are sent.',
    },
    transactionsQuery,
    transactionsPageSchema,
    ['invalid_argument'],
    TEXTS,
  ),
  'GET /api/payments/transactions/:id': read(
    {
      id: 'getTransaction',
      summary: 'One transaction with everything that is known of it',
      path: { id: 'Our id of the transaction.' },
    },
    noQuery,
    storySchema,
    ['unknown_transaction'],
  ),
  'POST /api/payments/transactions/:id/check': write({
    id: 'checkTransaction',
    summary: 'Ask the gateway about one payment now',
    description: 'Each one is a call to the gateway: send it once, not in a loop.',
    path: { id: 'Our id of the transaction.' },
    answers: { 200: answer('The transaction with what the gateway answered.', storySchema) },
    failures: ['unknown_transaction', 'in_progress', 'gateway_unavailable', 'invalid_argument'],
  }),
  'POST /api/payments/transactions/:id/cancel': write({
    id: 'cancelTransaction',
    summary: 'End an open payment at its gateway',
    description:
      'An end without money is 200, whatever it is called: Stripe reports `Expired`. A payment ' +
      'that was paid, or that its gateway cannot cancel, is `not_cancellable`. `503`: it may ' +
      'still be paid. Safe to send again.',
    path: { id: 'Our id of the transaction.' },
    answers: { 200: answer('The transaction, which has ended without money.', storySchema) },
    failures: [
      'unknown_transaction',
      'in_progress',
      'not_cancellable',
      'gateway_unavailable',
      'paused',
      'invalid_argument',
    ],
  }),
  'GET /api/payments/webhook-events': read(
    { id: 'listWebhookEvents', summary: 'Webhooks of gateways, newest first' },
    eventsQuery,
    eventsPageSchema,
  ),
  'GET /api/payments/webhook-events/:id': read(
    {
      id: 'getWebhookEvent',
      summary: 'One webhook event, with what the gateway sent',
      path: { id: 'The id of the event.' },
    },
    noQuery,
    z.union([eventRecordSchema, unreadableSchema]),
    ['unknown_event'],
  ),
  'GET /api/payments/webhook-rates': read(
    { id: 'getWebhookRates', summary: 'Webhooks in each of the last minutes, by outcome' },
    ratesQuery,
    webhookRatesSchema,
  ),
  'GET /api/payments/failing-endpoints': read(
    { id: 'listFailingEndpoints', summary: 'Endpoints of the shop that do not accept events' },
    noQuery,
    failingSchema,
    [],
  ),
  'GET /api/payments/gateways': read(
    { id: 'listGateways', summary: 'The gateways, what they support, and how they are' },
    noQuery,
    gatewaysSchema,
    [],
  ),
  'GET /api/payments/alerts': read(
    { id: 'listAlerts', summary: 'What a person should look at, newest first' },
    alertsQuery,
    alertsPageSchema,
  ),
  'GET /api/payments/audit': {
    id: 'listAudit',
    summary: 'Who asked for what, newest first',
    description: 'With `format=csv` or `jsonl` all of it, which is read while it is sent.',
    needs: 'payments:read',
    query: auditQuery,
    headers: ['X-Correlation-Id'],
    answers: { 200: { ...answer('As it is now.', auditPageSchema), texts: TEXTS } },
    failures: ['unknown_filter', 'invalid_argument', ...DATABASE],
  },
  'GET /api/payments/movements': {
    id: 'listMovements',
    summary: 'The books: what was paid and given back, oldest first',
    description: 'All of a span of time, with its sums, which is read while it is sent.',
    needs: 'payments:read',
    query: movementsQuery,
    headers: ['X-Correlation-Id'],
    answers: { 200: { ...answer('As it is now.', movementsSchema), texts: TEXTS } },
    failures: ['unknown_filter', 'invalid_argument', ...DATABASE],
  },
  'GET /api/payments/movements/days': {
    id: 'listMovementDays',
    summary: 'The sums of the books, day by day',
    needs: 'payments:read',
    query: movementDaysQuery,
    headers: ['X-Correlation-Id'],
    answers: { 200: answer('As it is now.', movementDaysSchema) },
    failures: ['unknown_filter', 'invalid_argument', ...DATABASE],
  },
  'POST /api/payments/reconcile': {
    id: 'reconcile',
    summary: 'Compare rows of a gateway’s settlement with our payments',
    description:
      'Each row is found by the gateway’s id, else by ours, else by the reference with the ' +
      'amount. It changes nothing, and answers a row for each, in their order.',
    needs: 'payments:read',
    headers: ['X-Correlation-Id'],
    body: settlementSchema,
    answers: { 200: answer('How each row compares.', settledSchema) },
    failures: [...BODY, ...DATABASE],
  },
  'POST /api/payments/alerts/:id/acknowledge': write({
    id: 'acknowledgeAlert',
    summary: 'A person has seen this alert',
    description: 'With what was done about it at the gateway, if anything.',
    path: { id: 'The id of the alert.' },
    body: acknowledgementSchema,
    isBodyOptional: true,
    answers: {
      200: answer('It is acknowledged; the first who did so is kept.', acknowledgedSchema),
    },
    failures: ['unknown_alert'],
  }),
  'DELETE /api/payments/alerts/:id/acknowledge': write({
    id: 'reopenAlert',
    summary: 'Take an acknowledgement back, within a minute',
    description:
      'The alert is open again, and told so: `AlertRaised`, with a new `createdAt`. Later, or ' +
      'once the matter is settled, it is `too_late`. One that is open stays as it is.',
    path: { id: 'The id of the alert.' },
    answers: { 200: answer('It is open.', reopenedSchema) },
    failures: ['unknown_alert', 'too_late'],
  }),
  'POST /api/payments/transactions/:id/notes': write({
    id: 'createNote',
    summary: 'Write a note on a payment',
    description:
      'For those who look at it next: it is in its story, the search finds it, and it is ' +
      'forgotten with what may name the payer. No gateway and no event has it.',
    path: { id: 'Our id of the transaction.' },
    body: noteAskedSchema,
    answers: { 201: answer('The note.', noteSchema) },
    failures: ['unknown_transaction'],
  }),
  'POST /api/payments/deliveries/:id/redeliver': write({
    id: 'redeliver',
    summary: 'Send one event to the endpoint of the shop again',
    path: { id: 'The id of the delivery.' },
    answers: { 202: answer('It is being sent.', redeliveringSchema) },
    failures: ['unknown_delivery'],
  }),
  'POST /api/payments/failing-endpoints/send-all': write({
    id: 'sendAll',
    summary: 'Send all events again that wait for an endpoint of the shop',
    body: sendAllSchema,
    answers: { 202: answer('They are being sent.', redeliveringSchema) },
  }),
  'POST /api/payments/pause': write({
    id: 'pausePayments',
    summary: 'Begin nothing new, such as before a move to another machine',
    description:
      'Until `resume`, on every host and over restarts, what would charge, refund, cancel or ' +
      'replace a payment is `paused`. What was begun before is settled: webhooks, checks and ' +
      'deliveries go on. Sent again, it changes nothing.',
    answers: { 200: answer('Since when, and who asked for it first.', pauseSchema) },
  }),
  'POST /api/payments/resume': write({
    id: 'resumePayments',
    summary: 'Begin new payments again',
    answers: { 200: answer('Payments are not paused.', resumedSchema) },
  }),
  'POST /api/payments/sweep': {
    id: 'sweep',
    summary: 'Do what is due now',
    description:
      'Delivers pending events, applies early webhooks, and asks gateways about payments whose ' +
      'time has come. It runs every minute by itself.',
    needs: 'payments:write',
    headers: ['X-Correlation-Id'],
    answers: { 200: answer('What was done.', sweepReportSchema) },
    failures: ['payload_too_large'],
  },
}

export const PAYMENTS: Description = {
  tag: {
    name: 'Payments',
    description: 'Charges, refunds, and what is known of them. Amounts are in minor units.',
  },
  operations: OPERATIONS,
  schemas: {
    PaymentStatus: statusSchema,
    PaymentError: paymentErrorSchema,
    Paid: paidSchema,
    Metadata: metadataSchema,
    Transaction: transactionSchema,
    ChargeRequest: chargeSchema,
    RequestedCharge: requestedSchema,
    PaymentResponse: paymentResponseSchema,
    RefundRequest: refundAskedSchema,
    RefundResult: refundResultSchema,
    Unreadable: unreadableSchema,
    TransactionsPage: transactionsPageSchema,
    TransactionStory: storySchema,
    Refund: refundRecordSchema,
    StoredEvent: storedEventSchema,
    Delivery: deliveryRecordSchema,
    WebhookEvent: eventRecordSchema,
    WebhookEventsPage: eventsPageSchema,
    WebhookRates: webhookRatesSchema,
    FailingEndpoint: failingEndpointSchema,
    FailingEndpoints: failingSchema,
    AlertKind: alertKindSchema,
    OpenAlert: openAlertSchema,
    AlertDetail: alertDetailSchema,
    RaisedAlert: raisedAlertSchema,
    SettledAlert: settledAlertSchema,
    Alert: alertRecordSchema,
    AlertsPage: alertsPageSchema,
    AuditRecord: auditRecordSchema,
    AuditPage: auditPageSchema,
    Movement: movementSchema,
    MovementSum: movementSumSchema,
    Movements: movementsSchema,
    MovementDay: movementDaySchema,
    MovementDays: movementDaysSchema,
    Settlement: settlementSchema,
    Settled: settledSchema,
    Gateway: gatewayHealthSchema,
    Gateways: gatewaysSchema,
    Pause: pauseSchema,
    Resumed: resumedSchema,
    SweepReport: sweepReportSchema,
    Acknowledgement: acknowledgementSchema,
    Acknowledged: acknowledgedSchema,
    Reopened: reopenedSchema,
    NoteRequest: noteAskedSchema,
    Note: noteSchema,
    Redelivering: redeliveringSchema,
  },
}
