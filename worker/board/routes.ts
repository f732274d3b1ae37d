// The board over HTTP: the stream, the read endpoints, and what a sidecar publishes.

import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { type Access, type ApiEnv, requireScope, type Scope } from '../shared/access.ts'
import { bodyLimit, readJson } from '../shared/body-limit-hono.ts'
import type { Clock } from '../shared/clock.ts'
import type { Checked } from '../shared/fields.ts'
import { type Log, rareLog } from '../shared/log.ts'
import { Problem } from '../shared/problem.ts'
import { readQuery, refuseRepeated } from '../shared/query.ts'
import { coversPath, onlyPath, pathProblem } from '../shared/repos.ts'
import { createSeal } from '../shared/seal.ts'
import { sha256Hex } from '../shared/sha256.ts'
import { activityQuery } from './activity-rows.ts'
import { claimRoutes } from './claim-routes-hono.ts'
import { type Directory, inOrder, listedBoard } from './directory.ts'
import type { BoardMetrics } from './metrics.ts'
import { sealed } from './notice-calls.ts'
import { noticeRoutes } from './notice-routes-hono.ts'
import { SEALED_FOR } from './notice-sender.ts'
import { checkChanges, checkReport, checkSync } from './publishing.ts'
import { matchesTag, type Query, type ReadAnswer } from './reads.ts'
import { repositoryQuery, sessionsQuery, sidecarQuery, tasksQuery } from './records.ts'
import type { PublishOutcome, Repositories } from './repositories.ts'
import type { PublishRefusal } from './repository.ts'
import { settingsRoutes } from './settings-routes-hono.ts'
import { openStream, type StreamLimits, type StreamOptions } from './stream.ts'
import { type DataRecord, RECORD_BYTES, ROOM_MS, WIRE, wireProblem } from './wire.ts'

export interface BoardDeps {
  repositories: Repositories
  directory: Directory
  /** The boards that the directory keeps at most. */
  maxBoards: number
  access: Access
  clock: Clock
  log: Log
  limits: StreamLimits
  metrics: BoardMetrics
  /** AUTH_SECRETS. */
  secrets: readonly string[]
  /** There is a NOTICE_SECRET. */
  signsNotices: boolean
}

const PUBLISH_BYTES = 8 << 20
/** Another user's answer must not come out of a shared cache; our own may, once revalidated. */
const REVALIDATED = { 'Cache-Control': 'private, no-cache' }
const JSON_TYPE = { 'Content-Type': 'application/json; charset=UTF-8' }
const WRONG = { reason: 'invalid_request', isEmptyMissing: true } as const

