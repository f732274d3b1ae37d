// Acme Pay: a hosted page, and callbacks signed with HMAC-SHA256 over the time and the body.

import {
  type Driver,
  type Gateway,
  type GatewayCall,
  GatewayRefusedException,
  type GatewayReply,
  InvalidWebhookSignatureException,
  isSuccess,
  type PaymentError,
  type PaymentStatus,
  parseReply,
  refusal,
  type SupportsCancel,
  type SupportsRefund,
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
  amount: z.int().nonnegative(),
  currency: z.string(),
  refunded: z.int().nonnegative(),
})
const callback = z.object({ event: z.string().min(1), payment })
// The payment's id, also where the rest cannot be read.
const named = z.object({ payment: z.object({ id: z.string().min(1) }) })
const refunded = z.object({ id: z.string().min(1), state: z.enum(['done', 'under_way']) })
const failure = z.object({ code: z.string(), message: z.string() })

/** Acme's states as ours. */
const STATUSES: ReadonlyMap<string, PaymentStatus> = new Map([
  ['open', 'Pending'],
  ['paid', 'Paid'],
  ['declined', 'Failed'],
  ['cancelled', 'Cancelled'],
  ['expired', 'Expired'],
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
    const urlOf = (id: string) => `${base_url}${PAYMENTS}/${encodeURIComponent(id)}`

    return {
      key,
      // Acme names the payer. The order is ours, and Acme sends it back.
      privateFields: ['payer', 'email'],
      echoedFields: ['order'],
      currencies: ['IQD', 'USD'],
      // Acme makes one payment for each Idempotency-Key, which it keeps for a day.
      chargeRepeatableForMs: 24 * 3_600_000,
      refunds: 'partial',

      chargeProblem: ({ returnUrl }) =>
        returnUrl === undefined ? `${key} needs a returnUrl.` : undefined,

      async charge(
        { externalReferenceId, reference, amount, currency, description, returnUrl },
        call,
      ) {
        const reply = await call.send({
          endpoint: 'payments',
          method: 'POST',
          url: `${base_url}${PAYMENTS}`,
          headers: { ...headers, 'idempotency-key': externalReferenceId },
          json: { order: reference, amount, currency, description, back: returnUrl },
          isIdempotent: true,
        })
        // A definite refusal: the charge is Failed. Any other failure leaves it open.
        const error = refusalIn(reply)
        if (error) return { ok: false, error }
        if (!isSuccess(reply)) throw unexpectedReply('payments', reply)
        const { id, page } = parseReply(created, reply.body, 'payments')
        return { ok: true, gatewayTransactionId: id, redirectUrl: page }
      },

      async handleWebhook({ headers: sent, bytes, body }, call) {
        const time = sent.get('acme-time') ?? ''
        const signed = await new Blob([`${time}.`, bytes]).arrayBuffer()
        const isGenuine = await verify(signing_secret, signed, sent.get('acme-signature'))
        // Only what is proven is parsed.
        if (!isGenuine) throw new InvalidWebhookSignatureException('The signature does not match')
        const raw: unknown = JSON.parse(body)
        const read = callback.safeParse(raw)
        if (!read.success) {
          // Acme sends it again, and is asked about the payment that it names.
          const unreadable = read.error.issues.map(({ path }) => path.join('.')).join(', ')
          const gatewayTransactionId = named.safeParse(raw).data?.payment.id
          return { unreadable, ...(gatewayTransactionId && { gatewayTransactionId }) }
        }
        const { event, payment: reported } = read.data
        return {
          gateway: key,
          gatewayTransactionId: reported.id,
          reference: reported.order,
          ...stateOf(reported, call),
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
          url: urlOf(gatewayTransactionId),
          headers,
          isIdempotent: true,
        })
        if (reply.status === 404) return { known: false }
        if (!isSuccess(reply)) throw unexpectedReply('payments/{id}', reply)
        const read = parseReply(payment, reply.body, 'payments/{id}')
        // It may mean that the payer is paying now: such a payment is not replaced by another one.
        const isBeingPaid = !STATUSES.has(read.state)
        return {
          known: true,
          gatewayTransactionId: read.id,
          ...stateOf(read, call),
          isBeingPaid,
          paidAmount: read.amount,
          currency: read.currency,
          raw: reply.body,
        }
      },

      async refund({ gatewayTransactionId, refundId, refundAmount, reason }, call) {
        const reply = await call.send({
          endpoint: 'payments/{id}/refund',
          method: 'POST',
          url: `${urlOf(gatewayTransactionId)}/refund`,
          // Sent twice it is one refund, because of its key.
          headers: { ...headers, 'idempotency-key': refundId },
          json: { amount: refundAmount, reason },
          isIdempotent: true,
        })
        const error = refusalIn(reply)
        if (error) return { ok: false, error }
        // Any other failure: the refund may have been made, so it is asked about and not repeated.
        if (!isSuccess(reply)) throw unexpectedReply('payments/{id}/refund', reply)
        const { id, state } = parseReply(refunded, reply.body, 'payments/{id}/refund')
        // Under way: a callback with `refunded` says later that the money was sent.
        return { ok: true, isDone: state === 'done', gatewayRefundId: id }
      },

      async cancel({ gatewayTransactionId }, call) {
        const reply = await call.send({
          endpoint: 'payments/{id}/cancel',
          method: 'POST',
          url: `${urlOf(gatewayTransactionId)}/cancel`,
          headers,
          isIdempotent: true,
        })
        const error = refusalIn(reply)
        if (error) throw new GatewayRefusedException(error)
        if (!isSuccess(reply)) throw unexpectedReply('payments/{id}/cancel', reply)
      },
    } satisfies Gateway & SupportsCancel & SupportsRefund & SupportsStatusCheck
  },
} satisfies Driver

/** Acme's own no. Of any other failure it is not known what Acme did. */
function refusalIn({ status, body }: GatewayReply): PaymentError | undefined {
  const refused = failure.safeParse(body)
  if (status !== 422 || !refused.success) return undefined
  return refusal(refused.data.code, refused.data.message)
}

/**
 * A payment stays `paid` after a refund, and the amount is then what was refunded. A word that Acme
 * adds later moves nothing, and the operator reads of it.
 */
function stateOf(
  { state, amount, refunded }: z.infer<typeof payment>,
  call: GatewayCall,
): { status: PaymentStatus; amount: number } {
  if (refunded >= amount) return { status: 'Refunded', amount: refunded }
  if (refunded > 0) return { status: 'PartiallyRefunded', amount: refunded }
  const status = STATUSES.get(state)
  if (status === undefined) call.warn('payments.acme.unknown_status', { state })
  return { status: status ?? 'Pending', amount }
}

/** Compares in constant time, which `===` on two digests does not. */
async function verify(secret: string, signed: ArrayBuffer, hex: string | null): Promise<boolean> {
  if (hex === null || !/^[0-9a-f]{64}$/.test(hex)) return false
  const hash = { name: 'HMAC', hash: 'SHA-256' }
  const bytes = new TextEncoder().encode(secret)
  const key = await crypto.subtle.importKey('raw', bytes, hash, false, ['verify'])
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return await crypto.subtle.verify('HMAC', key, signature, signed)
}
