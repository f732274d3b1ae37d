// The console's page over HTTP: index.html at `/`, and what it loads below `/console/`.

import { Hono } from 'hono'
import { etag } from 'hono/etag'
import { Problem } from '../shared/problem.ts'
import { type AssetFile, type Assets, isAssetName } from './assets.ts'
import { contentTypeOf, PAGE_HEADERS } from './headers.ts'

const INDEX = 'index.html'
/** Asked for again at every visit: it names the newest files. */
const CHECKED = 'no-cache'
/** Another content would have another name. */
const FOR_EVER = 'public, max-age=31536000, immutable'

/** Whatever is no file of the page is left to who comes after. */
export function pageRoutes(assets: Assets): Hono {
  const app = new Hono()
  const retainedHeaders = ['ETag', 'Cache-Control', ...Object.keys(PAGE_HEADERS)]
  const conditional = etag({ retainedHeaders })

  app.get('/', conditional, async () => {
    const file = await assets.read(INDEX)
    if (file) return answer(INDEX, file, { 'Cache-Control': CHECKED })
    throw new Problem(
      'console_not_built',
      'The console is not built here: npm run build:console does it.',
    )
  })
  app.get('/console/:name', async (c, next) => {
    const name = c.req.param('name')
    // index.html keeps its name when it changes: nobody may remember it for ever.
    const file = isAssetName(name) && name !== INDEX ? await assets.read(name) : undefined
    if (!file) return next()
    // Around our own files alone: to tag what the host application sends, it would be read to its
    // end first, and an event stream has none.
    await conditional(c, async () => {
      c.res = answer(name, file, { 'Cache-Control': FOR_EVER, ETag: `"${name}"` })
    })
  })
  return app
}

function answer(name: string, { body }: AssetFile, caching: Record<string, string>): Response {
  return new Response(body, {
    headers: { ...PAGE_HEADERS, 'Content-Type': contentTypeOf(name), ...caching },
  })
}
