// Signed tokens (JWT): which keys verify them, and what signs ours. Who may do what by one stands
// in access.ts.

import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Config } from '../config.ts'
import { Problem } from './problem.ts'

/** What a token is good for: the API, one event stream, or signing in once. */
export type Audience = 'signalbox' | 'signalbox:ticket' | 'signalbox:sign-in'

export interface Tokens {
  /** Throws the Problem not_configured where nothing verifies tokens. */
  requireKeys(): void
  /** The claims of a token for this audience, `exp` among them. Throws a Problem. */
  verify(token: string, audience: Audience): Promise<JWTPayload>
  /** Signs by the first of AUTH_SECRETS. `expiresAt` in ms. Throws the Problem not_configured. */
  sign(claims: JWTPayload, audience: Audience, expiresAt: number): Promise<string>
}

const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** `now` in ms. */
export function createTokens(
  { authSecrets, authJwksUrl }: Pick<Config, 'authSecrets' | 'authJwksUrl'>,
  now: () => number,
): Tokens {
  const secrets = authSecrets.map((secret) => new TextEncoder().encode(secret))
  const jwks = authJwksUrl ? createRemoteJWKSet(new URL(authJwksUrl)) : undefined

  const find = async (token: string, audience: Audience): Promise<JWTPayload> => {
    const options = { audience, requiredClaims: ['exp'], currentDate: new Date(now()) }
    let failure: unknown = new Problem('unauthorized', 'The token is signed by an unknown key.')
    for (const secret of secrets) {
      try {
        const { payload } = await jwtVerify(token, secret, { ...options, algorithms: ['HS256'] })
        return payload
      } catch (error) {
        failure = error
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) break
      }
    }
    // The others are our own and never signed by somebody else's keys.
    if (jwks && audience === 'signalbox' && isWrongAlgorithm(failure)) {
      try {
        const { payload } = await jwtVerify(token, jwks, { ...options, algorithms: ASYMMETRIC })
        return payload
      } catch (error) {
        throw isKeyFault(error)
          ? new Problem('keys_unavailable', 'The keys that verify tokens are out of reach.', error)
          : error
      }
    }
    throw failure
  }

  const requireKeys = () => {
    if (secrets.length > 0 || jwks) return
    throw new Problem(
      'not_configured',
      'No way to verify tokens is configured: set AUTH_SECRETS or AUTH_JWKS_URL.',
    )
  }

  return {
    requireKeys,
    async verify(token, audience) {
      requireKeys()
      try {
        return await find(token, audience)
      } catch (error) {
        throw asProblem(error)
      }
    },
    async sign(claims, audience, expiresAt) {
      const [secret] = secrets
      if (!secret) {
        throw new Problem('not_configured', 'The edge signs this itself: set AUTH_SECRETS as well.')
      }
      return await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .setAudience(audience)
        .setExpirationTime(Math.floor(expiresAt / 1_000))
        .sign(secret)
    },
  }
}

/** What is wrong with a token, and not with the keys that we look it up in. */
const TOKEN_FAULTS = [
  errors.JWTInvalid,
  errors.JWTClaimValidationFailed,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
]

const isWrongAlgorithm = (error: unknown): boolean =>
  error instanceof errors.JOSEAlgNotAllowed || error instanceof Problem

/** The keys could not be fetched, or what came was no key set: not the client's fault. */
const isKeyFault = (error: unknown): boolean =>
  !(error instanceof errors.JWTExpired || TOKEN_FAULTS.some((fault) => error instanceof fault))

function asProblem(error: unknown): unknown {
  if (error instanceof errors.JWTExpired)
    return new Problem('unauthorized', 'The token has expired.')
  // Vague outside on purpose: which check failed would help whoever forges tokens.
  if (TOKEN_FAULTS.some((fault) => error instanceof fault)) {
    return new Problem('unauthorized', 'The token is not valid here.')
  }
  return error
}
