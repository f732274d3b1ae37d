import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BoardReport } from '../../worker/board/wire.ts'
import { boardReport, Repo, token } from '../support/edge.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { run } from './run.ts'

const ENDED = { sidecar: { state: 'ended', version: '1.2.3' } } as const

describe('signalbox boards forget', () => {
  let edge: NodeEdgeInTest
  beforeAll(async () => {
    edge = await startNodeEdge()
  })
  afterAll(() => edge.close())

  async function reported(report: Partial<BoardReport>): Promise<Repo> {
    const repo = new Repo(edge)
    const body = JSON.stringify(boardReport(report))
    expect((await repo.request('/boards', { method: 'PUT', body })).status).toBe(200)
    return repo
  }
  async function forget(name: string, repos: Repo[], scope = 'board:read board:write') {
    const paths = repos.map(({ path }) => path)
    const env = { SIGNALBOX_TOKEN: await token({ repos: paths, scope }) }
    return await run(['boards', 'forget', name, '--url', edge.origin], env)
  }
  const endOf = ({ path }: Repo) => path.replace(/^.*\//, '')

  it('takes a board off the list, by the end of its name, and no other', async () => {
    const [gone, other] = [await reported(ENDED), await reported(ENDED)]
    const done = await forget(endOf(gone), [gone, other])
    expect(done).toEqual({ code: 0, out: `${gone.path} is off the list.\n`, err: '' })
    const again = await forget(endOf(gone), [gone, other])
    expect([again.code, again.out]).toEqual([1, ''])
    expect(again.err).toContain(`No board is called ${endOf(gone)}: the list has ${other.path}.`)
  })

  it('leaves one that a sidecar publishes, and says so', async () => {
    const repo = await reported({})
    const { code, err } = await forget(repo.path, [repo])
    expect(code).toBe(1)
    expect(err).toContain(`${repo.path} stays on the list. A sidecar publishes this board.`)
  })

  it('says that the token may not, and that nothing answers', async () => {
    const repo = await reported(ENDED)
    const refused = await forget(repo.path, [repo], 'board:read')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('board:write')])
    const env = { SIGNALBOX_TOKEN: 'token' }
    const away = await run(['boards', 'forget', 'a', '--url', 'http://127.0.0.1:9'], env)
    expect([away.code, away.err]).toEqual([1, expect.stringContaining('http://127.0.0.1:9')])
  })

  it('refuses a call without a name, and without a Signalbox', async () => {
    expect((await run(['boards', 'forget'])).code).toBe(2)
    expect((await run(['boards', 'forget', 'a'])).code).toBe(2)
    expect((await run(['boards', 'forget', 'a', '--url', edge.origin])).code).toBe(2)
  })
})
