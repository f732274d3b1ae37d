// Mollie as the contract of drivers needs it: how it writes a payment, answers, and calls back.

import type {
  GatewayFixtures,
  HeldPayment,
} from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { mollie } from '../../../../../worker/payments/gateways/mollie/mollie.ts'
import { charge, ID, refund, SETTINGS, webhook } from './mollie-setup.ts'

const TWO = 'tr_7UhSN1zuXS'
const made = { id: ID, _links: { checkout: { href: 'https://pay.mollie.test/1' } } }

const written = (amount: number, currency: string, decimals = currency === 'JPY' ? 0 : 2) => ({
  value: (amount / 10 ** decimals).toFixed(decimals),
  currency,
})

function shown(held: HeldPayment) {
  const { id, reference, externalReferenceId, state, currency, decimals } = held
  const [amount, refunded] = [held.amount, held.refunded].map((each) =>
    written(each, currency, decimals),
  )
  const refunds = held.refunded === 0 ? [] : [{ id: 're_1', amount: refunded, status: 'refunded' }]
  return {
    resource: 'payment',
    id,
    mode: 'test',
    status: state,
    amount,
    isCancelable: state === 'open',
    metadata: { external_reference_id: externalReferenceId, reference },
    details: { consumerName: 'Sara Ahmed', consumerAccount: 'NL55INGB0000000000' },
    _embedded: { refunds, chargebacks: [] },
  }
}

export const fixtures: GatewayFixtures = {
  driver: mollie,
  settings: SETTINGS,
  charge,
  refund,
  ids: [ID, TWO],
  states: {
    Pending: 'open',
    Paid: 'paid',
    Failed: 'failed',
    Cancelled: 'canceled',
    Expired: 'expired',
    PartiallyRefunded: 'paid',
    Refunded: 'paid',
  },
  healthy({ method, url, headers }, held) {
    if (headers.get('authorization') !== `Bearer ${SETTINGS.api_key}`) {
      return json({ status: 401, title: 'Unauthorized Request' }, 401)
    }
    if (method === 'GET') return json(shown(held))
    if (method === 'DELETE') return json({ ...shown(held), status: 'canceled' })
    if (url.endsWith('/refunds')) return json({ id: 're_1', ...refundIn('pending') }, 201)
    return json(made, 201)
  },
  isMoney: ({ method }) => method === 'POST',
  sent: ({ amount, currency, reference, description }) => ({
    amount: written(amount, currency),
    description,
    metadata: { reference },
  }),
  sentRefund: ({ refundAmount, currency }) => ({ amount: written(refundAmount, currency) }),
  refuses: () => {
    const detail = 'The amount is lower than the minimum'
    return json({ status: 422, title: 'Unprocessable Entity', detail, field: 'amount' }, 422)
  },
  refunds: {
    done: () => json({ id: 're_1', ...refundIn('refunded') }, 201),
    accepted: () => json({ id: 're_1', ...refundIn('queued') }, 201),
  },
  signs: 'nothing',
  callback: async (held) => ({ request: webhook(`id=${held.id}`), raw: shown(held) }),
  hidden: ['Sara Ahmed', 'NL55INGB0000000000'],
  forged: async () => ({
    'no body': webhook(''),
    'no id': webhook('status=paid'),
    JSON: webhook(JSON.stringify({ id: ID })),
    'an id of another kind': webhook('id=ord_1'),
    'an id that is a path': webhook(`id=${ID}/../refunds`),
    'an id that is percent-encoded': webhook(`id=${ID}%2f..`),
    'an id that is too long': webhook(`id=tr_${'a'.repeat(65)}`),
    'two ids': webhook(`id=${ID}&id=${TWO}`),
  }),
}

function refundIn(status: string) {
  return { amount: { value: '12.50', currency: 'EUR' }, status }
}
