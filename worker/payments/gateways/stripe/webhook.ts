// Webhooks of Stripe: how their origin is proven, and what is read from one. Events of payments
// that are not ours are ignored: an account may have some.

import * as z from 'zod'
import type { Hmac } from '../../../shared/sha256.ts'
import { InvalidWebhookSignatureException } from '../../domain/exceptions.ts'
import type { RefundSet, VerifiedWebhook } from '../../domain/types.ts'
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
  created: z.number().optional().catch(undefined),
  data: z.object({ object: z.unknown() }).optional().catch(undefined),
})

/** `raw`: the parsed body. */
type Common = Pick<VerifiedWebhook, 'gateway' | 'occurredAt' | 'raw' | 'eventId'>

/** What the event is about, as Stripe has it now. */
export interface EventReads {
  intent(id: string): Promise<GatewayReply>
  /** All of a PaymentIntent. */
  refunds(intent: string): Promise<RefundSet>
  dispute(id: string): Promise<GatewayReply>
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
 * For the event in `raw`, which is signed: it shares no limit with callbacks of strangers. Throws
 * NotReadable for what our key does not know or may not read.
 */
const provenCall = (raw: unknown, call: GatewayCall): GatewayCall => ({
  async send(request) {
    const reply = await call.send({ ...request, provenFor: wire.idIn(raw) ?? '' })
    if (reply.status !== 403 && reply.status !== 404) return reply
    throw new NotReadable(request.endpoint, reply)
  },
  warn: (event, fields) => call.warn(event, fields),
})

export async function readEvent(
  received: Omit<Common, 'eventId'>,
  call: GatewayCall,
  readsBy: (call: GatewayCall) => EventReads,
): Promise<ReadWebhook> {
  const { id: eventId, object, data, ...read } = parseReply(event, received.raw, 'the event')
  const { type } = read
  // It names an object and does not contain it. We use none of those.
  if (!data || object?.startsWith('v2.')) return { ignored: `${type}, a thin event` }
  const reads = readsBy(provenCall(received.raw, call))
  try {
    return await readSnapshot({ ...received, eventId }, { ...read, object: data.object }, reads)
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

/** An event with what it is about, as that was when it was made. */
interface Snapshot {
  type: string
  /** Seconds. */
  created?: number | undefined
  object: unknown
}

async function readSnapshot(
  common: Common,
  snapshot: Snapshot,
  reads: EventReads,
): Promise<ReadWebhook> {
  const { type, object } = snapshot
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed':
    case 'checkout.session.expired':
      return sessionEvent(type, object, common)
    // They come in any order, and several for one change: each is only a reason to read them all.
    case 'charge.refunded':
      return await refundsOfCharge(object, common, reads)
    case 'refund.created':
    case 'refund.failed':
    case 'refund.updated':
    case 'charge.refund.updated':
      return await refundsOfIntent(object, common, reads)
    case 'charge.dispute.created':
    case 'charge.dispute.updated':
    case 'charge.dispute.closed':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
      return await dispute(snapshot, common, reads)
    default:
      return { ignored: type }
  }
}

const NOT_OURS: IgnoredWebhook = { ignored: 'not a payment of ours' }

function sessionEvent(type: string, object: unknown, common: Common): ReadWebhook {
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
  common: Common,
  reads: EventReads,
): Promise<ReadWebhook> {
  const references = wire.referencesIn(object)
  if (!references) return NOT_OURS
  const { externalReferenceId } = references
  const read = wire.charge.safeParse(object)
  if (!read.success) return { unreadable: unreadableParts(read.error), externalReferenceId }
  const { payment_intent: intent, amount, currency } = read.data
  const refunds = await reads.refunds(intent)
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
  common: Common,
  reads: EventReads,
): Promise<ReadWebhook> {
  const read = wire.intentOnly.safeParse(object)
  if (!read.success) return { unreadable: unreadableParts(read.error) }
  const payment = await paymentOf(read.data, common, reads)
  if (!payment) return NOT_OURS
  const refunds = await reads.refunds(payment.gatewayTransactionId)
  return { ...payment, ...wire.refundedOf(refunds.refunds, payment.amount), refunds }
}

/** A refund made in the dashboard and a dispute do not have our references; their payment does. */
async function paymentOf(
  { payment_intent }: { payment_intent?: string | null | undefined },
  common: Common,
  reads: EventReads,
) {
  if (!payment_intent) return undefined
  const reply = await reads.intent(payment_intent)
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

/** Each event is only a reason to read the dispute. Its payment was paid. */
async function dispute(
  { type, created, object }: Snapshot,
  common: Common,
  reads: EventReads,
): Promise<ReadWebhook> {
  const payment = await paymentOf(wire.intentOnly.safeParse(object).data ?? {}, common, reads)
  if (!payment) return NOT_OURS
  const id = wire.idIn(object)
  const reply = id === undefined ? undefined : await unlessHidden(reads.dispute(id))
  const own = wire.dispute.safeParse(object)
  const later = reply && wire.dispute.safeParse(reply.body)
  const isClosed = type === 'charge.dispute.closed'
  if (reply && later?.success) {
    const disputes = wire.disputeOf(later.data, { readAt: reply.sentAt, isClosed })
    return { ...payment, alert: 'dispute', disputes }
  }
  if (!own.success) {
    const { externalReferenceId } = payment
    return { unreadable: unreadableParts(own.error), externalReferenceId }
  }
  const readAt = created === undefined ? common.occurredAt : created * 1_000
  const disputes = wire.disputeOf(own.data, { readAt, isCopy: true, isClosed })
  return { ...payment, alert: 'dispute', disputes }
}

/** Undefined: our key may not read it, or Stripe does not have it. The event has a copy. */
async function unlessHidden(reading: Promise<GatewayReply>): Promise<GatewayReply | undefined> {
  try {
    const reply = await reading
    if (isSuccess(reply)) return reply
    throw unexpectedReply('disputes/{id}', reply)
  } catch (error) {
    if (error instanceof NotReadable) return undefined
    throw error
  }
}
