// Notices over HTTP: the rules and deliveries of a board, a test, and the commands for a sidecar.

import { type Context, Hono } from 'hono'
import type { ApiEnv, Scope } from '../../shared/access.ts'
import { bodyLimit } from '../../shared/body-limit-hono.ts'
import { Problem } from '../../shared/problem.ts'
import { readQuery } from '../../shared/query.ts'
import { checkTest } from '../notices/notice-calls.ts'
import * as sender from '../notices/notice-sender.ts'
import { checkCommandEnd } from '../publishing.ts'
import { repositoryQuery } from '../queries.ts'
import type { Repositories } from '../repository/repositories.ts'
import { WIRE } from '../wire.ts'
import { bodyOf, pathOf, QUERY_RULES, unpublished } from './request-hono.ts'

const BYTES = 4 << 10
const NO_STORE = { 'Cache-Control': 'no-store' }

export interface NoticeDeps {
  repositories: Repositories
  /** There is a NOTICE_SECRET. */
  signsNotices: boolean
}

export function noticeRoutes({ repositories, signsNotices }: NoticeDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  const open = (c: Context<ApiEnv>, scope: Scope) => {
    const path = pathOf(c, scope)
    readQuery(c.req.url, repositoryQuery, QUERY_RULES)
    return { path, repository: repositories.open(path) }
  }
  const limit = bodyLimit(BYTES, 'What is said of a notice ends at 4 KiB.')

  app.get('/', async (c) => {
    const shown = await open(c, 'board:read').repository.notices()
    if (shown) {
      const rules = shown.rules.map((rule) =>
        signsNotices || rule.to !== 'webhook' ? rule : { ...rule, problem: sender.UNSIGNED },
      )
      return c.json({ ...shown, rules }, 200, NO_STORE)
    }
    throw unpublished()
  })
  app.post('/test', limit, async (c) => {
    const { repository } = open(c, 'board:lead')
    const { on } = await bodyOf(c, checkTest)
    const deliveries = await repository.testNotice(on)
    if (deliveries) return c.json({ deliveries }, 200, NO_STORE)
    throw new Problem('unknown_rule', `No rule of this board is called ${on}.`)
  })
  app.get('/due', async (c) => {
    const { path, repository } = open(c, 'board:write')
    const due = await repository.noticeTurn('commands', {})
    const commands = (due ?? []).map(({ notice, at, ...rest }) => ({
      ...rest,
      at,
      text: sender.textOf(notice, path),
      body: sender.bodyOf(notice, path, Date.parse(at)),
    }))
    return c.json({ wire: WIRE, commands }, 200, NO_STORE)
  })
  app.post('/due', limit, async (c) => {
    const { repository } = open(c, 'board:write')
    const isKnown = await repository.noticeTurn('ran', await bodyOf(c, checkCommandEnd))
    if (!isKnown) throw new Problem('unknown_delivery', 'There is no notice with this id.')
    return c.json({ wire: WIRE }, 200, NO_STORE)
  })
  return app
}
