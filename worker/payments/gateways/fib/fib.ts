// First Iraqi Bank: the payer scans a QR code or types a short code into the bank's app. Callbacks
// are not signed, so one is only a hint to read the payment again.

import * as z from 'zod'
import {
  GatewayRefusedException,
  InvalidArgumentException,
  InvalidWebhookSignatureException,
} from '../../domain/exceptions.ts'
import { toMinor } from '../../domain/money.ts'
import { isSuccess, notUnderstood, shaped } from '../client/reply.ts'
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
import { callbackAddress } from './callback-address.ts'
import { created, errorIn, idIn, isRefusal, meaningOf, paymentOf, stored } from './wire.ts'

const TOKEN = '/auth/realms/fib-online-shop/protocol/openid-connect/token'
const PAYMENTS = '/protected/v1/payments'
/** As the bank's own client sends them. */
const HEADERS = { 'X-Application-Type': '3rd-party', 'X-Application-Platform': 'node' }
const DURATION = /^P(?=.)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+S)?)?$/

export const fib = {
  envPrefix: 'FIB_',
  settings: {
    // Production and test know other clients: whoever forgets to set this is refused a token.
    base_url: { default: 'https://fib.prod.fib.iq' },
    client_id: { required: true },
    client_secret: { required: true },
    // An order cannot be asked for at another amount while a payment of it is open: not a day.
    expires_in: { default: 'PT1H' },
    refundable_for: { default: 'P7D' },
  },
  check: ({ base_url = '', expires_in = '', refundable_for = '' }) => [
    ...(URL.canParse(base_url) ? [] : ['base_url is no URL']),
    ...(DURATION.test(expires_in) ? [] : ['expires_in is no ISO 8601 duration like PT1H']),
    ...(DURATION.test(refundable_for) ? [] : ['refundable_for is no ISO 8601 duration like P7D']),
  ],
  create(key, { base_url = '', client_id = '', client_secret = '', expires_in, refundable_for }) {
    const base = base_url.replace(/\/+$/, '')
    const address = callbackAddress(key, client_secret)

    const about = (id: string, action: 'status' | 'cancel' | 'refund'): GatewayRequest => ({
      endpoint: `payments/${action}`,
      method: action === 'status' ? 'GET' : 'POST',
      url: `${base}${PAYMENTS}/${encodeURIComponent(id)}/${action}`,
      headers: HEADERS,
      // A refund that is asked for twice may be made twice.
      isIdempotent: action !== 'refund',
      withToken: true,
    })

    /** Undefined: the bank knows no such payment. */
    async function read(id: string, call: GatewayCall, provenFor?: string) {
      const request = about(id, 'status')
      const reply = await call.send(provenFor === undefined ? request : { ...request, provenFor })
      if (reply.status === 404 || reply.status === 400) return undefined
      if (!isSuccess(reply)) throw notUnderstood('payments/status', reply)
      const payment = shaped(stored, reply.body, 'payments/status')
      const { currency } = payment.amount
      const amount = toMinor(payment.amount.amount, currency)
      const { status, error, isBeingPaid } = meaningOf(
        payment.status,
        payment.decliningReason,
        call,
      )
      return {
        id: payment.paymentId ?? id,
        isBeingPaid,
        told: [payment.status, payment.decliningReason].filter(Boolean).join(':'),
        state: {
          status,
          amount: shaped(z.number(), amount, 'the amount in payments/status'),
          currency,
          ...(error && { error }),
        },
        raw: reply.body,
      }
    }

    return {
      key,
      privateFields: ['paid by', 'customer', 'name', 'iban', 'account', 'email', 'mobile'],
      echoedFields: ['description', 'redirectUri'],
      currencies: ['IQD'],
      chargeIsIdempotent: false,
      refunds: 'full',

      tokenRequest: () => ({
        endpoint: 'token',
        method: 'POST',
        url: `${base}${TOKEN}`,
        form: { grant_type: 'client_credentials', client_id, client_secret },
        isIdempotent: true,
      }),

      async charge(charge, call): Promise<ChargeAnswer> {
        if (charge.currency !== 'IQD') {
          throw new InvalidArgumentException(`${key} takes IQD, not ${charge.currency}.`)
        }
        const { externalReferenceId } = charge
        const callbackUrl =
          charge.callbackUrl && (await address.named(charge.callbackUrl, externalReferenceId))
        const reply = await call.send({
          endpoint: 'payments',
          method: 'POST',
          url: `${base}${PAYMENTS}`,
          headers: HEADERS,
          json: {
            ...paymentOf({ ...charge, callbackUrl }),
            expiresIn: expires_in,
            refundableFor: refundable_for,
          },
          // The bank has no idempotency key: asked again, it would make a second payment.
          isIdempotent: false,
          withToken: true,
        })
        if (isRefusal(reply)) return { ok: false, error: errorIn(reply) }
        if (!isSuccess(reply)) throw notUnderstood('payments', reply)
        const payment = shaped(created, reply.body, 'payments')
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
        if (id === undefined) throw new InvalidWebhookSignatureException('It names no payment')
        // Before the bank is asked: what strangers send must not stand in the way of what it sends.
        const externalReferenceId = await address.nameIn(query)
        const payment = await read(id, call, externalReferenceId)
        if (!payment) throw new InvalidWebhookSignatureException('It names no payment of the bank')
        return {
          gateway: key,
          gatewayTransactionId: payment.id,
          reference: '',
          ...(externalReferenceId !== undefined && { externalReferenceId }),
          ...payment.state,
          // Of what was read, not of what was told: a repeated callback says nothing new.
          eventId: `${payment.id}:${payment.told}`,
          // What was read is true now, however old the callback is.
          occurredAt: receivedAt,
          // A stranger may have written the callback; the bank has said this.
          raw: payment.raw,
        }
      },

      async checkStatus({ gatewayTransactionId }, call) {
        const payment = await read(gatewayTransactionId, call)
        if (!payment) return { known: false }
        const isRefundRequested = payment.told === 'REFUND_REQUESTED'
        const { isBeingPaid, raw } = payment
        return {
          known: true,
          ...payment.state,
          ...(isBeingPaid && { isBeingPaid }),
          isRefundRequested,
          raw,
        }
      },

      async cancel({ gatewayTransactionId }, call) {
        const reply = await call.send(about(gatewayTransactionId, 'cancel'))
        if (isRefusal(reply)) throw new GatewayRefusedException(errorIn(reply))
        if (!isSuccess(reply)) throw notUnderstood('payments/cancel', reply)
      },

      async refund({ gatewayTransactionId, refundAmount, amount }, call) {
        if (refundAmount !== amount) {
          throw new InvalidArgumentException(`${key} gives back all of a payment or nothing.`)
        }
        const reply = await call.send(about(gatewayTransactionId, 'refund'))
        if (isRefusal(reply)) return { ok: false, error: errorIn(reply) }
        if (!isSuccess(reply)) throw notUnderstood('payments/refund', reply)
        // 202: the bank has it on its list, and tells `REFUNDED` when the money went.
        return { ok: true, isDone: false }
      },
    } satisfies Gateway &
      SupportsAccessToken &
      SupportsCancel &
      SupportsRefund &
      SupportsStatusCheck
  },
} satisfies Driver