/** Mounted under `/api`, behind the authentication that sets `grant`. */
export function boardRoutes(deps: BoardDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const rare = rareLog(deps.log, deps.clock)
  const seal = createSeal(deps.secrets, SEALED_FOR)
  const limit = bodyLimit(PUBLISH_BYTES, 'A publishing message ends at 8 MiB.')

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

  /** `toQuery` gets the validated parameters. */
  const read =
    <Schema extends z.ZodObject>(
      schema: Schema,
      toQuery: (parameters: z.infer<Schema>, id: string) => Query,
      wrong: Parameters<typeof readQuery>[2] = WRONG,
    ) =>
    (c: Context<ApiEnv>) => {
      const repository = deps.repositories.open(pathOf(c, 'board:read'))
      const parameters = readQuery(c.req.url, schema, wrong)
      const query = toQuery(parameters, c.req.param('id') ?? '')
      return answerRead(c, query, repository.read(query, c.req.header('If-None-Match')))
    }
  /** Who finds a sidecar offline has the list of boards say so. */
  const readStatus = async (path: string, ifNoneMatch?: string): Promise<ReadAnswer> => {
    const readAt = deps.clock.now()
    const answer = await deps.repositories.open(path).read({ kind: 'status' }, ifNoneMatch)
    const since = answer.state === 'found' ? answer.offlineSince : undefined
    if (since !== undefined) await deps.directory.offline(path, { since, readAt })
    return answer
  }
  app.get('/status', async (c) => {
    const path = pathOf(c, 'board:read')
    readQuery(c.req.url, repositoryQuery, WRONG)
    return answerRead(c, { kind: 'status' }, readStatus(path, c.req.header('If-None-Match')))
  })
  app.get(
    '/tasks',
    read(tasksQuery, ({ path: _, since, ready, after, limit, ...filter }) => {
      if (since !== undefined && (after ?? limit) !== undefined) {
        throw new Problem('invalid_request', 'With since there is neither after nor limit.')
      }
      return {
        kind: 'tasks',
        ...(since !== undefined && { since }),
        ...(after !== undefined && { after }),
        ...(limit !== undefined && { limit: limitOf(limit) }),
        filter: { ...filter, ...(ready && { ready: ready === 'true' }) },
      }
    }),
  )
  app.get(
    '/tasks/:id',
    read(repositoryQuery, (_, id) => ({ kind: 'task', id })),
  )
  app.get(
    '/tasks/:id/runs',
    read(repositoryQuery, (_, task) => ({ kind: 'runs', task })),
  )
  app.get(
    '/tasks/:id/sessions',
    read(repositoryQuery, (_, task) => ({ kind: 'task-sessions', task })),
  )
  app.get(
    '/sessions',
    read(sessionsQuery, ({ path: _, since, ...filter }) => ({
      kind: 'sessions',
      ...(since !== undefined && { since }),
      filter,
    })),
  )
  app.get(
    '/sessions/:id',
    read(repositoryQuery, (_, id) => ({ kind: 'session', id })),
  )
  app.get(
    '/activity',
    read(
      activityQuery,
      ({ path: _, since, before, limit, ...filter }) => ({
        kind: 'activity',
        filter,
        ...(since !== undefined && { since }),
        ...(before !== undefined && { before: Number(before) }),
        limit: limit === undefined ? ROWS : limitOf(limit),
      }),
      // A script whose variable is empty must not take all of it for what it asked for.
      { reason: 'invalid_request' },
    ),
  )

  app.get('/boards', async (c) => {
    const grant = c.get('grant')
    requireScope(grant, 'board:read')
    readQuery(c.req.url, z.object({}), WRONG)
    const now = deps.clock.now()
    const rows = inOrder(await deps.directory.list(grant.repos, now), now)
    const text = JSON.stringify({ boards: rows.map((row) => listedBoard(row, now)) })
    const headers = { ...REVALIDATED, ETag: `W/"${await sha256Hex(text)}"` }
    if (matchesTag(c.req.header('If-None-Match'), headers.ETag)) {
      return new Response(null, { status: 304, headers })
    }
    return new Response(text, { headers: { ...headers, ...JSON_TYPE } })
  })
  app.put('/boards', limit, async (c) => {
    const path = pathOf(c, 'board:write')
    const report = await bodyOf(c, checkReport)
    const by = {
      holder: await c.get('grant').holder(),
      maxBoards: deps.maxBoards,
      now: deps.clock.now(),
    }
    const put = await deps.directory.put(path, report, by)
    if (put === 'superseded') throw new Problem('superseded', refusal('superseded'))
    if (put === 'full') {
      const why = 'The list of boards has no room for another one of this token.'
      throw new Problem('directory_full', why, { retryAfterS: ROOM_MS / 1_000 })
    }
    return c.json({ wire: WIRE })
  })
  app.delete('/boards', async (c) => {
    const path = pathOf(c, 'board:write')
    readQuery(c.req.url, repositoryQuery, WRONG)
    // Nobody may have asked since its sidecar was killed.
    const status = await readStatus(path)
    if (status.state === 'found') await status.body.cancel()
    switch (await deps.directory.forget(path, deps.clock.now())) {
      case 'forgotten':
        return c.body(null, 204)
      case 'published':
        throw new Problem('published', 'A sidecar publishes this board.')
      case 'unknown':
        throw new Problem('unknown_repository', 'The list of boards has none of this name.')
    }
  })

  app.get('/sidecar', async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:write'))
    const { run } = readQuery(c.req.url, sidecarQuery, WRONG)
    // A page of another origin could open one with the cookie, since no browser asks before.
    if (c.get('grant').via !== 'header') throw new Problem('forbidden', 'Send a bearer token.')
    if (!repository.attach) throw new Problem('not_found', 'This edge takes no socket: report.')
    if (c.req.header('Upgrade')?.toLowerCase() !== 'websocket') {
      throw new Problem('upgrade_required', 'This route is a WebSocket.')
    }
    const attached = await repository.attach(Number(run))
    switch (attached) {
      case 'sync_required':
        throw new Problem('sync_required', refusal(attached))
      case 'too_many_sidecars':
        throw new Problem(attached, 'Too many sidecars hold sockets of this repository.')
    }
    return attached
  })
  app.post('/sync', limit, async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:write'))
    const request = await bodyOf(c, checkSync)
    const { step } = request
    if (step === 'probe') return c.json({ wire: WIRE, step })
    const notices = step === 'root' ? request.notices : undefined
    const rules = notices && (await sealed(notices, seal))
    const outcome = await repository.sync(request, rules)
    deps.metrics.published(step, outcome)
    return publish(c, outcome)
  })
  app.post('/changes', limit, async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:write'))
    const request = await bodyOf(c, checkChanges)
    // A message that is not larger holds no record that is.
    const bytes = Number(c.req.header('Content-Length') ?? PUBLISH_BYTES)
    const large = bytes > RECORD_BYTES && request.upserts.find((record) => !isStorable(record))
    if (large) throw new Problem('payload_too_large', 'A record ends at 1.8 MB of JSON.')
    const outcome = await repository.changes(request)
    deps.metrics.published('changes', outcome, request.upserts.length + request.deletes.length)
    return publish(c, outcome)
  })
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

