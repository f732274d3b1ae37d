// First Iraqi Bank: the payer scans a QR code or types a short code into the bank's app. Its
// settings and its calls.

import * as z from 'zod'
import {
  aboutPayment,
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidWebhookSignatureException,
} from '../../domain/exceptions.ts'
import { callbackAddress } from '../callbacks.ts'
import type {
  ChargeAnswer,
  Driver,
  Gateway,
  GatewayCall,
  GatewayRequest,
  SupportsAccessToken,
  SupportsCancel,
  SupportsRefund,
  SupportsStatusCheck,
} from '../gateway.ts'
import { isSuccess, parseReply, unexpectedReply, withoutSlash } from '../reply.ts'
import * as wire from './wire.ts'

const PRODUCTION = 'https://fib.prod.fib.iq'
const TOKEN = '/auth/realms/fib-online-shop/protocol/openid-connect/token'
const PAYMENTS = '/protected/v1/payments'
/** The same headers that the bank's own client sends. */
const HEADERS = { 'X-Application-Type': '3rd-party', 'X-Application-Platform': 'node' }
const NO_AMOUNT = 'the amount in payments/status cannot be read'
const ANOTHER = 'payments/status is about another payment'
const DURATION = /^P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+S)?)?$/

export const fib = {
  envPrefix: 'FIB_',
  settings: {
    // Production and test have different clients: if this is not set for test, no token is granted.
    base_url: { default: PRODUCTION },
    client_id: { required: true },
    client_secret: { required: true },
    // While a payment is open, its order cannot be charged with another amount: so not a whole day.
    expires_in: { default: 'PT1H' },
    refundable_for: { default: 'P7D' },
  },
  check: ({ base_url = '', expires_in = '', refundable_for = '' }) => [
    ...(URL.canParse(base_url) ? [] : ['base_url is not a URL']),
    ...(DURATION.test(expires_in) ? [] : ['expires_in is not an ISO 8601 duration like PT1H']),
    ...(DURATION.test(refundable_for)
      ? []
      : ['refundable_for is not an ISO 8601 duration like P7D']),
  ],
  isLive: ({ base_url }) => base_url === PRODUCTION || undefined,
  create(key, { base_url = '', client_id = '', client_secret = '', expires_in, refundable_for }) {
    const base = withoutSlash(base_url)
    const address = callbackAddress(key, client_secret)

    const requestFor = (id: string, action: 'status' | 'cancel' | 'refund'): GatewayRequest => ({
      endpoint: `payments/${action}`,
      method: action === 'status' ? 'GET' : 'POST',
      url: `${base}${PAYMENTS}/${encodeURIComponent(id)}/${action}`,
      headers: HEADERS,
      // A repeated refund request may refund twice.
      isIdempotent: action !== 'refund',
      withToken: true,
    })

    /** Undefined: the bank does not know this payment. */
    async function read(id: string, call: GatewayCall, provenFor?: string) {
      const request = requestFor(id, 'status')
      const reply = await call.send(provenFor === undefined ? request : { ...request, provenFor })
      if (reply.status === 404 || reply.status === 400) return undefined
      if (!isSuccess(reply)) throw unexpectedReply('payments/status', reply)
      const payment = parseReply(wire.stored, reply.body, 'payments/status')
      const money = payment.amount
      const refunds = money && wire.refundsIn(payment.status, money.amount)
      const { status, error, isBeingPaid } = wire.meaningOf(
        payment.status,
        payment.decliningReason,
        call,
      )
      return {
        id: payment.paymentId,
        isBeingPaid,
        rawStatus: [payment.status, payment.decliningReason].filter(Boolean).join(':'),
        /** Undefined: it has no amount. */
        report: money && {
          status,
          ...(error && { error }),
          ...money,
          ...(refunds && { refunds: { readAt: reply.sentAt, refunds } }),
          // The bank's reply, since a callback may come from a stranger.
          raw: reply.body,
        },
      }
    }

    return {
      key,
      privateFields: ['paid by', 'customer', 'name', 'iban', 'account', 'email', 'mobile'],
      echoedFields: ['description', 'redirectUri'],
      currencies: ['IQD'],
      chargeRepeatableForMs: 0,
      refunds: 'full',

      tokenRequest: () => ({
        endpoint: 'token',
        method: 'POST',
        url: `${base}${TOKEN}`,
        form: { grant_type: 'client_credentials', client_id, client_secret },
        isIdempotent: true,
      }),

      async charge(charge, call): Promise<ChargeAnswer> {
        const { externalReferenceId } = charge
        const callbackUrl =
          charge.callbackUrl && (await address.sign(charge.callbackUrl, externalReferenceId))
        const reply = await call.send({
          endpoint: 'payments',
          method: 'POST',
          url: `${base}${PAYMENTS}`,
          headers: HEADERS,
          json: {
            ...wire.paymentOf({ ...charge, callbackUrl }),
            expiresIn: expires_in,
            refundableFor: refundable_for,
          },
          // The bank has no idempotency key: a repeated request would make a second payment.
          isIdempotent: false,
          withToken: true,
        })
        if (!isSuccess(reply)) return { ok: false, error: wire.refusalIn('payments', reply) }
        const payment = parseReply(wire.created, reply.body, 'payments')
        const expiresAt = Date.parse(payment.validUntil ?? '')
        return {
          ok: true,
          gatewayTransactionId: payment.paymentId,
          ...(payment.qrCode !== undefined && { qrCode: payment.qrCode }),
          ...(payment.readableCode !== undefined && { readableCode: payment.readableCode }),
          ...(payment.personalAppLink !== undefined && { deepLink: payment.personalAppLink }),
          ...(!Number.isNaN(expiresAt) && { expiresAt }),
        }
      },

      async handleWebhook({ body, query, receivedAt }, call) {
        const id = idIn(body)
        if (id === undefined) throw new InvalidWebhookSignatureException('It has no payment id')
        // Verified before the bank is asked: only unproven callbacks share the small limit.
        const externalReferenceId = await address.verify(query)
        const payment = await read(id, call, externalReferenceId).catch(aboutPayment(id))
        if (!payment)
          throw new InvalidWebhookSignatureException('The bank does not know its payment id')
        if ((payment.id ?? id) !== id) throw new GatewayUnavailableException(ANOTHER)
        const ids = {
          gatewayTransactionId: id,
          ...(externalReferenceId !== undefined && { externalReferenceId }),
        }
        if (!payment.report) return { ...ids, unreadable: 'amount' }
        return {
          ...ids,
          gateway: key,
          reference: '',
          ...payment.report,
          // From what was read, so a repeated callback is a duplicate. With the charge that the
          // callback was for: one that is refused must not make the genuine one a duplicate.
          eventId: [id, payment.rawStatus, externalReferenceId].filter(Boolean).join(':'),
          // The payment was read now, so the age of the callback does not matter.
          occurredAt: receivedAt,
        }
      },

      async checkStatus({ gatewayTransactionId }, call) {
        const payment = await read(gatewayTransactionId, call)
        if (!payment) return { known: false }
        const { isBeingPaid, report } = payment
        if (!report) throw new GatewayUnavailableException(NO_AMOUNT, { unreadable: 'amount' })
        return {
          known: true,
          ...(payment.id !== undefined && { gatewayTransactionId: payment.id }),
          ...report,
          ...(isBeingPaid && { isBeingPaid }),
        }
      },

      async cancel({ gatewayTransactionId }, call) {
        const reply = await call.send(requestFor(gatewayTransactionId, 'cancel'))
        if (isSuccess(reply)) return
        throw new GatewayRefusedException(wire.refusalIn('payments/cancel', reply))
      },

      async refund({ gatewayTransactionId }, call) {
        const reply = await call.send(requestFor(gatewayTransactionId, 'refund'))
        if (!isSuccess(reply)) {
          return { ok: false, error: wire.refusalIn('payments/refund', reply) }
        }
        // 202: the bank has accepted it, and reports `REFUNDED` when the money was sent.
        return { ok: true, isDone: false }
      },
    } satisfies Gateway &
      SupportsAccessToken &
      SupportsCancel &
      SupportsRefund &
      SupportsStatusCheck
  },
} satisfies Driver

/** Strangers may send it, and it becomes part of a URL that is called with our token. */
const PAYMENT_ID = /^[A-Za-z0-9-]{1,64}$/

/**
 * The bank does not sign its webhooks, so one is only a hint to read the payment from it. The id in
 * it; undefined when there is none that the bank could have sent.
 */
function idIn(body: string): string | undefined {
  try {
    const { id } = z
      .object({ id: z.string().regex(PAYMENT_ID).toLowerCase() })
      .parse(JSON.parse(body))
    return id
  } catch {
    // Not JSON, or no id: the bank does not send this.
    return undefined
  }
}
