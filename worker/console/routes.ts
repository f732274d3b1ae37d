// The console's page over HTTP: index.html at `/`, its scripts and styles below `/console/`.

import { Hono } from 'hono'
import { etag } from 'hono/etag'
import { Problem } from '../shared/problem.ts'
import { type AssetFile, type Assets, isAssetName } from './assets.ts'
import { contentTypeOf, PAGE_HEADERS } from './headers.ts'

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
    throw new Problem('console_not_built', 'The console is not built: run npm run build:console.')
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
