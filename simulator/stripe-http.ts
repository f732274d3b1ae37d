// What all requests to Stripe have in common: errors, keys, forms, and the Idempotency-Key.

import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { Metadata } from './payments.ts'

interface StripeError {
  type?: 'idempotency_error'
  code?: string | undefined
  message: string
  param?: string
}

const errorAnswer = (status: number, error: StripeError): Response =>
  Response.json({ error: { type: 'invalid_request_error', ...error } }, { status })

export const refusal = (status: 400 | 401 | 404, error: StripeError): HTTPException =>
  new HTTPException(status, { res: errorAnswer(status, error) })

export const invalid = (param: string, message: string, code?: string): HTTPException =>
  refusal(400, { code, message, param })

export const unknown = (id: string, what: string, param: string): HTTPException =>
  refusal(404, { code: 'resource_missing', message: `No such ${what}: '${id}'`, param })

/** The API key: a bearer token, or the user of basic authentication. */
export function keyOf(c: Context): string | undefined {
  const header = c.req.header('authorization') ?? ''
  const [, scheme, value = ''] = /^(Bearer|Basic) (\S+)$/i.exec(header) ?? []
  if (scheme?.toLowerCase() !== 'basic') return value || undefined
  return Buffer.from(value, 'base64').toString().replace(/:$/, '')
}

export const formOf = async (c: Context) => new URLSearchParams(await c.req.text())

export function wholeIn(form: URLSearchParams, name: string): number | undefined {
  const value = Number(form.get(name) ?? Number.NaN)
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** What is to be expanded in an answer: `expand[]=payment_intent` or `expand[0]=…`. */
export const expandIn = (c: Context): string[] =>
  [...new URL(c.req.url).searchParams]
    .filter(([name]) => /^expand\[\d*\]$/.test(name))
    .map(([, path]) => path)

export function metadataIn(form: URLSearchParams, name: string): Metadata {
  const found = [...form].flatMap(([key, value]) =>
    key.startsWith(`${name}[`) ? [[key.slice(name.length + 1, -1), value] as const] : [],
  )
  return Object.fromEntries(found)
}

/**
 * A repeated key gets the first answer, even a refusal. Kept as long as the simulator runs; Stripe
 * forgets them after a day or more.
 */
export class IdempotencyKeys {
  readonly #answered = new Map<string, Answered>()

  /** `request`: the path and all parameters. Without a key, `work` always runs. */
  async once(
    key: string | undefined,
    request: string,
    work: () => Response | Promise<Response>,
  ): Promise<Response> {
    if (key === undefined) return await work()
    const known = this.#answered.get(key)
    if (known) return await this.#again(known, request)
    const answer = Promise.resolve().then(work).catch(responseOf)
    const started = { request, answer, isRunning: true }
    this.#answered.set(key, started)
    const response = await answer.finally(() => {
      started.isRunning = false
    })
    return response.clone()
  }

  async #again({ request: first, answer, isRunning }: Answered, request: string) {
    if (first !== request) {
      const message = 'Keys for idempotent requests can only be used with the same parameters.'
      return errorAnswer(400, { type: 'idempotency_error', message })
    }
    if (isRunning) {
      const message = 'There is currently another in-progress request using this Idempotent Key.'
      const code = 'idempotency_key_in_use'
      return errorAnswer(409, { type: 'idempotency_error', code, message })
    }
    const response = (await answer).clone()
    response.headers.set('Idempotent-Replayed', 'true')
    return response
  }
}

function responseOf(error: unknown): Response {
  if (error instanceof HTTPException) return error.getResponse()
  throw error
}

interface Answered {
  request: string
  answer: Promise<Response>
  isRunning: boolean
}
