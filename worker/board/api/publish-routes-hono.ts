// What sidecars publish, over HTTP: messages, their sockets, and a board's row in the list of all.

import { type Context, Hono } from 'hono'
import * as z from 'zod'
import type { ApiEnv } from '../../shared/access.ts'
import { bodyLimit } from '../../shared/body-limit-hono.ts'
import type { Clock } from '../../shared/clock.ts'
import type { Checked } from '../../shared/fields.ts'
import { Problem } from '../../shared/problem.ts'
import { readQuery } from '../../shared/query.ts'
import { createSeal } from '../../shared/seal.ts'
import type { Directory, DirectoryLimits } from '../directory/directory.ts'
import type { BoardMetrics } from '../metrics.ts'
import { sealed } from '../notices/notice-calls.ts'
import { SEALED_FOR } from '../notices/notice-sender.ts'
import { checkChanges, checkReport, checkSync } from '../publishing.ts'
import { sidecarQuery } from '../queries.ts'
import type { PublishOutcome, Repositories } from '../repository/repositories.ts'
import type { PublishRefusal } from '../repository/repository.ts'
import { type DataRecord, RECORD_BYTES, ROOM_MS, WIRE, wireProblem } from '../wire.ts'
import { bodyOf, pathOf, QUERY_RULES } from './request-hono.ts'

export interface PublishDeps {
  repositories: Repositories
  directory: Directory
  directoryLimits: DirectoryLimits
  clock: Clock
  metrics: BoardMetrics
  /** AUTH_SECRETS. */
  secrets: readonly string[]
}

const PUBLISH_BYTES = 8 << 20

export function publishRoutes(deps: PublishDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const seal = createSeal(deps.secrets, SEALED_FOR)
  const limit = bodyLimit(PUBLISH_BYTES, 'A publishing message ends at 8 MiB.')

  app.put('/boards', limit, async (c) => {
    const path = pathOf(c, 'board:write')
    const report = await messageOf(c, checkReport)
    const holder = await c.get('grant').holder()
    const by = { ...deps.directoryLimits, holder, now: deps.clock.now() }
    const put = await deps.directory.put(path, report, by)
    if (put === 'superseded') throw new Problem('superseded', refusal('superseded'))
    if (put === 'full') {
      const why = 'The list of boards has no room for another one of this token.'
      throw new Problem('directory_full', why, { retryAfterS: ROOM_MS / 1_000 })
    }
    return c.json({ wire: WIRE })
  })
  app.get('/sidecar', async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:write'))
    const { run } = readQuery(c.req.url, sidecarQuery, QUERY_RULES)
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
    const board = pathOf(c, 'board:write')
    const repository = deps.repositories.open(board)
    const request = await messageOf(c, checkSync)
    const { step } = request
    if (step === 'probe') return c.json({ wire: WIRE, step })
    const notices = step === 'root' ? request.notices : undefined
    const rules = notices && { board, rules: await sealed(notices, seal) }
    const outcome = await repository.sync(request, rules)
    deps.metrics.published(step, outcome)
    return publish(c, outcome)
  })
  app.post('/changes', limit, async (c) => {
    const repository = deps.repositories.open(pathOf(c, 'board:write'))
    const request = await messageOf(c, checkChanges)
    // A message that is not larger holds no record that is.
    const bytes = Number(c.req.header('Content-Length') ?? PUBLISH_BYTES)
    const large = bytes > RECORD_BYTES && request.upserts.find((record) => !isStorable(record))
    if (large) throw new Problem('payload_too_large', 'A record ends at 1.8 MB of JSON.')
    const outcome = await repository.changes(request)
    deps.metrics.published('changes', outcome, request.upserts.length + request.deletes.length)
    return publish(c, outcome)
  })
  return app
}

const isStorable = (record: DataRecord): boolean =>
  new TextEncoder().encode(JSON.stringify(record)).length <= RECORD_BYTES

// The first version of the protocol had none. What is no message at all, the other schemas refuse.
const versioned = z.object({ wire: z.int().catch(1) }).catch({ wire: WIRE })

const messageOf = <T>(c: Context<ApiEnv>, check: (body: unknown) => Checked<T>): Promise<T> =>
  bodyOf(c, (body) => {
    const { wire } = versioned.parse(body)
    if (wire !== WIRE) throw new Problem('wire_version', wireProblem(WIRE, wire))
    return check(body)
  })

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
