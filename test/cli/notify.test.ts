// What whoever leads types to see what people are told, and to test a rule.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PublishedRule } from '../../worker/shared/notice-schemas.ts'
import { serveEdge } from '../sidecar/edge-server.ts'
import {
  type Edge,
  freshHash,
  publishedRepo,
  type Repo,
  SECRET,
  syncRoot,
  taskRecord,
  token,
} from '../support/edge.ts'
import { serve, type TestServer } from '../support/http.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { type NodeEdgeInTest, startNodeEdge } from '../support/start-edge.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './run.ts'

let edge: NodeEdgeInTest
let receiver: TestServer
beforeAll(async () => {
  edge = await startNodeEdge()
  receiver = await serve(
    ({ url }) => new Response(null, { status: url.endsWith('/ok') ? 200 : 500 }),
  )
})
afterAll(async () => {
  await edge.close()
  await receiver.close()
})

const HOME = tempFolder()
const repoWith = (...notices: PublishedRule[]): Promise<Repo> => repoAt(edge, notices)
const repoAt = async (at: Edge, notices: PublishedRule[]): Promise<Repo> => {
  const repo = await publishedRepo(at, [taskRecord('A-1')])
  await repo.sync({ ...syncRoot(repo.run, { root: freshHash() }), notices })
  return repo
}
const notify = (repo: Repo, ...argv: string[]) => notifyAt(edge.origin, repo, ...argv)
async function notifyAt(url: string, repo: Repo, ...argv: string[]) {
  const where = ['--url', url, '--board', repo.path]
  const scope = 'board:read board:lead'
  const SIGNALBOX_TOKEN = await token({ scope, repos: [repo.path] })
  return await run(['notify', ...argv, ...where], { HOME, SIGNALBOX_TOKEN })
}

describe('signalbox notify', () => {
  it('lists the rules with the host of each address, and says where there are none', async () => {
    expect((await notify(await repoWith())).out).toMatch(/^No rules: see notices in /)
    const to = { ntfy: `${receiver.url}/ok` }
    const repo = await repoWith({ on: 'stalled', to }, { on: 'silent', minutes: 30, to })
    const { host } = new URL(receiver.url)
    expect(await notify(repo)).toMatchObject({
      code: 0,
      out: `stalled → ntfy ${host}\nsilent after 30 min → ntfy ${host}\n`,
    })
    const { out } = await notify(repo, '--json')
    expect(JSON.parse(out)).toMatchObject({ rules: [{ on: 'stalled' }, { minutes: 30 }] })
  })

  it('tests each target of a rule, and ends with 1 unless all answered 2xx', async () => {
    const [good, bad] = [{ slack: `${receiver.url}/ok` }, { ntfy: `${receiver.url}/bad` }]
    const repo = await repoWith(
      { on: 'offline', to: good },
      { on: 'review', to: good },
      { on: 'review', to: bad },
    )
    const one = await notify(repo, 'test', 'offline')
    expect([one.code, one.out]).toEqual([0, expect.stringContaining('test of offline: delivered')])
    const two = await notify(repo, 'test', 'review')
    expect(two.code).toBe(1)
    expect(two.out).toContain('delivered → slack')
    expect(two.out).toMatch(/failed → ntfy .*: The endpoint answered 500\.\n/)
    expect((await notify(repo)).out.match(/test of/g)).toHaveLength(3)
  })

  it('says which rules nobody hears of, since the edge cannot sign', async () => {
    const server = await serveEdge(processEdge({ env: { AUTH_SECRETS: SECRET } }))
    const to = [{ webhook: 'https://shop.example/hook' }, { ntfy: 'https://ntfy.sh/x' }]
    const repo = await repoAt(
      server.edge,
      to.map((it) => ({ on: 'stalled', to: it })),
    )
    const { out } = await notifyAt(server.url, repo)
    await server.close()
    expect(out).toBe(
      'stalled → webhook shop.example: No valid NOTICE_SECRET is set: nothing can sign.\n' +
        'stalled → ntfy ntfy.sh\n',
    )
  })

  it('says which rules there are, where it is asked for another', async () => {
    const repo = await repoWith({ on: 'offline', to: { ntfy: `${receiver.url}/ok` } })
    for (const words of [['test', 'nothing'], ['test'], ['list']]) {
      expect([words, (await notify(repo, ...words)).code]).toEqual([words, 2])
    }
    const unknown = await notify(repo, 'test', 'stalled')
    expect([unknown.code, unknown.out]).toEqual([1, expect.stringContaining('"unknown_rule"')])
  })
})
