// The webhooks of a payment's transition: which are sent when (as the gateways do it, or with
// faults), and how they are signed. No I/O.

import { createHmac } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import type { Faults } from './faults.ts'
import { callbackOf } from './fib-wire.ts'
import type { GatewayName, Transition } from './payment.ts'
import { claimsOf } from './redirect-wire.ts'
import { eventOf } from './stripe-wire.ts'

export interface Webhook {
  /** The same for every attempt. FIB does not send it. */
  eventId: string
  paymentId: string
  gateway: GatewayName
  url: string
  content: Content
  forgery?: 'tampered' | 'alg_none'
  /** Of the signature, which only Stripe dates. */
  ageMs?: number
}

/** For redirect the claims of the token, for the others the body itself. */
export type Content = Record<string, unknown>

/** Sent at once. The next batch waits until all of these were answered. */
export interface Batch {
  afterMs: number
  webhooks: Webhook[]
}

export function contentOf(transition: Transition, eventId: string): Content {
  switch (transition.after.gateway) {
    case 'redirect':
      return claimsOf(transition, eventId)
    case 'fib':
      return callbackOf(transition.after)
    case 'stripe':
      return { ...eventOf(transition, eventId) }
  }
}

/** Empty without a callback URL, or with the fault `lost`. `newId` is for `outOfOrder`. */
export function batchesOf(
  transition: Transition,
  eventId: string,
  faults: Faults,
  newId: () => string,
): Batch[] {
  const { id: paymentId, gateway, callbackUrl: url } = transition.after
  if (url === undefined || faults.lost) return []
  const names = { paymentId, gateway, url }
  const { ageMs } = faults
  const content = contentOf({ ...transition, now: transition.now - (ageMs ?? 0) }, eventId)
  const aged = { ...names, eventId, content, ...(ageMs !== undefined && { ageMs }) }
  const webhook = forged(aged, faults)
  const copies = Array.from({ length: faults.copies ?? 1 }, () => webhook)
  const batches: Batch[] = [{ afterMs: faults.lateMs ?? 0, webhooks: copies }]
  if (!faults.outOfOrder) return batches

  const { before } = transition
  const previous = { before, after: before, refundFailed: false, now: before.updatedAt }
  const earlierId = newId()
  const earlier = { ...names, eventId: earlierId, content: contentOf(previous, earlierId) }
  return [...batches, { afterMs: 0, webhooks: [earlier] }]
}

function forged(webhook: Webhook, { tampered, algNone }: Faults): Webhook {
  if (webhook.gateway === 'fib') {
    return tampered ? { ...webhook, content: { ...webhook.content, id: webhook.eventId } } : webhook
  }
  if (tampered) return { ...webhook, forgery: 'tampered' }
  return algNone ? { ...webhook, forgery: 'alg_none' } : webhook
}

/** A webhook as it is sent. */
export interface EncodedWebhook {
  headers: Record<string, string>
  body: string
}

/** `now` in ms: Stripe signs each attempt with its time. */
export async function encodeWebhook(
  webhook: Webhook,
  secrets: { redirect: string; stripe: string },
  now: number,
): Promise<EncodedWebhook> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(webhook.content)
  switch (webhook.gateway) {
    case 'fib':
      return { headers, body }
    case 'redirect': {
      const token = await tokenOf(webhook, secrets.redirect)
      return { headers, body: JSON.stringify({ webhook_token: token }) }
    }
    case 'stripe': {
      const { forgery, ageMs = 0 } = webhook
      // `v0` is a scheme that Stripe itself says must not be accepted.
      const scheme = forgery === 'alg_none' ? 'v0' : 'v1'
      const signature = stripeSignature(body, secrets.stripe, now - ageMs, scheme)
      const sent = forgery === 'tampered' ? body.replace(/("amount\w*":)(\d+)/g, '$1$20') : body
      return { headers: { ...headers, 'stripe-signature': signature }, body: sent }
    }
  }
}

/** `at` in ms. */
function stripeSignature(body: string, secret: string, at: number, scheme: string): string {
  const time = Math.floor(at / 1_000)
  const mac = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return `t=${time},${scheme}=${mac}`
}

export async function tokenOf({ content, forgery }: Webhook, apiKey: string): Promise<string> {
  if (forgery === 'alg_none') return new UnsecuredJWT({ ...content }).encode()
  const token = await new SignJWT({ ...content })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(apiKey))
  return forgery === 'tampered' ? withTamperedAmount(token, content) : token
}

/** Keeps the signature, and multiplies the amount by ten. */
function withTamperedAmount(token: string, claims: Record<string, unknown>): string {
  const text = JSON.stringify(claims).replace(/"value":(\d+)/, '"value":$10')
  const [header, , signature] = token.split('.')
  return [header, Buffer.from(text).toString('base64url'), signature].join('.')
}
