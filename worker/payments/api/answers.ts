// What the read routes of payments answer: lists, one payment with its story, gateways with the
// state of their circuits, a sweep. Only the OpenAPI document loads this file.

import * as z from 'zod'
import { timeSchema } from '../../shared/fields.ts'
import {
  ACTIONS,
  type CallKind,
  CHECK_STATUSES,
  DURABLE_EVENTS,
  OUTCOMES,
  REFUSED,
} from '../domain/status.ts'
import {
  durablePayloadSchema,
  paymentErrorSchema,
  raisedAlertSchema,
  settledAlertSchema,
  statusSchema,
  transactionSchema,
} from './payment-schemas.ts'

export const unreadableSchema = z
  .object({
    id: z.string(),
    code: z.literal('unreadable'),
    invalid: z.string().describe('A sentence that says what is invalid.'),
  })
  .describe(
    'What a list shows for an invalid row, such as one with an impossible time: only this row ' +
      'fails, and the list shows that it exists.',
  )

/** A list of such rows. */
export const listedSchema = <Item extends z.ZodType>(item: Item) =>
  z.array(z.union([item, unreadableSchema]))

export const eventRecordSchema = z
  .object({
    id: z.string(),
    gateway: z.string(),
    eventId: z.string().describe('The gateway’s: the same for every delivery of one event.'),
    gatewayTransactionId: z.string().exactOptional(),
    externalReferenceId: z.string().exactOptional(),
    reference: z.string().exactOptional(),
    transactionId: z.string().describe('Ours. Missing while it is parked.').exactOptional(),
    fromStatus: statusSchema.exactOptional(),
    toStatus: statusSchema,
    amount: z.int(),
    currency: z.string(),
    isMismatch: z.boolean(),
    outcome: z.enum(OUTCOMES),
    error: paymentErrorSchema.exactOptional(),
    raw: z.unknown().describe('What the gateway sent, masked.').exactOptional(),
    rawBytes: z
      .int()
      .describe('In place of `raw`, which would be too much here: the event by itself has it.')
      .exactOptional(),
    correlationId: z.string().exactOptional(),
    occurredAt: timeSchema,
    receivedAt: timeSchema,
  })
  .describe('A verified webhook of a gateway.')

export const refundRecordSchema = z.object({
  id: z.string(),
  amount: z.int(),
  reason: z.string(),
  status: z.enum(['claimed', 'accepted', 'succeeded', 'failed']),
  gatewayRefundId: z.string().exactOptional(),
  askedBy: z
    .string()
    .describe('The subject that asked for it. Missing: nobody here, or in process.')
    .exactOptional(),
  error: paymentErrorSchema.exactOptional(),
  correlationId: z.string().exactOptional(),
  createdAt: timeSchema,
  updatedAt: timeSchema,
})

export const deliveryRecordSchema = z.object({
  id: z.string(),
  endpoint: z.string(),
  status: z.enum(['pending', 'delivered', 'dead']),
  attempts: z.int(),
  lastStatus: z.int().exactOptional(),
  lastError: z.string().exactOptional(),
  nextAttemptAt: timeSchema.exactOptional(),
  deliveredAt: timeSchema.exactOptional(),
})

export const storedEventSchema = z
  .object({
    id: z.string(),
    type: z.enum(DURABLE_EVENTS),
    payload: durablePayloadSchema,
    createdAt: timeSchema,
    listenersDoneAt: timeSchema
      .describe('When the listeners in process had accepted it.')
      .exactOptional(),
    deliveries: z.array(deliveryRecordSchema),
  })
  .describe('A durable event with its deliveries.')

const { acknowledgedAt, acknowledgedBy, gatewayReference } = settledAlertSchema.shape

export const alertRecordSchema = raisedAlertSchema.extend({
  transactionId: z.string().describe('Ours.').exactOptional(),
  acknowledgedAt: acknowledgedAt.exactOptional(),
  acknowledgedBy: acknowledgedBy.exactOptional(),
  gatewayReference,
})

