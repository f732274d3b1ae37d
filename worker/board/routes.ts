// The board over HTTP: its stream, and the routes of its other files.

import { type Context, Hono } from 'hono'
import { type Access, type ApiEnv, requireScope, type Scope } from '../shared/access.ts'
import { type Log, rareLog } from '../shared/log.ts'
import { Problem } from '../shared/problem.ts'
import { refuseRepeated } from '../shared/query.ts'
import { coversPath, onlyPath, pathProblem } from '../shared/repos.ts'
import { claimRoutes } from './claim-routes-hono.ts'
import { noticeRoutes } from './notice-routes-hono.ts'
import { type PublishDeps, publishRoutes } from './publish-routes-hono.ts'
import { readRoutes } from './read-routes-hono.ts'
import { settingsRoutes } from './settings-routes-hono.ts'
import { openStream, type StreamLimits, type StreamOptions } from './stream.ts'

export interface BoardDeps extends PublishDeps {
  access: Access
  log: Log
  limits: StreamLimits
  /** There is a NOTICE_SECRET. */
  signsNotices: boolean
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

  app.route('/', readRoutes(deps, pathOf))
  app.route('/', publishRoutes(deps, pathOf))
  app.route(
    '/board-settings',
    settingsRoutes((c, scope) => deps.repositories.open(pathOf(c, scope))),
  )
  app.route(
    '/notices',
    noticeRoutes((c, scope) => {
      const path = pathOf(c, scope)
      return { path, repository: deps.repositories.open(path) }
    }, deps.signsNotices),
  )
  app.route(
    '/claims',
    claimRoutes((c) => {
      const path = pathOf(c, 'board:work')
      requireScope(c.get('grant'), 'board:read')
      return { path, repository: deps.repositories.open(path) }
    }),
  )
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

/** The repository the request is about, checked in the order: well-formed, in reach, in scope. */
function pathOf(c: Context<ApiEnv>, scope: Scope): string {
  refuseRepeated(c.req.url)
  const grant = c.get('grant')
  const path = c.req.query('path') ?? onlyPath(grant.repos)
  if (path === undefined) {
    throw new Problem(
      'invalid_path',
      'The query parameter path is needed: the token names no single repository.',
    )
  }
  const problem = pathProblem(path)
  if (problem !== undefined) throw new Problem('invalid_path', problem)
  if (!coversPath(grant.repos, path))
    throw new Problem('forbidden', 'The token is for another repository.')
  requireScope(grant, scope)
  return path
}
