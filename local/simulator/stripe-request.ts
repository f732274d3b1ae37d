// Reads the form of a request to Stripe, and refuses what Stripe refuses. Pure.

import type { Metadata, Order } from './payment.ts'

/** As Stripe sends it, in `error`. */
export interface StripeError {
  type: 'invalid_request_error' | 'idempotency_error'
  code?: string
  message: string
  param?: string
}

export type Read<Value> = { ok: true; value: Value } | { ok: false; error: StripeError }

export const invalid = (param: string, message: string, code?: string): StripeError => ({
  type: 'invalid_request_error',
  ...(code !== undefined && { code }),
  message,
  param,
})

const DAY_MS = 24 * 60 * 60 * 1_000
const MINUTE_MS = 60_000
/** Stripe's limits, in characters. */
const MAX_CLIENT_REFERENCE = 200
const MAX_METADATA_VALUE = 500

/** A new Checkout Session. `now` in ms. */
export function readSession(form: URLSearchParams, now: number): Read<Order> {
  const refuse = (param: string, message: string, code?: string): Read<Order> => ({
    ok: false,
    error: invalid(param, message, code),
  })
  const missing = (param: string) =>
    refuse(param, `Missing required param: ${param}.`, 'parameter_missing')
  if (form.get('mode') !== 'payment') return refuse('mode', 'The simulator knows only payment.')
  const successUrl = form.get('success_url')
  if (successUrl === null) return missing('success_url')
  for (const name of ['success_url', 'cancel_url']) {
    const url = form.get(name)
    if (url !== null && !URL.canParse(url)) return refuse(name, 'Not a valid URL', 'url_invalid')
  }
  const reference = form.get('client_reference_id') ?? ''
  if (reference.length > MAX_CLIENT_REFERENCE) {
    return refuse('client_reference_id', 'It must have at most 200 characters.')
  }
  const metadata = metadataIn(form, 'metadata')
  const paymentMetadata = metadataIn(form, 'payment_intent_data[metadata]')
  const values = Object.values({ ...metadata, ...paymentMetadata })
  if (values.some((value) => value.length > MAX_METADATA_VALUE)) {
    return refuse('metadata', 'Metadata values can have up to 500 characters.')
  }
  const items = readItems(form)
  if (!items.ok) return items
  const expires = form.get('expires_at')
  const expiresInMs = expires === null ? DAY_MS : Number(expires) * 1_000 - now
  // Half an hour, and a minute for a clock that differs.
  if (!(expiresInMs >= 29 * MINUTE_MS && expiresInMs <= DAY_MS + MINUTE_MS)) {
    return refuse('expires_at', 'It must be between 30 minutes and 24 hours from now.')
  }
  const { external_reference_id: externalReference } = metadata
  const cancelUrl = form.get('cancel_url')
  return {
    ok: true,
    value: {
      gateway: 'stripe',
      reference,
      ...(externalReference !== undefined && { externalReference }),
      ...items.value,
      successUrl,
      ...(cancelUrl !== null && { failureUrl: cancelUrl }),
      metadata,
      paymentMetadata,
      expiresInMs,
    },
  }
}

function readItems(
  form: URLSearchParams,
): Read<Pick<Order, 'amount' | 'currency' | 'description'>> {
  const names: string[] = []
  let amount = 0
  let currency = ''
  for (let at = 0; at === 0 || form.has(`line_items[${at}][price_data][currency]`); at++) {
    const item = `line_items[${at}]`
    const given = form.get(`${item}[price_data][currency]`) ?? ''
    const unit = Number(form.get(`${item}[price_data][unit_amount]`) ?? Number.NaN)
    const quantity = Number(form.get(`${item}[quantity]`) ?? Number.NaN)
    // Stripe has no Iraqi dinar: see docs/payments.md.
    if (!/^[a-z]{3}$/.test(given) || given === 'iqd') {
      return { ok: false, error: invalid(`${item}[price_data][currency]`, 'Invalid currency.') }
    }
    if (!isWhole(unit)) {
      return { ok: false, error: invalid(`${item}[price_data][unit_amount]`, 'Invalid integer.') }
    }
    if (!isWhole(quantity) || quantity === 0) {
      return { ok: false, error: invalid(`${item}[quantity]`, 'Invalid positive integer.') }
    }
    currency ||= given
    amount += unit * quantity
    names.push(form.get(`${item}[price_data][product_data][name]`) ?? '')
  }
  const value = { amount, currency: currency.toUpperCase(), description: names.join(', ') }
  return { ok: true, value }
}

export interface RefundRequest {
  /** `pi_…` or `ch_…`. */
  of: string
  /** Undefined: all that is left. */
  amount: number | undefined
  metadata: Metadata
}

const REASONS = ['duplicate', 'fraudulent', 'requested_by_customer']

export function readRefund(form: URLSearchParams): Read<RefundRequest> {
  const of = form.get('payment_intent') ?? form.get('charge')
  const amount = form.get('amount')
  const reason = form.get('reason')
  if (of === null) {
    const message = 'One of the following params should be provided: payment_intent or charge.'
    return { ok: false, error: invalid('payment_intent', message, 'parameter_missing') }
  }
  if (amount !== null && !(isWhole(Number(amount)) && Number(amount) > 0)) {
    return { ok: false, error: invalid('amount', 'Invalid positive integer') }
  }
  if (reason !== null && !REASONS.includes(reason)) {
    return { ok: false, error: invalid('reason', `It must be one of ${REASONS.join(', ')}`) }
  }
  const metadata = metadataIn(form, 'metadata')
  return { ok: true, value: { of, amount: amount === null ? undefined : Number(amount), metadata } }
}

/** `expand[]=a` or `expand[0]=a`. */
export const expandIn = (query: URLSearchParams): string[] =>
  [...query].filter(([name]) => /^expand\[\d*\]$/.test(name)).map(([, path]) => path)

function metadataIn(form: URLSearchParams, name: string): Record<string, string> {
  const found = [...form].flatMap(([key, value]) =>
    key.startsWith(`${name}[`) ? [[key.slice(name.length + 1, -1), value] as const] : [],
  )
  return Object.fromEntries(found)
}

const isWhole = (value: number): boolean => Number.isSafeInteger(value) && value >= 0
