// Mollie (Payments API v2): the payer is sent to its page. Its webhooks are unsigned and name no
// more than a payment, which is read. Its settings and its calls.

import { isLoopback } from '../../../shared/loopback.ts'
import { sha256Hex } from '../../../shared/sha256.ts'
import {
  aboutPayment,
  GatewayRefusedException,
  GatewayUnavailableException,
  InvalidWebhookSignatureException,
} from '../../domain/exceptions.ts'
import type { Report } from '../../domain/types.ts'
import { callbackAddress } from '../callbacks.ts'
import {
  type ChargeAnswer,
  type Driver,
  errorRemark,
  type Gateway,
  type GatewayCall,
  type GatewayRequest,
  type RefundAnswer,
  type SupportsCancel,
  type SupportsRefund,
  type SupportsStatusCheck,
  warningRemark,
} from '../gateway.ts'
import { isSuccess, parseReply, readsOf, unexpectedReply, withoutSlash } from '../reply.ts'
import type { Payment } from './wire.ts'
import * as wire from './wire.ts'

const PAYMENTS = '/v2/payments'

export const mollie = {
  envPrefix: 'MOLLIE_',
  settings: {
    base_url: { default: 'https://api.mollie.com' },
    api_key: { required: true, testPrefix: 'test_' },
  },
  check: ({ base_url = '', api_key = '' }) => [
    ...(URL.canParse(base_url) ? [] : ['base_url is not a URL']),
    ...(api_key.startsWith('access_') ? ['api_key is an access token of an organization'] : []),
  ],
  // One address serves both; the key says which.
  isLive: ({ api_key = '' }) => wire.modeOf(api_key) === 'live',
  examine({ api_key = '' }, nameOf) {
    const apiKey = nameOf('api_key')
    if (!/^(test|live)_/.test(api_key))
      return [errorRemark(`${apiKey} must begin with test_ or live_.`)]
    if (wire.modeOf(api_key) === 'live') return []
    return [warningRemark(`${apiKey} is a test key: no real money moves.`)]
  },
  reads: ({ base_url = '', api_key = '' }) => ({
    name: 'Mollie',
    setting: 'api_key',
    requests: readsOf(base_url, api_key, { payments: PAYMENTS, refunds: '/v2/refunds' }),
  }),
  create(key, { base_url = '', api_key = '' }) {
    const base = withoutSlash(base_url)
    const address = callbackAddress(key, api_key)
    const isSimulated = isLoopback(URL.parse(base)?.hostname ?? '')

    const request = (
      method: GatewayRequest['method'],
      endpoint: string,
      path: string,
      more: Partial<GatewayRequest> & { idempotencyKey?: string } = {},
    ): GatewayRequest => {
      const { idempotencyKey, ...rest } = more
      const keyed = idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }
      const headers = { authorization: `Bearer ${api_key}`, ...keyed }
      return { endpoint, method, url: `${base}${path}`, headers, isIdempotent: false, ...rest }
    }
    const pathOf = (id: string) => `${PAYMENTS}/${encodeURIComponent(id)}`

    /** With its refunds and chargebacks, read at once. Undefined: our key does not know it. */
    async function read(id: string, call: GatewayCall, more: { provenFor?: string } = {}) {
      const path = `${pathOf(id)}?embed=refunds,chargebacks`
      const reply = await call.send(
        request('GET', 'payments/{id}', path, { isIdempotent: true, ...more }),
      )
      if (reply.status === 404 || reply.status === 410) return undefined
      if (!isSuccess(reply)) throw unexpectedReply('payments/{id}', reply)
      const payment = parseReply(wire.payment, reply.body, 'payments/{id}')
      if (payment.id !== id) {
        throw new GatewayUnavailableException('payments/{id} is about another payment')
      }
      if (payment.mode !== wire.modeOf(api_key)) return undefined
      const refunds = wire.refundsOf(payment, reply.sentAt)
      const disputes = wire.disputeOf(payment, reply.sentAt)
      const report = {
        gatewayTransactionId: payment.id,
        ...wire.stateOf(payment, refunds.refunds, call),
        ...(wire.isPaid(payment) && { refunds, paidAmount: wire.paidAmountOf(payment) }),
        ...(disputes && { disputes }),
        ...(wire.isPageClosed(payment) && { isPageClosed: true as const }),
        raw: reply.body,
      } satisfies Report
      return { payment, report }
    }

    return {
      key,
      privateFields: wire.PRIVATE_FIELDS,
      echoedFields: ['metadata', 'description', 'redirectUrl', 'cancelUrl'],
      currencies: wire.CURRENCIES,
      // It is not documented for how long a key is kept: long enough for the tries of one call.
      chargeRepeatableForMs: 60_000,
      // Only the page that is in the answer can be paid.
      unseenIsUnpayable: true,
      refunds: 'partial',

      chargeProblem: ({ returnUrl }) =>
        returnUrl === undefined ? `${key} needs a returnUrl.` : undefined,

      async charge(charge, call): Promise<ChargeAnswer> {
        const { externalReferenceId } = charge
        const reply = await call.send(
          request('POST', 'payments', PAYMENTS, {
            idempotencyKey: externalReferenceId,
            json: wire.paymentOf({ ...charge, callbackUrl: await webhookUrl(charge) }),
            isIdempotent: true,
          }),
        )
        if (!isSuccess(reply)) return { ok: false, error: wire.refusalIn('payments', reply) }
        const made = parseReply(wire.made, reply.body, 'payments')
        const page = made._links.checkout?.href
        if (page === undefined) {
          const message = 'payments has no page'
          throw new GatewayUnavailableException(message, { gatewayTransactionId: made.id })
        }
        const expiresAt = Date.parse(made.expiresAt ?? '')
        return {
          ok: true,
          gatewayTransactionId: made.id,
          redirectUrl: page,
          ...(!Number.isNaN(expiresAt) && { expiresAt }),
        }
      },

      async handleWebhook({ body, query, receivedAt }, call) {
        const id = idIn(body)
        if (id === undefined) throw new InvalidWebhookSignatureException('It has no payment id')
        const provenFor = await address.verify(query)
        const proof = provenFor === undefined ? {} : { provenFor }
        const found = await read(id, call, proof).catch(aboutPayment(id))
        // 200, as Mollie asks for: another answer would tell a stranger which ids there are.
        if (!found) return { ignored: 'a payment that our key does not know' }
        const { payment, report } = found
        const references = wire.referencesIn(payment)
        if (!references) return { ignored: 'a payment that was not made here' }
        const isDisputed = report.disputes?.parts.some(({ state }) => state === 'open')
        return {
          gateway: key,
          ...report,
          ...references,
          ...(isDisputed && { alert: 'dispute' }),
          eventId: await eventIdOf(payment),
          // The payment was read now, so the age of the webhook does not matter.
          occurredAt: receivedAt,
        }
      },

      async checkStatus({ gatewayTransactionId }, call) {
        const found = await read(gatewayTransactionId, call)
        if (!found) return { known: false }
        const { payment, report } = found
        const { externalReferenceId } = wire.referencesIn(payment) ?? {}
        const payableUntil = wire.payableUntil(payment)
        return {
          known: true,
          ...report,
          ...(externalReferenceId !== undefined && { externalReferenceId }),
          isBeingPaid: wire.isBeingPaid(payment),
          ...(payableUntil !== undefined && { payableUntil }),
          ...(!payment.isCancelable && { cancelRefusal: wire.NOT_CANCELABLE }),
        }
      },

      async cancel({ gatewayTransactionId: id }, call) {
        const found = await read(id, call)
        if (found && !found.payment.isCancelable) {
          throw new GatewayRefusedException(wire.NOT_CANCELABLE)
        }
        const reply = await call.send(request('DELETE', 'payments/{id}', pathOf(id)))
        if (isSuccess(reply)) return
        throw new GatewayRefusedException(wire.refusalIn('payments/{id}', reply))
      },

      async refund(refund, call): Promise<RefundAnswer> {
        const { gatewayTransactionId, refundId: idempotencyKey } = refund
        const endpoint = 'payments/{id}/refunds'
        const path = `${pathOf(gatewayTransactionId)}/refunds`
        const json = wire.refundOf(refund)
        const reply = await call.send(request('POST', endpoint, path, { idempotencyKey, json }))
        if (!isSuccess(reply)) return { ok: false, error: wire.refusalIn(endpoint, reply) }
        const { id, status } = parseReply(wire.refund, reply.body, endpoint)
        const state = wire.refundState(status)
        if (state.error) return { ok: false, error: state.error }
        return { ok: true, isDone: state.status === 'succeeded', gatewayRefundId: id }
      },
    } satisfies Gateway & SupportsCancel & SupportsRefund & SupportsStatusCheck

    /** Mollie refuses an address that it cannot reach. */
    async function webhookUrl(charge: {
      callbackUrl: string | undefined
      externalReferenceId: string
    }): Promise<string | undefined> {
      const { callbackUrl, externalReferenceId } = charge
      const hostname = URL.parse(callbackUrl ?? '')?.hostname
      if (callbackUrl === undefined || hostname === undefined) return undefined
      if (isLoopback(hostname) && !isSimulated) return undefined
      return await address.sign(callbackUrl, externalReferenceId)
    }
  },
} satisfies Driver

