// Acme as the contract of drivers needs it: a charge and its refund, a gateway that answers them, and
// callbacks, genuine and forged. They are signed with Node's own crypto, not with the driver's code.

import { createHmac } from 'node:crypto'
import { type GatewayFixtures, type HeldPayment, json } from 'signalbox/testing'
import type { GatewayCharge, WebhookRequest } from 'signalbox/worker'
import { acme } from './acme.ts'

export const settings = {
  base_url: 'https://api.acme.example',
  api_key: 'key-1',
  signing_secret: 'secret-1',
}

export const charge: GatewayCharge = {
  gateway: 'acme',
  reference: 'order-7',
  externalReferenceId: 'ext-7',
  earlier: 'none',
  amount: 1_250,
  currency: 'USD',
  description: 'Two lamps',
  returnUrl: 'https://shop.test/back',
  callbackUrl: undefined,
  now: 1_700_000_000_000,
}
export const refund = {
  ...charge,
  gatewayTransactionId: 'p-1',
  refundId: 'rf-1',
  refundAmount: 1_250,
  reason: 'Broken',
}
export const payment = {
  id: 'p-1',
  order: 'order-7',
  state: 'paid',
  amount: 1_250,
  currency: 'USD',
  refunded: 0,
}

const sign = (time: string, body: string, secret = settings.signing_secret) =>
  createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')

/** With a genuine signature, unless another one is given. */
export function callback(
  body: string,
  { time = '1700000000', signature = sign(time, body) } = {},
): WebhookRequest {
  return {
    headers: new Headers({ 'acme-time': time, 'acme-signature': signature }),
    query: new URLSearchParams(),
    bytes: new TextEncoder().encode(body),
    body,
    receivedAt: 1_700_000_005_000,
  }
}

export const PAID = JSON.stringify({ event: 'e-1', payment })

/** A payment as Acme writes it. */
const written = ({ externalReferenceId: _, reference, decimals: __, ...held }: HeldPayment) => ({
  ...held,
  order: reference,
  payer: { email: 'sara@example.org' },
})

export const fixtures: GatewayFixtures = {
  driver: acme,
  settings,
  charge,
  refund,
  ids: ['p-1', 'p-2'],
  states: {
    Pending: 'open',
    Paid: 'paid',
    Failed: 'declined',
    Cancelled: 'cancelled',
    Expired: 'expired',
    PartiallyRefunded: 'paid',
    Refunded: 'paid',
  },
  healthy({ method, url }, held) {
    if (method === 'GET') return json(written(held))
    if (url.endsWith('/cancel')) return json({ ...written(held), state: 'cancelled' })
    if (url.endsWith('/refund')) return json({ id: 'r-1', state: 'done' }, 201)
    return json({ id: held.id, page: 'https://acme.example/pay/p-1' }, 201)
  },
  isMoney: ({ method, path }) => method === 'POST' && !path.endsWith('/cancel'),
  isCancel: ({ path }) => path.endsWith('/cancel'),
  sent: ({ reference, amount, currency }) => ({ order: reference, amount, currency }),
  sentRefund: ({ refundAmount }) => ({ amount: refundAmount }),
  refuses: () => json({ code: 'too_small', message: 'Too small.' }, 422),
  refunds: {
    done: () => json({ id: 'r-1', state: 'done' }, 201),
    accepted: () => json({ id: 'r-1', state: 'under_way' }, 201),
  },
  signs: 'body',
  async callback(held, { id, at, edit }) {
    const raw = edit({ event: id, payment: written(held) })
    return { request: callback(JSON.stringify(raw), { time: String(at / 1_000) }), raw }
  },
  hidden: ['sara@example.org'],
  forged: async () => ({
    'no signature': { ...callback(PAID), headers: new Headers() },
    'half a signature': callback(PAID, { signature: sign('1700000000', PAID).slice(32) }),
    'another secret': callback(PAID, { signature: sign('1700000000', PAID, 'key-1') }),
    'another body': callback(PAID.replace('1250', '1'), { signature: sign('1700000000', PAID) }),
    'another time': callback(PAID, { time: '1700000001', signature: sign('1700000000', PAID) }),
    'a body that cannot be parsed': callback('{', { signature: '0'.repeat(64) }),
  }),
}
