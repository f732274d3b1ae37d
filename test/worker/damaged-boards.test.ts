// Files of boards that a bad disk, or a copy of half a file, has damaged. They are copies of what
// sidecars send, and no payment is in them.

import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boardReport, publishedRepo, type Repo, taskRecord, token } from '../support/edge.ts'
import { jsonOf } from '../support/json-of.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'

let edge: NodeEdgeInTest
let repo: Repo
beforeEach(async () => {
  edge = await startNodeEdge()
  repo = await publishedRepo(edge, [taskRecord('A-1')])
  await report()
})
afterEach(() => edge.close())

async function report(): Promise<void> {
  const body = JSON.stringify(boardReport({ title: 'Lamps' }))
  expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
}
async function listed(): Promise<unknown> {
  const authorization = `Bearer ${await token({ repos: [repo.path] })}`
  return await jsonOf(await edge.fetch('/api/boards', { headers: { authorization } }), 200)
}
async function alertsStatus(): Promise<number> {
  const authorization = `Bearer ${await token({ scope: 'payments:read', repos: [] })}`
  return (await edge.fetch('/api/payments/alerts', { headers: { authorization } })).status
}
const log = () => readFile(join(edge.dir, 'edge.log'), 'utf8')

/** As after a crash, with other bytes in the file. */
async function spoil(name: string): Promise<void> {
  await edge.edge().close()
  await writeFile(join(edge.dir, name), 'no database '.repeat(1_000))
  await edge.restart()
}

describe('a damaged file', () => {
  it('of the list of boards is moved aside with a line, and filled again; payments go on', async () => {
    await spoil('boards.sqlite')
    expect(await alertsStatus()).toBe(200)
    expect(await listed()).toMatchObject({ boards: [] })
    const movedTo = join(edge.dir, 'boards.sqlite.damaged')
    expect(await readFile(movedTo, 'utf8')).toContain('no database')
    expect(await log()).toContain(JSON.stringify({ movedTo }).slice(1, -1))
    await report()
    expect(await listed()).toMatchObject({ boards: [{ path: repo.path, title: 'Lamps' }] })
  })

  it('of one board is moved aside with a line that names the board, and filled again', async () => {
    const name = `${createHash('sha256').update(repo.path).digest('hex').slice(0, 32)}.sqlite`
    await spoil(name)
    // A restarted edge reads each board by itself. A request that is the first to read it gets a 500.
    const read = async () => (await repo.request('/tasks')).status
    await expect.poll(read).toBe(404)
    expect(await alertsStatus()).toBe(200)
    expect(await log()).toMatch(
      new RegExp(`"board.file_damaged".*"board":"${repo.path}".*${name}\\.damaged`),
    )
    await repo.begin()
    await repo.changes({ upserts: [taskRecord('A-1')] })
    expect(await jsonOf(await repo.request('/tasks'), 200)).toMatchObject({
      tasks: [{ id: 'A-1' }],
    })
  })
})
