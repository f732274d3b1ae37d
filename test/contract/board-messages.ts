// Which message clients get for a change.

import { describe, expect, it } from 'vitest'
import { following, runRecord, sessionRecord, taskRecord } from '../support/edge.ts'
import type { Board } from './board.ts'

export function messageContract({ name, published }: Board): void {
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
    ])('%s changed: one message', async (_name, upserts, message) => {
      const repo = await published(taskRecord('A-1'))
      const stream = await (await repo.stream()).joined()
      const answer = await repo.changes({ upserts })
      expect(answer.message).toEqual(message)
      await stream.until((s) => s.messages.length > 0)
      expect(stream.messages).toEqual([message])
      expect(stream.lastId).toBe(answer.seq)
      await stream.close()
    })

    it('a saved task with dependents: a message for that task, and the list contains the others', async () => {
      const [saved, waiting] = [taskRecord('A-1'), taskRecord('A-2', { ready: false })]
      const repo = await published(saved, waiting)
      const before = (await repo.request('/tasks')).headers.get('ETag') ?? ''
      const upserts = [following(waiting, { ready: true }), taskRecord('A-1', { status: 'done' })]
      expect((await repo.changes({ upserts })).message).toEqual({ type: 'task-changed', id: 'A-1' })
      const after = await repo.request('/tasks', { headers: { 'If-None-Match': before } })
      expect(after.status).toBe(200)
      expect(await after.json()).toMatchObject({ tasks: [{ status: 'done' }, { ready: true }] })
    })

    it('a deleted task with dependents: a message for that task', async () => {
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

    it('a task that changes because of an earlier message: tasks-changed', async () => {
      const waiting = taskRecord('A-2', { ready: false })
      const repo = await published(taskRecord('A-1'), waiting)
      const done = taskRecord('A-1', { status: 'done' })
      expect((await repo.changes({ upserts: [done] })).message).toMatchObject({ id: 'A-1' })
      const late = [following(waiting, { ready: true })]
      expect((await repo.changes({ upserts: late })).message).toEqual({ type: 'tasks-changed' })
    })

    it('the parts of one change: one message, in any order', async () => {
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

    it('a deleted task: a message after the deletion', async () => {
      const repo = await published(taskRecord('A-1'))
      const { message } = await repo.changes({ deletes: ['task:A-1'] })
      expect(message).toEqual({ type: 'task-changed', id: 'A-1' })
      expect((await repo.request('/tasks/A-1')).status).toBe(404)
    })

    it('a task that was only touched: a message', async () => {
      const repo = await published(taskRecord('A-1'))
      const { message } = await repo.changes({ touched: ['task:A-1'] })
      expect(message).toEqual({ type: 'task-changed', id: 'A-1' })
    })
  })
}
