// Signing in and out over HTTP. By a token, or by the code of a one-time link, a browser gets a
// session of its own in an HttpOnly cookie, which no script can read. Signing out ends the session,
// so a copy of its cookie is of no use either.

import { type Context, Hono } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import * as z from 'zod'
import {
  type Access,
  type ApiEnv,
  CLOCK_SKEW_MS,
  cookieName,
  type Grant,
  requireKnownOrigin,
} from '../shared/access.ts'
import { bodyLimit, readJson } from '../shared/body-limit-hono.ts'
import type { Clock } from '../shared/clock.ts'
import { Problem } from '../shared/problem.ts'
import { codeSpent, readCode } from './code.ts'

// People paste tokens with spaces around them. The token becomes a header, so the pattern is
// strict.
const token = z
  .string()
  .trim()
  .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)

export const signInSchema = z.union([
  z.strictObject({ token: token.describe('A token that was made before.') }),
  z.strictObject({
    code: token.describe('The code of a one-time link, as `signalbox sign-in` prints it.'),
  }),
])

/** What this request may do, and until when. */
export const sessionSchema = z.object({
  subject: z
    .string()
    .describe('Who acts: the `sub` of the token, else `token` and its `jti` or part of its hash.'),
  scopes: z.array(z.string()),
  repos: z.array(z.string()).describe('Exact, or ending in `*`. It limits the scopes of boards.'),
  expiresAt: z.string().meta({ format: 'date-time' }),
  canBeEnded: z
    .boolean()
    .describe('`DELETE` ends it everywhere. False for a token, which is valid until it expires.'),
})

/** Stores, with the repository of this path, that a code was used. False: it was used before. */
export type Spend = (path: string, id: string, expiresAt: number) => Promise<boolean>

export interface SessionDeps {
  access: Access
  clock: Pick<Clock, 'now'>
  /** The origins of pages besides our own. */
  knownOrigins: readonly string[]
  spend: Spend
}

type Claims = Pick<Grant, 'subject' | 'actor' | 'scopes' | 'repos' | 'expiresAt'>

/** The client is not authenticated yet, so this reads no more than the longest token needs. */
const BODY_BYTES = 16 << 10
/** Browsers silently drop a cookie of more than 4096 bytes, name and attributes included. */
const COOKIE_CHARS = 3_800
const DAY_MS = 24 * 60 * 60 * 1_000
/** A token may be valid for years; a session must not be. */
const MAX_SESSION_MS = 30 * DAY_MS
/** With it, anybody at the browser can refund. */
const MAX_PAYING_SESSION_MS = DAY_MS

/** Mounted under `/api`, before the authentication. */
export function signInRoutes(deps: SessionDeps): Hono {
  const app = new Hono()
  const limit = bodyLimit(BODY_BYTES, 'A sign-in request may have at most 16 KiB.')
  app.post('/session', limit, async (c) => {
    try {
      return c.json(await signIn(c, deps), 201)
    } catch (error) {
      if (error instanceof Problem) {
        deps.access.metrics.refusedSignIns.add({ code: error.reason })
      }
      throw error
    }
  })
  return app
}

