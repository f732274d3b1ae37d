// The public contract of the board, over any host of the app: the same sentences must be true of
// workerd, of Deno, and of the app in this process.

import { describe, expect, it } from 'vitest'
import type { DataRecord, SyncAnswer, SyncRequest } from '../../worker/board/wire.ts'
import { WIRE } from '../../worker/board/wire.ts'
import {
  type Edge,
  entries,
  following,
  publishedRepo,
  Repo,
  runRecord,
  sessionRecord,
  sums,
  taskRecord,
} from '../support/edge.ts'

interface Host {
  edge(): Edge
  /** Whether the wire shows `Connection: keep-alive` (workerd drops it as hop-by-hop). */
  sendsConnection: boolean
}

export function boardContract(name: string, host: Host): void {
  const published = (...records: DataRecord[]) => publishedRepo(host.edge(), records)

  describe(`the board's contract on ${name}: the stream`, () => {
    it('opens with the headers of the contract and a connected comment', async () => {
      const stream = await (await published()).stream()
      const { headers } = stream.response
      expect(headers.get('Content-Type')).toBe('text/event-stream')
      expect(headers.get('Cache-Control')).toBe('no-cache')
      expect(headers.get('X-Accel-Buffering')).toBe('no')
      if (host.sendsConnection) expect(headers.get('Connection')).toBe('keep-alive')
      await stream.until((s) => s.blocks.length >= 3)
      expect(stream.blocks[0]).toEqual({ comment: 'connected' })
      expect(stream.blocks[1]).toEqual({ retry: expect.any(Number) })
      expect(stream.blocks[2]).toEqual({ id: expect.stringMatching(/^[0-9a-z]+-0$/) })
      await stream.close()
    })

    it('answers HEAD with the headers, and opens no stream', async () => {
      const repo = await published()
      const response = await repo.request('/events', { method: 'HEAD' })
      expect(response.status).toBe(200)
      expect(response.headers.get('Content-Type')).toBe('text/event-stream')
      expect(await repo.json('/status')).toMatchObject({ streams: 0 })
    })

    it('opens for a repository that was never published, and gets its first message', async () => {
      const repo = new Repo(host.edge())
      const stream = await (await repo.stream()).joined()
      expect((await repo.request('/tasks')).status).toBe(404)
      await repo.begin()
      await repo.changes({ upserts: [taskRecord('A-1')] })
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
      await stream.close()
    })

    it('resets a client that was disconnected during the first message', async () => {
      const repo = new Repo(host.edge())
      const waiting = await (await repo.stream()).joined()
      await waiting.close()
      const still = await (await repo.stream(waiting.lastId)).joined()
      expect(still.messages).toEqual([])
      await still.close()
      await repo.begin()
      await repo.changes({ upserts: [taskRecord('A-1')] })
      const back = await (await repo.stream(waiting.lastId)).joined()
      expect(back.messages).toEqual([{ type: 'tasks-changed' }])
      await back.close()
    })

    it('resets a client with an id of a deleted log', async () => {
      const repo = new Repo(host.edge())
      const stream = await (await repo.stream('2482c276d570-41')).joined()
      expect(stream.messages).toEqual([{ type: 'tasks-changed' }])
      await stream.close()
    })

    it('sends a message to both clients of a repository, and to no client of another', async () => {
      const repo = await published()
      const other = await published()
      const streams = await Promise.all(
        [repo, repo, other].map(async (one) => (await one.stream()).joined()),
      )
      await repo.changes({ upserts: [taskRecord('A-1')] })
      const [first, second, third] = streams
      await first?.until((s) => s.messages.length > 0)
      await second?.until((s) => s.messages.length > 0)
      await other.changes({ upserts: [taskRecord('B-1')] })
      await third?.until((s) => s.messages.length > 0)
      expect(first?.messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
      expect(second?.messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
      expect(third?.messages).toEqual([{ type: 'task-changed', id: 'B-1' }])
      await Promise.all(streams.map((stream) => stream.close()))
    })

    it('sends nothing for a record that is published again unchanged', async () => {
      const task = taskRecord('A-1')
      const repo = await published(task)
      const stream = await (await repo.stream()).joined()
      expect((await repo.changes({ upserts: [task] })).message).toBeNull()
      await repo.changes({ upserts: [taskRecord('A-2')] })
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'A-2' }])
      await stream.close()
    })
  })

  describe(`the board's contract on ${name}: which message`, () => {
    it.each([
      ['one task', [taskRecord('A-9')], { type: 'task-changed', id: 'A-9' }],
      [
        'one task and its session',
        [sessionRecord('ses_9'), taskRecord('A-9')],
        { type: 'task-changed', id: 'A-9' },
      ],
      ['two tasks', [taskRecord('A-8'), taskRecord('A-9')], { type: 'tasks-changed' }],
      ['a session alone', [sessionRecord('ses_9')], { type: 'session-changed', session: 'ses_9' }],
      [
        'a run of a task',
        [runRecord('A-9', '20260101-100000.000')],
        { type: 'task-changed', id: 'A-9' },
      ],
    ])('%s changed: one message says so', async (_name, upserts, message) => {
      const repo = await published(taskRecord('A-1'))
      const stream = await (await repo.stream()).joined()
      const answer = await repo.changes({ upserts })
      expect(answer.message).toEqual(message)
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([message])
      expect(stream.lastId).toBe(answer.seq)
      await stream.close()
    })

    it('a saved task on which others depend: only that task, and the list has the others', async () => {
      const [saved, waiting] = [taskRecord('A-1'), taskRecord('A-2', { ready: false })]
      const repo = await published(saved, waiting)
      const before = (await repo.request('/tasks')).headers.get('ETag') ?? ''
      const upserts = [following(waiting, { ready: true }), taskRecord('A-1', { status: 'done' })]
      expect((await repo.changes({ upserts })).message).toEqual({ type: 'task-changed', id: 'A-1' })
      const after = await repo.request('/tasks', { headers: { 'If-None-Match': before } })
      expect(after.status).toBe(200)
      expect(await after.json()).toMatchObject({ tasks: [{ status: 'done' }, { ready: true }] })
    })

    it('a deleted task on which others depend: only that task', async () => {
      const waiting = taskRecord('A-2', { ready: true })
      const repo = await published(taskRecord('A-1'), waiting)
      const { message } = await repo.changes({
        upserts: [following(waiting, { ready: false })],
        deletes: ['task:A-1'],
      })
      expect(message).toEqual({ type: 'task-changed', id: 'A-1' })
    })

    it('a session that changes the state of its task: session-changed', async () => {
      const task = taskRecord('A-1')
      const repo = await published(task)
      const { message } = await repo.changes({
        upserts: [sessionRecord('ses_1'), following(task, { executionState: 'active' })],
      })
      expect(message).toEqual({ type: 'session-changed', session: 'ses_1' })
      expect(await repo.json('/tasks?execution=active')).toMatchObject({ tasks: [{ id: 'A-1' }] })
    })

    it('a run and another task: tasks-changed', async () => {
      const repo = await published(taskRecord('A-1'))
      const run = runRecord('A-9', '20260101-100000.000')
      const { message } = await repo.changes({ upserts: [run, taskRecord('A-1')] })
      expect(message).toEqual({ type: 'tasks-changed' })
    })

    it('a task that changes because of an earlier message: tasks-changed, so that no client misses it', async () => {
      const waiting = taskRecord('A-2', { ready: false })
      const repo = await published(taskRecord('A-1'), waiting)
      const done = taskRecord('A-1', { status: 'done' })
      expect((await repo.changes({ upserts: [done] })).message).toMatchObject({ id: 'A-1' })
      const late = [following(waiting, { ready: true })]
      expect((await repo.changes({ upserts: late })).message).toEqual({ type: 'tasks-changed' })
    })

    it('the parts of one change are one window, in any order', async () => {
      const waiting = taskRecord('A-2', { ready: false })
      const repo = await published(taskRecord('A-1'), waiting)
      await repo.changes({ upserts: [following(waiting, { ready: true })], more: true })
      await repo.changes({ upserts: [sessionRecord('ses_1')], more: true })
      const { message } = await repo.changes({ upserts: [taskRecord('A-1', { status: 'done' })] })
      expect(message).toEqual({ type: 'task-changed', id: 'A-1' })
    })

    it('the configuration of the board changed: tasks-changed', async () => {
      const repo = await published(taskRecord('A-1'))
      const board = { layout: 'cairn' as const, states: ['open', 'done'], closed: ['done'] }
      const { message } = await repo.changes({
        upserts: [{ kind: 'board', id: 'board', hash: 'c'.repeat(32), board }],
      })
      expect(message).toEqual({ type: 'tasks-changed' })
      expect(await repo.json('/status')).toMatchObject({
        layout: 'cairn',
        config: { states: ['open', 'done'], closed: ['done'] },
      })
    })

    it('a deleted task counts as changed, and is gone before the message', async () => {
      const repo = await published(taskRecord('A-1'))
      const { message } = await repo.changes({ deletes: ['task:A-1'] })
      expect(message).toEqual({ type: 'task-changed', id: 'A-1' })
      expect((await repo.request('/tasks/A-1')).status).toBe(404)
    })

    it('a task that was only touched is sent too', async () => {
      const repo = await published(taskRecord('A-1'))
      const { message } = await repo.changes({ touched: ['task:A-1'] })
      expect(message).toEqual({ type: 'task-changed', id: 'A-1' })
    })
  })

  describe(`the board's contract on ${name}: versions of the publishing protocol`, () => {
    const ROOT = {
      step: 'root',
      run: null,
      root: sums([]).root,
      store: { state: 'present', version: '0.0.0' },
    }

    it.each([
      ['an older sidecar, which says none', undefined, 'sidecar'],
      ['an older sidecar', WIRE - 1, 'sidecar'],
      ['a newer sidecar', WIRE + 1, 'edge'],
    ])('tells %s which side to upgrade, and takes nothing of it', async (_name, wire, upgrade) => {
      const repo = await published(taskRecord('A-1'))
      const { wire: __, ...part } = repo.part({ deletes: ['task:A-1'] })
      for (const [route, body] of [
        ['sync', ROOT],
        ['changes', part],
        // Even if the rest of the message would be malformed here.
        ['changes', { upserts: 'all' }],
      ] as const) {
        const answer = await repo.post(route, { ...body, ...(wire !== undefined && { wire }) })
        expect(answer.status).toBe(409)
        expect(await answer.json()).toMatchObject({
          code: 'wire_version',
          error: expect.stringMatching(`version ${WIRE} .*: upgrade the ${upgrade}\\.$`),
        })
      }
      expect((await repo.request('/tasks/A-1')).status).toBe(200)
      expect(await repo.json('/status')).toMatchObject({ counts: { tasks: 1 } })
    })

    it('answers every message with its own version, and a probe without doing anything', async () => {
      const repo = new Repo(host.edge())
      expect(await repo.sync({ step: 'probe' })).toEqual({ wire: WIRE, step: 'probe' })
      expect((await repo.request('/status')).status).toBe(404)
      await repo.begin()
      expect(await repo.changes({})).toMatchObject({ wire: WIRE })
      const buckets = { step: 'buckets', run: repo.run, ...sums([]) } as const
      expect(await repo.sync(buckets)).toMatchObject({ wire: WIRE })
    })
  })

  describe(`the board's contract on ${name}: resuming`, () => {
    it('replays what was missed with its ids, and nothing when nothing was', async () => {
      const repo = await published(taskRecord('A-1'))
      const first = await (await repo.stream()).joined()
      await first.close()
      await repo.changes({ upserts: [taskRecord('A-2')] })
      const { seq } = await repo.changes({ upserts: [sessionRecord('ses_1')] })

      const resumed = await repo.stream(first.lastId)
      await resumed.until((s) => s.messages.length === 2)
      expect(resumed.messages).toEqual([
        { type: 'task-changed', id: 'A-2' },
        { type: 'session-changed', session: 'ses_1' },
      ])
      expect(resumed.lastId).toBe(seq)
      await resumed.close()

      const again = await (await repo.stream(seq)).joined()
      expect(again.messages).toEqual([])
      await again.close()
    })

    it('prefers the header to the query parameter', async () => {
      const repo = await published(taskRecord('A-1'))
      const stream = await (await repo.stream()).joined()
      await stream.close()
      const { seq } = await repo.changes({ upserts: [taskRecord('A-2')] })
      const response = await repo.request(`/events?last_event_id=${stream.lastId}`)
      const { EventStream } = await import('../support/event-stream.ts')
      const byQuery = new EventStream(response)
      await byQuery.until((s) => s.messages.length === 1)
      await byQuery.close()
      const both = new EventStream(
        await repo.request(`/events?last_event_id=${stream.lastId}`, {
          headers: { 'Last-Event-ID': seq },
        }),
      )
      await both.joined()
      expect(both.messages).toEqual([])
      await both.close()
    })

    it('sends many missed messages as one window', async () => {
      const repo = await published(taskRecord('A-1'))
      const before = await (await repo.stream()).joined()
      await before.close()
      for (let i = 0; i < 20; i++) await repo.changes({ upserts: [taskRecord(`B-${i % 2}`)] })
      const { seq } = await repo.changes({ upserts: [taskRecord('B-0')] })
      const resumed = await repo.stream(before.lastId)
      await resumed.until((s) => s.messages.length > 0)
      expect(resumed.messages).toEqual([{ type: 'tasks-changed' }])
      expect(resumed.lastId).toBe(seq)
      await resumed.close()
    })

    it('sends many missed saves of one task as that task only', async () => {
      const [saved, waiting] = [taskRecord('A-1'), taskRecord('A-2')]
      const repo = await published(saved, waiting)
      const before = await (await repo.stream()).joined()
      await before.close()
      let seq = ''
      for (let i = 0; i < 20; i++) {
        const follows = following(waiting, { ready: i % 2 === 0 })
        seq = (await repo.changes({ upserts: [taskRecord('A-1'), follows] })).seq
      }
      const resumed = await repo.stream(before.lastId)
      await resumed.until((s) => s.messages.length > 0)
      expect(resumed.messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
      expect(resumed.lastId).toBe(seq)
      await resumed.close()
    })

    it.each(['0000-5', 'nonsense', '-', '-1'])(
      'resets a client whose id %j belongs to no log',
      async (id) => {
        const repo = await published(taskRecord('A-1'), sessionRecord('ses_7'))
        const stream = await repo.stream(id)
        await stream.until((s) => s.messages.length === 2)
        expect(stream.messages).toEqual([
          { type: 'tasks-changed' },
          { type: 'session-changed', session: 'ses_7' },
        ])
        const [tasks, session] = stream.blocks.filter((block) => 'data' in block)
        expect(tasks?.id).toBeUndefined()
        expect(session?.id).toBeDefined()
        await stream.close()
      },
    )
  })

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

    it('lists a shared task for each of its assignees, and names them all', async () => {
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
        sessionRecord('ses_3', { startedAt: '2026-01-01T12:00:00+02:00', actor: 'b', task: 'X' }),
      )
      const ids = async (query: string) =>
        (await repo.json<{ sessions: { id: string }[] }>(`/sessions${query}`)).sessions.map(
          ({ id }) => id,
        )
      expect((await ids(''))[0]).toBe('ses_1')
      expect(await ids('?health=stalled')).toEqual(['ses_2'])
      expect(await ids('?actor=b')).toEqual(['ses_3'])
      expect(await ids('?task=X')).toEqual(['ses_3'])
      expect(await repo.json('/sessions/ses_2')).toMatchObject({ id: 'ses_2', health: 'stalled' })
      expect((await repo.request('/sessions/ses_9')).status).toBe(404)
    })

    it.each([
      ['/tasks?assigne=ann', 'unknown_filter', /"assigne".*status, assignee, ready/],
      ['/tasks?health=stalled', 'unknown_filter', /"health"/],
      ['/tasks?toString=1', 'unknown_filter', /"toString"/],
      ['/tasks?label=x&label=y', 'unknown_filter', /label.*once/],
      ['/tasks/A-1?status=done', 'unknown_filter', /"status"/],
      ['/tasks/A-1/runs?limit=1', 'unknown_filter', /"limit"/],
      ['/sessions?assignee=ann', 'unknown_filter', /task, actor, status, health/],
      ['/sessions/ses_1?x', 'unknown_filter', /"x"/],
      ['/status?status=x', 'unknown_filter', /"status"/],
      ['/tasks?ready=yes', 'invalid_request', /true, false/],
      ['/tasks?execution=running', 'invalid_request', /active, stalled, awaiting_review/],
      ['/sessions?health=dead', 'invalid_request', /active, stalled, finished, canceled/],
    ])(
      'refuses %s with %s, instead of returning everything or nothing',
      async (route, code, says) => {
        const repo = await published(taskRecord('A-1'), sessionRecord('ses_1'))
        const response = await repo.request(route)
        expect(response.status).toBe(400)
        expect(await response.json()).toEqual({
          code,
          error: expect.stringMatching(says) as string,
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

    it('answers HEAD as GET, without a body', async () => {
      const repo = await published(taskRecord('A-1'))
      const response = await repo.request('/tasks/A-1', { method: 'HEAD' })
      expect(response.status).toBe(200)
      expect(response.headers.get('ETag')).toMatch(/^W\//)
      expect(await response.text()).toBe('')
    })

    it('changes the ETag of a task when only a run of it appears', async () => {
      const repo = await published(taskRecord('A-1'))
      const before = (await repo.request('/tasks/A-1')).headers.get('ETag') ?? ''
      await repo.changes({ upserts: [runRecord('A-1', '20260101-100000.000')] })
      const after = await repo.request('/tasks/A-1', { headers: { 'If-None-Match': before } })
      expect(after.status).toBe(200)
    })
  })

  describe(`the board's contract on ${name}: syncing`, () => {
    it('finds the difference, drops deleted records, requests missing ones, and sends one message', async () => {
      const kept = taskRecord('A-1')
      const gone = taskRecord('A-2')
      const fresh = taskRecord('A-3')
      const repo = await published(kept, gone)
      const stream = await (await repo.stream()).joined()
      const mine = [kept, fresh]

      expect(await repo.begin(sums(mine).root)).toBe(false)
      const { differ } = await repo.sync<SyncAnswer & { step: 'buckets' }>({
        step: 'buckets',
        run: repo.run,
        buckets: sums(mine).buckets,
      })
      const answer = await repo.sync<SyncAnswer & { step: 'entries' }>({
        step: 'entries',
        run: repo.run,
        batch: ++repo.batch,
        buckets: entries(mine, differ),
        more: false,
      })
      expect(answer).toEqual({ wire: WIRE, step: 'entries', lack: ['task:A-3'], dropped: 1 })
      expect(stream.messages).toEqual([])
      await repo.changes({ upserts: [fresh] })
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'tasks-changed' }])
      expect(await repo.begin(sums(mine).root)).toBe(true)
      await stream.close()
    })

    it('is not readable until all messages of a sync have arrived', async () => {
      const records = Array.from({ length: 40 }, (_, i) => taskRecord(`A-${i}`))
      const repo = new Repo(host.edge())
      await repo.begin(sums(records).root)
      const all = Object.entries(entries(records, [...sums(records).buckets.keys()]))
      const filled = all.filter(([, bucket]) => Object.keys(bucket).length > 0)
      const empty = all.filter(([, bucket]) => Object.keys(bucket).length === 0)
      for (const [buckets, more] of [
        [filled, true],
        [empty, false],
      ] as const) {
        await repo.sync({
          step: 'entries',
          run: repo.run,
          batch: ++repo.batch,
          buckets: Object.fromEntries(buckets),
          more,
        })
      }
      expect((await repo.request('/tasks')).status).toBe(404)
      const { message } = await repo.changes({ upserts: records })
      expect(message).toEqual({ type: 'tasks-changed' })
      expect((await repo.json<{ tasks: unknown[] }>('/tasks')).tasks).toHaveLength(40)
    })

    it('never gives the same run number to two sidecars', async () => {
      const repo = new Repo(host.edge())
      const root = (run: number): SyncRequest & { step: 'root' } => ({
        step: 'root',
        run,
        root: sums([]).root,
        store: { state: 'present', version: '0.0.0' },
      })
      expect(await repo.sync(root(2))).toMatchObject({ run: 3 })
      const other = await repo.post('sync', { wire: WIRE, ...root(1) })
      expect(other.status).toBe(409)
      expect(await other.json()).toMatchObject({ code: 'superseded' })
    })

    it('drops nothing when the store is missing, and says so', async () => {
      const repo = await published(taskRecord('A-1'))
      const request: SyncRequest = {
        step: 'root',
        run: repo.run,
        root: sums([]).root,
        store: { state: 'missing', version: '0.0.0' },
      }
      expect(await repo.sync(request)).toMatchObject({ match: true })
      expect(await repo.json('/status')).toMatchObject({ store: 'missing', counts: { tasks: 1 } })
      expect((await repo.request('/tasks/A-1')).status).toBe(200)
    })

    it('sends with the next sync what a sidecar applied before it died between two parts', async () => {
      const first = taskRecord('A-1')
      const repo = await published(first)
      const stream = await (await repo.stream()).joined()
      const orphan = taskRecord('A-2')
      expect((await repo.changes({ upserts: [orphan], more: true })).message).toBeNull()
      expect(stream.messages).toEqual([])
      await repo.begin(sums([first, orphan]).root)
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'A-2' }])
      await stream.close()
    })

    it('refuses a record that is too large for a row, so that its publisher cuts it', async () => {
      const repo = await published()
      const body = '\u0001'.repeat(400_000)
      const large = repo.part({ upserts: [taskRecord('A-1', { body })] })
      const answer = await repo.post('changes', large)
      expect(answer.status).toBe(413)
      expect(await answer.json()).toMatchObject({ code: 'payload_too_large' })
      expect(await repo.json('/tasks')).toEqual({ tasks: [] })
      await repo.changes({ upserts: [taskRecord('A-1', { body: body.slice(0, 200_000) })] })
      expect(await repo.json('/tasks/A-1')).toMatchObject({ id: 'A-1' })
    })

    it('sends sessions too when it is published for the first time, and later only tasks', async () => {
      const repo = new Repo(host.edge())
      const stream = await (await repo.stream('anotherepoch-7')).joined()
      const [task, other] = [taskRecord('A-1'), taskRecord('A-2')]
      await repo.begin(sums([task]).root)
      await repo.changes({ upserts: [task, other, sessionRecord('ses_1')] })
      await stream.until((s) => s.messages.length === 3)
      await repo.changes({ upserts: [taskRecord('A-1'), sessionRecord('ses_1')] })
      await stream.until((s) => s.messages.length === 4)
      expect(stream.messages).toEqual([
        { type: 'tasks-changed' },
        { type: 'tasks-changed' },
        { type: 'session-changed', session: 'ses_1' },
        { type: 'task-changed', id: 'A-1' },
      ])
      expect(stream.lastId).toMatch(/-3$/)
      await stream.close()
    })

    it('applies a batch once, refuses an older one, an older run and another epoch', async () => {
      const repo = await published(taskRecord('A-1'))
      const part = repo.part({ upserts: [taskRecord('A-2')] })
      expect((await repo.post('changes', part)).status).toBe(200)
      const again = await repo.post('changes', part)
      expect(await again.json()).toMatchObject({ duplicate: true, message: null })
      const code = async (response: Response) =>
        [response.status, ((await response.json()) as { code: string }).code] as const
      const older = { ...part, batch: part.batch - 1 }
      expect(await code(await repo.post('changes', older))).toEqual([409, 'stale_batch'])
      const lost = { ...part, batch: 99, epoch: 'another' }
      expect(await code(await repo.post('changes', lost))).toEqual([409, 'sync_required'])
      const unknown = { ...part, batch: 99, run: 99 }
      expect(await code(await repo.post('changes', unknown))).toEqual([409, 'sync_required'])
      const run = repo.run
      await repo.begin()
      const old = { ...part, batch: 99, run }
      expect(await code(await repo.post('changes', old))).toEqual([409, 'superseded'])
    })
  })
}
