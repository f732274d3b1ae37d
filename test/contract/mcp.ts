// MCP on any host, as the official client sees it.

import { describe, expect, it, onTestFinished } from 'vitest'
import type { Session } from '../../libraries/api/types.ts'
import type { DataRecord } from '../../worker/board/wire.ts'
import type { Edge } from '../support/edge.ts'
import {
  boardReport,
  freshHash,
  publishedRepo,
  type Repo,
  taskRecord,
  token,
} from '../support/edge.ts'
import { callTool } from '../support/mcp.ts'
import {
  hearsOwn,
  type McpCaller,
  mcpClient,
  uriOf,
  VERSIONS,
  WORKING,
} from '../support/mcp-client.ts'

const CONFIG: DataRecord = {
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'doing', 'done'], closed: ['done'] },
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}

export function mcpContract(name: string, host: { edge(): Edge }): void {
  const board = (): Promise<Repo> =>
    publishedRepo(host.edge(), [
      CONFIG,
      taskRecord('A-1', { title: 'Bake bread', status: 'todo', body: 'With rye.' }),
      taskRecord('A-2', { status: 'done', ready: false, deps: ['A-1'], labels: ['oven'] }),
    ])
  const connected = async (repo: Repo, { claims, ...caller }: McpCaller = {}) => {
    const client = await mcpClient(host.edge(), {
      claims: { repos: [repo.path], ...claims },
      ...caller,
    })
    onTestFinished(() => client.close())
    return client
  }
  const post = async (body: unknown, headers: Record<string, string> = {}, query = '') => {
    const response = await host.edge().fetch(`/mcp${query}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, code: /"code":"(\w+)"/.exec(text)?.[1], text }
  }
  const bearer = async () => ({ Authorization: `Bearer ${await token({ scope: WORKING })}` })

  describe.each(VERSIONS)(`MCP ${'%s'} on ${name}`, (version) => {
    it('lists the tools, each with what it takes and what it answers', async () => {
      const client = await connected(await board(), { version })
      expect(client.getServerVersion()).toMatchObject({ name: 'signalbox' })
      const { tools } = await client.listTools()
      expect(tools.map((tool) => tool.name)).toEqual(
        expect.arrayContaining(['list_boards', 'list_tasks', 'get_task', 'history']),
      )
      for (const { title, description, inputSchema, outputSchema } of tools) {
        expect([typeof title, typeof description]).toEqual(['string', 'string'])
        expect([inputSchema.type, outputSchema?.type]).toEqual(['object', 'object'])
      }
    })

    it('reads boards, tasks, one task and its history as the API has them', async () => {
      const repo = await board()
      const publisher = `Bearer ${await token({ repos: [repo.path] })}`
      await repo.request('/boards', {
        method: 'PUT',
        headers: { Authorization: publisher },
        body: JSON.stringify({ ...boardReport(), run: repo.run }),
      })
      const client = await connected(repo, { version })
      expect(await callTool(client, 'list_boards')).toMatchObject({ boards: [{ path: repo.path }] })
      const listed = await callTool(client, 'list_tasks')
      const { tasks } = await repo.json<{ tasks: object[] }>('/tasks')
      expect(listed).toMatchObject({ tasks })
      expect(listed).not.toHaveProperty('next')
      expect(listed.text).toContain('A-1 [todo, ready] Bake bread')
      const oven = await callTool(client, 'list_tasks', { label: 'oven', ready: false })
      expect(oven.tasks).toMatchObject([{ id: 'A-2' }])
      const first = await callTool(client, 'list_tasks', { limit: 1 })
      expect(first).toMatchObject({ tasks: [{ id: 'A-1' }], next: 'A-1' })
      expect(first.text).toContain('ask with after A-1.')
      const rest = await callTool(client, 'list_tasks', { limit: 1, after: first.next })
      expect(rest.tasks).toMatchObject([{ id: 'A-2' }])
      expect(rest).not.toHaveProperty('next')
      const task = await callTool(client, 'get_task', { task: 'A-1' })
      expect(task).toMatchObject(await repo.json<object>('/tasks/A-1'))
      expect(task.text).toContain('With rye.')
      const { activity } = await repo.json<{ activity: object[] }>('/activity')
      expect(await callTool(client, 'history', { limit: 5 })).toMatchObject({ activity })
    })

    it('answers with our code and sentence, and does nothing', async () => {
      const client = await connected(await board(), { version })
      for (const task of ['A-9', '.', '..', '\ud800']) {
        expect(await callTool(client, 'get_task', { task })).toMatchObject({
          code: 'unknown_task',
          error: 'There is no task with this id.',
        })
      }
      for (const [tool, asked, sentence] of [
        ['get_task', {}, 'task is missing.'],
        ['get_task', { task: 7 }, 'task must be a text.'],
        ['list_tasks', { staus: 'todo' }, 'staus is not a known field.'],
        ['list_tasks', { limit: 5_000 }, 'limit must be 1000 at most.'],
      ] as const) {
        const refused = await callTool(client, tool, asked)
        expect(refused).toMatchObject({ code: 'invalid_request', error: sentence })
      }
      await expect(callTool(client, 'drop_tables')).rejects.toThrow('drop_tables')
    })

    it('claims a task for one agent alone, and renews and ends the claim', async () => {
      const repo = await board()
      const caller = { version, claims: { actor: 'ci' } }
      const [one, other] = [await connected(repo, caller), await connected(repo, caller)]
      const given = await callTool(one, 'claim_task', { agent: 'ada' })
      expect(given).toMatchObject({ task: { id: 'A-1' }, board: repo.path })
      expect(given.text).toContain('A-1 is yours until')
      const inAnHour = Date.parse(String(given.expiresAt)) - Date.now()
      expect(Math.round(inAnHour / 60_000)).toBe(60)
      const { claim } = given
      const refused = await callTool(other, 'claim_task', { agent: 'bob', task: 'A-1' })
      expect(refused).toMatchObject({ code: 'claimed', by: 'ci/ada', task: 'A-1' })
      expect(await callTool(other, 'claim_task', { agent: 'bob' })).toMatchObject({
        code: 'nothing_ready',
      })
      const renewed = await callTool(one, 'renew_claim', { claim, progress: 'kneading' })
      expect(renewed).toMatchObject({ task: 'A-1', title: 'Bake bread' })
      const { sessions } = await repo.json<{ sessions: object[] }>('/sessions')
      expect(sessions).toMatchObject([{ actor: 'ci/ada', live: { progress: 'kneading' } }])
      const done = { claim, outcome: 'done', summary: 'baked' }
      expect(await callTool(one, 'release_claim', done)).toMatchObject({ end: { outcome: 'done' } })
      const unknown = await callTool(one, 'renew_claim', { claim: 'A'.repeat(22) })
      expect(unknown).toMatchObject({ code: 'unknown_claim' })
    })

    it('stores nothing of a claim with a wrong argument, or of a task of another board', async () => {
      const [repo, other] = [await board(), await board()]
      const client = await connected(repo, { version })
      for (const [asked, code] of [
        [{ agent: 7 }, 'invalid_request'],
        [{ agent: 'ada', task: ['A-1'] }, 'invalid_request'],
        [{ agent: 'ada', max: 'many' }, 'invalid_request'],
        [{ agent: 'ada', claim: 'short' }, 'invalid_request'],
        [{ agent: 'ada', board: other.path, task: 'A-1' }, 'forbidden'],
        [{ agent: 'ada', task: 'B-1' }, 'not_found'],
      ] as const) {
        expect(await callTool(client, 'claim_task', asked)).toMatchObject({ code })
      }
      for (const one of [repo, other]) expect(await one.json('/sessions')).toEqual({ sessions: [] })
    })

    it('makes a claim of the call, so that one that is sent again is the same', async () => {
      const repo = await board()
      const given: Record<string, unknown>[] = []
      // Each client counts its calls from the same number on. Without a subject it would be its
      // token's, and of two that are made in another second each is its own.
      const claims = { sub: 'one of us' }
      for (const outcome of ['abandoned', undefined, undefined]) {
        const client = await connected(repo, { version, claims })
        const answer = await callTool(client, 'claim_task', { agent: 'ada' })
        given.push(answer)
        if (outcome) await callTool(client, 'release_claim', { claim: answer.claim, outcome })
      }
      const [first, second, again] = given
      expect(again).toMatchObject({ again: true, claim: second?.claim })
      expect(second).not.toHaveProperty('again')
      expect(first?.claim).not.toBe(second?.claim)
      const other = await connected(repo, { version, claims: { sub: 'somebody else' } })
      const refused = await callTool(other, 'claim_task', { agent: 'ada' })
      expect(refused).toMatchObject({ code: 'nothing_ready' })
    })

    it('renews the claim with every call that names it, and says where it is lost', async () => {
      const repo = await board()
      const client = await connected(repo, { version })
      const claim = 'x'.repeat(22)
      const bearer = `Bearer ${await token({ scope: WORKING, repos: [repo.path] })}`
      const asked = { claim, actor: 'ada', ttlMs: 60_000 }
      const init = { method: 'POST', headers: { Authorization: bearer } }
      await repo.request('/claims', { ...init, body: JSON.stringify(asked) })
      const expiry = async () => {
        const { sessions } = await repo.json<{ sessions: Session[] }>('/sessions')
        return sessions[0]?.claim?.expiresAt ?? ''
      }
      for (const [tool, more] of [
        ['list_tasks', {}],
        ['get_task', { task: 'A-1' }],
        ['history', {}],
        ['wait_for_change', { wait_seconds: 1 }],
      ] as const) {
        const before = await expiry()
        await expect
          .poll(async () => {
            await callTool(client, tool, { claim, ...more })
            return (await expiry()) > before
          })
          .toBe(true)
      }
      const lost = await callTool(client, 'get_task', { task: 'A-1', claim: 'y'.repeat(22) })
      expect(lost).toMatchObject({ code: 'unknown_claim' })
    })

    it('waits for a task that becomes free, and for a change', async () => {
      const repo = await board()
      const [one, other] = [await connected(repo, { version }), await connected(repo, { version })]
      const { claim } = await callTool(one, 'claim_task', { agent: 'ada' })
      const waiting = callTool(other, 'claim_task', { agent: 'bob', wait_seconds: 50 })
      await callTool(one, 'release_claim', { claim, outcome: 'abandoned' })
      expect(await waiting).toMatchObject({ task: { id: 'A-1' } })

      const { since } = await callTool(one, 'wait_for_change', { wait_seconds: 1 })
      const changed = callTool(one, 'wait_for_change', { task: 'A-2', since, wait_seconds: 50 })
      await repo.changes({ upserts: [taskRecord('A-1', { title: 'Bake rolls' })] })
      await repo.changes({ upserts: [taskRecord('A-2', { title: 'Clean the oven' })] })
      const answer = await changed
      expect(answer).toMatchObject({ changes: [{ type: 'task-changed', id: 'A-2' }] })
      const more = { since: answer.since, wait_seconds: 1 }
      expect(await callTool(one, 'wait_for_change', more)).toMatchObject({ changes: [] })
    })

    it('has tasks as resources, and tells of changes where the protocol can', async () => {
      const [repo, other] = [await board(), await board()]
      const client = await connected(repo, { version })
      const own = uriOf(repo, 'A-1')
      const { resources } = await client.listResources()
      expect(resources).toMatchObject([{ uri: own, title: 'Bake bread' }, { name: 'A-2' }])
      const page = await client.listResources({ cursor: 'A-1' })
      expect(page.resources).toMatchObject([{ name: 'A-2' }])
      const { contents } = await client.readResource({ uri: own })
      expect(contents).toMatchObject([{ uri: own, text: expect.stringContaining('With rye.') }])
      for (const wrong of [uriOf(repo, 'A-9'), uriOf(other, 'A-1'), 'signalbox://x']) {
        await expect(client.readResource({ uri: wrong })).rejects.toThrow()
      }
      const { resources: can } = client.getServerCapabilities() ?? {}
      if (version !== VERSIONS[0]) return expect(can).not.toHaveProperty('subscribe')

      await hearsOwn(client, [repo, other])
    })

    it('is for the boards and the scopes of the token, and nothing more', async () => {
      const repo = await board()
      const other = await board()
      const client = await connected(repo, { version })
      const foreign = await callTool(client, 'get_task', { task: 'A-1', board: other.path })
      expect(foreign).toMatchObject({ code: 'forbidden' })
      const publishing = await connected(repo, { version, claims: { scope: 'board:write' } })
      expect(await callTool(publishing, 'list_tasks')).toMatchObject({ code: 'forbidden' })
      const wide = await connected(repo, { version, claims: { repos: [repo.path, other.path] } })
      expect(await callTool(wide, 'list_tasks')).toMatchObject({
        code: 'invalid_path',
        error: expect.stringContaining('board is missing'),
      })
      const named = await callTool(wide, 'list_tasks', { board: other.path })
      expect(named.tasks).toHaveLength(2)
    })
  })

  describe(`the door of MCP on ${name}`, () => {
    it('is closed without a token, and to one in the address', async () => {
      const good = await token({ scope: WORKING })
      expect(await post(INITIALIZE)).toMatchObject({ status: 401, code: 'unauthorized' })
      for (const query of [`?token=${good}`, `?ticket=${good}`, `?access_token=${good}`]) {
        expect(await post(INITIALIZE, {}, query)).toMatchObject({ status: 401 })
      }
    })

    it('refuses a page of another origin, with a token, too', async () => {
      const known = await bearer()
      for (const origin of ['https://evil.example', 'null', `${host.edge().origin}.evil.example`]) {
        const refused = await post(INITIALIZE, { ...known, Origin: origin })
        expect(refused).toMatchObject({ status: 403, code: 'bad_origin' })
        expect(await post(INITIALIZE, { Origin: origin })).toMatchObject({ code: 'bad_origin' })
      }
      const { origin } = host.edge()
      expect(await post(INITIALIZE, { ...known, Origin: origin })).toMatchObject({ status: 200 })
    })

    it('ends a message at 64 KiB', async () => {
      const known = await bearer()
      for (const bytes of [64 << 10, 1 << 20]) {
        const long = { ...INITIALIZE, more: 'x'.repeat(bytes) }
        const refused = await post(long, { ...known, Connection: 'close' })
        expect(refused).toMatchObject({ status: 413, code: 'payload_too_large' })
      }
    })

    it('takes no notice of the session of somebody else', async () => {
      const answer = await post(INITIALIZE, { ...(await bearer()), 'Mcp-Session-Id': 'theirs' })
      expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('2025-11-25') })
    })
  })
}
