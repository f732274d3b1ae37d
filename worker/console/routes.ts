// The console's page over HTTP: index.html at `/`, its scripts and styles below `/console/`.

import { Hono } from 'hono'
import { etag } from 'hono/etag'
import { Problem } from '../shared/problem.ts'
import { type AssetFile, type Assets, isAssetName } from './assets.ts'

/** What the page may load and do. The browser refuses everything else. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  // The one that parses Markdown.
  "worker-src 'self'",
  // Scripts may still set single styles (`element.style`).
  "style-src 'self'",
  "img-src 'self'",
  // Requests and event streams go to this edge alone, so a script that a hostile task smuggles in
  // could not send the board to another server.
  "connect-src 'self'",
  "font-src 'self'",
  // A `<base>` could redirect the page's relative URLs. default-src does not cover it.
  "base-uri 'none'",
  // A form could send what a user types to any server. default-src does not cover forms either. The
  // page itself sends with fetch only.
  "form-action 'none'",
  // A foreign page must not frame this one and trick a signed-in user into clicking (clickjacking).
  "frame-ancestors 'none'",
  // Text becomes markup only through a named policy: `innerHTML = task.body` throws.
  "require-trusted-types-for 'script'",
  // The only policies: the sanitiser's, and one for the URL of the worker. A second one of either
  // name cannot be created.
  'trusted-types dompurify markdown-worker',
].join('; ')

/** Every file of the page has them. @forTests The page under its real policy, without an edge. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  // Browsers must use the declared type, and never guess that a file is a script.
  'X-Content-Type-Options': 'nosniff',
  // URLs contain ids of tasks and payments, and a link in a task may lead to any site.
  'Referrer-Policy': 'no-referrer',
  // A page opened by a link gets no reference to this window.
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const satisfies Record<string, string>

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
}

/** By file extension. Browsers save a file of an unknown type instead of showing it. */
const contentTypeOf = (name: string): string =>
  TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'

const INDEX = 'index.html'
/** Revalidated at every visit, because it names the newest files. */
const REVALIDATE = 'no-cache'
/** The name contains a hash of the content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** A request for anything but a file of the page goes on to the next handler. */
export function pageRoutes(assets: Assets): Hono {
  const app = new Hono()
  const retainedHeaders = ['ETag', 'Cache-Control', ...Object.keys(PAGE_HEADERS)]
  const conditional = etag({ retainedHeaders })

  app.get('/', conditional, async () => {
    const file = await assets.read(INDEX)
    if (file) return fileResponse(INDEX, file, { 'Cache-Control': REVALIDATE })
    throw new Problem('console_not_built', 'The console is not built: run npm run build.')
  })
  app.get('/console/:name', async (c, next) => {
    const name = c.req.param('name')
    // index.html keeps its name when it changes, so it must not be cached as immutable.
    const file = isAssetName(name) && name !== INDEX ? await assets.read(name) : undefined
    if (!file) return next()
    // Only for our own files: the middleware reads a response to its end to compute a tag, and an
    // event stream of the host application never ends.
    await conditional(c, async () => {
      c.res = fileResponse(name, file, { 'Cache-Control': IMMUTABLE, ETag: `"${name}"` })
    })
  })
  return app
}

function fileResponse(
  name: string,
  { body }: AssetFile,
  caching: Record<string, string>,
): Response {
  return new Response(body, {
    headers: { ...PAGE_HEADERS, 'Content-Type': contentTypeOf(name), ...caching },
  })
}
