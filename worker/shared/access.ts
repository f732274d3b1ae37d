// Who may do what: bearer tokens, the cookie, and tickets for EventSource. Closed by default.

import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import type { Config } from '../config.ts'
import { Problem } from './problem.ts'

export type Scope = 'board:read' | 'board:write' | 'payments:read' | 'payments:write'

/** What a verified token allows. */
export interface Grant {
  scopes: ReadonlySet<string>
  /** Repository paths: exact, or a prefix that ends in `*`. */
  repos: readonly string[]
  /** When the token expires, in ms. */
  expiresAt: number
  /** Who it was given to, where the token says so. */
  subject: string | undefined
  via: 'header' | 'cookie' | 'ticket'
}

/** What every route under `/api` finds set. */
export type ApiEnv = { Variables: { grant: Grant } }

const AUDIENCE = 'signalbox'
const TICKET_AUDIENCE = 'signalbox:ticket'
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

export interface Access {
  /** Verifies the request's token, cookie or (for the event stream) ticket. Throws a Problem. */
  authenticate(request: Request): Promise<Grant>
  /** A ticket for the event stream of one path, good as long as the grant that asks for it. */
  issueTicket(grant: Grant, path: string): Promise<string>
}

/** `now` in ms. */
export function createAccess(config: Config, now: () => number): Access {
  const secrets = config.authSecrets.map((secret) => new TextEncoder().encode(secret))
  const jwks = config.authJwksUrl ? createRemoteJWKSet(new URL(config.authJwksUrl)) : undefined

  const verify = async (token: string, audience: string): Promise<JWTPayload> => {
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
    // Tickets are our own and never signed by somebody else's keys.
    if (jwks && audience === AUDIENCE && isWrongAlgorithm(failure)) {
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

  return {
    async authenticate(request) {
      if (secrets.length === 0 && !jwks) {
        throw new Problem(
          'not_configured',
          'No way to verify tokens is configured: set AUTH_SECRETS or AUTH_JWKS_URL.',
        )
      }
      const found = findToken(request)
      if (!found) throw new Problem('unauthorized', 'A bearer token is needed.')
      try {
        const audience = found.via === 'ticket' ? TICKET_AUDIENCE : AUDIENCE
        return toGrant(await verify(found.token, audience), found.via)
      } catch (error) {
        throw asProblem(error)
      }
    },
    async issueTicket(grant, path) {
      const [secret] = secrets
      if (!secret) {
        throw new Problem('not_configured', 'Tickets are signed by us: set AUTH_SECRETS as well.')
      }
      return await new SignJWT({ scope: 'board:read', repos: [path] })
        .setProtectedHeader({ alg: 'HS256' })
        .setAudience(TICKET_AUDIENCE)
        .setExpirationTime(Math.floor(grant.expiresAt / 1_000))
        .sign(secret)
    },
  }
}

/** Throws a Problem when the grant does not allow this. */
export function requireScope(grant: Grant, scope: Scope): void {
  if (grant.scopes.has(scope)) return
  throw new Problem('forbidden', `The token lacks the scope ${scope}.`)
}

/** Whether the grant reaches this repository. */
export const coversPath = (grant: Grant, path: string): boolean =>
  grant.repos.some((repo) =>
    repo.endsWith('*') ? path.startsWith(repo.slice(0, -1)) : repo === path,
  )

/** The one repository that the grant names exactly; undefined when there is not exactly one. */
export function onlyPath(grant: Grant): string | undefined {
  const [repo, ...others] = grant.repos
  return others.length === 0 && !repo?.endsWith('*') ? repo : undefined
}

/** The session cookie's name. Ports of one loopback host share cookies: there it holds the port. */
export function cookieName(url: URL): string {
  const loopback =
    url.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  return loopback ? `signalbox-${url.port || '80'}` : '__Host-signalbox'
}

function findToken(request: Request): { token: string; via: Grant['via'] } | undefined {
  const [scheme, header] = request.headers.get('Authorization')?.split(' ', 2) ?? []
  if (scheme !== undefined) {
    return scheme.toLowerCase() === 'bearer' && header
      ? { token: header, via: 'header' }
      : undefined
  }
  const url = new URL(request.url)
  const ticket = url.searchParams.get('ticket')
  if (ticket !== null && url.pathname === '/api/events' && request.method === 'GET') {
    return { token: ticket, via: 'ticket' }
  }
  const name = cookieName(url)
  for (const pair of request.headers.get('Cookie')?.split(';') ?? []) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value) return { token: value, via: 'cookie' }
  }
  return undefined
}

function toGrant(payload: JWTPayload, via: Grant['via']): Grant {
  const { scope, repos, exp, sub: subject } = payload
  const strings = Array.isArray(repos) && repos.every((repo) => typeof repo === 'string')
  if (typeof scope !== 'string' || !strings || exp === undefined) {
    throw new Problem('unauthorized', 'The token lacks its scope or repos claim.')
  }
  return { scopes: new Set(scope.split(' ')), repos, expiresAt: exp * 1_000, subject, via }
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
