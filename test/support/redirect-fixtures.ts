// The redirect gateway for tests: settings, responses, and callbacks signed with jose.

import { CompactSign } from 'jose'
import { type Answer, json } from '../../libraries/testing/gateway-setup.ts'
import type {
  GatewayCharge,
  GatewayRefund,
  WebhookRequest,
} from '../../worker/payments/gateways/gateway.ts'
import { webhookRequest } from './payments.ts'

export const SETTINGS = {
  base_url: 'https://gateway.test',
  client_id: 'shop-1',
  client_secret: 'the-secret-of-the-client-32-bytes-long',
  api_key: 'the-key-that-signs-callbacks-32-bytes',
  scope: 'payment:read payment:write reverse:write',
  service_type: 'Delivery',
  lang: 'en',
}

export const CHARGE: GatewayCharge = {
  gateway: 'shop',
  reference: 'order-7',
  externalReferenceId: '6f1c1a5e-0000-5000-8000-000000000007',
  earlier: 'none',
  amount: 25_000,
  currency: 'IQD',
  description: 'Two lamps',
  callbackUrl: undefined,
  now: Date.UTC(2026, 5, 1),
}

export const NAMES = {
  gatewayTransactionId: 'gt-1',
  externalReferenceId: CHARGE.externalReferenceId,
  reference: CHARGE.reference,
  amount: CHARGE.amount,
  currency: CHARGE.currency,
}
export const REFUND: GatewayRefund = {
  ...NAMES,
  refundId: 'rf-1',
  earlier: 'none',
  refundAmount: 25_000,
  reason: 'Broken',
}

const TRANSACTION = '/api/v2/payment-gateway/transaction'
export const INIT = `POST ${TRANSACTION}/init`
export const REVERSE = `POST ${TRANSACTION}/reverse`
export const INQUIRY = `GET ${TRANSACTION}/inquiry`
export const TOKEN = 'POST /oauth2/token'

export const OPENED = {
  status: 'PENDING',
  transactionDetails: { transactionId: 'gt-1', orderId: 'order-7' },
  redirectUrl: 'https://gateway.test/pay/gt-1',
  expiryTime: '2026-06-01T00:30:00Z',
}

export const inquiry = (status: string, more: object = {}) => ({
  status,
  transactionDetails: { transactionId: 'gt-1', amount: { value: 25_000, currency: 'IQD' } },
  timeStamps: {},
  ...more,
})

/** Responses by request. Default: a token, and success for everything else. */
export const gateway =
  (own: { init?: Answer; inquiry?: Answer; reverse?: Answer; token?: Answer } = {}): Answer =>
  async (request) => {
    const asked = `${request.method} ${new URL(request.url).pathname}`
    if (asked === TOKEN) {
      if (own.token) return await own.token(request)
      return json({ access_token: 'a-token-of-the-gateway', expires_in: 3_600 })
    }
    if (asked === INIT) return own.init ? await own.init(request) : json(OPENED)
    if (asked === REVERSE) {
      if (own.reverse) return await own.reverse(request)
      return json({ status: 'COMPLETED', transactionId: 'gt-1', reversalReferenceId: 'rv-1' })
    }
    if (!asked.startsWith(`${INQUIRY}/`)) return json({ code: 'NO_SUCH_PATH' }, 404)
    return own.inquiry ? await own.inquiry(request) : json(inquiry('SUCCESS'))
  }

/** The claims of a callback. `data` is merged with the defaults. */
export const claims = ({ data, ...more }: { data?: object; [claim: string]: unknown } = {}) => ({
  eventType: 'STATUS_CHANGED',
  eventId: 'ev-1',
  timestamp: '2026-06-01T00:10:00Z',
  ...more,
  data: {
    transactionId: 'gt-1',
    merchantReferenceId: CHARGE.externalReferenceId,
    orderId: 'order-7',
    customerMsisdn: '9647800000000',
    errorMessage: null,
    previousStatus: 'PENDING',
    currentStatus: 'SUCCESS',
    amount: { currency: 'IQD', value: 25_000 },
    ...data,
  },
})

type Key = Parameters<CompactSign['sign']>[0]

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export const sign = (payload: unknown, key?: Key, alg?: string) =>
  signed(JSON.stringify(payload), key, alg)

/** A token of claims that are written already. */
export const signed = (claims: string, key: Key = bytes(SETTINGS.api_key), alg = 'HS256') =>
  new CompactSign(bytes(claims)).setProtectedHeader({ alg, typ: 'JWT' }).sign(key)

export const received = (body: string, query: string | [string, string][] = ''): WebhookRequest =>
  webhookRequest(body, Date.UTC(2026, 5, 1, 0, 11), {}, query)

export const inBody = (token: unknown, name = 'webhook_token'): WebhookRequest =>
  received(JSON.stringify({ [name]: token }))
