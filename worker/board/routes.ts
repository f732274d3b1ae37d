// The board over HTTP: the stream, the read endpoints, and what a sidecar publishes.

import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type Access, type ApiEnv, requireScope, type Scope } from '../shared/access.ts'
import type { Clock } from '../shared/clock.ts'
import type { Log } from '../shared/log.ts'
import { Problem } from '../shared/problem.ts'
import { oneOf, requireKnownQuery } from '../shared/query.ts'
import { coversPath, onlyPath, pathProblem } from '../shared/repos.ts'
import type { SessionFilter, TaskFilter } from './board-rows.ts'
import type { Query } from './reads.ts'
import type { PublishOutcome, Repositories, RepositoryHandle } from './repositories.ts'
import type { PublishRefusal } from './repository.ts'
import { openStream, type StreamLimits } from './stream.ts'
import { type DataRecord, EXECUTIONS, HEALTHS, RECORD_BYTES, WIRE, wireProblem } from './wire.ts'
import { type Checked, checkChanges, checkSync, wireOf } from './wire-schema.ts'

export interface BoardDeps {
  repositories: Repositories
  access: Access
  clock: Clock
  log: Log
  limits: StreamLimits
}

const PUBLISH_BYTES = 8 << 20

/** Mounted under `/api`, behind the authentication that sets `grant`. */
export function boardRoutes(deps: BoardDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const limit = bodyLimit({
    maxSize: PUBLISH_BYTES,
    onError: () => {
      throw new Problem('payload_too_large', 'A publishing message ends at 8 MiB.')
    },
  })

  app.get('/events', async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:read'))
    const { signal } = c.req.raw
    const { expiresAt, holder } = c.get('grant')
    const lastEventId = c.req.header('Last-Event-ID') || c.req.query('last_event_id') || undefined
    const from = { lastEventId, expiresAt, holder: await holder() }
    const { clock, log, limits } = deps
    // Hono answers HEAD by GET without its body: a stream that nobody reads would stay open.
    const body =
      c.req.raw.method === 'HEAD'
        ? null
        : openStream({ ...from, repository, signal, limits, clock, log })
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

  const read =
    (query: (c: Context<ApiEnv>) => Query, filters: readonly string[] = []) =>
    (c: Context<ApiEnv>) => {
      const repository = deps.repositories.open(pathOf(c, 'board:read'))
      requireKnownQuery(c.req.url, ['path', ...filters])
      return answerRead(c, repository, query(c))
    }
  const id = (c: Context<ApiEnv>) => c.req.param('id') ?? ''
  app.get(
    '/tasks',
    read((c) => ({ kind: 'tasks', filter: taskFilter(c) }), TASK_FILTERS),
  )
  app.get(
    '/tasks/:id',
    read((c) => ({ kind: 'task', id: id(c) })),
  )
  app.get(
    '/tasks/:id/runs',
    read((c) => ({ kind: 'runs', task: id(c) })),
  )
  app.get(
    '/tasks/:id/sessions',
    read((c) => ({ kind: 'task-sessions', task: id(c) })),
  )
  app.get(
    '/sessions',
    read((c) => ({ kind: 'sessions', filter: sessionFilter(c) }), SESSION_FILTERS),
  )
  app.get(
    '/sessions/:id',
    read((c) => ({ kind: 'session', id: id(c) })),
  )
  app.get(
    '/status',
    read(() => ({ kind: 'status' })),
  )

  app.post('/sync', limit, async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:write'))
    const request = await bodyOf(c, checkSync)
    if (request.step === 'probe') return publish(c, { ok: true, answer: request })
    return publish(c, await repository.sync(request))
  })
  app.post('/changes', limit, async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:write'))
    const request = await bodyOf(c, checkChanges)
    // A message that is not larger holds no record that is.
    const bytes = Number(c.req.header('Content-Length') ?? PUBLISH_BYTES)
    const large = bytes > RECORD_BYTES && request.upserts.find((record) => !isStorable(record))
    if (large) throw new Problem('payload_too_large', 'A record ends at 1.8 MB of JSON.')
    return publish(c, await repository.changes(request))
  })
  return app
}

