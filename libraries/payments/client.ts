// The client of payments: a method for each operation, and how one request is made: token,
// timeout, errors.

import type {
  AlertsPage,
  AuditPage,
  Gateway,
  MovementDays,
  Movements,
  Note,
  Pause,
  PaymentResponse,
  RefundResult,
  TransactionStory,
  TransactionsPage,
} from '../api/types.ts'
import {
  type Payments,
  PaymentsError,
  type PaymentsErrorCode,
  type PaymentsOptions,
  type WithKey,
} from './types.ts'

/** As the edge takes it. Another one could not be sent as a header. */
const IDEMPOTENCY_KEY = /^[\x20-\x7e]{1,255}$/

/**
 * A client of the payments of one edge, wherever there is `fetch`. Throws a PaymentsError
 * (`invalid_options`) where an option is missing.
 *
 * @example
 * const payments = createPayments({ url, token })
 * const order = { gateway: 'redirect', reference: 'order-1', amount: 25_000, currency: 'IQD' }
 * const { redirectUrl } = await payments.charges.create({ ...order, description: 'A lamp' })
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
  const acknowledgement = (id: string) => `/alerts/${encodeURIComponent(id)}/acknowledge`
  return {
    charges: { create: (request) => create<PaymentResponse>('/charges', request) },
    refunds: { create: (request) => create<RefundResult>('/refunds', request) },
    transactions: {
      list: (filter = {}) => send<TransactionsPage>('GET', `/transactions${queryOf(filter)}`),
      get: (id) => send<TransactionStory>('GET', story(id)),
      check: (id) => send<TransactionStory>('POST', `${story(id)}/check`),
      cancel: (id) => send<TransactionStory>('POST', `${story(id)}/cancel`),
      note: (id, text) => send<Note>('POST', `${story(id)}/notes`, { body: { text } }),
    },
    movements: {
      list: (filter = {}) => send<Movements>('GET', `/movements${queryOf(filter)}`),
      days: (span) => send<MovementDays>('GET', `/movements/days${queryOf(span)}`),
    },
    alerts: {
      list: (filter = {}) => send<AlertsPage>('GET', `/alerts${queryOf(filter)}`),
      acknowledge: async (id, done = {}) => {
        await send('POST', acknowledgement(id), { body: done })
      },
      reopen: async (id) => {
        await send('DELETE', acknowledgement(id))
      },
    },
    deliveries: {
      redeliver: async (id) => {
        await send('POST', `/deliveries/${encodeURIComponent(id)}/redeliver`)
      },
    },
    audit: {
      list: (filter = {}) => send<AuditPage>('GET', `/audit${queryOf(filter)}`),
    },
    gateways: {
      list: async () => (await send<{ gateways: Gateway[] }>('GET', '/gateways')).gateways,
    },
    pause: () => send<Pause>('POST', '/pause'),
    resume: async () => {
      await send('POST', '/resume')
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

/** Resolves to the answer. Rejects with a PaymentsError for every failure. */
type Send = <Answer>(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  content?: { headers?: Readonly<Record<string, string>>; body?: object },
) => Promise<Answer>

const DEFAULT_TIMEOUT_MS = 30_000

const NO_URL =
  'createPayments needs its url: set SIGNALBOX_URL to the address of Signalbox; if that runs ' +
  'here, it is url in .signalbox/local.json.'
const NO_TOKEN =
  'createPayments needs its token: set SIGNALBOX_TOKEN to one with the scope payments:write; if ' +
  'Signalbox runs here, it is tokens.payments in .signalbox/local.json.'

function createSend(options: PaymentsOptions): Send {
  const { url, token, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  if (!url || !token) {
    throw new PaymentsError('invalid_options', url ? NO_TOKEN : NO_URL)
  }
  const base = `${url.replace(/(?<!\/)\/+$/, '')}/api/payments`
  // The browser's fetch fails where it is called as a method of something else.
  const doFetch: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init))

  return async <Answer>(
    method: string,
    path: string,
    { headers = {}, body }: Parameters<Send>[2] = {},
  ) => {
    const init = {
      method,
      headers: {
        Authorization: `Bearer ${await tokenOf(token)}`,
        ...(body && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
      // A program's order and its token do not go to another host; a page cannot see a redirect.
      redirect: 'document' in globalThis ? ('follow' as const) : ('manual' as const),
      signal: AbortSignal.timeout(timeoutMs),
    }
    let response: Response
    let text: string
    try {
      response = await doFetch(`${base}${path}`, init)
      text = await response.text()
    } catch (cause) {
      throw new PaymentsError('unreachable', `There is no answer from ${url}: ${cause}`, { cause })
    }
    const answer = parse(text)
    if (response.ok && answer) return answer as Answer
    throw failureOf(response, answer ?? {})
  }
}

async function tokenOf(token: NonNullable<PaymentsOptions['token']>): Promise<string> {
  if (typeof token === 'string') return token
  try {
    return await token()
  } catch (cause) {
    throw new PaymentsError('invalid_options', `The token function failed: ${cause}`, { cause })
  }
}

/** Undefined: it is no JSON object. */
function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}

function failureOf({ status, headers }: Response, answer: Record<string, unknown>): PaymentsError {
  const { error, code, transactionId } = answer
  const retryAfterS = Number(headers.get('Retry-After') || Number.NaN)
  const details = {
    status,
    transactionId: typeof transactionId === 'string' ? transactionId : undefined,
    retryAfterS: Number.isNaN(retryAfterS) ? undefined : retryAfterS,
    correlationId: headers.get('X-Correlation-Id') ?? undefined,
  }
  return typeof code === 'string'
    ? new PaymentsError(code as PaymentsErrorCode, String(error), details)
    : new PaymentsError('invalid_answer', `What answered ${status} is no Signalbox edge.`, details)
}
