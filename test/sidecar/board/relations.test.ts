import { describe, expect, test } from 'vitest'
import { deriveTask, healthOf, newerFirst, staleAt } from '../../../sidecar/board/relations.ts'

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
