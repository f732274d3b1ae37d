import { describe, expect, it } from 'vitest'
import { ReadyRows } from '../../cli/wait/ready-rows.ts'
import type { Task } from '../../worker/board/wire.ts'

const CONFIG = { states: ['todo', 'doing', 'done'], closed: ['done'] }
const row = (id: string, fields: Partial<Task> = {}): Task => ({
  id,
  title: id,
  status: 'todo',
  ready: true,
  ...fields,
})
const ids = (rows: readonly Task[]) => rows.map(({ id }) => id)

/** What a change of these rows makes ready. */
function change(all: Task[], rows: Task[], gone: string[] = []) {
  const changed = new Set([...ids(rows), ...gone])
  const { found, next } = new ReadyRows(all).after({ rows, ids: changed }, CONFIG)
  return { found: ids(found), next: next?.id }
}

describe('what a change makes ready', () => {
  it('is all of a board that was not read before', () => {
    const rows = [row('A', { assignee: 'eve', priority: 'high' }), row('B'), row('C')]
    const { found, next } = new ReadyRows([]).after({ rows, ids: undefined }, CONFIG)
    expect([ids(found), next?.id]).toEqual([['A', 'B', 'C'], 'B'])
  })

  it('is the task itself, and not what was ready before', () => {
    expect(change([row('A'), row('B', { ready: false })], [row('B')])).toEqual({
      found: ['B'],
      next: 'B',
    })
    expect(change([row('A')], [])).toEqual({ found: [], next: undefined })
  })

  it('is what has no open part any more, closed or gone, though its own row is the same', () => {
    const all = [row('A'), row('A.1', { parent: 'A' }), row('B')]
    const closed = row('A.1', { parent: 'A', status: 'done', ready: false })
    expect(change(all, [closed]).found).toEqual(['A'])
    expect(change(all, [], ['A.1']).found).toEqual(['A'])
  })

  it('is a part of what somebody works on no longer', () => {
    const held = row('A', { executionState: 'active', activeAttempt: 'claim-1' })
    const part = row('A.1', { parent: 'A' })
    expect(change([held, part], [row('A')]).found).toEqual(['A.1'])
  })
})
