// Signing in and out over HTTP: a token, or the code of a one-time link, becomes a cookie that no
// script can read.

import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { deleteCookie, setCookie } from 'hono/cookie'
import * as z from 'zod'
import {
  type Access,
  type ApiEnv,
  cookieName,
  type Grant,
  requireKnownOrigin,
} from '../shared/access.ts'
import type { Clock } from '../shared/clock.ts'
import { Problem } from '../shared/problem.ts'
import { codeSpent, readCode } from './code.ts'

/** Remembers under the repository of this path that a code is spent; false: it was before. */
export type Spend = (path: string, id: string, expiresAt: number) => Promise<boolean>

export interface SessionDeps {
  access: Access
  clock: Pick<Clock, 'now'>
  allowedOrigins: readonly string[]
  spend: Spend
}

/** Nobody has looked at who asks: no more is read than any token needs. */
const BODY_BYTES = 16 << 10
/** Browsers drop a cookie of more than 4096 bytes without a word, its name and attributes in it. */
const TOKEN_CHARS = 3_800
/** The repository's clock may be ahead: a code that it had forgotten would be good once more. */
const CLOCKS_DIFFER_MS = 60 * 60 * 1_000
/** As long as a link's session. A token may be good for years; a browser must not keep it so. */
const MAX_COOKIE_MS = 30 * 24 * 60 * 60 * 1_000

// Somebody pastes it, so with spaces around it; nothing else may come into a header.
const token = z
  .string()
  .trim()
  .regex(/^[\w-]+\.[\w-]+\.[\w-]+$/)
const body = z.union([z.strictObject({ token }), z.strictObject({ code: token })])

/** Mounted under `/api`, before the authentication. */
export function signInRoutes(deps: SessionDeps): Hono {
  const app = new Hono()
  const limit = bodyLimit({
    maxSize: BODY_BYTES,
    onError: () => {
      throw new Problem('payload_too_large', 'A request to sign in ends at 16 KiB.')
    },
  })
  app.post('/session', limit, async (c) => {
    // Or another page could sign its visitor in as somebody else, and see what is done then.
    requireKnownOrigin(c.req.raw, deps.allowedOrigins)
    const asked = await bodyOf(c)
    const value = 'token' in asked ? asked.token : await exchange(asked.code, deps)
    const grant = await deps.access.check(value)
    if (value.length > TOKEN_CHARS) {
      throw new Problem('payload_too_large', 'The token is longer than a cookie can be.')
    }
    const now = deps.clock.now()
    const expiresAt = Math.min(grant.expiresAt, now + MAX_COOKIE_MS)
    keep(c, value, Math.floor((expiresAt - now) / 1_000))
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

async function bodyOf(c: Context): Promise<z.infer<typeof body>> {
  const isJson = /^application\/json\s*(;|$)/i.test(c.req.header('Content-Type') ?? '')
  const read = isJson ? await c.req.text() : ''
  const asked = body.safeParse(parse(read))
  if (asked.success) return asked.data
  const shapes = '{"token":"…"} or {"code":"…"}'
  throw new Problem('invalid_request', `The body must be ${shapes}, as application/json.`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The code of a link for a token of its session; it works once. */
async function exchange(code: string, { access, clock, spend }: SessionDeps): Promise<string> {
  const { id, expiresAt, scope, repos, sessionMs } = await readCode(access.tokens, code)
  const [path = ''] = repos
  if (!(await spend(path, id, expiresAt + CLOCKS_DIFFER_MS))) throw codeSpent()
  const claims = { sub: 'sign-in link', scope, repos }
  return access.tokens.sign(claims, 'api', clock.now() + sessionMs)
}

function keep(c: Context, value: string, maxAge: number): void {
  const url = new URL(c.req.url)
  setCookie(c, cookieName(url), value, { ...attributes(url), maxAge })
}

const attributes = (url: URL) => ({
  httpOnly: true,
  sameSite: 'Strict' as const,
  path: '/',
  // Browsers take a `__Host-` cookie no other way; plain loopback has another name, and no TLS.
  secure: cookieName(url).startsWith('__Host-'),
})

const sessionOf = ({ subject, scopes, repos, expiresAt }: Grant) => ({
  ...(subject !== undefined && { subject }),
  scopes: [...scopes],
  repos,
  expiresAt: new Date(expiresAt).toISOString(),
})
