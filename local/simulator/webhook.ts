// What is sent when a payment moves, and in which waves: as the real gateways do it, or spoilt by
// faults. Pure.

import type { Faults } from './faults.ts'
import { callbackOf } from './fib-wire.ts'
import type { GatewayName, Told } from './payment.ts'
import { claimsOf } from './redirect-wire.ts'

export interface Webhook {
  /** The same however often it is sent. FIB does not send it along. */
  eventId: string
  paymentId: string
  gateway: GatewayName
  url: string
  content: Content
  forgery?: 'tampered' | 'alg_none'
}

/** Of redirect the claims of the token that is sent, of FIB the body itself. */
export type Content = Record<string, unknown>

/** All of a wave are sent at once; the next one waits until they are answered. */
export interface Wave {
  afterMs: number
  webhooks: Webhook[]
}

export const contentOf = (told: Told, eventId: string): Content =>
  told.after.gateway === 'redirect' ? claimsOf(told, eventId) : callbackOf(told.after)

/** None: nobody asked to be told, or it is lost. `newId` names what comes out of order. */
export function wavesOf(told: Told, eventId: string, faults: Faults, newId: () => string): Wave[] {
  const { id: paymentId, gateway, callbackUrl: url } = told.after
  if (url === undefined || faults.lost) return []
  const names = { paymentId, gateway, url }
  const content = contentOf({ ...told, now: told.now - (faults.ageMs ?? 0) }, eventId)
  const webhook = forged({ ...names, eventId, content }, faults)
  const copies = Array.from({ length: faults.copies ?? 1 }, () => webhook)
  const waves: Wave[] = [{ afterMs: faults.lateMs ?? 0, webhooks: copies }]
  if (!faults.outOfOrder) return waves

  const { before } = told
  const overtaken = { before, after: before, refundFailed: false, now: before.updatedAt }
  const earlierId = newId()
  const earlier = { ...names, eventId: earlierId, content: contentOf(overtaken, earlierId) }
  return [...waves, { afterMs: 0, webhooks: [earlier] }]
}

function forged(webhook: Webhook, { tampered, algNone }: Faults): Webhook {
  if (webhook.gateway === 'fib') {
    return tampered ? { ...webhook, content: { ...webhook.content, id: webhook.eventId } } : webhook
  }
  if (tampered) return { ...webhook, forgery: 'tampered' }
  return algNone ? { ...webhook, forgery: 'alg_none' } : webhook
}
