// Hosted redirect (ZainCash Payment Gateway v2): the payer is sent to the gateway's page and back,
// and the gateway calls back with a signed token.

import { GatewayUnavailableException, InvalidArgumentException } from '../../domain/exceptions.ts'
import { isBarred, isSuccess, notUnderstood, shaped } from '../client/reply.ts'
import type {
  ChargeAnswer,
  Driver,
  Gateway,
  GatewayCall,
  GatewayCharge,
  GatewayReply,
  GatewayRequest,
  SupportsAccessToken,
  SupportsRefund,
  SupportsStatusCheck,
} from '../gateway.ts'
import { readClaims, tokenIn, type VerifyingKey, verified, verifyingKey } from './callback.ts'
import * as wire from './wire.ts'

const TOKEN = '/oauth2/token'
const TRANSACTION = '/api/v2/payment-gateway/transaction'
const REFUND_SCOPE = 'reverse:write'

export const redirect = {
  envPrefix: 'REDIRECT_GATEWAY_',
  settings: {
    base_url: { default: 'https://pg-api-uat.zaincash.iq' },
    client_id: { required: true },
    client_secret: { required: true },
    /** Verifies callbacks. */
    api_key: { required: true },
    scope: { default: `payment:read payment:write ${REFUND_SCOPE}` },
    service_type: { default: 'Delivery' },
    lang: { default: 'en' },
    success_url: { optional: true },
    failure_url: { optional: true },
  },
  check: ({ client_secret, api_key, ...settings }) => [
    ...(client_secret === api_key ? ['api_key is the client_secret; they are two things'] : []),
    ...['base_url', 'success_url', 'failure_url'].flatMap((name) => {
      const url = settings[name]
      return url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')
        ? []
        : [`${name} is no http(s) URL`]
    }),
  ],
  create(key, settings) {
    const { base_url = '', client_id = '', client_secret = '', api_key = '', scope = '' } = settings
    const base = base_url.replace(/\/+$/, '')
    let apiKey: VerifyingKey | undefined

    const post = (action: 'init' | 'reverse', json: unknown): GatewayRequest => ({
      endpoint: `transaction/${action}`,
      method: 'POST',
      url: `${base}${TRANSACTION}/${action}`,
      json,
      // The external reference makes one transaction of however many: a reversal has none.
      isIdempotent: action === 'init',
      withToken: true,
    })
    const inquire = (id: string, call: GatewayCall): Promise<GatewayReply> =>
      call.send({
        endpoint: 'transaction/inquiry',
        method: 'GET',
        url: `${base}${TRANSACTION}/inquiry/${encodeURIComponent(id)}`,
        isIdempotent: true,
        withToken: true,
      })
    const readInquiry = (reply: GatewayReply) => {
      if (!isSuccess(reply)) throw notUnderstood('transaction/inquiry', reply)
      return shaped(wire.inquired, reply.body, 'transaction/inquiry')
    }

    /** An earlier try has made it, and its answer was lost: never make a second one. */
    async function existing(
      { transactionId, redirectUrl }: wire.Duplicate,
      { amount, currency }: GatewayCharge,
      call: GatewayCall,
    ): Promise<ChargeAnswer> {
      if (transactionId === undefined) {
        throw new GatewayUnavailableException(
          'transaction/init does not name what it knows already',
        )
      }
      const found = readInquiry(await inquire(transactionId, call)).transactionDetails.amount
      if (found.amount !== amount || found.currency !== currency) {
        // Of another database with our names, say: paid, it would pay an order with other money.
        return { ok: false, error: wire.OTHER_PAYMENT }
      }
      if (redirectUrl === undefined) {
        const message = `${key} has this charge, and does not repeat its page`
        throw new GatewayUnavailableException(message, { gatewayTransactionId: transactionId })
      }
      return { ok: true, gatewayTransactionId: transactionId, redirectUrl }
    }

    const refundProblem = (): string | undefined =>
      scope.split(/\s+/).includes(REFUND_SCOPE)
        ? undefined
        : `${key} cannot give money back: its scope lacks ${REFUND_SCOPE}.`

    return {
      key,
      // The gateway adds fields: whatever is called the payer's is the payer's.
      privateFields: [
        ...['customer', 'payer', 'wallet', 'mobile', 'email', 'address', 'holder'],
        ...['first name', 'last name', 'full name', 'iban', 'account', 'national id'],
      ],
      echoedFields: ['orderId', 'successUrl', 'failureUrl'],
      currencies: ['IQD'],
      chargeIsIdempotent: true,
      refunds: 'full',
      refundProblem,

      tokenRequest: () => ({
        endpoint: 'token',
        method: 'POST',
        url: `${base}${TOKEN}`,
        form: { grant_type: 'client_credentials', client_id, client_secret, scope },
        isIdempotent: true,
      }),

      async charge(charge, call): Promise<ChargeAnswer> {
        if (charge.currency !== 'IQD') {
          throw new InvalidArgumentException(`${key} takes IQD, not ${charge.currency}.`)
        }
        const reply = await call.send(post('init', wire.transactionOf(charge, settings)))
        const duplicate = wire.duplicateIn(reply)
        if (duplicate) return await existing(duplicate, charge, call)
        if (isBarred(reply)) throw notUnderstood('transaction/init', reply)
        if (!isSuccess(reply)) return { ok: false, error: wire.errorIn(reply) }
        const { transactionDetails, redirectUrl, expiryTime } = shaped(
          wire.opened,
          reply.body,
          'transaction/init',
        )
        const expiresAt = wire.timeOf(expiryTime)
        return {
          ok: true,
          gatewayTransactionId: transactionDetails.transactionId,
          redirectUrl,
          ...(expiresAt !== undefined && { expiresAt }),
        }
      },

      async handleWebhook(request, call) {
        const token = tokenIn(request)
        // The key, not its promise: a Worker cannot wait for what another request began.
        apiKey ??= await verifyingKey(api_key)
        const claims = await verified(token, apiKey)
        return { gateway: key, ...readClaims(claims, call), raw: claims }
      },

      async checkStatus({ gatewayTransactionId }, call) {
        const reply = await inquire(gatewayTransactionId, call)
        if (reply.status === 404) return { known: false }
        const { status, transactionDetails, errorMessage } = readInquiry(reply)
        return {
          known: true,
          ...wire.meaningOf(status, errorMessage, call),
          ...transactionDetails.amount,
          raw: reply.body,
        }
      },

      async refund({ gatewayTransactionId: transactionId, refundAmount, amount, reason }, call) {
        const problem = refundProblem()
        if (problem !== undefined) throw new InvalidArgumentException(problem)
        if (refundAmount !== amount) {
          throw new InvalidArgumentException(`${key} gives back all of a payment or nothing.`)
        }
        const reply = await call.send(post('reverse', { transactionId, reason }))
        // Refused credentials too: nothing was given back, and it may be asked for again.
        if (!isSuccess(reply)) return { ok: false, error: wire.errorIn(reply) }
        const { reversalReferenceId } = shaped(wire.reversed, reply.body, 'transaction/reverse')
        return { ok: true, isDone: true, gatewayRefundId: reversalReferenceId }
      },
    } satisfies Gateway & SupportsAccessToken & SupportsRefund & SupportsStatusCheck
  },
} satisfies Driver
