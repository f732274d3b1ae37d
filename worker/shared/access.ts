// Who may do what: bearer tokens, sessions of browsers, and tickets for EventSource. Closed by
// default.

import type { JWTPayload } from 'jose'
import type { AuthConfig } from './auth-config.ts'
import { cachedEndedSessions, type EndedSessions } from './ended-sessions.ts'
import { isLoopback } from './loopback.ts'
import type { Metrics } from './metrics.ts'
import { Problem, type Reason } from './problem.ts'
import type { RemoteKeysDeps } from './remote-keys.ts'
import type { Repos } from './repos.ts'
import { sha256Hex } from './sha256.ts'
import { createTokens, type Tokens } from './tokens.ts'

/** Every scope of a token. `board:lead`: to set what agents get. */
export const SCOPES = [
  'board:read',
  'board:write',
  'board:work',
  'board:lead',
  'payments:read',
  'payments:write',
] as const
export type Scope = (typeof SCOPES)[number]

/** What a verified token allows. */
export interface Grant {
  scopes: ReadonlySet<string>
  repos: Repos
  /** When the token expires, in ms. */
  expiresAt: number
  /** Who acts: the `sub` of the token, else `token` and its `jti` or the start of a hash of it. */
  subject: string
  /** The `actor` of the token: whose claims it may make, renew and end. Undefined: anybody's. */
  actor: string | undefined
  /** The session of the cookie, or of the ticket that was made with it. A token has none. */
  sid: string | undefined
  /** The name under which streams are counted: the subject, hashed. */
  holder(): Promise<string>
  via: Via
}

const VIAS = ['header', 'cookie', 'ticket'] as const
type Via = (typeof VIAS)[number]

/** The authentication sets this for every route under `/api`. */
export type ApiEnv = {
  /** Of a process: hears that the request has shown its token. */
  Bindings: { granted?: (() => void) | undefined }
  Variables: {
    grant: Grant
    /** The answer is the host application's. */
    isForeign?: boolean
  }
}

export interface Access {
  /** Verifies the request's token, cookie or (for the event stream) ticket. Throws a Problem. */
  authenticate(request: Request): Promise<Grant>
  /** A ticket for the event stream of one path. */
  issueTicket(grant: Grant, path: string): Promise<{ ticket: string; expiresAt: number }>
  /** Verifies a token before it becomes a session. Throws a Problem. */
  check(token: string): Promise<Grant>
  /** The session that a browser has, or undefined: also one that cannot be used. */
  sessionOf(request: Request): Promise<Grant | undefined>
  /** Ends the grant's session. Throws a Problem where the list cannot be written. */
  endSession(grant: Grant): Promise<void>
  /** Whether the session was ended. Never rejects: what cannot be known ends no stream. */
  hasEnded(grant: Grant): Promise<boolean>
  tokens: Tokens
  metrics: AccessMetrics
}

export interface AccessDeps extends RemoteKeysDeps {
  endedSessions: EndedSessions
  metrics: AccessMetrics
}

export type AccessMetrics = ReturnType<typeof accessMetrics>

/** The rest is no attempt with a token or a code. */
const SIGN_IN_REFUSALS: readonly Reason[] = ['unauthorized', 'code_spent', 'bad_origin']

/** What is counted about access. The first visit of every page comes without a token. */
export const accessMetrics = (metrics: Metrics) => ({
  refusedTokens: metrics.counter(
    'signalbox_refused_tokens_total',
    'Requests whose token was forged or has expired, or whose session was ended.',
    { via: VIAS },
  ),
  refusedSignIns: metrics.counter(
    'signalbox_refused_sign_ins_total',
    'Requests for a session that were refused.',
    { code: SIGN_IN_REFUSALS },
  ),
})

/** Short, because a ticket is part of a URL, and logs and browser histories keep URLs. */
const TICKET_MS = 24 * 60 * 60 * 1_000

/**
 * What was ended or used is remembered this much longer than it is valid. A clock that is ahead
 * would otherwise forget it too early, and it would work again.
 */
export const CLOCK_SKEW_MS = 60 * 60 * 1_000

