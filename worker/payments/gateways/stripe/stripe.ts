// Stripe: a hosted Checkout Session for each charge. Its settings and its calls.

import { isLoopback } from '../../../shared/loopback.ts'
import { hmac } from '../../../shared/sha256.ts'
import { GatewayRefusedException, GatewayUnavailableException } from '../../domain/exceptions.ts'
import type { RefundSet, ReportedRefund } from '../../domain/types.ts'
import {
  type ChargeAnswer,
  type Driver,
  errorRemark,
  type Gateway,
  type GatewayCall,
  type GatewayReply,
  type GatewayRequest,
  type RefundAnswer,
  type Refused,
  type SupportsCancel,
  type SupportsRefund,
  type SupportsStatusCheck,
  warningRemark,
} from '../gateway.ts'
import {
  isAuthFailure,
  isSuccess,
  parseReply,
  readsOf,
  unexpectedReply,
  withoutSlash,
} from '../reply.ts'
import { type EventReads, readEvent, verifySignature } from './webhook.ts'
import * as wire from './wire.ts'

const SESSIONS = '/v1/checkout/sessions'
const INTENTS = '/v1/payment_intents'
const REFUNDS = '/v1/refunds'
const DISPUTES = '/v1/disputes'
const MIN_SECRET_CHARS = 24
const TEST_KEY = /^(sk|rk)_test_/
const LIVE_KEY = /^(sk|rk)_live_/

