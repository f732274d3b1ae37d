// The history of a board, on any host.

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Activity, ActivityRow } from '../../libraries/api/types.ts'
import { hashAfter, NO_HASH } from '../../worker/board/activity/activity-chain.ts'
import type { DataRecord } from '../../worker/board/wire.ts'
import { following, freshHash, Repo, taskRecord, token } from '../support/edge.ts'
import { jsonOf } from '../support/json-of.ts'
import type { Board } from './board.ts'

const config = (): DataRecord => ({
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'doing', 'done'], closed: ['done'] },
})
const todo = (id: string, title = `Task ${id}`) => taskRecord(id, { status: 'todo', title })
const HEADS = ['a', 'b', 'c'].map((digit) => digit.repeat(40))

const read = (repo: Repo, query = '') => repo.json<Activity>(`/activity${query}`)
const rows = async (repo: Repo, query?: string): Promise<ActivityRow[]> =>
  (await read(repo, query)).activity
/** What is in each, the oldest first. */
const told = (list: readonly ActivityRow[]) =>
  list.toReversed().map(({ seq: _, at: __, hash: ___, ...row }) => row)

export function activityContract({ name, edge, published }: Board): void {
  /** As a sidecar does it: a board is not published before its tasks are. */
  const publishedAtOnce = async (...records: DataRecord[]): Promise<Repo> => {
    const repo = new Repo(edge())
    await repo.begin('f'.repeat(32))
    await repo.changes({ upserts: records })
    return repo
  }
  describe(`the history of a board on ${name}`, () => {
    it('has one row for a first publication, and then one for each task and change', async () => {
      const [one, two, three] = [todo('A-1', 'One'), todo('A-2', 'Two'), todo('A-3', 'Three')]
      const repo = await publishedAtOnce(config(), one, two, three)
      await repo.changes({
        upserts: [
          following(one, { status: 'done', title: 'Uno' }),
          following(two, { title: 'Dos', body: 'Text', deps: ['A-1'] }),
          todo('A-4', 'Four'),
        ],
        deletes: ['task:A-3'],
      })
      await repo.changes({ upserts: [following(two, { title: 'Dos', deps: ['A-1'] })] })
      const all = await rows(repo)
      expect(told(all)).toEqual([
        { kind: 'published', changes: { tasks: [0, 3] } },
        {
          kind: 'status',
          task: 'A-1',
          title: 'Uno',
          changes: { status: ['todo', 'done'], title: ['One', 'Uno'], closed: [false, true] },
        },
        {
          kind: 'title',
          task: 'A-2',
          title: 'Dos',
          changes: { title: ['Two', 'Dos'], closed: [false, false], deps: [[], ['A-1']] },
        },
        { kind: 'created', task: 'A-4', title: 'Four', changes: { status: [null, 'todo'] } },
        {
          kind: 'deleted',
          task: 'A-3',
          title: 'Three',
          changes: { status: ['todo', null], closed: [false, null] },
        },
      ])
      expect(all.map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1])
      for (const { at } of all) expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000)
    })

    it('chains its rows: each hash covers the row and the hash before', async () => {
      const one = todo('A-1')
      const repo = await published(config(), one)
      await repo.changes({ upserts: [following(one, { status: 'doing' }), todo('A-2')] })
      const { activity, previous } = await read(repo)
      let hash = NO_HASH
      expect(previous).toBe(hash)
      for (const { hash: own, marks: _, ...row } of activity.toReversed()) {
        hash = hashAfter(hash, JSON.stringify(row))
        expect(own).toBe(hash)
      }
    })

    it('is read in pages, by task, by kind and since a time or an event', async () => {
      const repo = await published(config())
      for (const n of [1, 2, 3]) await repo.changes({ upserts: [todo(`A-${n}`)] })
      const first = await read(repo, '?limit=2')
      expect(first.activity.map(({ task }) => task)).toEqual(['A-3', 'A-2'])
      const rest = await read(repo, `?limit=2&before=${first.next}`)
      expect(rest.activity.map(({ task, kind }) => task ?? kind)).toEqual(['A-1', 'published'])
      expect(rest).not.toHaveProperty('next')
      expect(told(await rows(repo, '?task=A-2'))).toMatchObject([{ task: 'A-2' }])
      expect(await rows(repo, '?kind=created')).toHaveLength(3)
      expect(await rows(repo, '?actor=nobody')).toEqual([])
      const seq = (await repo.request('/activity')).headers.get('X-Signalbox-Seq') ?? ''
      expect(await rows(repo, `?since=${seq}`)).toEqual([])
      await repo.changes({ upserts: [todo('A-4')] })
      expect(told(await rows(repo, `?since=${seq}`))).toMatchObject([{ task: 'A-4' }])
      const [last] = await rows(repo)
      expect(await rows(repo, `?since=${last?.at}`)).not.toHaveLength(0)
      const tag = (await repo.request('/activity')).headers.get('ETag') ?? ''
      const again = await repo.request('/activity', { headers: { 'If-None-Match': tag } })
      expect(again.status).toBe(304)
    })

    it.each([
      ['since=tomorrow', 'bad_since'],
      ['since=2999-01-01T00:00:00Z', 'bad_since'],
      ['since=000000000000-0', 'bad_since'],
      ['limit=0', 'bad_limit'],
      ['limit=1001', 'bad_limit'],
      ['limit=100000', 'bad_limit'],
      ['limit=ten', 'bad_limit'],
      ['kind=moved', 'invalid_request'],
      ['before=-1', 'invalid_request'],
      ['who=ada', 'unknown_filter'],
      ['since=', 'bad_since'],
      ['limit=', 'bad_limit'],
      ['kind=', 'invalid_request'],
      ['task=', 'invalid_request'],
      ['actor=', 'invalid_request'],
      ['before=', 'invalid_request'],
    ])('refuses %s with %s and a sentence', async (query, code) => {
      const repo = await published(config())
      const answer = await repo.request(`/activity?${query}`)
      expect(await jsonOf(answer, 400)).toMatchObject({ code, error: expect.stringMatching(/\.$/) })
    })

    it('refuses an event that has not come, and knows none of a board that nobody published', async () => {
      const repo = await published(config())
      const answer = await repo.request(`/activity?since=${repo.epoch}-999`)
      expect(await jsonOf(answer, 400)).toMatchObject({ code: 'bad_since' })
      const other = await repo.request('/activity?path=test/nobody-published-it')
      expect(await jsonOf(other, 403)).toMatchObject({ code: 'forbidden' })
    })

    it('has what becomes of a claim, and who held the task that changed', async () => {
      const one = todo('A-1', 'One')
      const repo = await published(config(), one)
      const bearer = await token({ scope: 'board:read board:work', repos: [repo.path] })
      const ask = async (route: string, body: object) => {
        const headers = { authorization: `Bearer ${bearer}` }
        const init = { method: 'POST', headers, body: JSON.stringify(body) }
        return await jsonOf(await repo.request(`/claims${route}`, init), route ? 200 : 201)
      }
      const claim = randomBytes(16).toString('base64url')
      await ask('', { claim, actor: 'ada', tree: 'feat' })
      for (const progress of ['begun', 'half']) await ask('/renew', { claim, progress })
      await repo.changes({ upserts: [following(one, { status: 'done' })] })
      await ask('/release', { claim, outcome: 'done', summary: 'It is done.' })
      const own = { task: 'A-1', title: 'One', actor: 'ada' }
      expect(told(await rows(repo, '?actor=ada'))).toEqual([
        { kind: 'claimed', ...own, tree: 'feat', changes: { health: [null, 'active'] } },
        { kind: 'progress', ...own, tree: 'feat', summary: 'begun' },
        { kind: 'status', ...own, changes: { status: ['todo', 'done'], closed: [false, true] } },
        { kind: 'ended', ...own, tree: 'feat', changes: { health: ['active', 'finished'] } },
        { kind: 'released', ...own, tree: 'feat', summary: 'It is done.' },
      ])
    })

    it('marks what was closed and never claimed, and what was opened again', async () => {
      const [one, two] = [todo('A-1'), todo('A-2')]
      const repo = await published(config(), one, two)
      const bearer = await token({ scope: 'board:read board:work', repos: [repo.path] })
      const close = (record: typeof one) =>
        repo.changes({ upserts: [following(record, { status: 'done' })] })
      const marks = async () => (await rows(repo, '?kind=status')).map((row) => row.marks)
      await close(two)
      // Nobody uses claims here yet.
      expect(await marks()).toEqual([undefined])
      await repo.changes({ upserts: [following(two, {})] })
      expect(await marks()).toEqual([['reopened'], undefined])
      const claim = { claim: randomBytes(16).toString('base64url'), actor: 'ada', task: 'A-1' }
      const headers = { authorization: `Bearer ${bearer}` }
      await repo.request('/claims', { method: 'POST', headers, body: JSON.stringify(claim) })
      await close(one)
      await close(two)
      expect(await marks()).toEqual([['unclaimed'], undefined, ['reopened'], undefined])
    })

    it('tells a switch of the main tree in a row, and marks nothing that follows from it', async () => {
      const one = todo('A-1')
      const repo = await publishedAtOnce(config(), one)
      const [first = '', next = '', other = ''] = HEADS
      await repo.changes({ main: { head: first, branch: 'main' } })
      // A commit.
      await repo.changes({ main: { head: next, branch: 'main' } })
      expect(await rows(repo)).toHaveLength(1)
      await repo.changes({
        main: { head: other, branch: 'older', switched: true },
        deletes: ['task:A-1'],
      })
      await repo.changes({ upserts: [todo('A-2')] })
      expect(told(await rows(repo))).toMatchObject([
        { kind: 'published' },
        { kind: 'switched', changes: { branch: ['main', 'older'], head: [next, other] } },
        { kind: 'deleted', task: 'A-1', by: 'switch' },
        { kind: 'created', task: 'A-2' },
      ])
      expect((await rows(repo))[0]).not.toHaveProperty('by')
      expect(await repo.json('/status')).toMatchObject({ main: { head: other, branch: 'older' } })
    })
  })
}