export function createAccess(auth: AuthConfig, deps: AccessDeps): Access {
  const tokens = createTokens(auth, deps)
  const { clock, metrics } = deps
  const ended = cachedEndedSessions(deps.endedSessions, clock)

  const verified = async (found: Found): Promise<Grant> => {
    // Without a secret of our own there are no sessions, and the cookie is the token.
    const isSession = found.via === 'cookie' && tokens.canSign
    const purpose = found.via === 'ticket' ? 'ticket' : isSession ? 'session' : 'api'
    const claims = await tokens.verify(found.token, purpose)
    // An API token's `sid` is its issuer's, not ours.
    const sid = purpose !== 'api' && typeof claims.sid === 'string' ? claims.sid : undefined
    return { ...(await toGrant(claims, found)), sid }
  }

  async function requireOpen({ sid }: Grant, request: Request): Promise<void> {
    if (sid === undefined) return
    const isEnded = await ended.has(sid).catch((cause: unknown) => {
      if (isWrite(request)) throw unavailable(cause)
      return false
    })
    if (isEnded) throw new Problem('unauthorized', 'The session was ended: sign in again.')
  }

  return {
    tokens,
    metrics,
    async authenticate(request) {
      tokens.requireKeys()
      const found = findToken(request)
      if (!found) throw new Problem('unauthorized', 'A bearer token is needed.')
      try {
        const grant = await verified(found)
        await requireOpen(grant, request)
        return grant
      } catch (error) {
        if (error instanceof Problem && error.reason === 'unauthorized') {
          metrics.refusedTokens.add({ via: found.via })
        }
        throw error
      }
    },
    async issueTicket(grant, path) {
      const expiresAt = Math.min(grant.expiresAt, clock.now() + TICKET_MS)
      const sid = grant.sid !== undefined && { sid: grant.sid }
      const claims = { sub: await grant.holder(), scope: 'board:read', repos: [path], ...sid }
      return { ticket: await tokens.sign(claims, 'ticket', expiresAt), expiresAt }
    },
    check: (token) => verified({ token, via: 'header' }),
    async sessionOf(request) {
      const found = findCookie(request)
      const grant = found && (await verified(found).catch(() => undefined))
      return grant?.sid === undefined ? undefined : grant
    },
    async endSession({ sid, expiresAt }) {
      if (sid === undefined) return
      await ended.end(sid, expiresAt + CLOCK_SKEW_MS, clock.now()).catch((cause: unknown) => {
        throw unavailable(cause)
      })
    },
    hasEnded: async ({ sid }) => sid !== undefined && (await ended.has(sid).catch(() => false)),
  }
}

const unavailable = (cause: unknown) =>
  new Problem('sessions_unavailable', 'The list of ended sessions does not answer. Try again.', {
    cause,
  })

export const isWrite = ({ method }: Request): boolean => method !== 'GET' && method !== 'HEAD'

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
  if (isKnownOrigin(request, allowed)) return
  throw new Problem('bad_origin', 'Writes by cookie are taken from known origins only.')
}

/** Whether the page that sends it is our own, or of an allowed origin. Without an Origin: no. */
export function isKnownOrigin(request: Request, allowed: readonly string[]): boolean {
  const origin = request.headers.get('Origin')
  const { origin: own } = new URL(request.url)
  // Behind a proxy that terminates TLS, our own URL is http and the browser’s origin is https.
  const known = [own, own.replace(/^http:/, 'https:'), ...allowed]
  return origin !== null && known.includes(origin)
}

interface Found {
  token: string
  via: Via
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
  return findCookie(request)
}

function findCookie(request: Request): Found | undefined {
  const name = cookieName(new URL(request.url))
  const cookies = request.headers.get('Cookie')?.split(';') ?? []
  // If several cookies have this name, ours is the last: it has the path `/`, and browsers send
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

async function toGrant(payload: JWTPayload, { token, via }: Found): Promise<Omit<Grant, 'sid'>> {
  const { scope, repos, exp, sub, jti, actor } = payload
  const strings = Array.isArray(repos) && repos.every((repo) => typeof repo === 'string')
  if (typeof scope !== 'string' || !strings || exp === undefined) {
    throw new Problem('unauthorized', 'The token lacks its scope or repos claim.')
  }
  // Other issuers may put anything there, and it is stored as who acted.
  if (sub !== undefined && typeof sub !== 'string') {
    throw new Problem('unauthorized', 'The sub claim of the token is no text.')
  }
  // One that cannot be read must not be passed over: it would allow every actor.
  if (actor !== undefined && (typeof actor !== 'string' || actor === '')) {
    throw new Problem('unauthorized', 'The actor claim of the token is no name.')
  }
  const expiresAt = Math.min(exp * 1_000, LAST_DATE_MS)
  const subject = sub ?? `token ${jti ?? (await hashed(token)).slice(0, 12)}`
  // That of a ticket is hashed already.
  const holder = async () => (via === 'ticket' ? subject : await hashed(`subject ${subject}`))
  return { scopes: new Set(scope.split(' ')), repos, expiresAt, subject, actor, holder, via }
}

/**
 * The name is in a ticket, so in a URL and in access logs: it must not be the subject itself.
 */
const hashed = async (text: string): Promise<string> => (await sha256Hex(text)).slice(0, 32)
