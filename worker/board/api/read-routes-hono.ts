// The read endpoints of a board, and the list of boards, over HTTP.

import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { type ApiEnv, requireScope } from '../../shared/access.ts'
import type { Clock } from '../../shared/clock.ts'
import { Problem } from '../../shared/problem.ts'
import { readQuery } from '../../shared/query.ts'
import { sha256Hex } from '../../shared/sha256.ts'
import { activityQuery } from '../activity/activity-rows.ts'
import { type Directory, inOrder, listedBoard } from '../directory/directory.ts'
import { repositoryQuery, sessionsQuery, tasksQuery } from '../queries.ts'
import { matchesTag, type Query, type ReadAnswer } from '../repository/reads.ts'
import type { Repositories } from '../repository/repositories.ts'
import { pathOf, QUERY_RULES, unpublished } from './request-hono.ts'

interface ReadDeps {
  repositories: Repositories
  directory: Directory
  clock: Clock
}

/** Another user's answer must not come out of a shared cache; our own may, once revalidated. */
const REVALIDATED = { 'Cache-Control': 'private, no-cache' }
const JSON_TYPE = { 'Content-Type': 'application/json; charset=UTF-8' }

export function readRoutes(deps: ReadDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()

  /** `toQuery` gets the validated parameters. */
  const read =
    <Schema extends z.ZodObject>(
      schema: Schema,
      toQuery: (parameters: z.infer<Schema>, id: string) => Query,
      rules: Parameters<typeof readQuery>[2] = QUERY_RULES,
    ) =>
    (c: Context<ApiEnv>) => {
      const repository = deps.repositories.open(pathOf(c, 'board:read'))
      const parameters = readQuery(c.req.url, schema, rules)
      const query = toQuery(parameters, c.req.param('id') ?? '')
      return answerRead(c, query, repository.read(query, c.req.header('If-None-Match')))
    }
  /** A read may find that a sidecar is offline: the list of boards shows that from then on. */
  const readStatus = async (path: string, ifNoneMatch?: string): Promise<ReadAnswer> => {
    const readAt = deps.clock.now()
    const answer = await deps.repositories.open(path).read({ kind: 'status' }, ifNoneMatch)
    const since = answer.state === 'found' ? answer.offlineSince : undefined
    if (since !== undefined) await deps.directory.offline(path, { since, readAt })
    return answer
  }
  app.get('/status', async (c) => {
    const path = pathOf(c, 'board:read')
    readQuery(c.req.url, repositoryQuery, QUERY_RULES)
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
    readQuery(c.req.url, z.object({}), QUERY_RULES)
    const now = deps.clock.now()
    const rows = inOrder(await deps.directory.list(grant.repos, now), now)
    const text = JSON.stringify({ boards: rows.map((row) => listedBoard(row, now)) })
    const headers = { ...REVALIDATED, ETag: `W/"${await sha256Hex(text)}"` }
    if (matchesTag(c.req.header('If-None-Match'), headers.ETag)) {
      return new Response(null, { status: 304, headers })
    }
    return new Response(text, { headers: { ...headers, ...JSON_TYPE } })
  })
  app.delete('/boards', async (c) => {
    const path = pathOf(c, 'board:write')
    readQuery(c.req.url, repositoryQuery, QUERY_RULES)
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
  return app
}

const MAX_ROWS = 1_000
const ROWS = 100

function limitOf(text: string): number {
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN
  if (limit <= MAX_ROWS) return limit
  throw new Problem('bad_limit', `The limit must be a whole number from 1 to ${MAX_ROWS}.`)
}

async function answerRead(
  c: Context<ApiEnv>,
  query: Query,
  read: Promise<ReadAnswer>,
): Promise<Response> {
  const answer = await read
  switch (answer.state) {
    case 'unpublished':
      throw unpublished()
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
