// Hosted redirect (ZainCash Payment Gateway v2): the payer is sent to the gateway's page and back,
// and the gateway calls back with a signed token. Its settings and its calls.

import { GatewayUnavailableException } from '../../domain/exceptions.ts'
import {
  type ChargeAnswer,
  type Driver,
  errorRemark,
  type Gateway,
  type GatewayCall,
  type GatewayCharge,
  type GatewayReply,
  type GatewayRequest,
  type SupportsAccessToken,
  type SupportsRefund,
  type SupportsStatusCheck,
  warningRemark,
} from '../gateway.ts'
import { isAuthFailure, isSuccess, parseReply, unexpectedReply, withoutSlash } from '../reply.ts'
import { readClaims, tokenIn, type VerifyingKey, verified, verifyingKey } from './webhook.ts'
import * as wire from './wire.ts'

const TOKEN = '/oauth2/token'
const TRANSACTION = '/api/v2/payment-gateway/transaction'
/** RFC 7518 requires a key as long as the digest. */
const HS256_BYTES = 32
/** With one callback, an attacker can find a shorter key by trying all keys. */
const MIN_BYTES = 16
const TEST_HOST = 'https://pg-api-uat.zaincash.iq'
const REFUND_SCOPE = 'reverse:write'

export const redirect = {
  envPrefix: 'REDIRECT_GATEWAY_',
  settings: {
    base_url: { default: TEST_HOST },
    client_id: { required: true },
    client_secret: { required: true },
    /** Verifies callbacks; two separated by a space while it is changed. */
    api_key: { required: true },
    scope: { default: `payment:read payment:write ${REFUND_SCOPE}` },
    service_type: { default: 'Delivery' },
    lang: { default: 'en' },
    success_url: { optional: true },
    failure_url: { optional: true },
  },
  check: ({ client_secret, api_key, ...settings }) => [
    ...(keysIn(api_key).includes(client_secret ?? '')
      ? ['api_key and client_secret are equal; they must differ']
      : []),
    ...['base_url', 'success_url', 'failure_url'].flatMap((name) => {
      const url = settings[name]
      return url === undefined || /^https?:$/.test(URL.parse(url)?.protocol ?? '')
        ? []
        : [`${name} is not an http(s) URL`]
    }),
  ],
  verifiesWith: 'api_key',
  isLive: ({ base_url }) => base_url !== TEST_HOST,
  examine({ client_id = '', client_secret = '', api_key = '' }, nameOf) {
    const keys = keysIn(api_key)
    const [apiKey, clientSecret] = [nameOf('api_key'), nameOf('client_secret')]
    const bytes = Math.min(...keys.map((it) => new TextEncoder().encode(it).length))
    // Equal keys are refused with the configuration; these differ only in case or punctuation.
    const bare = (text: string) => text.replace(/[^\w]|_/g, '').toLowerCase()
    const isAlike = keys.some((it) => it !== client_secret && bare(it) === bare(client_secret))
    const isId = keys.includes(client_id) ? apiKey : clientSecret
    return [
      ...(isAlike
        ? [errorRemark(`${apiKey} is ${clientSecret} in another spelling; they must differ.`)]
        : []),
      ...(keys.includes(client_id) || client_secret === client_id
        ? [errorRemark(`${isId} is the client_id.`)]
        : []),
      ...(bytes < MIN_BYTES
        ? [
            errorRemark(
              `${apiKey} has ${bytes} bytes: an attacker who sees a callback can find it.`,
            ),
          ]
        : []),
      ...(bytes >= MIN_BYTES && bytes < HS256_BYTES
        ? [warningRemark(`${apiKey} has ${bytes} bytes; HS256 requires ${HS256_BYTES}.`)]
        : []),
    ]
  },
  create(key, settings) {
    const { base_url = '', client_id = '', client_secret = '', api_key = '', scope = '' } = settings
    const base = withoutSlash(base_url)
    let apiKeys: readonly VerifyingKey[] | undefined

    const post = (action: 'init' | 'reverse', json: unknown): GatewayRequest => ({
      endpoint: `transaction/${action}`,
      method: 'POST',
      url: `${base}${TRANSACTION}/${action}`,
      json,
      // The external reference makes repeated `init` one transaction; a reversal has none.
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
      if (!isSuccess(reply)) throw unexpectedReply('transaction/inquiry', reply)
      return parseReply(wire.inquired, reply.body, 'transaction/inquiry')
    }

    /** An earlier try has made the charge and its answer was lost: a second one is never made. */
    async function existing(
      { transactionId, redirectUrl }: wire.Duplicate,
      { externalReferenceId, amount, currency }: GatewayCharge,
      call: GatewayCall,
    ): Promise<ChargeAnswer> {
      if (transactionId === undefined) {
        throw new GatewayUnavailableException(
          'transaction/init does not name the transaction that exists already',
        )
      }
      const found = readInquiry(await inquire(transactionId, call)).transactionDetails
      // What it does not carry contradicts nothing.
      const { transactionId: its = transactionId, externalReferenceId: ours } = found
      if (its !== transactionId || (ours ?? externalReferenceId) !== externalReferenceId) {
        throw new GatewayUnavailableException('transaction/inquiry is about another transaction')
      }
      if (found.amount.amount !== amount || found.amount.currency !== currency) {
        // For example from another database with the same references: its payment is for another
        // order.
        return { ok: false, error: wire.OTHER_PAYMENT }
      }
      if (redirectUrl === undefined) {
        const message = `${key} has this charge, but does not repeat its redirectUrl`
        throw new GatewayUnavailableException(message, { gatewayTransactionId: transactionId })
      }
      return { ok: true, gatewayTransactionId: transactionId, redirectUrl }
    }

    return {
      key,
      // The gateway adds fields over time, so these names cover all that may be personal data.
      // biome-ignore format: several names a line.
      privateFields: [
        'customer', 'payer', 'wallet', 'mobile', 'email', 'address', 'holder',
        'first name', 'last name', 'full name', 'iban', 'account', 'national id',
      ],
      echoedFields: ['orderId', 'successUrl', 'failureUrl'],
      currencies: ['IQD'],
      // An external reference is of one transaction for ever.
      chargeRepeatableForMs: Number.MAX_SAFE_INTEGER,
      refunds: 'full',
      refundProblem: (): string | undefined =>
        scope.split(/\s+/).includes(REFUND_SCOPE)
          ? undefined
          : `${key} cannot refund: its scope lacks ${REFUND_SCOPE}.`,

      tokenRequest: () => ({
        endpoint: 'token',
        method: 'POST',
        url: `${base}${TOKEN}`,
        form: { grant_type: 'client_credentials', client_id, client_secret, scope },
        isIdempotent: true,
      }),

      async charge(charge, call): Promise<ChargeAnswer> {
        const reply = await call.send(post('init', wire.transactionOf(charge, settings)))
        const duplicate = wire.duplicateIn(reply)
        if (duplicate) return await existing(duplicate, charge, call)
        if (isAuthFailure(reply)) throw unexpectedReply('transaction/init', reply)
        if (!isSuccess(reply)) {
          return { ok: false, error: wire.refusalIn('transaction/init', reply) }
        }
        const { transactionDetails, redirectUrl, expiryTime } = parseReply(
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
        // Kept are the keys, not their promise: a Worker cannot await one of another request.
        apiKeys ??= await Promise.all(keysIn(api_key).map(verifyingKey))
        const claims = await verified(token, apiKeys)
        const read = readClaims(claims, call)
        if ('unreadable' in read || 'ignored' in read) return read
        return { gateway: key, ...read, raw: claims }
      },

      async checkStatus({ gatewayTransactionId }, call) {
        const reply = await inquire(gatewayTransactionId, call)
        if (reply.status === 404) return { known: false }
        const { status, transactionDetails, errorMessage } = readInquiry(reply)
        const { amount, transactionId, externalReferenceId } = transactionDetails
        return {
          known: true,
          ...(transactionId !== undefined && { gatewayTransactionId: transactionId }),
          ...(externalReferenceId !== undefined && { externalReferenceId }),
          ...wire.meaningOf(status, errorMessage, call),
          ...amount,
          raw: reply.body,
        }
      },

      async refund({ gatewayTransactionId: transactionId, reason }, call) {
        const reply = await call.send(post('reverse', { transactionId, reason }))
        // Refused credentials too: nothing was refunded, and the refund may be repeated.
        if (!isSuccess(reply)) {
          return { ok: false, error: wire.refusalIn('transaction/reverse', reply) }
        }
        const { reversalReferenceId } = parseReply(wire.reversed, reply.body, 'transaction/reverse')
        return { ok: true, isDone: true, gatewayRefundId: reversalReferenceId }
      },
    } satisfies Gateway & SupportsAccessToken & SupportsRefund & SupportsStatusCheck
  },
} satisfies Driver

const keysIn = (apiKey = ''): string[] => apiKey.split(/\s+/).filter(Boolean)
