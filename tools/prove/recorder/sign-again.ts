// A webhook as its gateway sends it once more: the same event, at another time.

import { setTimeout as sleep } from 'node:timers/promises'
import { SIMULATIONS } from '../../../simulator/simulations.ts'
import type { Simulation } from '../../../simulator/simulator.ts'
import type { GatewaySecrets } from '../../../system/local/gateways.ts'
import type { DriverName } from '../../../worker/payments/gateways/registry.ts'

export interface SentWebhook {
  url: string
  body: string
}

/** The path, or the URL, has the key of the gateway, which is its driver's name. */
export const gatewayIn = (url: string): DriverName =>
  (/\/payments\/webhooks\/([^/?]+)/.exec(url)?.[1] ?? '') as DriverName

/** The content, whichever gateway sent it: Mollie a form, redirect a token, the others JSON. */
export function contentOf(body: string): Record<string, unknown> {
  if (body.startsWith('id=')) return { id: body.slice('id='.length) }
  const sent = JSON.parse(body) as { webhook_token?: string }
  const claims = sent.webhook_token?.split('.')[1]
  return claims === undefined ? sent : JSON.parse(Buffer.from(claims, 'base64url').toString())
}

/** `now` in ms. Whether it was taken. */
export async function sendAgain(
  { url, body }: SentWebhook,
  secrets: GatewaySecrets,
  now = Date.now(),
): Promise<boolean> {
  const gateway = gatewayIn(url)
  const { webhooks }: Simulation = SIMULATIONS[gateway]
  const own: Readonly<Record<string, string>> = secrets[gateway]
  const before = contentOf(body)
  // Where the signature has no time, the content has.
  const content = before.timestamp ? { ...before, timestamp: new Date(now).toISOString() } : before
  const secret = own[webhooks.signsWith ?? ''] ?? ''
  const sent = await webhooks.encode({ content, eventId: '' }, secret, now)
  const answer = await fetch(url, { method: 'POST', ...sent }).catch(() => undefined)
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
