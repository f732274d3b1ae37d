// Acme Pay: a hosted page, and callbacks signed with HMAC-SHA256 over the time and the body.

import {
  type Driver,
  type Gateway,
  type GatewayCall,
  InvalidArgumentException,
  InvalidWebhookSignatureException,
  isSuccess,
  type PaymentStatus,
  parseReply,
  refusal,
  type SupportsStatusCheck,
  unexpectedReply,
} from 'signalbox/worker'
import * as z from 'zod'

const PAYMENTS = '/v1/payments'

// What must be in an answer before it is believed. Acme counts in minor units, as we do.
const created = z.object({ id: z.string().min(1), page: z.string().min(1) })
const payment = z.object({
  id: z.string().min(1),
  order: z.string(),
  state: z.string(),
  amount: z.int(),
  currency: z.string(),
})
const callback = z.object({ event: z.string().min(1), payment })
const failure = z.object({ code: z.string(), message: z.string() })

/** Acme's states as ours. */
const STATUSES: ReadonlyMap<string, PaymentStatus> = new Map([
  ['open', 'Pending'],
  ['paid', 'Paid'],
  ['declined', 'Failed'],
  ['cancelled', 'Cancelled'],
  ['expired', 'Expired'],
  ['refunded', 'Refunded'],
])

export const acme = {
  envPrefix: 'ACME_',
  settings: {
    base_url: { default: 'https://api.acme.example' },
    api_key: { required: true },
    signing_secret: { required: true },
  },
  create(key, { base_url = '', api_key = '', signing_secret = '' }) {
    const headers = { 'x-api-key': api_key }

    return {
      key,
      // Acme names the payer. The order is ours, and Acme sends it back.
      privateFields: ['payer', 'email'],
      echoedFields: ['order'],
      currencies: ['IQD', 'USD'],
      // Acme makes one payment for each Idempotency-Key, however often it is sent.
      chargeIsIdempotent: true,

      async charge(
        { externalReferenceId, reference, amount, currency, description, returnUrl },
        call,
      ) {
        if (returnUrl === undefined) throw new InvalidArgumentException(`${key} needs a returnUrl.`)
        const reply = await call.send({
          endpoint: 'payments',
          method: 'POST',
          url: `${base_url}${PAYMENTS}`,
          headers: { ...headers, 'idempotency-key': externalReferenceId },
          json: { order: reference, amount, currency, description, back: returnUrl },
          isIdempotent: true,
        })
        // A definite refusal: the charge is Failed. Any other failure leaves it open.
        const refused = failure.safeParse(reply.body)
        if (reply.status === 422 && refused.success) {
          return { ok: false, error: refusal(refused.data.code, refused.data.message) }
        }
        if (!isSuccess(reply)) throw unexpectedReply('payments', reply)
        const { id, page } = parseReply(created, reply.body, 'payments')
        return { ok: true, gatewayTransactionId: id, redirectUrl: page }
      },

      async handleWebhook({ headers: sent, body }, call) {
        const time = sent.get('acme-time') ?? ''
        const isGenuine = await verify(
          signing_secret,
          `${time}.${body}`,
          sent.get('acme-signature'),
        )
        // Only what is proven is parsed.
        if (!isGenuine) throw new InvalidWebhookSignatureException('The signature does not match')
        const raw: unknown = JSON.parse(body)
        const { event, payment: reported } = parseReply(callback, raw, 'the callback')
        return {
          gateway: key,
          gatewayTransactionId: reported.id,
          reference: reported.order,
          status: statusOf(reported.state, call),
          amount: reported.amount,
          currency: reported.currency,
          eventId: event,
          occurredAt: Number(time) * 1_000,
          raw,
        }
      },

      async checkStatus({ gatewayTransactionId }, call) {
        const reply = await call.send({
          endpoint: 'payments/{id}',
          method: 'GET',
          url: `${base_url}${PAYMENTS}/${encodeURIComponent(gatewayTransactionId)}`,
          headers,
          isIdempotent: true,
        })
        if (reply.status === 404) return { known: false }
        if (!isSuccess(reply)) throw unexpectedReply('payments/{id}', reply)
        const { state, amount, currency } = parseReply(payment, reply.body, 'payments/{id}')
        const status = statusOf(state, call)
        // It may mean that the payer is paying now: such a payment is not replaced by another one.
        const isBeingPaid = !STATUSES.has(state)
        return { known: true, status, isBeingPaid, amount, currency, raw: reply.body }
      },
    } satisfies Gateway & SupportsStatusCheck
  },
} satisfies Driver

/** A word that Acme adds later moves nothing, and the operator reads of it. */
function statusOf(state: string, call: GatewayCall): PaymentStatus {
  const status = STATUSES.get(state)
  if (status === undefined) call.warn('payments.acme.unknown_status', { state })
  return status ?? 'Pending'
}

/** Compares in constant time, which `===` on two digests does not. */
async function verify(secret: string, text: string, hex: string | null): Promise<boolean> {
  if (hex === null || !/^[0-9a-f]{64}$/.test(hex)) return false
  const encode = new TextEncoder()
  const hash = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encode.encode(secret), hash, false, ['verify'])
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return await crypto.subtle.verify('HMAC', key, signature, encode.encode(text))
}
