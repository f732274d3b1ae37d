import { expect, it } from 'vitest'
import { sqliteDirectory } from '../../../../worker/board/directory/directory-sqlite.ts'
import { openSql } from '../../../../worker/shared/sql-node.ts'
import { boundContract, directoryContract } from '../../../contract/directory.ts'
import { boardReport, NOTICE_SECRET, Repo, SECRET } from '../../../support/edge.ts'
import { processEdge } from '../../../support/in-process-edge.ts'

directoryContract('node:sqlite', async () => sqliteDirectory(openSql(':memory:')))
boundContract('node:sqlite', (test) => test(openSql(':memory:')))

it('says over HTTP for how long a full list has no room', async () => {
  const env = { AUTH_SECRETS: SECRET, NOTICE_SECRET, MAX_BOARDS: '1' }
  const edge = processEdge({ env })
  const body = JSON.stringify(boardReport())
  const put = () => new Repo(edge).request('/boards', { method: 'PUT', body })
  expect((await put()).status).toBe(200)
  const refused = await put()
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '300'])
  expect(await refused.json()).toMatchObject({ code: 'directory_full' })
})
