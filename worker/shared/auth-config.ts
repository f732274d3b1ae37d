// The AUTH_ variables: what verifies and signs tokens. Pure; the doctor reads them by it too.

import { isLoopback } from './loopback.ts'

/** Somebody else who issues tokens. */
export interface Issuer {
  /** Where their public keys are. */
  jwksUrl: string
  /** What they call themselves in `iss`. */
  name: string
}

export interface AuthConfig {
  /** HS256 secrets of 32 bytes or more; the first signs, all verify. */
  secrets: readonly string[]
  issuer: Issuer | undefined
  /** `aud` of every token for the API; tickets and sign-in links have names that begin with it. */
  audience: string
  /** All that is wrong, in one sentence. While there is something, every token is refused. */
  problem: string | undefined
}

type Variables = Readonly<Record<string, unknown>>

/** HS256 wants a key as long as its digest. */
const SECRET_BYTES = 32
const DEFAULT_AUDIENCE = 'signalbox'

/** Never throws: a mistake here refuses tokens, but webhooks need none and must still come in. */
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
    // One address may serve the keys of many tenants: without the name each of them could sign.
    if (name === '') wrong.push('AUTH_JWKS_URL needs AUTH_ISSUER beside it: the iss of its tokens')
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
  // Whoever can change the keys on the way can sign any token.
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return undefined
  return 'must be an https URL (http only on loopback)'
}