const isStorable = (record: DataRecord): boolean =>
  new TextEncoder().encode(JSON.stringify(record)).length <= RECORD_BYTES

/** The repository the request is about, checked in the order: well-formed, in reach, in scope. */
function pathOf(c: Context<ApiEnv>, scope: Scope): string {
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

async function answerRead(
  c: Context<ApiEnv>,
  repository: RepositoryHandle,
  query: Query,
): Promise<Response> {
  const answer = await repository.read(query, c.req.header('If-None-Match'))
  switch (answer.state) {
    case 'unpublished':
      throw new Problem('unknown_repository', 'No sidecar has published this repository yet.')
    case 'absent':
      if (query.kind === 'session') {
        throw new Problem('unknown_session', 'There is no session with this id.')
      }
      throw new Problem('unknown_task', 'There is no task with this id.')
    case 'unchanged':
    case 'found': {
      const headers = {
        ETag: answer.etag,
        'X-Signalbox-Seq': answer.seq,
        // Another user's answer must not come out of a shared cache; our own may, once revalidated.
        'Cache-Control': 'private, no-cache',
      }
      if (answer.state === 'unchanged') return new Response(null, { status: 304, headers })
      if (c.req.raw.method === 'HEAD') {
        // Nobody would read it, and what nobody reads keeps the repository's answer open.
        await answer.body.cancel()
        return new Response(null, { headers })
      }
      return new Response(answer.body, {
        headers: { ...headers, 'Content-Type': 'application/json; charset=UTF-8' },
      })
    }
  }
}

const TASK_FILTERS = ['status', 'assignee', 'ready', 'execution', 'label']

function taskFilter(c: Context<ApiEnv>): TaskFilter {
  const { status, assignee, label } = c.req.query()
  const execution = choiceOf(c, 'execution', EXECUTIONS)
  const ready = choiceOf(c, 'ready', ['true', 'false'])
  return defined({ status, assignee, execution, label, ready: ready && ready === 'true' })
}

const SESSION_FILTERS = ['task', 'actor', 'status', 'health']

function sessionFilter(c: Context<ApiEnv>): SessionFilter {
  const { task, actor, status } = c.req.query()
  return defined({ task, actor, status, health: choiceOf(c, 'health', HEALTHS) })
}

/** Empty, it filters by nothing, as every other filter. */
const choiceOf = <V extends string>(c: Context<ApiEnv>, name: string, values: readonly V[]) =>
  oneOf(name, c.req.query(name) || undefined, values, 'invalid_request')

async function bodyOf<T>(c: Context<ApiEnv>, check: (body: unknown) => Checked<T>): Promise<T> {
  let body: unknown
  try {
    body = await c.req.json()
  } catch (error) {
    // Reading may also fail by the size limit, which has its own answer.
    if (error instanceof SyntaxError) throw new Problem('invalid_request', 'The body is not JSON.')
    throw error
  }
  const wire = wireOf(body)
  if (wire !== WIRE) throw new Problem('wire_version', wireProblem(WIRE, wire))
  const checked = check(body)
  if (!checked.ok) throw new Problem('invalid_request', `The body is malformed at ${checked.error}`)
  return checked.value
}

function publish(c: Context<ApiEnv>, outcome: PublishOutcome<object>): Response {
  if (outcome.ok) return c.json({ wire: WIRE, ...outcome.answer })
  throw new Problem(outcome.reason, refusal(outcome.reason))
}

function refusal(reason: PublishRefusal['reason']): string {
  switch (reason) {
    case 'sync_required':
      return 'The edge does not know this run or epoch: sync first.'
    case 'superseded':
      return 'A later sidecar publishes this repository.'
    case 'stale_batch':
      return 'A newer batch of this run was applied before.'
  }
}

/** Leaves out what is undefined or empty: `?status=` filters by nothing. */
function defined<T extends Record<string, unknown>>(
  values: T,
): { [K in keyof T]?: Exclude<T[K], undefined | ''> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined | ''> }
}
