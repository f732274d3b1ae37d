// Webhooks of Stripe: how their origin is proven, and what is read from one. Events of payments
// that are not ours are ignored: an account may have some.

import * as z from 'zod'
import type { Hmac } from '../../../shared/sha256.ts'
import { InvalidWebhookSignatureException } from '../../domain/exceptions.ts'
import type { RefundSet } from '../../domain/refund-set.ts'
import type { VerifiedWebhook } from '../../domain/types.ts'
import type { GatewayCall, GatewayReply, IgnoredWebhook, UnreadableWebhook } from '../gateway.ts'
import { isSuccess, parseReply, unexpectedReply, unreadableParts } from '../reply.ts'
import * as wire from './wire.ts'

/**
 * While secrets rotate, Stripe sends one signature for each valid secret. Each costs an HMAC over
 * the body for each of our secrets, and a stranger can send any number.
 */
const MAX_SIGNATURES = 8
const MAX_HEADER_CHARS = 2_048

/**
 * `Stripe-Signature: t=…,v1=…`: HMAC-SHA256 over the time and the raw bytes of the body, before any
 * decoding or parsing. The time of the signature, in ms. Throws InvalidWebhookSignatureException.
 */
export async function verifySignature(
  header: string | null,
  body: Uint8Array,
  keys: readonly Hmac[],
): Promise<number> {
  const { time, signatures } = partsOf(header)
  const prefix = new TextEncoder().encode(`${time}.`)
  const signed = new Uint8Array(prefix.length + body.length)
  signed.set(prefix)
  signed.set(body, prefix.length)
  for (const key of keys) {
    for (const signature of signatures) {
      if (await key.verify(signature, signed)) return Number(time) * 1_000
    }
  }
  throw new InvalidWebhookSignatureException('No signature matches')
}

function partsOf(header: string | null): { time: string; signatures: string[] } {
  if (header === null) throw new InvalidWebhookSignatureException('Stripe-Signature is missing')
  if (header.length > MAX_HEADER_CHARS) {
    throw new InvalidWebhookSignatureException('Stripe-Signature is too long')
  }
  const values = (name: string, shape: RegExp) =>
    header
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part.startsWith(`${name}=`))
      .map((part) => part.slice(name.length + 1))
      .filter((value) => shape.test(value))
  const [time] = values('t', /^\d{1,11}$/)
  const signatures = values('v1', /^[0-9a-f]{64}$/i).slice(0, MAX_SIGNATURES)
  if (time === undefined || signatures.length === 0) {
    throw new InvalidWebhookSignatureException('Stripe-Signature has no time or no v1 signature')
  }
  return { time, signatures }
}

const event = z.object({
  id: z.string().min(1),
  object: z.string().optional().catch(undefined),
  type: z.string().min(1),
  data: z.object({ object: z.unknown() }).optional().catch(undefined),
})

/** What is known before the event is parsed, and what it may ask of Stripe. */
export interface Delivery {
  gateway: string
  /** The parsed body. */
  raw: unknown
  /** ms */
  occurredAt: number
  readIntent(id: string): Promise<GatewayReply>
  /** All of a PaymentIntent. */
  readRefunds(intent: string): Promise<RefundSet>
}

type ReadWebhook = VerifiedWebhook | IgnoredWebhook | UnreadableWebhook

/** What an event is about cannot be read with our key. Sent again, it could not be read either. */
class NotReadable extends Error {
  readonly isForbidden: boolean

  constructor(endpoint: string, { status }: GatewayReply) {
    super(`${endpoint} (${status})`)
    this.isForbidden = status === 403
  }
}

/**
 * What the event in `raw`, which is signed, asks of Stripe: it shares no limit with callbacks of
 * strangers. Throws NotReadable for what our key does not know or may not read.
 */
export const readsFor = (raw: unknown, call: GatewayCall): GatewayCall => ({
  async send(request) {
    const reply = await call.send({ ...request, provenFor: wire.idIn(raw) ?? '' })
    if (reply.status !== 403 && reply.status !== 404) return reply
    throw new NotReadable(request.endpoint, reply)
  },
  warn: (event, fields) => call.warn(event, fields),
})

export async function readEvent(delivery: Delivery): Promise<ReadWebhook> {
  const { id, object, type, data } = parseReply(event, delivery.raw, 'the event')
  // It names an object and does not contain it. We use none of those.
  if (!data || object?.startsWith('v2.')) return { ignored: `${type}, a thin event` }
  try {
    return await readSnapshot(delivery, { id, type, data })
  } catch (error) {
    if (!(error instanceof NotReadable)) throw error
    if (!error.isForbidden) return { ignored: `${type} of a payment that our key does not know` }
    const { payment_intent: intent } = wire.intentOnly.safeParse(data.object).data ?? {}
    const references = wire.referencesIn(data.object)
    return {
      unreadable: `${type} ${error.message}`,
      isFinal: true,
      ...(intent && { gatewayTransactionId: intent, isOtherId: true }),
      ...(references && { externalReferenceId: references.externalReferenceId }),
    }
  }
}

