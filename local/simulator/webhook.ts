// The webhooks of a payment's transition: which are sent when (as the gateways do it, or with
// faults), and their signed bodies. No I/O.

import { SignJWT, UnsecuredJWT } from 'jose'
import type { Faults } from './faults.ts'
import { callbackOf } from './fib-wire.ts'
import type { GatewayName, Transition } from './payment.ts'
import { claimsOf } from './redirect-wire.ts'

export interface Webhook {
  /** The same for every attempt. FIB does not send it. */
  eventId: string
  paymentId: string
  gateway: GatewayName
  url: string
  content: Content
  forgery?: 'tampered' | 'alg_none'
}

/** For redirect the claims of the token, for FIB the body itself. */
export type Content = Record<string, unknown>

/** Sent at once. The next batch waits until all of these were answered. */
export interface Batch {
  afterMs: number
  webhooks: Webhook[]
}

export const contentOf = (transition: Transition, eventId: string): Content =>
  transition.after.gateway === 'redirect'
    ? claimsOf(transition, eventId)
    : callbackOf(transition.after)

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
  const content = contentOf({ ...transition, now: transition.now - (faults.ageMs ?? 0) }, eventId)
  const webhook = forged({ ...names, eventId, content }, faults)
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

export async function bodyOf(webhook: Webhook, apiKey: string): Promise<string> {
  if (webhook.gateway === 'fib') return JSON.stringify(webhook.content)
  return JSON.stringify({ webhook_token: await tokenOf(webhook, apiKey) })
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