export const auditRecordSchema = z
  .object({
    id: z.string(),
    at: timeSchema,
    action: z
      .enum(ACTIONS)
      .describe(
        '`late_refund`: of money that came after its payment had ended. `reopen`: an ' +
          'acknowledgement was taken back. `forget`: what may name ' +
          'the payer was deleted. `pause`, `resume`: of all payments.',
      ),
    subject: z
      .string()
      .describe('The `sub` of the token, or the name that a caller in process gave itself.'),
    transactionId: z.string().describe('Ours.').exactOptional(),
    gateway: z.string().exactOptional(),
    reference: z.string().exactOptional(),
    about: z
      .string()
      .describe(
        'The id of the refund, alert, delivery or note, or of the attempt that replaced this one.',
      )
      .exactOptional(),
    amount: z.int().exactOptional(),
    currency: z.string().exactOptional(),
    detail: z.string().describe('The kind of the alert, or `repeat`.').exactOptional(),
  })
  .describe('Who asked for what. Webhooks and the sweeper are not in it: nobody asked.')

export const noteSchema = z
  .object({
    id: z.string(),
    text: z.string(),
    by: z.string().describe('The subject of the token.'),
    createdAt: timeSchema,
  })
  .describe('What a person wrote on a payment.')

const checkSchema = z
  .object({
    lastAt: timeSchema.exactOptional(),
    lastStatus: z
      .enum(CHECK_STATUSES)
      .describe('`unknown`: the gateway does not have it. `unreachable`: it did not answer.')
      .exactOptional(),
    nextAt: timeSchema.describe('Missing: nothing of it is open any more.').exactOptional(),
  })
  .describe('When the gateway was last asked about it, what it said, and when it is asked next.')

const canSchema = z
  .object({
    refund: z.int().describe('Minor units: the most that can be refunded. 0: nothing, for now.'),
    check: z.boolean().describe('Its gateway can be asked about it.'),
    cancel: z.boolean().describe('It is open, and its gateway or we can end it.'),
  })
  .describe('What may be asked for of it now. While payments are paused, only a check.')

const storyParts = z.object({
  isStranded: z
    .boolean()
    .describe('It is open but cannot be paid: a charge with `replace` resolves it.'),
  can: canSchema,
  check: checkSchema,
  webhookEvents: listedSchema(eventRecordSchema),
  refunds: listedSchema(refundRecordSchema),
  events: listedSchema(storedEventSchema),
  alerts: listedSchema(alertRecordSchema),
  audit: listedSchema(auditRecordSchema),
  notes: listedSchema(noteSchema),
})

export const storySchema = z
  .union([transactionSchema.extend(storyParts.shape), unreadableSchema.extend(storyParts.shape)])
  .describe(
    'One payment with its webhook events, refunds, events, alerts, notes, and who asked for ' +
      'what. Oldest first.',
  )

const rateSchema = z.object({
  at: timeSchema.describe('The start of the minute.'),
  outcomes: z
    .partialRecord(z.enum(OUTCOMES), z.int())
    .describe('The number of events in this minute, by their current outcome.'),
})

const refusedSchema = z.object({
  at: timeSchema.describe('The start of the minute.'),
  gateway: z.string(),
  reason: z
    .enum(REFUSED)
    .describe(
      '`invalid`: a wrong signature. `stale`: an old or impossible time. `error`: not readable.',
    ),
  count: z.int(),
})

export const webhookRatesSchema = z.object({
  from: timeSchema.describe('The start of the first minute.'),
  to: timeSchema.describe('The end of the last minute, which is not over yet.'),
  minutes: z.array(rateSchema).describe('Oldest first; a minute without an event is not listed.'),
  refused: z
    .array(refusedSchema)
    .describe('Webhooks that were not stored. In a flood, some are counted late.'),
  refusedSince: timeSchema.describe(
    'They are counted in memory since this time, for a day: since the start of the process; on ' +
      'Cloudflare since the first one, for all Workers together.',
  ),
})

