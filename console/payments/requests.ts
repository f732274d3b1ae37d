// Requests that change payments: the idempotency key that makes it safe to repeat them, and the
// order of a test charge, with its return URL.

import type { ChargeRequest, FailureCodes, Gateway } from '../../libraries/api/types.ts'
import { WITHOUT_EFFECT } from '../../worker/shared/problem.ts'
import { formatRoute } from '../address.ts'
import { ApiProblem, problemText, request } from '../data/http.ts'
import { parseAmount } from './format.ts'

/** Rejects with an ApiProblem. */
export const post = <Answer = unknown>(
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<Answer> =>
  request(`/api/payments${path}`, { method: 'POST', body, ...(headers && { headers }) })

/**
 * Posts requests with an Idempotency-Key: the same one for the same request, until the edge has
 * refused it. `newKey` returns a key that was never used.
 */
export function keyedPost<Answer>(path: string, newKey: () => string) {
  let known: { text: string; key: string } | undefined
  return async (body: object): Promise<Answer> => {
    const text = JSON.stringify(body)
    if (known?.text !== text) known = { text, key: newKey() }
    try {
      return await post(path, body, { 'Idempotency-Key': known.key })
    } catch (problem) {
      if (isRefusal(problem)) known = undefined
      throw problem
    }
  }
}

/** The sentence for a failure. It says whether the user may safely press the button again. */
export const failureText = (problem: unknown): string =>
  isRefusal(problem)
    ? problemText(problem)
    : `${problemText(problem)} Pressing again is safe: it cannot happen twice.`

/**
 * Whether the request certainly has no effect. Then the next try may use a new key. After any other
 * failure the gateway may have acted, and only the same key is safe.
 */
export const isRefusal = (problem: unknown): boolean =>
  problem instanceof ApiProblem && REFUSALS.includes(problem.code)

/** Those that these requests get. */
const REFUSALS: readonly string[] = WITHOUT_EFFECT satisfies readonly FailureCodes[
  | 'createCharge'
  | 'createRefund'][]

/** A test charge. */
export interface Order {
  gateway: string
  /** As typed, in major units. */
  amount: string
  currency: string
  description: string
}

/** In the query of the return URL: opens the newest payment that matches the filters. */
export const NEWEST = 'newest'

/** Where the payer comes back to. */
interface Back {
  /** Our own URL without the fragment. */
  page: string
  /** The path of the board of this tab. */
  path?: string | undefined
}

/** Undefined: the amount is invalid. */
export function orderOf(order: Order, reference: string, back: Back): ChargeRequest | undefined {
  const { gateway, currency, description } = order
  const amount = parseAmount(order.amount, currency)
  if (amount === undefined) return undefined
  const { page, path } = back
  const query = { reference, open: NEWEST }
  const returnUrl = page + formatRoute({ view: 'payments', path, query })
  return { gateway, reference, amount, currency, description, returnUrl }
}

/** For a driver that does not list its currencies. */
const DEFAULT_CURRENCIES = ['IQD', 'USD', 'EUR'] as const

export const currenciesOf = ({ currencies }: Gateway): readonly string[] =>
  currencies ?? DEFAULT_CURRENCIES
