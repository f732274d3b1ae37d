import { describe, expect, test } from 'vitest'
import { deriveTask, healthOf, newerFirst, staleAt } from '../../../sidecar/board/derive.ts'
import { config, FakeBoard, task } from '../fake-board.ts'

const session = { status: 'active', startedAtMs: 1_000, heartbeatAtMs: undefined }

describe('health of a session', () => {
  test('is what its status says once it has ended, however old its heartbeat is', () => {
    expect(healthOf({ ...session, status: 'finished' }, 100, 1e9)).toBe('finished')
    expect(healthOf({ ...session, status: 'canceled' }, 100, 1e9)).toBe('canceled')
    expect(staleAt({ ...session, status: 'finished' }, 100)).toBeUndefined()
  })

  test('turns stalled one millisecond after the limit, not at it', () => {
    expect(healthOf(session, 100, 1_100)).toBe('active')
    expect(healthOf(session, 100, 1_101)).toBe('stalled')
    expect(staleAt(session, 100)).toBe(1_101)
  })

  test('counts from the heartbeat, not from the start, where there is one', () => {
    expect(healthOf({ ...session, heartbeatAtMs: 5_000 }, 100, 5_050)).toBe('active')
  })
})

describe('state of a task', () => {
  const task = { closed: false, isHeld: false, activeAttempt: 'a1', depsClosed: true }
  const newest = { id: 's1', attempt: 'a1', health: 'active' } as const

  test('is that of its newest session', () => {
    expect(deriveTask({ ...task, newest })).toEqual({
      ready: true,
      executionState: 'active',
      sessionId: 's1',
    })
    expect(deriveTask({ ...task, newest: { ...newest, health: 'stalled' } })).toMatchObject({
      executionState: 'stalled',
    })
  })

  test('does not follow a session of another attempt, nor one of a task without any', () => {
    expect(deriveTask({ ...task, newest: { ...newest, attempt: 'a0' } })).toEqual({ ready: true })
    expect(deriveTask({ ...task, activeAttempt: undefined, newest })).toEqual({ ready: true })
  })

  test('awaits review after a finished session, but not once the task is closed', () => {
    const finished = { ...newest, health: 'finished' } as const
    expect(deriveTask({ ...task, newest: finished })).toMatchObject({
      executionState: 'awaiting_review',
      sessionId: 's1',
    })
    expect(deriveTask({ ...task, closed: true, newest: finished })).toEqual({
      ready: false,
      sessionId: 's1',
    })
  })

  test('names a canceled session, which is no state', () => {
    const canceled = { ...newest, health: 'canceled' } as const
    expect(deriveTask({ ...task, newest: canceled })).toEqual({ ready: true, sessionId: 's1' })
  })

  test('is not ready while its tool holds it back', () => {
    expect(deriveTask({ ...task, isHeld: true, newest: undefined })).toEqual({ ready: false })
  })

  test('is not ready while a dep is open', () => {
    expect(deriveTask({ ...task, depsClosed: false, newest: undefined })).toEqual({ ready: false })
  })
})

test('sessions of one moment have an order that does not depend on how they came', () => {
  const [a, b] = [
    { id: 'a', startedAtMs: 1 },
    { id: 'b', startedAtMs: 1 },
  ]
  expect([a, b].toSorted(newerFirst)).toEqual([b, a])
  expect([b, a].toSorted(newerFirst)).toEqual([b, a])
})

const numbers = Array.from({ length: 2_000 }, (_, n) => n)

test('an id that stands 2,000 times in one file is listed 2,000 times, and freezes nothing', async () => {
  const fake = new FakeBoard()
  fake.put('/s/config', config(['done']))
  fake.put('/s/tasks/all', ...numbers.map((n) => task('A', { title: `Task ${n}` })))
  const keys = fake.board.settle(0).filter((key) => key.startsWith('task:'))
  expect(new Set(keys)).toEqual(
    new Set(['task:A', ...numbers.slice(1).map((n) => `task:A~${n + 1}`)]),
  )
  expect(await fake.board.read('task:A~2000')).toMatchObject({ task: { title: 'Task 1999' } })
})

test('when the first of three goes, the second takes the id and the third the second place', async () => {
  const fake = new FakeBoard()
  fake.put('/s/config', config(['done']))
  for (const name of ['c', 'a', 'b']) fake.put(`/s/tasks/${name}`, task('A', { title: name }))
  fake.board.settle(0)
  const titles = async () => {
    const records = await Promise.all(
      (['task:A', 'task:A~2', 'task:A~3'] as const).map((key) => fake.board.read(key)),
    )
    return records.map((record) => record?.kind === 'task' && record.task.title)
  }
  expect(await titles()).toEqual(['a', 'b', 'c'])
  fake.remove('/s/tasks/a')
  expect(new Set(fake.board.settle(0))).toEqual(new Set(['task:A', 'task:A~2', 'task:A~3']))
  expect(await titles()).toEqual(['b', 'c', false])
})
