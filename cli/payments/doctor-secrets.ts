// The doctor's check of each gateway's secrets: swapped, of the wrong kind, too short, or test keys
// in production. It names variables, never values. No I/O.

import { isPrivate } from '../../worker/shared/loopback.ts'
import { error, type Finding, ok, warn } from '../findings.ts'
import type { ConfiguredGateway } from './configured.ts'
import { mismatchOf } from './money-mode.ts'

/** RFC 7518 requires a key as long as the digest. */
const HS256_BYTES = 32
/** With one callback, an attacker can find a shorter key by trying all keys. */
const MIN_BYTES = 16
const MIN_STRIPE_CHARS = 24

export function checkSecrets(gateway: ConfiguredGateway): Finding[] {
  const { key, driver, missing } = gateway
  if (missing.length > 0) return []
  const found = [
    ...checkQuotes(gateway),
    ...(driver === 'redirect' ? checkRedirect(gateway) : []),
    ...(driver === 'stripe' ? checkStripe(gateway) : []),
    ...checkBaseUrl(gateway),
    ...mismatchOf(gateway).map((sentence) => warn(key, sentence)),
  ]
  if (found.length > 0) return found
  return [ok(key, 'Its secrets are of the right kind and length.')]
}

/** A pasted value or one of an env file may include its quotes. */
function checkQuotes({ key, settings, variables, required }: ConfiguredGateway): Finding[] {
  return required.flatMap((name) => {
    const value = settings[name] ?? ''
    const variable = variables[name] ?? name
    if (/^(["'`]).*\1$/.test(value)) {
      return error(key, `${variable} has quotes around it, which would be part of the value.`)
    }
    if (/^(<.*>|\.+|…|x{3,}|changeme|change-me|todo|your[-_ ].*)$/i.test(value)) {
      return error(key, `${variable} is a placeholder.`)
    }
    return []
  })
}

function checkRedirect({ key, settings, variables }: ConfiguredGateway): Finding[] {
  const { client_id = '', client_secret = '', api_key = '' } = settings
  const apiKey = variables.api_key ?? 'api_key'
  const clientSecret = variables.client_secret ?? 'client_secret'
  const bytes = new TextEncoder().encode(api_key).length
  // Equal keys are refused with the configuration; these differ only in case or punctuation.
  const bare = (text: string) => text.replace(/[^\w]|_/g, '').toLowerCase()
  const isAlike = api_key !== client_secret && bare(api_key) === bare(client_secret)
  return [
    ...(isAlike
      ? [error(key, `${apiKey} is ${clientSecret} in another spelling; they must differ.`)]
      : []),
    ...(api_key === client_id || client_secret === client_id
      ? [error(key, `${api_key === client_id ? apiKey : clientSecret} is the client_id.`)]
      : []),
    ...(bytes < MIN_BYTES
      ? [error(key, `${apiKey} has ${bytes} bytes: an attacker who sees a callback can find it.`)]
      : []),
    ...(bytes >= MIN_BYTES && bytes < HS256_BYTES
      ? [warn(key, `${apiKey} has ${bytes} bytes; HS256 requires ${HS256_BYTES}.`)]
      : []),
  ]
}

function checkStripe({ key, settings, variables }: ConfiguredGateway): Finding[] {
  const { secret_key = '', webhook_secret = '' } = settings
  const secretKey = variables.secret_key ?? 'secret_key'
  const webhookSecret = variables.webhook_secret ?? 'webhook_secret'
  const secrets = webhook_secret.split(/\s+/)
  const isApiKey = (text: string) => /^(sk|rk)_/.test(text)
  const isSigning = (text: string) => text.startsWith('whsec_')
  if (isSigning(secret_key) && secrets.some(isApiKey)) {
    return [error(key, `${secretKey} and ${webhookSecret} are swapped.`)]
  }
  return [
    ...(isApiKey(secret_key) ? [] : [error(key, `${secretKey} must begin with sk_ or rk_.`)]),
    ...(secrets.every(isSigning)
      ? []
      : [error(key, `Each secret of ${webhookSecret} must begin with whsec_.`)]),
    ...(secrets.some((secret) => isSigning(secret) && secret.length < MIN_STRIPE_CHARS)
      ? [error(key, `${webhookSecret} is too short for a secret of Stripe.`)]
      : []),
  ]
}

function checkBaseUrl({ key, settings, variables }: ConfiguredGateway): Finding[] {
  const base = settings.base_url ?? ''
  if (!URL.canParse(base) || isPrivate(new URL(base))) return []
  const variable = variables.base_url ?? 'base_url'
  return [error(key, `${variable} is not https: others on the network can read credentials.`)]
}
