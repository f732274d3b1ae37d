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

export const errorAnswer = (status: number, error: StripeError): Response =>
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

/** The refusal of a key that cannot be used. */
export function refuseKey(status: 400 | 409, message: string): Response {
  const code = status === 409 ? 'idempotency_key_in_use' : undefined
  return errorAnswer(status, { type: 'idempotency_error', code, message })
}
