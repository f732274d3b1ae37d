// The AUTH_ variables: which keys verify and sign tokens. Pure; the doctor uses it too.

import { isLoopback } from './loopback.ts'

/** An external issuer of tokens. */
export interface Issuer {
  /** The address of its public keys. */
  jwksUrl: string
  /** The `iss` of its tokens. */
  name: string
}

export interface AuthConfig {
  /** HS256 secrets of 32 bytes or more; the first signs, all verify. */
  secrets: readonly string[]
  issuer: Issuer | undefined
  /** The `aud` of API tokens. The `aud` of tickets and sign-in links begins with it. */
  audience: string
  /** Everything that is wrong, in one sentence. If set, every token is refused. */
  problem: string | undefined
}

type Variables = Readonly<Record<string, unknown>>

/** HS256 needs a key at least as long as its digest (RFC 7518, 3.2). */
export const SECRET_BYTES = 32
const DEFAULT_AUDIENCE = 'signalbox'

/** Never throws. A mistake here refuses tokens, but webhooks need none and must still work. */
export function readAuth(env: Variables): AuthConfig {
  const text = (name: string) => {
    const value = env[name]
    return typeof value === 'string' ? value.trim() : ''
  }
  const wrong: string[] = []
  const secrets = text('AUTH_SECRETS').split(/\s+/).filter(Boolean)
  if (secrets.some((secret) => new TextEncoder().encode(secret).length < SECRET_BYTES)) {
    wrong.push(`AUTH_SECRETS holds a secret of fewer than ${SECRET_BYTES} bytes`)
  }
  const jwksUrl = text('AUTH_JWKS_URL')
  const name = text('AUTH_ISSUER')
  if (jwksUrl !== '') {
    const fault = jwksUrlFault(jwksUrl)
    if (fault !== undefined) wrong.push(`AUTH_JWKS_URL ${fault}`)
    // One address may serve the keys of many tenants. Without `iss`, each tenant could sign tokens.
    if (name === '') wrong.push('AUTH_JWKS_URL needs AUTH_ISSUER: the iss of its tokens')
  }
  return {
    secrets,
    issuer: jwksUrl === '' ? undefined : { jwksUrl, name },
    audience: text('AUTH_AUDIENCE') || DEFAULT_AUDIENCE,
    problem: wrong.length > 0 ? `${wrong.join('; ')}.` : undefined,
  }
}

function jwksUrlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL'
  const { protocol, hostname } = new URL(text)
  // Over plain http, an attacker on the network could replace the keys and sign any token.
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined
  return 'must be an https URL (http only on loopback)'
}
