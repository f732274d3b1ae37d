// The bytes of a webhook: redirect's as an HS256 JWT signed by the merchant's API key, FIB's plain.

import { SignJWT, UnsecuredJWT } from 'jose'
import type { Webhook } from './webhook.ts'

export async function bodyOf(webhook: Webhook, apiKey: string): Promise<string> {
  if (webhook.gateway === 'fib') return JSON.stringify(webhook.content)
  return JSON.stringify({ webhook_token: await tokenOf(webhook, apiKey) })
}

export async function tokenOf({ content, forgery }: Webhook, apiKey: string): Promise<string> {
  if (forgery === 'alg_none') return new UnsecuredJWT({ ...content }).encode()
  const token = await new SignJWT({ ...content })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .sign(new TextEncoder().encode(apiKey))
  return forgery === 'tampered' ? withOther(token, content) : token
}

/** The signature of the true claims under claims of ten times the money. */
function withOther(token: string, claims: Record<string, unknown>): string {
  const text = JSON.stringify(claims).replace(/"value":(\d+)/, '"value":$10')
  const [header, , signature] = token.split('.')
  return [header, Buffer.from(text).toString('base64url'), signature].join('.')
}
