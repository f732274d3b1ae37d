// The stream of changes: how it opens, and how a client resumes it.

import { describe, expect, it } from 'vitest'
import { following, Repo, sessionRecord, taskRecord } from '../support/edge.ts'
import { EventStream } from '../support/event-stream.ts'
import type { Board } from './board.ts'

export function streamContract({ edge, name, published, sendsConnection }: Board): void {
  describe(`the board's contract on ${name}: the stream`, () => {
    it('opens with the headers of the contract and a connected comment', async () => {
      const stream = await (await published()).stream()
      const { headers } = stream.response
      expect(headers.get('Content-Type')).toBe('text/event-stream')
      expect(headers.get('Cache-Control')).toBe('no-cache')
      expect(headers.get('X-Accel-Buffering')).toBe('no')
      if (sendsConnection) expect(headers.get('Connection')).toBe('keep-alive')
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
      const repo = new Repo(edge())
      const stream = await (await repo.stream()).joined()
      expect((await repo.request('/tasks')).status).toBe(404)
      await repo.begin()
      await repo.changes({ upserts: [taskRecord('A-1')] })
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'task-changed', id: 'A-1' }])
      await stream.close()
    })

    it('resets a client that was disconnected during the first message', async () => {
      const repo = new Repo(edge())
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
      const repo = new Repo(edge())
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

  describe(`the board's contract on ${name}: resuming`, () => {
    it('sends the missed messages with their ids, and nothing if none were missed', async () => {
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

    it('sends many missed messages as one', async () => {
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

    it('sends many missed saves of one task as one message for it', async () => {
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
}
