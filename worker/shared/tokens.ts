// Signed tokens (JWT): verifies and signs them. access.ts decides what a token allows.

import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { AuthConfig } from './auth-config.ts'
import { Problem } from './problem.ts'
import { type RemoteKeysDeps, remoteKeys } from './remote-keys.ts'

/** A token is for the API, for a browser's cookie, for one event stream, or for signing in once. */
export type Purpose = 'api' | 'session' | 'ticket' | 'sign-in'

export interface Tokens {
  /** Throws a Problem that says what to configure, if no key is configured. */
  requireKeys(): void
  /** There are AUTH_SECRETS. */
  canSign: boolean
  /** Returns the claims, which always include `exp`. Throws a Problem. */
  verify(token: string, purpose: Purpose): Promise<JWTPayload>
  /** Signs with the first of AUTH_SECRETS. `expiresAt` in ms. Throws a Problem. */
  sign(claims: JWTPayload, purpose: Purpose, expiresAt: number): Promise<string>
}

// biome-ignore format: several names a line.
const ASYMMETRIC = [
  'RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512',
  'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519',
]

export function createTokens(
  { secrets: texts, issuer, audience, problem }: AuthConfig,
  deps: RemoteKeysDeps,
): Tokens {
  const secrets = texts.map((secret) => new TextEncoder().encode(secret))
  const findKey = issuer && problem === undefined ? remoteKeys(issuer.jwksUrl, deps) : undefined
  // Prefixed with our audience, so that a deployment with the same secrets cannot use our tickets.
  const audienceOf = (purpose: Purpose) => (purpose === 'api' ? audience : `${audience}:${purpose}`)

  const find = async (token: string, purpose: Purpose): Promise<JWTPayload> => {
    const currentDate = new Date(deps.clock.now())
    const options = { audience: audienceOf(purpose), requiredClaims: ['exp'], currentDate }
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
    // All others are only ever signed by us, never by the external issuer.
    if (!issuer || !findKey || purpose !== 'api' || !isWrongAlgorithm(failure)) throw failure
    const theirs = { ...options, issuer: issuer.name, algorithms: ASYMMETRIC }
    try {
      return (await jwtVerify(token, findKey, theirs)).payload
    } catch (error) {
      if (error instanceof Problem || isTokenFault(error)) throw error
      throw new Problem('keys_unavailable', 'The key of this token cannot be used.', {
        cause: error,
      })
    }
  }

  const requireKeys = () => {
    if (problem !== undefined) throw new Problem('misconfigured', problem)
    if (secrets.length > 0 || issuer) return
    throw new Problem(
      'not_configured',
      'No way to verify tokens is configured: set AUTH_SECRETS, or AUTH_JWKS_URL and AUTH_ISSUER.',
    )
  }

  return {
    requireKeys,
    canSign: secrets.length > 0,
    async verify(token, purpose) {
      requireKeys()
      try {
        return await find(token, purpose)
      } catch (error) {
        throw asProblem(error, purpose)
      }
    },
    async sign(claims, purpose, expiresAt) {
      const [secret] = secrets
      if (!secret) {
        throw new Problem(
          'not_configured',
          'The edge signs this token itself: set AUTH_SECRETS as well.',
        )
      }
      // So that tokens without a subject can be told apart.
      const id = purpose === 'api' && { jti: crypto.randomUUID() }
      return await new SignJWT({ ...id, ...claims })
        .setProtectedHeader({ alg: 'HS256' })
        .setAudience(audienceOf(purpose))
        .setExpirationTime(Math.floor(expiresAt / 1_000))
        .sign(secret)
    },
  }
}

/** Errors of the token itself, not of fetching or using keys. */
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

const isTokenFault = (error: unknown): boolean =>
  error instanceof errors.JWTExpired || TOKEN_FAULTS.some((fault) => error instanceof fault)

function asProblem(error: unknown, purpose: Purpose): unknown {
  if (error instanceof errors.JWTExpired) {
    const isSession = purpose === 'session'
    return new Problem(
      'unauthorized',
      isSession ? 'The session has expired: sign in again.' : 'The token has expired.',
    )
  }
  // Vague on purpose: the name of the failed check would help an attacker to forge tokens.
  if (isTokenFault(error)) {
    // A folder with another name has another secret, and ports share their cookies.
    return new Problem(
      'unauthorized',
      purpose === 'session'
        ? 'This session is for another board, or from before its folder was renamed: sign in again.'
        : 'The token is not valid here.',
    )
  }
  return error
}
