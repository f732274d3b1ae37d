import { describe, expect, it } from 'vitest'
import { readyTasks } from '../../../../worker/board/tasks/free-tasks.ts'
import { stateOf, type Work, workByTask } from '../../../../worker/board/tasks/task-state.ts'
import { statusesOf } from '../../../../worker/board/tasks/to-do.ts'
import type { Session, Task } from '../../../../worker/board/wire.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const MINUTE = 60_000
const ago = (minutes: number): string => new Date(NOW - minutes * MINUTE).toISOString()
const MOMENT = { now: NOW, silentAfterMs: 20 * MINUTE }
const FACTS = { ...MOMENT, isClosed: (status: string) => status === 'Done', isReady: false }

const task = (fields: Partial<Task> = {}): Task => ({
  id: 'A-1',
  title: 'It',
  status: 'To Do',
  ready: true,
  ...fields,
})
const claimed = (fields: Partial<Work> = {}): Work => ({
  id: 'claim-1',
  health: 'active',
  startedAt: ago(5),
  claim: { generation: 1, expiresAt: ago(-5) },
  ...fields,
})
const begun = (fields: Partial<Work> = {}): Work => ({
  id: 'ses_1',
  health: 'active',
  startedAt: ago(5),
  ...fields,
})
const seen = (row: Task, ...work: Work[]) => stateOf(row, work, FACTS)
const tree = (fields: object = {}) => ({ tree: 'feat', dir: '/feat', status: 'Done', ...fields })

describe('who works on a task', () => {
  it('works while a claim is valid, since that began', () => {
    expect(seen(task(), claimed())).toEqual({ state: 'work', since: NOW - 5 * MINUTE })
  })

  it('is silent once its last sign, else its start, is older than the edge says', () => {
    const long = claimed({ startedAt: ago(90) })
    expect(seen(task(), long)).toEqual({ state: 'silent', since: NOW - 90 * MINUTE })
    expect(seen(task(), { ...long, activeAt: ago(21) })).toMatchObject({ state: 'silent' })
    expect(seen(task(), { ...long, activeAt: ago(20) })).toEqual({
      state: 'work',
      since: NOW - 90 * MINUTE,
    })
  })

  it('is not silent while one of two shows signs', () => {
    const row = task({ sessionId: 'ses_1' })
    const quiet = claimed({ startedAt: ago(90) })
    expect(seen(row, quiet, begun({ activeAt: ago(1) }))?.state).toBe('work')
    expect(seen(row, quiet, begun({ startedAt: ago(80) }))?.state).toBe('silent')
  })

  it('has stalled with a claim that expired, or a stale session, and not with a valid claim', () => {
    const row = task({ sessionId: 'ses_1' })
    const expired = claimed({
      health: 'stalled',
      claim: { generation: 1, expiresAt: ago(7) },
    })
    const stale = begun({ health: 'stalled', startedAt: ago(300) })
    expect(seen(row, expired)).toEqual({ state: 'stalled', since: NOW - 7 * MINUTE })
    expect(seen(row, stale)).toEqual({ state: 'stalled', since: NOW - 300 * MINUTE })
    expect(seen(row, expired, begun())?.state).toBe('stalled')
    expect(seen(row, stale, claimed())?.state).toBe('work')
  })

  it('is not told by the sessions of an earlier attempt, nor by those that have ended', () => {
    expect(seen(task({ sessionId: 'ses_2' }), begun({ health: 'stalled' }))).toBeUndefined()
    expect(seen(task({ sessionId: 'ses_1' }), begun({ health: 'finished' }))).toBeUndefined()
    expect(seen(task(), claimed({ health: 'canceled' }))).toBeUndefined()
  })

  it('is told by the row alone where no sessions were read', () => {
    expect(seen(task({ executionState: 'active' }))).toEqual({ state: 'work' })
    expect(seen(task({ executionState: 'stalled' }))).toEqual({ state: 'stalled' })
  })
})

describe('a review', () => {
  const done = { at: ago(30), by: 'ada', session: 'claim-1' }

  it('is due where a tree has closed what the main tree has open, since then', () => {
    const row = task({ trees: [tree({ updatedAt: ago(40) }), tree({ status: 'Doing' })] })
    expect(seen(row)).toEqual({ state: 'review', since: NOW - 40 * MINUTE })
    expect(seen(task({ trees: [tree({ status: 'Doing' })] }))).toBeUndefined()
    expect(seen(task({ trees: [tree({ status: undefined, gone: true })] }))).toBeUndefined()
  })

  it('has no age where the copy is dated as what the main tree has, which nobody closed', () => {
    const updatedAt = ago(40)
    expect(seen(task({ updatedAt, trees: [tree({ updatedAt })] }))).toEqual({ state: 'review' })
    const never = task({ status: 'Done', inMain: false, updatedAt, trees: [tree({ updatedAt })] })
    expect(seen(never)).toEqual({ state: 'review', since: NOW - 40 * MINUTE })
  })

  it('is due for what was released as done, since then', () => {
    const since = NOW - 30 * MINUTE
    expect(seen(task({ done }))).toEqual({ state: 'review', since })
    const trees = [tree({ updatedAt: ago(90_000) })]
    expect(seen(task({ done, trees }))).toEqual({ state: 'review', since })
  })

  it('is due for what the main tree never had, and not for what it has deleted', () => {
    const row = task({ status: 'Done', inMain: false, held: true, trees: [tree()] })
    expect(seen(row)?.state).toBe('review')
    expect(seen({ ...row, deletedInMain: true })).toBeUndefined()
  })

  it('is over once the main tree has it closed', () => {
    expect(seen(task({ status: 'Done', done, trees: [tree()] }))).toBeUndefined()
  })
})

it('has no state for what is closed, whatever its sessions say', () => {
  const row = task({ status: 'Done', sessionId: 'ses_1', executionState: 'stalled' })
  expect(seen(row, begun({ health: 'stalled' }))).toBeUndefined()
})

it('counts each task of a board once, and as ready what anybody could begin', () => {
  const rows = [
    task({ id: 'A-1' }),
    task({ id: 'A-2', executionState: 'active', activeAttempt: 'claim-7', sessionId: 'claim-7' }),
    task({ id: 'A-3', executionState: 'stalled', activeAttempt: 'claim-8', sessionId: 'claim-8' }),
    task({ id: 'A-4', ready: false, deps: ['A-1'] }),
    task({ id: 'A-5', trees: [tree()] }),
    task({ id: 'A-6', status: 'Done', ready: false }),
  ]
  const session = (id: string, of: string, fields: Partial<Session>): Session => ({
    ...claimed({ id }),
    task: of,
    attempt: id,
    actor: 'ada',
    status: 'in_progress',
    health: 'active',
    startedAt: ago(30),
    ...fields,
  })
  const config = { states: ['To Do', 'Done'], closed: ['Done'] }
  const ready = new Set(readyTasks(new Map(rows.map((row) => [row.id, row])), config).tasks)
  const work = workByTask([
    session('claim-7', 'A-2', { activeAt: ago(1) }),
    session('claim-8', 'A-3', { health: 'stalled' }),
    session('claim-6', 'A-6', { health: 'finished' }),
  ])
  const { isClosed } = statusesOf(config)
  const states = rows.flatMap((row) => {
    const facts = { ...MOMENT, isClosed, isReady: ready.has(row) }
    const known = stateOf(row, work.get(row.id) ?? [], facts)
    return known ? [`${row.id} ${known.state}`] : []
  })
  expect(states).toEqual(['A-1 ready', 'A-2 work', 'A-3 stalled', 'A-5 review'])
})
