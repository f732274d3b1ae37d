// Signing in and out over HTTP. A token, or the code of a one-time link, becomes an HttpOnly
// cookie, which no script can read.

import { type Context, Hono } from 'hono'
import { deleteCookie, setCookie } from 'hono/cookie'
import * as z from 'zod'
import {
  type Access,
  type ApiEnv,
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
  z.strictObject({ code: token.describe('Of a one-time link, as `signalbox sign-in` prints it.') }),
])

/** What this request may do, and until when. */
export const sessionSchema = z.object({
  subject: z.string().describe('The `sub` of the token.').exactOptional(),
  scopes: z.array(z.string()),
  repos: z.array(z.string()).describe('Exact, or ending in `*`. It limits the scopes of boards.'),
  expiresAt: z.string().meta({ format: 'date-time' }),
})

/** Stores, with the repository of this path, that a code was used. False: it was used before. */
export type Spend = (path: string, id: string, expiresAt: number) => Promise<boolean>

export interface SessionDeps {
  access: Access
  clock: Pick<Clock, 'now'>
  allowedOrigins: readonly string[]
  spend: Spend
}

/** The client is not authenticated yet, so this reads no more than the longest token needs. */
const BODY_BYTES = 16 << 10
/** Browsers silently drop a cookie of more than 4096 bytes, name and attributes included. */
const TOKEN_CHARS = 3_800
/**
 * A used code is kept this much longer than it is valid. If the clock of the repository object is
 * ahead, it would otherwise forget the code too early, and the code would work a second time.
 */
const CLOCK_SKEW_MS = 60 * 60 * 1_000
/** As long as the session of a link. A token may be valid for years; a cookie must not be. */
const MAX_COOKIE_MS = 30 * 24 * 60 * 60 * 1_000

/** Mounted under `/api`, before the authentication. */
export function signInRoutes(deps: SessionDeps): Hono {
  const app = new Hono()
  const limit = bodyLimit({
    maxSize: BODY_BYTES,
    onError: () => {
      throw new Problem('payload_too_large', 'A sign-in request may have at most 16 KiB.')
    },
  })
  app.post('/session', limit, async (c) => {
    // Else a foreign page could sign its visitor in with its own session, and see what they do.
    requireKnownOrigin(c.req.raw, deps.allowedOrigins)
    const body = await readBody(c)
    const value = 'token' in body ? body.token : await exchangeCode(body.code, deps)
    const grant = await deps.access.check(value)
    if (value.length > TOKEN_CHARS) {
      throw new Problem('payload_too_large', 'The token is too long for a cookie.')
    }
    const now = deps.clock.now()
    const expiresAt = Math.min(grant.expiresAt, now + MAX_COOKIE_MS)
    setSessionCookie(c, value, Math.floor((expiresAt - now) / 1_000))
    return c.json(sessionOf({ ...grant, expiresAt }), 201)
  })
  return app
}

/** Mounted under `/api`, behind the authentication that sets `grant`. */
export function sessionRoutes(): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  app.get('/session', (c) => {
    c.header('Cache-Control', 'no-store')
    return c.json(sessionOf(c.get('grant')))
  })
  app.delete('/session', (c) => {
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

/** Exchanges the code of a link for a token of its session. Works once. */
async function exchangeCode(code: string, { access, clock, spend }: SessionDeps): Promise<string> {
  const { id, expiresAt, scope, repos, sessionMs } = await readCode(access.tokens, code)
  const [path = ''] = repos
  if (!(await spend(path, id, expiresAt + CLOCK_SKEW_MS))) throw codeSpent()
  const claims = { sub: 'sign-in link', scope, repos }
  return access.tokens.sign(claims, 'api', clock.now() + sessionMs)
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

const sessionOf = ({
  subject,
  scopes,
  repos,
  expiresAt,
}: Grant): z.infer<typeof sessionSchema> => ({
  ...(subject !== undefined && { subject }),
  scopes: [...scopes],
  repos: [...repos],
  expiresAt: new Date(expiresAt).toISOString(),
})