export const stripe = {
  envPrefix: 'STRIPE_',
  settings: {
    base_url: { default: 'https://api.stripe.com' },
    secret_key: { required: true, testPrefix: 'sk_test_' },
    /** Several, separated by spaces, while they rotate. */
    webhook_secret: { required: true, testPrefix: 'whsec_' },
    success_url: { optional: true },
    cancel_url: { optional: true },
  },
  check: ({ base_url = '', secret_key = '', webhook_secret = '' }) => [
    ...(URL.canParse(base_url) ? [] : ['base_url is not a URL']),
    ...(/^(whsec|pk)_/.test(secret_key) ? ['secret_key is another kind of key'] : []),
    ...(/(^|\s)(sk|rk|pk)_/.test(webhook_secret) ? ['webhook_secret is an API key'] : []),
  ],
  verifiesWith: 'webhook_secret',
  // One address serves both; the key says which.
  isLive: ({ secret_key = '' }) =>
    !TEST_KEY.test(secret_key) && (LIVE_KEY.test(secret_key) || undefined),
  examine({ base_url = '', secret_key = '', webhook_secret = '' }, nameOf) {
    const [secretKey, webhookSecret] = [nameOf('secret_key'), nameOf('webhook_secret')]
    const secrets = webhook_secret.split(/\s+/)
    const isHere = isLoopback(URL.parse(base_url)?.hostname ?? '')
    const isApiKey = (text: string) => /^(sk|rk)_/.test(text)
    const isSigning = (text: string) => text.startsWith('whsec_')
    if (isSigning(secret_key) && secrets.some(isApiKey)) {
      return [errorRemark(`${secretKey} and ${webhookSecret} are swapped.`)]
    }
    return [
      ...(isApiKey(secret_key) ? [] : [errorRemark(`${secretKey} must begin with sk_ or rk_.`)]),
      ...(secrets.every(isSigning)
        ? []
        : [errorRemark(`Each secret of ${webhookSecret} must begin with whsec_.`)]),
      ...(secrets.some((secret) => isSigning(secret) && secret.length < MIN_SECRET_CHARS)
        ? [errorRemark(`${webhookSecret} is too short for a secret of Stripe.`)]
        : []),
      ...(TEST_KEY.test(secret_key) && !isHere
        ? [warningRemark(`${secretKey} is a test key: no real money moves.`)]
        : []),
      ...(LIVE_KEY.test(secret_key) && isHere
        ? [warningRemark(`${secretKey} is a live key, but ${nameOf('base_url')} is this machine.`)]
        : []),
    ]
  },
  reads: ({ base_url = '', secret_key = '' }) => ({
    name: 'Stripe',
    setting: 'secret_key',
    requests: readsOf(base_url, secret_key, {
      'checkout sessions': SESSIONS,
      'payment intents': INTENTS,
      refunds: REFUNDS,
    }),
  }),
  create(key, settings) {
    const { base_url = '', secret_key = '', webhook_secret = '' } = settings
    const base = withoutSlash(base_url)
    const keys = webhook_secret.split(/\s+/).filter(Boolean).map(hmac)

    const headers = { authorization: `Bearer ${secret_key}`, 'stripe-version': wire.API_VERSION }
    const get = (endpoint: string, path: string): GatewayRequest => ({
      endpoint,
      method: 'GET',
      url: `${base}${path}`,
      headers,
      isIdempotent: true,
    })
    /** Stripe answers a repeated idempotency key with the first answer, also with a 5xx. */
    const post = (
      endpoint: string,
      path: string,
      idempotencyKey: string | undefined,
      form: Record<string, string>,
    ): GatewayRequest => ({
      endpoint,
      method: 'POST',
      url: `${base}${path}`,
      headers: {
        ...headers,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      form,
      isIdempotent: true,
    })
    /** An earlier request with this key would have given its own answer, so there was none. */
    const refused = (endpoint: string, reply: GatewayReply): Refused => ({
      ok: false,
      error: wire.refusalIn(endpoint, reply),
      // The credentials are checked before the key.
      ...(!isAuthFailure(reply) && { coversEarlier: true }),
    })
    const successUrlOf = (returnUrl: string | undefined) => returnUrl ?? settings.success_url ?? ''
    const sessionPath = (id: string) => `${SESSIONS}/${encodeURIComponent(id)}`

    const readSession = (id: string, call: GatewayCall, query = '') =>
      call.send(get('checkout/sessions/{id}', `${sessionPath(id)}${query}`))

    /** The newest first, in pages. What is made while they are read belongs to a later read. */
    async function readRefunds(intent: string, call: GatewayCall): Promise<RefundSet> {
      const refunds: ReportedRefund[] = []
      let readAt: number | undefined
      for (let after = ''; ; ) {
        const query = new URLSearchParams({ payment_intent: intent, limit: '100' })
        if (after !== '') query.set('starting_after', after)
        const reply = await call.send(get('refunds', `${REFUNDS}?${query}`))
        if (!isSuccess(reply)) throw unexpectedReply('refunds', reply)
        readAt ??= reply.sentAt
        const { data, has_more } = parseReply(wire.refundsPage, reply.body, 'refunds')
        refunds.push(...data.map(wire.reported))
        const last = data.at(-1)
        if (!has_more || !last) return { readAt, refunds }
        after = last.id
      }
    }

    const readsOfEvent = (call: GatewayCall): EventReads => ({
      intent: (id) =>
        call.send(get('payment_intents/{id}', `${INTENTS}/${encodeURIComponent(id)}`)),
      refunds: (intent) => readRefunds(intent, call),
      dispute: (id) => call.send(get('disputes/{id}', `${DISPUTES}/${encodeURIComponent(id)}`)),
    })

    return {
      key,
      privateFields: wire.PRIVATE_FIELDS,
      echoedFields: wire.ECHOED_FIELDS,
      currencies: wire.CURRENCIES,
      // Stripe may forget a key after a day.
      chargeRepeatableForMs: 24 * 3_600_000,
      unseenIsUnpayable: true,
      refunds: 'partial',

      chargeProblem({ returnUrl, amount, currency }) {
        if (successUrlOf(returnUrl) === '') {
          return `${key} needs a returnUrl, or its setting success_url (STRIPE_SUCCESS_URL).`
        }
        const problem = wire.amountProblem(amount, currency)
        return problem && `${key} does not take ${amount} ${currency}: ${problem}`
      },

      async charge(charge, call): Promise<ChargeAnswer> {
        const { externalReferenceId, returnUrl, cancelUrl = settings.cancel_url } = charge
        const form = wire.sessionOf(charge, successUrlOf(returnUrl), cancelUrl ?? returnUrl)
        const endpoint = 'checkout/sessions'
        const reply = await call.send(post(endpoint, SESSIONS, externalReferenceId, form))
        if (isAuthFailure(reply)) throw unexpectedReply(endpoint, reply)
        if (!isSuccess(reply)) return refused(endpoint, reply)
        const { id, url, expires_at } = parseReply(wire.madeSession, reply.body, endpoint)
        if (url === undefined) {
          const message = `${endpoint} has no page`
          throw new GatewayUnavailableException(message, { gatewayTransactionId: id })
        }
        return {
          ok: true,
          gatewayTransactionId: id,
          redirectUrl: url,
          ...(expires_at !== undefined && { expiresAt: expires_at * 1_000 }),
        }
      },

      async handleWebhook({ headers, bytes, body }, call) {
        const signature = headers.get('stripe-signature')
        // Stripe signs each delivery attempt separately, so this is the time of the attempt.
        const occurredAt = await verifySignature(signature, bytes, keys)
        const raw: unknown = JSON.parse(body)
        return await readEvent({ gateway: key, raw, occurredAt }, call, readsOfEvent)
      },

      async checkStatus({ gatewayTransactionId }, call) {
        const reply = await readSession(gatewayTransactionId, call, '?expand[]=payment_intent')
        if (reply.status === 404) return { known: false }
        if (!isSuccess(reply)) throw unexpectedReply('checkout/sessions/{id}', reply)
        const session = parseReply(wire.session, reply.body, 'checkout/sessions/{id}')
        if (!wire.isKnown(session)) {
          call.warn('payments.stripe.unknown_status', { status: session.payment_status })
        }
        const { id, currency, payment_intent: intent } = session
        const intentId = typeof intent === 'object' ? intent?.id : intent
        const isListed = wire.isPaid(session) && intentId !== undefined
        const refunds = isListed ? await readRefunds(intentId, call) : undefined
        const { externalReferenceId } = wire.referencesIn(reply.body) ?? {}
        return {
          known: true,
          gatewayTransactionId: id,
          ...(externalReferenceId !== undefined && { externalReferenceId }),
          ...wire.stateOf(session, refunds?.refunds ?? []),
          currency,
          ...(refunds && { refunds }),
          raw: reply.body,
        }
      },

      async cancel({ gatewayTransactionId }, call) {
        const path = `${sessionPath(gatewayTransactionId)}/expire`
        const endpoint = 'checkout/sessions/{id}/expire'
        // Without a key: a 5xx kept under it would be the answer for a day. A session expires once.
        const reply = await call.send(post(endpoint, path, undefined, {}))
        if (!isSuccess(reply)) throw new GatewayRefusedException(wire.refusalIn(endpoint, reply))
      },

      async refund(refund, call): Promise<RefundAnswer> {
        const found = await readSession(refund.gatewayTransactionId, call)
        if (!isSuccess(found)) {
          return { ok: false, error: wire.refusalIn('checkout/sessions/{id}', found) }
        }
        const { id, payment_intent: intent } = parseReply(
          wire.session,
          found.body,
          'checkout/sessions/{id}',
        )
        if (id !== refund.gatewayTransactionId) {
          throw new GatewayUnavailableException('checkout/sessions/{id} is about another session')
        }
        if (typeof intent !== 'string') return { ok: false, error: wire.NOTHING_PAID }
        const form = wire.refundOf(refund, intent)
        const reply = await call.send(post('refunds', REFUNDS, refund.refundId, form))
        if (!isSuccess(reply)) return refused('refunds', reply)
        const made = parseReply(wire.madeRefund, reply.body, 'refunds')
        const { status, error } = wire.refundState(made.status, made.failure_reason)
        if (error) return { ok: false, error }
        return { ok: true, isDone: status === 'succeeded', gatewayRefundId: made.id }
      },
    } satisfies Gateway & SupportsCancel & SupportsRefund & SupportsStatusCheck
  },
} satisfies Driver
