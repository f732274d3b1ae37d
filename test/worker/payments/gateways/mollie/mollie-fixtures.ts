// Mollie as the contract of drivers needs it: its simulation, and how it refuses.

import type { GatewayFixtures } from '../../../../../libraries/testing/gateway-fixtures.ts'
import { json } from '../../../../../libraries/testing/gateway-setup.ts'
import { mollie } from '../../../../../worker/payments/gateways/mollie/mollie.ts'
import { simulated } from '../../../../support/simulated-gateway.ts'
import { charge, eur, ID, refund, SETTINGS, webhook } from './mollie-setup.ts'

const TWO = 'tr_7UhSN1zuXS'

const written = (amount: number, currency: string) => {
  const decimals = currency === 'JPY' ? 0 : 2
  return eur((amount / 10 ** decimals).toFixed(decimals), currency)
}

export const fixtures: GatewayFixtures = {
  ...simulated('mollie', { driver: mollie, settings: SETTINGS, charge }),
  refund,
  ids: [ID, TWO],
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
