// The board over HTTP: its stream, and the routes of its other files.

import { Hono } from 'hono'
import type { Access, ApiEnv } from '../../shared/access.ts'
import { type Log, rareLog } from '../../shared/log.ts'
import { openStream, type StreamLimits, type StreamOptions } from '../streams/stream.ts'
import { type ClaimDeps, claimRoutes, settingsRoutes } from './claim-routes-hono.ts'
import { type NoticeDeps, noticeRoutes } from './notice-routes-hono.ts'
import { type PublishDeps, publishRoutes } from './publish-routes-hono.ts'
import { readRoutes } from './read-routes-hono.ts'
import { pathOf } from './request-hono.ts'

export interface BoardDeps extends PublishDeps, NoticeDeps, ClaimDeps {
  access: Access
  log: Log
  limits: StreamLimits
}

/** Mounted under `/api`, behind the authentication that sets `grant`. */
export function boardRoutes(deps: BoardDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const rare = rareLog(deps.log, deps.clock)

  app.get('/events', async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:read'))
    const { signal } = c.req.raw
    const grant = c.get('grant')
    const { expiresAt, holder } = grant
    const lastEventId = c.req.header('Last-Event-ID') || c.req.query('last_event_id') || undefined
    const hasEnded = () => deps.access.hasEnded(grant)
    const from = { lastEventId, expiresAt, hasEnded, holder: await holder() }
    // Hono answers HEAD with GET without its body: a stream without a reader would stay open.
    const isRead = c.req.raw.method !== 'HEAD'
    const body = isRead ? openCounted(deps, { ...from, repository, signal, rare }) : null
    return new Response(body, {
      headers: {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-cache',
        Connection: 'keep-alive',
        // nginx and its kin would otherwise hold blocks back until a buffer is full.
        'X-Accel-Buffering': 'no',
      },
    })
  })

  app.post('/tickets', async (c) => {
    const path = pathOf(c, 'board:read')
    const { ticket, expiresAt } = await deps.access.issueTicket(c.get('grant'), path)
    return c.json({ ticket, path, expiresAt: new Date(expiresAt).toISOString() }, 201)
  })

  app.route('/', readRoutes(deps))
  app.route('/', publishRoutes(deps))
  app.route('/notices', noticeRoutes(deps))
  app.route('/claims', claimRoutes(deps))
  app.route('/board-settings', settingsRoutes(deps))
  return app
}

/** A stream that is counted while it is open. */
function openCounted(
  { metrics, clock, log, limits }: BoardDeps,
  of: Omit<StreamOptions, 'limits' | 'clock' | 'log' | 'onEnd'>,
): ReadableStream<Uint8Array> {
  metrics.streams.add({})
  const onEnd: StreamOptions['onEnd'] = (reason) => {
    metrics.streams.add({}, -1)
    metrics.streamEnds.add({ reason })
  }
  return openStream({ ...of, limits, clock, log, onEnd })
}
