// Claims over HTTP: one agent, one task. And what a lead sets about them.

import { type Context, Hono } from 'hono'
import { type ApiEnv, requireScope } from '../../shared/access.ts'
import { bodyLimit } from '../../shared/body-limit-hono.ts'
import { timeText } from '../../shared/clock.ts'
import { readQuery } from '../../shared/query.ts'
import { sha256Hex } from '../../shared/sha256.ts'
import { type Held, problemOf } from '../claims/claim-calls.ts'
import { coversActor } from '../claims/claims.ts'
import { checkSettings, type SettingsChange } from '../claims/settings-schema.ts'
import { repositoryQuery } from '../queries.ts'
import type { ClaimOutcome, Repositories, RepositoryHandle } from '../repository/repositories.ts'
import { checkClaim, checkRelease, checkRenewal } from './claim-requests.ts'
import { bodyOf, pathOf, QUERY_RULES, unpublished } from './request-hono.ts'

const CLAIM_BYTES = 32 << 10
const SETTINGS_BYTES = 4 << 10

export interface ClaimDeps {
  repositories: Repositories
}

export function claimRoutes({ repositories }: ClaimDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const opened = (c: Context<ApiEnv>) => {
    const board = pathOf(c, 'board:work')
    requireScope(c.get('grant'), 'board:read')
    return { board, repository: repositories.open(board) }
  }
  const limit = bodyLimit(CLAIM_BYTES, 'A claim ends at 32 KiB.')

  app.post('/', limit, async (c) => {
    const { board, repository } = opened(c)
    const { claim, ...asked } = await bodyOf(c, checkClaim)
    if (!coversActor(c.get('grant').actor, asked.actor)) throw problemOf({ reason: 'forbidden' })
    const {
      json,
      isRepeated,
      title: _,
      ...held
    } = answerOf(await repository.claims('claim', { ...asked, hash: await sha256Hex(claim) }))
    const again = isRepeated && { again: true }
    const answer = { ...shown(held), board, task: JSON.parse(json) as unknown, ...again }
    return c.json(answer, isRepeated ? 200 : 201, NOT_KEPT)
  })
  app.post('/renew', limit, async (c) => {
    const { board, repository } = opened(c)
    const { claim, activeAt, ...asked } = await bodyOf(c, checkRenewal)
    const sign = activeAt === undefined ? {} : { activeAt: Date.parse(activeAt) }
    const renewal = { ...asked, ...sign, ...ofActor(c), hash: await sha256Hex(claim) }
    const held = answerOf(await repository.claims('renew', renewal))
    return c.json({ ...shown(held), board }, 200, NOT_KEPT)
  })
  app.post('/release', limit, async (c) => {
    const { board, repository } = opened(c)
    const { claim, session = '', ...asked } = await bodyOf(c, checkRelease)
    const whose = claim === undefined ? { session } : { hash: await sha256Hex(claim) }
    const release = { ...asked, ...ofActor(c), ...whose }
    const held = answerOf(await repository.claims('release', release))
    return c.json({ ...shown(held), board }, 200, NOT_KEPT)
  })
  return app
}

export function settingsRoutes({ repositories }: ClaimDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const limit = bodyLimit(SETTINGS_BYTES, 'The settings of a board end at 4 KiB.')
  const answer = async (
    c: Context<ApiEnv>,
    repository: RepositoryHandle,
    change: SettingsChange,
  ) => {
    readQuery(c.req.url, repositoryQuery, QUERY_RULES)
    return c.json(answerOf(await repository.claims('settings', change)), 200, NOT_KEPT)
  }
  app.get('/', (c) => answer(c, repositories.open(pathOf(c, 'board:read')), {}))
  app.put('/', limit, async (c) => {
    const repository = repositories.open(pathOf(c, 'board:lead'))
    return await answer(c, repository, await bodyOf(c, checkSettings))
  })
  return app
}

/** Whose claims the token may renew and end. */
function ofActor(c: Context<ApiEnv>): { ofActor?: string } {
  const { actor } = c.get('grant')
  return actor === undefined ? {} : { ofActor: actor }
}

const NOT_KEPT = { 'Cache-Control': 'no-store' }

const shown = <Of extends Omit<Held, 'title'>>({ expiresAt, end, isReturning, ...held }: Of) => ({
  ...held,
  expiresAt: timeText(expiresAt),
  ...(end && { end: { outcome: end.outcome, at: timeText(end.at) } }),
  ...(isReturning && { returning: true }),
})

function answerOf<Answer>(outcome: ClaimOutcome<Answer>): Answer {
  if (outcome.ok) return outcome.answer
  throw outcome.reason === 'unpublished' ? unpublished() : problemOf(outcome)
}
