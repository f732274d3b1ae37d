// The read endpoints: lists, filters, single records, ETags.

import { describe, expect, it } from 'vitest'
import type { Tasks } from '../../libraries/api/types.ts'
import { runRecord, sessionRecord, taskRecord } from '../support/edge.ts'
import type { Board } from './board.ts'

export function readContract({ name, published }: Board): void {
  describe(`the board's contract on ${name}: reading`, () => {
    it('lists light rows by filter, ordered by id', async () => {
      const repo = await published(
        taskRecord('A-2', { status: 'done', assignee: 'ann', ready: false, labels: ['x', 'y'] }),
        taskRecord('A-1', { body: 'text', extra: { a: null }, executionState: 'active' }),
      )
      const ids = async (query: string) =>
        (await repo.json<{ tasks: { id: string }[] }>(`/tasks${query}`)).tasks.map(({ id }) => id)
      expect(await ids('')).toEqual(['A-1', 'A-2'])
      expect(await ids('?status=done')).toEqual(['A-2'])
      expect(await ids('?assignee=ann')).toEqual(['A-2'])
      expect(await ids('?ready=true')).toEqual(['A-1'])
      expect(await ids('?execution=active')).toEqual(['A-1'])
      expect(await ids('?label=y')).toEqual(['A-2'])
      expect(await ids('?label=y&ready=true')).toEqual([])
      expect(await ids('?ready=&status=')).toEqual(['A-1', 'A-2'])
      expect((await repo.request('/tasks?ready=yes')).status).toBe(400)
      const { tasks } = await repo.json<{ tasks: object[] }>('/tasks')
      expect(tasks[0]).toEqual({
        id: 'A-1',
        title: 'Task A-1',
        status: 'backlog',
        ready: true,
        executionState: 'active',
      })
    })

    it('lists tasks page by page, by filter, from the last one on', async () => {
      const stalled = { status: 'todo', executionState: 'stalled' as const }
      const wanted = ['A-1', 'A-2', 'A-3', 'A-5'].map((id) => taskRecord(id, stalled))
      const repo = await published(...wanted, taskRecord('A-4', { status: 'done', ready: false }))
      const page = async (query: string) => {
        const { tasks, next } = await repo.json<Tasks>(`/tasks?${query}`)
        return [tasks.map(({ id }) => id), next]
      }
      expect(await page('status=todo&limit=2')).toEqual([['A-1', 'A-2'], 'A-2'])
      expect(await page('status=todo&limit=2&after=A-2')).toEqual([['A-3', 'A-5'], undefined])
      expect(await page('limit=5')).toEqual([['A-1', 'A-2', 'A-3', 'A-4', 'A-5'], undefined])
      expect(await page('after=A-3')).toEqual([['A-4', 'A-5'], undefined])
      expect(await page('after=A-5&limit=1')).toEqual([[], undefined])
      expect(await page('work=stalled&limit=3')).toEqual([['A-1', 'A-2', 'A-3'], 'A-3'])
      expect(await page('work=stalled&limit=3&after=A-3')).toEqual([['A-5'], undefined])
    })

    it('lists tasks by the folder that the tool keeps them in, or those without one', async () => {
      const repo = await published(taskRecord('A-1'), taskRecord('A-2', { folder: 'drafts' }))
      const ids = async (query: string) =>
        (await repo.json<{ tasks: { id: string }[] }>(`/tasks${query}`)).tasks.map(({ id }) => id)
      expect(await ids('')).toEqual(['A-1', 'A-2'])
      expect(await ids('?folder=drafts')).toEqual(['A-2'])
      expect(await ids('?folder=none')).toEqual(['A-1'])
      expect(await ids('?folder=archive')).toEqual([])
    })

    it('lists tasks by the linked worktree that changed them', async () => {
      const trees = [{ tree: 'feat', dir: '/feat', gone: true as const }]
      const repo = await published(taskRecord('A-1'), taskRecord('A-2', { trees }))
      const list = async (query: string) =>
        (await repo.json<{ tasks: { id: string; trees?: unknown }[] }>(`/tasks${query}`)).tasks
      expect(await list('?tree=feat')).toMatchObject([{ id: 'A-2', trees }])
      expect(await list('?tree=fea')).toEqual([])
    })

    it('lists a shared task for each of its assignees, with all of them', async () => {
      const shared = { assignee: 'ann', assignees: ['ann', 'bob'] }
      const repo = await published(
        taskRecord('A-1', shared),
        taskRecord('A-2', { assignee: 'bob' }),
        taskRecord('A-3', { assignee: 'bo' }),
        taskRecord('A-4'),
      )
      const list = async (query: string) =>
        (await repo.json<{ tasks: { id: string }[] }>(`/tasks${query}`)).tasks
      const ids = async (query: string) => (await list(query)).map(({ id }) => id)
      expect(await ids('?assignee=ann')).toEqual(['A-1'])
      expect(await ids('?assignee=bob')).toEqual(['A-1', 'A-2'])
      expect(await ids('?assignee=ann,%20bob')).toEqual([])
      expect(await list('?assignee=ann')).toMatchObject([shared])
      expect(await repo.json('/tasks/A-1')).toMatchObject(shared)
    })

    it('returns a whole task with its runs and sessions, by a percent-encoded id', async () => {
      const id = 'tag:5.2/ä'
      const repo = await published(
        taskRecord(id, { body: 'The body.', extra: { kept: null } }),
        runRecord(id, '20260101-100000.000'),
        sessionRecord('ses_1', { task: id }),
      )
      expect(await repo.json(`/tasks/${encodeURIComponent(id)}`)).toEqual({
        id,
        title: `Task ${id}`,
        status: 'backlog',
        ready: true,
        body: 'The body.',
        extra: { kept: null },
        runs: [expect.objectContaining({ exit: 0, timedout: false })],
        sessions: [expect.objectContaining({ id: 'ses_1' })],
      })
      const path = `/tasks/${encodeURIComponent(id)}`
      expect(await repo.json(`${path}/runs`)).toEqual({ runs: [expect.any(Object)] })
      expect(await repo.json(`${path}/sessions`)).toEqual({ sessions: [expect.any(Object)] })
    })

    it('lists sessions newest first, by filter', async () => {
      const repo = await published(
        sessionRecord('ses_1', { startedAt: '2026-01-01T10:00:00.5Z' }),
        sessionRecord('ses_2', { startedAt: '2026-01-01T10:00:00Z', health: 'stalled' }),
        sessionRecord('ses_3', {
          startedAt: '2026-01-01T12:00:00+02:00',
          actor: 'b',
          task: 'X',
          tree: 'feat',
        }),
      )
      const ids = async (query: string) =>
        (await repo.json<{ sessions: { id: string }[] }>(`/sessions${query}`)).sessions.map(
          ({ id }) => id,
        )
      expect((await ids(''))[0]).toBe('ses_1')
      expect(await ids('?health=stalled')).toEqual(['ses_2'])
      expect(await ids('?actor=b')).toEqual(['ses_3'])
      expect(await ids('?task=X')).toEqual(['ses_3'])
      expect(await ids('?tree=feat')).toEqual(['ses_3'])
      expect(await repo.json('/sessions/ses_2')).toMatchObject({ id: 'ses_2', health: 'stalled' })
      expect((await repo.request('/sessions/ses_9')).status).toBe(404)
    })

    it.each([
      ['/tasks?assigne=ann', 'unknown_filter', /"assigne".*status, assignee, ready/],
      ['/tasks?health=stalled', 'unknown_filter', /"health"/],
      ['/tasks?limit=1001', 'bad_limit', /1 to 1000/],
      ['/tasks?limit=1&since=x', 'invalid_request', /since/],
      ['/tasks?after=A-1&since=x', 'invalid_request', /since/],
      ['/tasks?toString=1', 'unknown_filter', /"toString"/],
      ['/tasks?label=x&label=y', 'unknown_filter', /label.*once/],
      ['/tasks/A-1?status=done', 'unknown_filter', /"status"/],
      ['/tasks/A-1/runs?limit=1', 'unknown_filter', /"limit"/],
      ['/sessions?assignee=ann', 'unknown_filter', /task, actor, status, health, tree/],
      ['/sessions/ses_1?x', 'unknown_filter', /"x"/],
      ['/status?status=x', 'unknown_filter', /"status"/],
      ['/tasks?ready=yes', 'invalid_request', /true, false/],
      ['/tasks?execution=running', 'invalid_request', /active, stalled, awaiting_review/],
      ['/sessions?health=dead', 'invalid_request', /active, stalled, finished, canceled/],
    ])(
      'refuses %s with %s, instead of returning everything or nothing',
      async (route, code, message) => {
        const repo = await published(taskRecord('A-1'), sessionRecord('ses_1'))
        const response = await repo.request(route)
        expect(response.status).toBe(400)
        expect(await response.json()).toEqual({
          code,
          error: expect.stringMatching(message) as string,
        })
      },
    )

    it.each(['/tasks', '/tasks/A-1', '/tasks/A-1/runs', '/sessions', '/sessions/ses_1', '/status'])(
      'answers 304 to GET %s with its own tag, and 200 with another',
      async (route) => {
        const repo = await published(taskRecord('A-1'), sessionRecord('ses_1'))
        const response = await repo.request(route)
        await response.text()
        const tag = response.headers.get('ETag') ?? ''
        expect(response.headers.get('X-Signalbox-Seq')).toMatch(/^[0-9a-z]+-1$/)
        const strong = tag.replace(/^W\//, '')
        for (const ifNoneMatch of [tag, strong, `"other", ${tag}`, '*']) {
          const again = await repo.request(route, { headers: { 'If-None-Match': ifNoneMatch } })
          expect(again.status, ifNoneMatch).toBe(304)
          expect(await again.text()).toBe('')
          expect(again.headers.get('ETag')?.replace(/^W\//, '')).toBe(strong)
        }
        const other = await repo.request(route, { headers: { 'If-None-Match': '"other"' } })
        expect(other.status).toBe(200)
        await other.text()
      },
    )

    it('reads what changed of a list since a place, with the same filters', async () => {
      const names = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5', 'A-6', 'A-7']
      const repo = await published(...names.map((id) => taskRecord(id)), sessionRecord('ses_1'))
      const { seq } = await repo.json<{ seq: string }>('/tasks?since=nothing')
      const changed = { status: 'done', body: 'A text' }
      const { seq: now } = await repo.changes({
        upserts: [taskRecord('A-1', changed), taskRecord('A-2')],
        deletes: ['task:A-3'],
      })
      const [done, other] = [{ id: 'A-1', status: 'done' }, { id: 'A-2' }]
      expect(await repo.json(`/tasks?since=${seq}`)).toEqual({
        tasks: [expect.objectContaining(done), expect.objectContaining(other)],
        gone: ['A-3'],
        seq: now,
      })
      expect(await repo.json(`/tasks?status=done&since=${seq}`)).toEqual({
        tasks: [expect.objectContaining(done)],
        gone: ['A-3', 'A-2'],
        seq: now,
      })
      expect(await repo.json(`/sessions?since=${seq}`)).toEqual({
        sessions: [],
        gone: [],
        seq: now,
      })
      expect(await repo.json('/sessions?since=nothing')).toEqual({
        sessions: [expect.objectContaining({ id: 'ses_1' })],
        whole: true,
        seq: now,
      })
      const response = await repo.request(`/tasks?since=${seq}`)
      await response.text()
      const headers = { 'If-None-Match': response.headers.get('ETag') ?? '' }
      const again = await repo.request(`/tasks?since=${seq}`, { headers })
      expect(again.status).toBe(304)
      expect((await repo.request(`/tasks?since=${now}`, { headers })).status).toBe(200)
    })

    it('answers HEAD as GET, without a body', async () => {
      const repo = await published(taskRecord('A-1'))
      const response = await repo.request('/tasks/A-1', { method: 'HEAD' })
      expect(response.status).toBe(200)
      expect(response.headers.get('ETag')).toMatch(/^W\//)
      expect(await response.text()).toBe('')
    })

    it('leaves the ETag of the list when only a body or a run changes', async () => {
      const repo = await published(taskRecord('A-1', { body: 'One' }))
      const tagOf = async (route: string) => {
        const response = await repo.request(route)
        await response.text()
        return response.headers.get('ETag')
      }
      const before = await tagOf('/tasks')
      const whole = await tagOf('/tasks/A-1')
      await repo.changes({ upserts: [taskRecord('A-1', { body: 'Two' })] })
      expect(await tagOf('/tasks/A-1')).not.toBe(whole)
      const run = runRecord('A-1', '20260101-100000.000')
      await repo.changes({ upserts: [run] })
      await repo.changes({ deletes: [`run:${run.id}`] })
      expect(await tagOf('/tasks')).toBe(before)
      await repo.changes({ upserts: [taskRecord('A-1', { title: 'Another' })] })
      expect(await tagOf('/tasks')).not.toBe(before)
    })

    it('changes the ETag of a task when only a run of it appears', async () => {
      const repo = await published(taskRecord('A-1'))
      const before = (await repo.request('/tasks/A-1')).headers.get('ETag') ?? ''
      await repo.changes({ upserts: [runRecord('A-1', '20260101-100000.000')] })
      const after = await repo.request('/tasks/A-1', { headers: { 'If-None-Match': before } })
      expect(after.status).toBe(200)
    })
  })
}