/** Strangers may send it, and it becomes part of a URL that is called with our key. */
const PAYMENT_ID = /^tr_[A-Za-z0-9]{1,64}$/

/**
 * Webhooks are unsigned, and no more than the id of a payment: a hint to read that. Undefined:
 * Mollie does not send this.
 */
function idIn(body: string): string | undefined {
  const [id, another] = new URLSearchParams(body).getAll('id')
  return id !== undefined && another === undefined && PAYMENT_ID.test(id) ? id : undefined
}

/**
 * Mollie's events have no ids: one is what there was to read. A payment may have hundreds of
 * refunds, so they are digested. They come last: a dispute is one alert, whatever is refunded.
 */
async function eventIdOf(payment: Payment): Promise<string> {
  const { id, status, amountCaptured, _embedded } = payment
  const refunds = _embedded.refunds.map((refund) => `${refund.id} ${refund.status}`)
  const chargebacks = _embedded.chargebacks.map((each) => `${each.id} ${each.reversedAt ?? ''}`)
  const captured = amountCaptured ? `${status} ${amountCaptured.amount}` : status
  return [id, captured, await digest(chargebacks), await digest(refunds)].join(':')
}

const digest = async (texts: readonly string[]): Promise<string> =>
  texts.length === 0 ? '' : (await sha256Hex(texts.toSorted().join('\n'))).slice(0, 16)
