// What a lead sets for a board, over HTTP.

import { type Context, Hono } from 'hono'
import type { ApiEnv, Scope } from '../shared/access.ts'
import { bodyLimit } from '../shared/body-limit-hono.ts'
import { Problem } from '../shared/problem.ts'
import { readQuery } from '../shared/query.ts'
import { checkSettings, type SettingsChange } from './board-settings.ts'
import { bodyOf } from './claim-routes-hono.ts'
import { repositoryQuery } from './records.ts'
import type { RepositoryHandle } from './repositories.ts'

const BYTES = 4 << 10

/** `repositoryOf` checks what the token allows. */
export function settingsRoutes(
  repositoryOf: (c: Context<ApiEnv>, scope: Scope) => RepositoryHandle,
): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const limit = bodyLimit(BYTES, 'The settings of a board end at 4 KiB.')
  app.get('/', (c) => answer(c, repositoryOf(c, 'board:read'), {}))
  app.put('/', limit, async (c) => {
    const repository = repositoryOf(c, 'board:lead')
    return await answer(c, repository, await bodyOf(c, checkSettings))
  })
  return app
}

async function answer(c: Context<ApiEnv>, repository: RepositoryHandle, change: SettingsChange) {
  readQuery(c.req.url, repositoryQuery, { reason: 'invalid_request', isEmptyMissing: true })
  const settings = await repository.settings(change)
  if (settings) return c.json(settings, 200, { 'Cache-Control': 'no-store' })
  throw new Problem('unknown_repository', 'No sidecar has published this repository yet.')
}
