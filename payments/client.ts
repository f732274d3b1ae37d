// The client of payments: a method for each operation.

import type {
  Gateway,
  PaymentResponse,
  RefundResult,
  TransactionStory,
  TransactionsPage,
} from '../api/types.ts'
import { createSend } from './send.ts'
import { type Payments, PaymentsError, type PaymentsOptions, type WithKey } from './types.ts'

/** As the edge takes it. Another one could not be sent as a header. */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/

/**
 * A client of the payments of one edge, wherever there is `fetch`. Throws a PaymentsError
 * (`invalid_options`) where an option is missing.
 */
export function createPayments(options: PaymentsOptions): Payments {
  const send = createSend(options)
  const create = async <Answer>(path: string, request: WithKey<object>) => {
    const { idempotencyKey: key, ...body } = request
    if (key !== undefined && !IDEMPOTENCY_KEY.test(key)) {
      const message = 'An idempotencyKey is 1 to 255 printable characters of ASCII.'
      throw new PaymentsError('invalid_argument', message)
    }
    const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key }
    return await send<Answer>('POST', path, { headers, body })
  }
  const story = (id: string) => `/transactions/${encodeURIComponent(id)}`
  return {
    charges: { create: (request) => create<PaymentResponse>('/charges', request) },
    refunds: { create: (request) => create<RefundResult>('/refunds', request) },
    transactions: {
      list: (filter = {}) => send<TransactionsPage>('GET', `/transactions${queryOf(filter)}`),
      get: (id) => send<TransactionStory>('GET', story(id)),
      check: (id) => send<TransactionStory>('POST', `${story(id)}/check`),
    },
    gateways: {
      list: async () => (await send<{ gateways: Gateway[] }>('GET', '/gateways')).gateways,
    },
  }
}

function queryOf(filter: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, String(value))
  }
  return `?${query}`
}
