// A webhook as its gateway sends it once more: the same event, at another time.

import { setTimeout as sleep } from 'node:timers/promises'
import { redirect } from '../../../simulator/redirect.ts'
import { stripe } from '../../../simulator/stripe.ts'
import type { GatewaySecrets } from '../../../system/gateways.ts'

export interface SentWebhook {
  url: string
  body: string
}

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

/** `now` in ms. */
async function signAgain(
  { body }: SentWebhook,
  secrets: GatewaySecrets,
  now: number,
): Promise<{ headers: Record<string, string>; body: string }> {
  if (body.startsWith('id=')) return { headers: FORM_TYPE, body }
  const content = JSON.parse(body) as { webhook_token?: string; data?: object; id: string }
  if (content.webhook_token !== undefined) {
    const [, claims = ''] = content.webhook_token.split('.')
    const event = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object
    const again = { ...event, timestamp: new Date(now).toISOString() }
    return await redirect.webhooks.encode({ content: again }, secrets.redirect.api_key)
  }
  if (content.data === undefined) return { headers: JSON_TYPE, body }
  const signed = { content, eventId: content.id }
  return await stripe.webhooks.encode(signed, secrets.stripe.webhook_secret, now)
}

/** Whether it was taken. */
export async function sendAgain(
  webhook: SentWebhook,
  secrets: GatewaySecrets,
  now = Date.now(),
): Promise<boolean> {
  const sent = await signAgain(webhook, secrets, now)
  const answer = await fetch(webhook.url, { method: 'POST', ...sent }).catch(() => undefined)
  return answer?.ok === true
}

/** A real gateway sends its webhook for hours. */
const RESENDS = 60
const RESEND_MS = 1_000

/** As the gateway would in the end. */
export async function sendUntilTaken(webhook: SentWebhook, secrets: GatewaySecrets): Promise<void> {
  for (let n = 0; n < RESENDS; n++) {
    await sleep(RESEND_MS)
    if (await sendAgain(webhook, secrets)) return
  }
}
