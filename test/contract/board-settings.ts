// What a lead sets for a board, on any host.

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../libraries/api/types.ts'
import type { DataRecord } from '../../worker/board/wire.ts'
import { freshHash, type Repo, taskRecord, token } from '../support/edge.ts'
import type { Board } from './board.ts'

const config = (): DataRecord => ({
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'doing', 'done'], closed: ['done'] },
})
const todo = (id: string, fields: Partial<Task> = {}) =>
  taskRecord(id, { status: 'todo', ...fields })
const secret = (): string => randomBytes(16).toString('base64url')

type Body = Record<string, unknown> & { task?: Task | string; code?: string; error?: string }

async function callers(repo: Repo) {
  const call = (scope: string) => async (method: string, route: string, body?: unknown) => {
    const bearer = await token({ scope, repos: [repo.path] })
    const response = await repo.request(route, {
      method,
      headers: { authorization: `Bearer ${bearer}` },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  const agent = call('board:read board:work')
  const lead = call('board:read board:lead')
  return {
    agent,
    lead,
    set: (change: object) => lead('PUT', '/board-settings', change),
    /** What an actor gets, or why it gets nothing. */
    claim: async (actor: string, fields: object = {}) => {
      const { status, body } = await agent('POST', '/claims', { claim: secret(), actor, ...fields })
      return status === 201 && typeof body.task === 'object' ? body.task.id : [status, body.code]
    },
  }
}

const OPEN = { paused: false, perParent: false, atMost: null }

export function settingsContract({ name, edge, published }: Board): void {
  describe(`the settings of a board on ${name}`, () => {
    it('let all in until a lead says otherwise, and change only what is named', async () => {
      const { agent, set } = await callers(await published(config(), todo('A-1')))
      expect(await agent('GET', '/board-settings')).toEqual({ status: 200, body: OPEN })
      expect(await set({ atMost: 3 })).toEqual({ status: 200, body: { ...OPEN, atMost: 3 } })
      expect((await set({ paused: true })).body).toEqual({ ...OPEN, paused: true, atMost: 3 })
      expect((await set({ atMost: null, perParent: true })).body).toEqual({
        paused: true,
        perParent: true,
        atMost: null,
      })
      expect((await agent('GET', '/board-settings')).body).toMatchObject({ paused: true })
    })

    it('pause a board: nobody gets a task, and who has one goes on', async () => {
      const { agent, set, claim } = await callers(
        await published(config(), todo('A-1'), todo('A-2')),
      )
      const mine = { claim: secret(), actor: 'ada' }
      await agent('POST', '/claims', mine)
      await set({ paused: true })
      for (const asked of [{}, { task: 'A-2' }, { task: 'A-2', force: true }]) {
        expect(await claim('bob', asked)).toEqual([409, 'paused'])
      }
      expect(await agent('POST', '/claims', mine)).toMatchObject({ status: 200 })
      for (const [route, more] of [
        ['/claims/renew', {}],
        ['/claims/release', { outcome: 'done' }],
      ] as const) {
        const { status } = await agent('POST', route, { claim: mine.claim, ...more })
        expect([route, status]).toEqual([route, 200])
      }
      await set({ paused: false })
      expect(await claim('bob')).toBe('A-2')
    })

    it('are told as a change of the configuration, so that whoever waits asks again', async () => {
      const repo = await published(config(), todo('A-1'))
      const { set } = await callers(repo)
      const stream = await (await repo.stream()).joined()
      await set({ paused: true })
      // The same again is no change.
      await set({ paused: true })
      await set({ paused: false })
      await stream.until((it) => it.messages.length > 1)
      expect(stream.messages).toEqual([{ type: 'tasks-changed' }, { type: 'tasks-changed' }])
      await stream.close()
    })

    it('let one agent at a time work on the parts of a parent', async () => {
      const { agent, set, claim } = await callers(
        await published(
          config(),
          todo('E-1', { ready: false }),
          todo('A-1', { parent: 'E-1', priority: 'high' }),
          todo('A-2', { parent: 'E-1', priority: 'high' }),
          todo('A-3', { priority: 'low' }),
        ),
      )
      await set({ perParent: true })
      expect(await claim('ada')).toBe('A-1')
      for (const force of [false, true]) {
        const asked = { claim: secret(), actor: 'bob', task: 'A-2', force }
        expect(await agent('POST', '/claims', asked)).toMatchObject({
          status: 409,
          body: { code: 'parent_taken', parent: 'E-1', task: 'A-1', by: 'ada' },
        })
      }
      expect(await claim('bob')).toBe('A-3')
      expect(await claim('eve')).toEqual([404, 'nothing_ready'])
      expect(await claim('ada', { max: 2 })).toBe('A-2')
      await set({ perParent: false })
    })

    it('let so many agents work at once', async () => {
      const tasks = ['A-1', 'A-2', 'A-3'].map((id) => todo(id))
      const { agent, set, claim } = await callers(await published(config(), ...tasks))
      await set({ atMost: 2 })
      const mine = { claim: secret(), actor: 'ada' }
      await agent('POST', '/claims', mine)
      expect(await claim('bob')).toBe('A-2')
      for (const asked of [{}, { task: 'A-3' }, { task: 'A-3', force: true }]) {
        expect(await claim('eve', asked)).toEqual([409, 'board_full'])
      }
      expect(await claim('ada')).toEqual([409, 'already_holding'])
      await agent('POST', '/claims/release', { claim: mine.claim, outcome: 'abandoned' })
      expect(await claim('eve')).toBe('A-1')
      // Who has one keeps it where the bound becomes lower.
      await set({ atMost: 1 })
      expect(await claim('ada')).toEqual([409, 'board_full'])
    })

    it('are refused with a code and a sentence each, and are nobody’s who works', async () => {
      const { agent, lead, set } = await callers(await published(config(), todo('A-1')))
      const refused = await agent('PUT', '/board-settings', { paused: true })
      expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } })
      expect(refused.body.error).toContain('board:lead')
      const wrong: [unknown, string][] = [
        [{ atMost: 0 }, 'atMost'],
        [{ atMost: 1_001 }, 'atMost'],
        [{ atMost: 1.5 }, 'atMost'],
        [{ atMost: 'two' }, 'atMost'],
        [{ paused: 'yes' }, 'paused'],
        [{ perParent: null }, 'perParent'],
        [{ perBoard: true }, 'perBoard'],
        [[], ''],
        ['{', ''],
        ['', ''],
      ]
      for (const [body, field] of wrong) {
        const answer = await lead('PUT', '/board-settings', body)
        expect([body, answer]).toMatchObject([
          body,
          { status: 400, body: { code: 'invalid_request' } },
        ])
        expect(answer.body.error).toContain(field)
      }
      const unknown = await lead('GET', '/board-settings?of=1')
      expect(unknown).toMatchObject({ status: 400, body: { code: 'unknown_filter' } })
      expect((await set({})).body).toEqual(OPEN)
    })

    it('are of boards that were published', async () => {
      const bearer = await token({ scope: 'board:read board:lead', repos: ['nowhere'] })
      for (const method of ['GET', 'PUT']) {
        const response = await edge().fetch('/api/board-settings', {
          method,
          headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
          ...(method === 'PUT' && { body: '{"paused":true}' }),
        })
        expect([response.status, await response.json()]).toMatchObject([
          404,
          { code: 'unknown_repository' },
        ])
      }
    })
  })
}
