// What sidecars publish: the sync, the changes, and versions of the protocol.

import { describe, expect, it } from 'vitest'
import type { SyncAnswer } from '../../worker/board/wire.ts'
import { WIRE } from '../../worker/board/wire.ts'
import { entries, Repo, sessionRecord, sums, syncRoot, taskRecord } from '../support/edge.ts'
import type { Board } from './board.ts'

export function syncContract({ edge, name, published }: Board): void {
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
      const repo = new Repo(edge())
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

    it('says how far a first publication has read, and shows nothing of it before its end', async () => {
      const records = [taskRecord('A-1', { ready: true }), taskRecord('A-2')]
      const repo = new Repo(edge())
      await repo.begin('f'.repeat(32))
      const reading = { done: 1, total: 2 }
      await repo.changes({ upserts: records.slice(0, 1), more: true, reading })
      expect(await repo.json('/status')).toMatchObject({ reading })
      expect((await repo.request('/tasks')).status).toBe(404)

      expect(await repo.begin(sums(records).root)).toBe(false)
      const { message } = await repo.changes({ upserts: records.slice(1) })
      expect(message).toEqual({ type: 'tasks-changed' })
      expect((await repo.json<{ tasks: unknown[] }>('/tasks')).tasks).toHaveLength(2)
      expect(await repo.json('/status')).not.toHaveProperty('reading')
      // A published board is never shown in parts.
      const late = await repo.post('changes', repo.part({ more: true, reading }))
      expect([late.status, await late.json()]).toMatchObject([409, { code: 'sync_required' }])
    })

    it('never gives the same run number to two sidecars', async () => {
      const repo = new Repo(edge())
      expect(await repo.sync(syncRoot(2))).toMatchObject({ run: 3 })
      const other = await repo.post('sync', { wire: WIRE, ...syncRoot(1) })
      expect(other.status).toBe(409)
      expect(await other.json()).toMatchObject({ code: 'superseded' })
    })

    it('lets an earlier sidecar publish on when the later one has ended, and not before', async () => {
      const repo = await published(taskRecord('A-1'))
      const { run, epoch } = repo
      const change = { epoch, run, batch: 99, upserts: [taskRecord('A-2')], deletes: [] }
      const code = async () => {
        const answer = await repo.post('changes', { wire: WIRE, ...change })
        return ((await answer.json()) as { code: string }).code
      }
      await repo.begin()
      const later = repo.run
      expect(await code()).toBe('superseded')
      expect(await repo.sync({ step: 'end', run: later })).toEqual({ wire: WIRE, step: 'end' })
      expect(await code()).toBe('sync_required')
      expect(await repo.sync(syncRoot(run))).toMatchObject({ run: later + 1 })
      const late = await repo.post('sync', { wire: WIRE, step: 'end', run: later })
      expect(await late.json()).toMatchObject({ code: 'superseded' })
    })

    it('says when the watcher of a sidecar has failed, and when another works', async () => {
      const task = taskRecord('A-1')
      const repo = await published(task)
      const stream = await (await repo.stream()).joined()
      const store = { state: 'present', version: '0.0.0' } as const
      const request = { step: 'root', run: repo.run, root: sums([task]).root } as const
      const status = () => repo.json('/status')
      await repo.sync({ ...request, store: { ...store, unwatched: true } })
      expect(await status()).toHaveProperty('sidecar.unwatched', true)
      await stream.until((s) => s.messages.length === 1)
      await repo.sync({ ...request, store })
      expect(await status()).not.toHaveProperty('sidecar.unwatched')
      await stream.until((s) => s.messages.length === 2)
      expect(stream.messages).toEqual([{ type: 'tasks-changed' }, { type: 'tasks-changed' }])
      await stream.close()
    })

    it('drops nothing if the store is missing, and tells clients so, and when it is back', async () => {
      const task = taskRecord('A-1')
      const repo = await published(task)
      const stream = await (await repo.stream()).joined()
      const request = syncRoot(repo.run, { state: 'missing' })
      expect(await repo.sync(request)).toMatchObject({ match: true })
      expect(await repo.json('/status')).toMatchObject({ store: 'missing', counts: { tasks: 1 } })
      expect((await repo.request('/tasks/A-1')).status).toBe(200)
      await stream.until((s) => s.messages.length === 1)
      await repo.sync(request)
      await repo.begin(sums([task]).root)
      await stream.until((s) => s.messages.length === 2)
      expect(stream.messages).toEqual([{ type: 'tasks-changed' }, { type: 'tasks-changed' }])
      await stream.close()
    })

    it('shows until when it has all that the sidecar saw, by its own clock', async () => {
      type Status = { now: string; currentAt: string; sidecar: { lastSeenAt: string } }
      const repo = await published(taskRecord('A-1'))
      const first = await repo.json<Status>('/status')
      expect(first.currentAt).toBe(first.sidecar.lastSeenAt)
      expect(first.now >= first.currentAt).toBe(true)
      const seen = async () => (await repo.json<Status>('/status')).sidecar.lastSeenAt
      await expect
        .poll(async () => {
          await repo.changes({ upserts: [taskRecord('A-2')], more: true })
          return (await seen()) > first.currentAt
        })
        .toBe(true)
      expect((await repo.json<Status>('/status')).currentAt).toBe(first.currentAt)
      await repo.changes({})
      const last = await repo.json<Status>('/status')
      expect(last.currentAt).toBe(last.sidecar.lastSeenAt)
    })

    it('takes a store without a place of tasks for a new board, or for one that lost its tasks', async () => {
      const root = async (repo: Repo) =>
        repo.sync<SyncAnswer & { step: 'root' }>(syncRoot(null, { state: 'bare' }))
      const fresh = new Repo(edge())
      expect(await root(fresh)).toMatchObject({ match: true, store: 'present' })
      expect(await fresh.json('/tasks')).toEqual({ tasks: [] })
      const repo = await published(taskRecord('A-1'))
      expect(await root(repo)).toMatchObject({ match: true, store: 'missing' })
      expect(await repo.json('/status')).toMatchObject({ store: 'missing', counts: { tasks: 1 } })
    })

    it('sends with the next sync what a sidecar published before it died between two parts', async () => {
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

    it('refuses a record that is too large for a row, so that the sidecar cuts it', async () => {
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
      const repo = new Repo(edge())
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

  describe(`the board's contract on ${name}: versions of the publishing protocol`, () => {
    it.each([
      ['an older sidecar without a version', undefined, 'sidecar'],
      ['an older sidecar', WIRE - 1, 'sidecar'],
      ['a newer sidecar', WIRE + 1, 'edge'],
    ])('tells %s which side to upgrade, and applies nothing', async (_name, wire, upgrade) => {
      const repo = await published(taskRecord('A-1'))
      const { wire: __, ...part } = repo.part({ deletes: ['task:A-1'] })
      for (const [route, body] of [
        ['sync', syncRoot(null)],
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

    it('are in every answer, and a probe changes nothing', async () => {
      const repo = new Repo(edge())
      expect(await repo.sync({ step: 'probe' })).toEqual({ wire: WIRE, step: 'probe' })
      expect((await repo.request('/status')).status).toBe(404)
      await repo.begin()
      expect(await repo.changes({})).toMatchObject({ wire: WIRE })
      const buckets = { step: 'buckets', run: repo.run, ...sums([]) } as const
      expect(await repo.sync(buckets)).toMatchObject({ wire: WIRE })
    })
  })
}
