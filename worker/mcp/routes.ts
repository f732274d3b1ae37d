// MCP over HTTP: who may come in, before anything of the protocol is loaded.

import { type Context, Hono, type MiddlewareHandler } from 'hono'
import * as z from 'zod'
import type { Caller } from '../../libraries/mcp/caller.ts'
import {
  type Access,
  type ApiEnv,
  type Grant,
  isKnownOrigin,
  requireKnownOrigin,
} from '../shared/access.ts'
import { bodyLimit, readJson } from '../shared/body-limit-hono.ts'
import type { Log } from '../shared/log.ts'
import { isLoopback } from '../shared/loopback.ts'
import { Problem } from '../shared/problem.ts'
import { coversPath, onlyPath } from '../shared/repos.ts'

export interface McpDeps {
  access: Access
  /** Origins of pages that may call, beside our own. */
  knownOrigins: readonly string[]
  publicUrl: string | undefined
  /** Only this machine reaches the edge, and pages in its browsers, by names of their own. */
  isOnLoopback: boolean
  /** The first of AUTH_SECRETS. */
  secret: string | undefined
  /** The API. */
  send(request: Request, env: ApiEnv['Bindings']): Promise<Response>
  log: Log
}

const MCP_BYTES = 64 << 10

export const messageSchema = z.looseObject({ jsonrpc: z.literal('2.0') })

export function mcpRoutes(deps: McpDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const limit = bodyLimit(MCP_BYTES, 'A message of MCP ends at 64 KiB.')
  // No stream to open and no session to end: to a client any other status is an error.
  app.on(['GET', 'DELETE'], '/', () => {
    return new Response(null, { status: 405, headers: { Allow: 'POST' } })
  })
  app.post('/', doorOf(deps), limit, async (c) => {
    const body = await readJson(c)
    if (!messageSchema.or(z.array(messageSchema)).safeParse(body).success) {
      throw new Problem('invalid_request', 'The body is no message of JSON-RPC.')
    }
    const { url, raw } = c.req
    const headers = new Headers(raw.headers)
    // They could say no more of it, and who asks by hand leaves them out.
    headers.set('Content-Type', 'application/json')
    headers.set('Accept', 'application/json, text/event-stream')
    const [{ answerMcp }, { default: document }] = await Promise.all([
      import('../../libraries/mcp/http.ts'),
      import('../../libraries/api/openapi.json', { with: { type: 'json' } }),
    ])
    return await answerMcp({
      request: new Request(url, { method: 'POST', headers, signal: raw.signal }),
      body,
      caller: callerOf(c, deps),
      version: document.info.version,
    })
  })
  return app
}

/** Who comes in shows a token, as at every door of the API. */
const doorOf =
  (deps: McpDeps): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    deps.access.tokens.requireKeys()
    refuseForeignHost(c.req.url, deps)
    refuseForeignOrigin(c.req.raw, deps)
    const grant = await deps.access.authenticate(c.req.raw)
    if (grant.via === 'cookie') requireKnownOrigin(c.req.raw, deps.knownOrigins)
    c.set('grant', grant)
    c.env?.granted?.()
    await next()
  }

function refuseForeignHost(url: string, { isOnLoopback, publicUrl }: McpDeps): void {
  const { hostname, host } = new URL(url)
  if (!isOnLoopback || isLoopback(hostname)) return
  if (publicUrl !== undefined && new URL(publicUrl).host === host) return
  const why = 'This edge is for its own machine, and knows no such Host'
  throw new Problem('bad_host', `${why}: SIGNALBOX_PUBLIC_URL may name one.`)
}

/** A token does not help: a page that has one is not our user's. */
function refuseForeignOrigin(request: Request, { knownOrigins }: McpDeps): void {
  if (!request.headers.has('Origin') || isKnownOrigin(request, knownOrigins)) return
  throw new Problem('bad_origin', 'MCP is for our own page and ALLOWED_ORIGINS only.')
}

/** What shows who calls. */
const CREDENTIALS = ['Authorization', 'Cookie', 'Origin']

function callerOf(c: Context<ApiEnv>, { send, secret, log }: McpDeps): Caller {
  const grant = c.get('grant')
  const shown = CREDENTIALS.flatMap((name) => {
    const value = c.req.header(name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    send(route, init) {
      const headers = new Headers(init.headers)
      for (const [name, value] of shown) headers.set(name, value)
      return send(new Request(new URL(route, c.req.url), { ...init, headers }), c.env)
    },
    board: async () => onlyPath(grant.repos),
    covers: async (board) => coversPath(grant.repos, board),
    actor: grant.actor ?? grant.subject,
    needsAgent: false,
    secretFor: secret === undefined ? undefined : secretsOf(secret, grant),
    onError: (error) => log('error', 'mcp.failed', { error: String(error) }),
  }
}

const SECRET_BYTES = 16

/** A call that is sent again makes the same claim; who has not our key cannot know it. */
function secretsOf(secret: string, { subject }: Grant) {
  const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text))
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const sign = async (key: ArrayBuffer | Uint8Array<ArrayBuffer>, text: string) =>
    await crypto.subtle.sign(
      hmac,
      await crypto.subtle.importKey('raw', key, hmac, false, ['sign']),
      bytes(text),
    )
  return async (words: string): Promise<string> => {
    // A key of its own: no signature of ours is a claim.
    const key = await sign(bytes(secret), 'claims of MCP')
    const signed = new Uint8Array(await sign(key, JSON.stringify([subject, words])))
    return btoa(String.fromCharCode(...signed.subarray(0, SECRET_BYTES)))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replaceAll('=', '')
  }
}
