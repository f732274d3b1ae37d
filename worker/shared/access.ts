// Who may do what: bearer tokens, the cookie, and tickets for EventSource. Closed by default.

import type { JWTPayload } from 'jose'
import type { AuthConfig } from './auth-config.ts'
import { isLoopback } from './loopback.ts'
import { Problem } from './problem.ts'
import type { RemoteKeysDeps } from './remote-keys.ts'
import type { Repos } from './repos.ts'
import { sha256Hex } from './sha256.ts'
import { createTokens, type Tokens } from './tokens.ts'

export type Scope = 'board:read' | 'board:write' | 'payments:read' | 'payments:write'

/** What a verified token allows. */
export interface Grant {
  scopes: ReadonlySet<string>
  repos: Repos
  /** When the token expires, in ms. */
  expiresAt: number
  /** The `sub` of the token, if it has one. */
  subject: string | undefined
  /**
   * The name under which streams are counted: the subject or, without one, the token; hashed.
   */
  holder(): Promise<string>
  via: 'header' | 'cookie' | 'ticket'
}

/** The authentication sets this for every route under `/api`. */
export type ApiEnv = { Variables: { grant: Grant } }

export interface Access {
  /** Verifies the request's token, cookie or (for the event stream) ticket. Throws a Problem. */
  authenticate(request: Request): Promise<Grant>
  /** A ticket for the event stream of one path. */
  issueTicket(grant: Grant, path: string): Promise<{ ticket: string; expiresAt: number }>
  /** Verifies a token before it becomes the session cookie. Throws a Problem. */
  check(token: string): Promise<Grant>
  tokens: Tokens
}

/** Short, because a ticket is part of a URL, and logs and browser histories keep URLs. */
const TICKET_MS = 24 * 60 * 60 * 1_000

export function createAccess(auth: AuthConfig, deps: RemoteKeysDeps): Access {
  const tokens = createTokens(auth, deps)
  return {
    tokens,
    async authenticate(request) {
      tokens.requireKeys()
      const found = findToken(request)
      if (!found) throw new Problem('unauthorized', 'A bearer token is needed.')
      const purpose = found.via === 'ticket' ? 'ticket' : 'api'
      return toGrant(await tokens.verify(found.token, purpose), found)
    },
    async issueTicket(grant, path) {
      const expiresAt = Math.min(grant.expiresAt, deps.clock.now() + TICKET_MS)
      const claims = { sub: await grant.holder(), scope: 'board:read', repos: [path] }
      return { ticket: await tokens.sign(claims, 'ticket', expiresAt), expiresAt }
    },
    check: async (token) => toGrant(await tokens.verify(token, 'api'), { token, via: 'cookie' }),
  }
}

/** Throws a Problem when the grant does not allow this. */
export function requireScope(grant: Grant, scope: Scope): void {
  if (grant.scopes.has(scope)) return
  throw new Problem('forbidden', `The token lacks the scope ${scope}.`)
}

/** The session cookie's name. On loopback it holds the port, since all ports share cookies. */
export function cookieName(url: URL): string {
  const isPlain = url.protocol === 'http:' && isLoopback(url.hostname)
  return isPlain ? `signalbox-${url.port || '80'}` : '__Host-signalbox'
}

/**
 * Browsers may send the cookie with requests of foreign pages. So a write that is authenticated by
 * cookie must come from our own page or an allowed origin. Throws a Problem.
 */
export function requireKnownOrigin(request: Request, allowed: readonly string[]): void {
  const origin = request.headers.get('Origin')
  const { origin: own } = new URL(request.url)
  // Behind a proxy that terminates TLS, our own URL is http and the browser’s origin is https.
  const known = [own, own.replace(/^http:/, 'https:'), ...allowed]
  if (origin !== null && known.includes(origin)) return
  throw new Problem('bad_origin', 'Writes by cookie are taken from known origins only.')
}

interface Found {
  token: string
  via: Grant['via']
}

function findToken(request: Request): Found | undefined {
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
  const cookies = request.headers.get('Cookie')?.split(';') ?? []
  // Of several cookies with this name, ours is the last: it has the path `/`, and browsers send
  // longer paths first. A page on another port can set one for `/api`; taking that one would sign
  // the user in with an attacker's session.
  for (const pair of cookies.toReversed()) {
    const [key, value] = pair.trim().split('=', 2)
    if (key === name && value) return { token: value, via: 'cookie' }
  }
  return undefined
}

/** The latest possible `Date`, in ms. `toISOString` throws for a later one. */
const LAST_DATE_MS = 8.64e15

function toGrant(payload: JWTPayload, { token, via }: Found): Grant {
  const { scope, repos, exp, sub: subject } = payload
  const strings = Array.isArray(repos) && repos.every((repo) => typeof repo === 'string')
  if (typeof scope !== 'string' || !strings || exp === undefined) {
    throw new Problem('unauthorized', 'The token lacks its scope or repos claim.')
  }
  const expiresAt = Math.min(exp * 1_000, LAST_DATE_MS)
  const holder = async () =>
    via === 'ticket' && subject !== undefined
      ? subject
      : await hashed(subject === undefined ? `token ${token}` : `subject ${subject}`)
  return { scopes: new Set(scope.split(' ')), repos, expiresAt, subject, holder, via }
}

/**
 * The name is in a ticket, so in a URL and in access logs: it must not be the subject itself.
 */
const hashed = async (text: string): Promise<string> => (await sha256Hex(text)).slice(0, 32)