async function signIn(c: Context, deps: SessionDeps): Promise<z.infer<typeof sessionSchema>> {
  const { access, clock, knownOrigins } = deps
  // Else a foreign page could sign its visitor in with its own session, and see what they do.
  requireKnownOrigin(c.req.raw, knownOrigins)
  const body = await readBody(c)
  const { claims, token, code } = await readGiven(body, deps)
  const { subject, actor, scopes, repos } = claims
  const now = clock.now()
  const mostMs = scopes.has('payments:write') ? MAX_PAYING_SESSION_MS : MAX_SESSION_MS
  const expiresAt = Math.min(claims.expiresAt, now + mostMs)
  // Where only somebody else's keys verify, the token itself is the cookie.
  const isOwn = token === undefined || access.tokens.canSign
  const value = isOwn
    ? await access.tokens.sign(
        {
          sub: subject,
          scope: [...scopes].join(' '),
          repos: [...repos],
          sid: crypto.randomUUID(),
          // Else signing in would make a token of one actor one of all.
          ...(actor !== undefined && { actor }),
        },
        'session',
        expiresAt,
      )
    : token
  if (value.length > COOKIE_CHARS) {
    throw new Problem('payload_too_large', 'The token is too long for a cookie.')
  }
  // The browser forgets it, and a copy of its cookie must not outlive it.
  const replaced = await access.sessionOf(c.req.raw)
  // Last of all that may fail: a link that is spent for nothing is lost.
  if (code) await spendCode(code, deps)
  if (replaced) await access.endSession(replaced)
  setSessionCookie(c, value, Math.floor((expiresAt - now) / 1_000))
  return sessionOf({ subject, scopes, repos, expiresAt }, isOwn)
}

/** Mounted under `/api`, behind the authentication that sets `grant`. */
export function sessionRoutes({ endSession }: Pick<Access, 'endSession'>): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  app.get('/session', (c) => {
    const grant = c.get('grant')
    c.header('Cache-Control', 'no-store')
    return c.json(sessionOf(grant, grant.sid !== undefined))
  })
  app.delete('/session', async (c) => {
    // With a bearer token nothing ends: other programs use it.
    await endSession(c.get('grant'))
    const url = new URL(c.req.url)
    deleteCookie(c, cookieName(url), attributes(url))
    return c.body(null, 204)
  })
  return app
}

async function readBody(c: Context): Promise<z.infer<typeof signInSchema>> {
  const isJson = /^application\/json\s*(;|$)/i.test(c.req.header('Content-Type') ?? '')
  const body = isJson ? await readJson(c) : undefined
  const parsed = signInSchema.safeParse(body)
  if (parsed.success) return parsed.data
  const shapes = '{"token":"…"} or {"code":"…"}'
  throw new Problem('invalid_request', `The body must be ${shapes}, as application/json.`)
}

async function readGiven(body: z.infer<typeof signInSchema>, deps: SessionDeps): Promise<Given> {
  if ('token' in body) return { claims: await deps.access.check(body.token), token: body.token }
  const code = await readCode(deps.access.tokens, body.code)
  return { claims: claimsOf(code, deps), code }
}

interface Given {
  claims: Claims
  token?: string
  code?: Code
}

type Code = Awaited<ReturnType<typeof readCode>>

/** What the session of a link may do. */
const claimsOf = (
  { scope, repos, subject = 'sign-in link' }: Code,
  { clock }: SessionDeps,
): Claims => ({
  subject,
  actor: undefined,
  scopes: new Set(scope.split(' ')),
  repos,
  expiresAt: clock.now() + MAX_SESSION_MS,
})

/** Works once. */
async function spendCode({ id, expiresAt, repos }: Code, { spend }: SessionDeps): Promise<void> {
  const [path = ''] = repos
  if (!(await spend(path, id, expiresAt + CLOCK_SKEW_MS))) throw codeSpent()
}

function setSessionCookie(c: Context, value: string, maxAge: number): void {
  const url = new URL(c.req.url)
  setCookie(c, cookieName(url), value, { ...attributes(url), maxAge })
}

const attributes = (url: URL) => ({
  httpOnly: true,
  sameSite: 'Strict' as const,
  path: '/',
  // Browsers accept a `__Host-` cookie only with Secure. Plain loopback has no TLS and another
  // name.
  secure: cookieName(url).startsWith('__Host-'),
})

const sessionOf = (
  { subject, scopes, repos, expiresAt }: Omit<Claims, 'actor'>,
  canBeEnded: boolean,
): z.infer<typeof sessionSchema> => ({
  subject,
  canBeEnded,
  scopes: [...scopes],
  repos: [...repos],
  expiresAt: new Date(expiresAt).toISOString(),
})