/** `cursor`: there may be another page, which begins after it. */
const pageOf = <Name extends string, Item extends z.ZodType>(name: Name, item: Item) =>
  z.object({
    [name]: listedSchema(item),
    cursor: z.string().describe('Begins the next page, if there may be one.').exactOptional(),
  })

export const transactionsPageSchema = pageOf('transactions', transactionSchema)
export const eventsPageSchema = pageOf('webhookEvents', eventRecordSchema)
export const alertsPageSchema = pageOf('alerts', alertRecordSchema)
export const auditPageSchema = pageOf('audit', auditRecordSchema)

export const failingEndpointSchema = z
  .object({
    endpoint: z.string(),
    events: z.int().describe('That it did not accept twice or more: 200 stands for more, too.'),
    since: timeSchema.describe('The first of these events.'),
    lastStatus: z.int().exactOptional(),
    lastError: z.string().exactOptional(),
    nextAttemptAt: timeSchema,
  })
  .describe('An endpoint of the host application to which events are sent again.')

const breakerHealthSchema = z.object({
  state: z
    .enum(['closed', 'open', 'probing'])
    .describe(
      '`probing`: the next call, or the one that runs now, decides whether the circuit closes.',
    ),
  failures: z.int().describe('Failed calls in a row.'),
  lastFailure: z.string().describe('What failed in the last of them.').exactOptional(),
  openUntil: timeSchema.describe('While open: no call is made before this time.').exactOptional(),
})

const breakersSchema = z
  .object({
    charge: breakerHealthSchema,
    refund: breakerHealthSchema,
    status: breakerHealthSchema,
  } satisfies Record<CallKind, unknown>)
  .describe(
    'By kind of call: `status` is the check of a payment, and `charge` also its cancellation. A ' +
      'token that cannot be fetched counts for the kind that needed it.',
  )

export const gatewayHealthSchema = z.object({
  key: z.string().describe('Its key in the configuration.'),
  driver: z.string().describe('The name of the driver in the configuration.'),
  breaker: breakersSchema,
  supportsRefund: z.boolean(),
  refunds: z
    .enum(['full', 'partial'])
    .describe(
      'If it does: `full`, only all of a payment, named by the charged amount; `partial`, ' +
        'parts too.',
    )
    .exactOptional(),
  supportsStatusCheck: z.boolean().describe('It can be asked about one payment.'),
  findsLostForS: z
    .int()
    .describe(
      'So many seconds after its charge, it can also be asked about a payment of which it has ' +
        'given no id: the charge is sent again under our own, which makes no second payment.',
    ),
  supportsCancel: z
    .boolean()
    .describe('An open payment can be ended, and replaced by another request.'),
  currencies: z
    .array(z.string())
    .readonly()
    .describe('Missing: the driver takes any.')
    .exactOptional(),
  isLocal: z.boolean().describe('Simulated by a local Signalbox: charges use no real money.'),
})

export const pauseSchema = z
  .object({
    since: timeSchema,
    by: z.string().describe('The subject of the token.'),
  })
  .describe('Nothing new is charged, refunded, cancelled or replaced.')

export const gatewaysSchema = z.object({
  gateways: z.array(gatewayHealthSchema),
  pause: pauseSchema.describe('Payments are paused.').exactOptional(),
})

export const sweepReportSchema = z.object({
  isIdle: z.boolean().describe('Nothing was due, and the ledger was not called.'),
  delivered: z.int().describe('Stored events that all subscribers accepted.'),
  undelivered: z.int().describe('Stored events that failed for at least one subscriber.'),
  checked: z.int().describe('Payments that their gateway was asked about.'),
  moved: z.int().describe('Those whose status changed.'),
  chargedAgain: z.int().describe('Those whose charge was sent again, and was answered.'),
  unreachable: z.int().describe('Those whose gateway did not answer.'),
  alerts: z.int(),
  forgotten: z.int().describe('Old webhook events that were deleted.'),
  failed: z.int().describe('Parts that failed because of a bug or the database.'),
})