async function readSnapshot(
  delivery: Delivery,
  { id: eventId, type, data }: { id: string; type: string; data: { object?: unknown } },
): Promise<ReadWebhook> {
  const { gateway, occurredAt, raw } = delivery
  const common = { gateway, occurredAt, raw }
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed':
    case 'checkout.session.expired':
      return sessionEvent(type, data.object, { ...common, eventId })
    // They come in any order, and several for one change: each is only a reason to read them all.
    case 'charge.refunded':
      return await refundsOfCharge(data.object, { ...common, eventId }, delivery)
    case 'refund.created':
    case 'refund.failed':
    case 'refund.updated':
    case 'charge.refund.updated':
      return await refundsOfIntent(data.object, { ...common, eventId }, delivery)
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
      return await dispute(data.object, common, delivery)
    default:
      return { ignored: type }
  }
}

type Common = Pick<VerifiedWebhook, 'gateway' | 'occurredAt' | 'raw'>

const NOT_OURS: IgnoredWebhook = { ignored: 'not a payment of ours' }

function sessionEvent(
  type: string,
  object: unknown,
  common: Common & { eventId: string },
): ReadWebhook {
  const references = wire.referencesIn(object)
  if (!references) return NOT_OURS
  const { externalReferenceId } = references
  const read = wire.session.safeParse(object)
  if (!read.success) {
    const gatewayTransactionId = wire.idIn(object)
    return {
      unreadable: unreadableParts(read.error),
      externalReferenceId,
      ...(gatewayTransactionId !== undefined && { gatewayTransactionId }),
    }
  }
  const session = read.data
  const fields = {
    ...common,
    gatewayTransactionId: session.id,
    ...references,
    amount: session.amount_total,
    currency: session.currency,
  }
  switch (type) {
    case 'checkout.session.async_payment_succeeded':
      return { ...fields, status: 'Paid' }
    case 'checkout.session.async_payment_failed':
      return { ...fields, status: 'Failed', error: wire.failed() }
    case 'checkout.session.expired':
      return { ...fields, status: 'Expired' }
    default:
      // Unpaid: the payment method takes days, and the page is over.
      return wire.isPaid(session)
        ? { ...fields, status: 'Paid' }
        : { ...fields, status: 'Pending', isPageClosed: true }
  }
}

async function refundsOfCharge(
  object: unknown,
  common: Common & { eventId: string },
  { readRefunds }: Delivery,
): Promise<ReadWebhook> {
  const references = wire.referencesIn(object)
  if (!references) return NOT_OURS
  const { externalReferenceId } = references
  const read = wire.charge.safeParse(object)
  if (!read.success) return { unreadable: unreadableParts(read.error), externalReferenceId }
  const { payment_intent: intent, amount, currency } = read.data
  const refunds = await readRefunds(intent)
  return {
    ...common,
    // Matched by the external reference: the event does not have the session's id.
    gatewayTransactionId: intent,
    isOtherId: true,
    ...references,
    ...wire.refundedOf(refunds.refunds, amount),
    currency,
    refunds,
  }
}

async function refundsOfIntent(
  object: unknown,
  common: Common & { eventId: string },
  delivery: Delivery,
): Promise<ReadWebhook> {
  const read = wire.intentOnly.safeParse(object)
  if (!read.success) return { unreadable: unreadableParts(read.error) }
  const payment = await paymentOf(read.data, common, delivery)
  if (!payment) return NOT_OURS
  const refunds = await delivery.readRefunds(payment.gatewayTransactionId)
  const { eventId } = common
  return { ...payment, ...wire.refundedOf(refunds.refunds, payment.amount), eventId, refunds }
}

/** A refund made in the dashboard and a dispute do not have our references; their payment does. */
async function paymentOf(
  { payment_intent }: { payment_intent?: string | null | undefined },
  common: Common,
  { readIntent }: Delivery,
) {
  if (!payment_intent) return undefined
  const reply = await readIntent(payment_intent)
  if (!isSuccess(reply)) throw unexpectedReply('payment_intents', reply)
  const references = wire.referencesIn(reply.body)
  if (!references) return undefined
  const intent = parseReply(wire.intent, reply.body, 'payment_intents')
  return {
    ...common,
    gatewayTransactionId: intent.id,
    isOtherId: true,
    ...references,
    status: 'Paid',
    amount: intent.amount_received,
    currency: intent.currency,
  } as const
}

/** Its steps that leave its status as it is are one event. */
async function dispute(object: unknown, common: Common, delivery: Delivery): Promise<ReadWebhook> {
  const read = wire.dispute.safeParse(object)
  if (!read.success) return await unreadable(read.error, object, common, delivery)
  const disputed = read.data
  const payment = await paymentOf(disputed, common, delivery)
  if (!payment) return NOT_OURS
  const { id, amount, currency, status, reason } = disputed
  return {
    ...payment,
    amount,
    currency,
    eventId: `${id}:${status}`,
    error: wire.disputed(status, reason),
    alert: 'dispute',
  }
}

/** Repeated, it stays unreadable: its payment is checked with the gateway instead. */
async function unreadable(
  error: z.ZodError,
  object: unknown,
  common: Common,
  delivery: Delivery,
): Promise<IgnoredWebhook | UnreadableWebhook> {
  const read = wire.intentOnly.safeParse(object)
  if (!read.success) return { unreadable: unreadableParts(error) }
  const payment = await paymentOf(read.data, common, delivery)
  if (!payment) return NOT_OURS
  const { externalReferenceId } = payment
  return { unreadable: unreadableParts(error), externalReferenceId }
}