const MOST_ROWS = 1_000
const ROWS = 100

function limitOf(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN
  if (limit <= MOST_ROWS) return limit
  throw new Problem('bad_limit', `The limit must be a whole number from 1 to ${MOST_ROWS}.`)
}

const isStorable = (record: DataRecord): boolean =>
  new TextEncoder().encode(JSON.stringify(record)).length <= RECORD_BYTES

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

async function answerRead(
  c: Context<ApiEnv>,
  query: Query,
  read: Promise<ReadAnswer>,
): Promise<Response> {
  const answer = await read
  switch (answer.state) {
    case 'unpublished':
      throw new Problem('unknown_repository', 'No sidecar has published this repository yet.')
    case 'absent':
      if (query.kind === 'session') {
        throw new Problem('unknown_session', 'There is no session with this id.')
      }
      throw new Problem('unknown_task', 'There is no task with this id.')
    case 'bad_since': {
      const why = 'It must be a time that has come, or the id of an event of this board’s epoch.'
      throw new Problem('bad_since', `The query parameter since names no place. ${why}`)
    }
    case 'unchanged':
    case 'found': {
      const headers = {
        ETag: answer.etag,
        'X-Signalbox-Seq': answer.seq,
        ...REVALIDATED,
      }
      if (answer.state === 'unchanged') return new Response(null, { status: 304, headers })
      if (c.req.raw.method === 'HEAD') {
        // A body without a reader would keep the repository's answer open.
        await answer.body.cancel()
        return new Response(null, { headers })
      }
      return new Response(answer.body, {
        headers: { ...headers, ...JSON_TYPE },
      })
    }
  }
}

// The first version of the protocol had none. What is no message at all, the other schemas refuse.
const versioned = z.object({ wire: z.int().catch(1) }).catch({ wire: WIRE })

async function bodyOf<T>(c: Context<ApiEnv>, check: (body: unknown) => Checked<T>): Promise<T> {
  const body = await readJson(c)
  if (body === undefined) throw new Problem('invalid_request', 'The body is not JSON.')
  const { wire } = versioned.parse(body)
  if (wire !== WIRE) throw new Problem('wire_version', wireProblem(WIRE, wire))
  const checked = check(body)
  if (!checked.ok) throw new Problem('invalid_request', checked.error)
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
