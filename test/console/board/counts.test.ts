import { describe, expect, it } from 'vitest'
import { countsOf, stuckOf } from '../../../console/board/counts.ts'
import { filtersOf, passes, placed } from '../../../console/board/filters.ts'
import type { Task } from '../../../libraries/api/types.ts'
import type { TaskState } from '../../../worker/board/tasks/task-state.ts'
import { card } from '../../support/made-up-board.ts'

const seen = (id: string, state: TaskState, since: number, fields: Partial<Task> = {}) =>
  card({ id, ...fields }, { state, since })
const CARDS = [
  seen('LAMP-1', 'work', 300),
  seen('LAMP-2', 'work', 200),
  seen('LAMP-3', 'silent', 100),
  seen('LAMP-4', 'stalled', 400),
  seen('LAMP-5', 'review', 600, { tag: 'old' }),
  seen('LAMP-6', 'ready', 700, { tag: 'now' }),
  card({ id: 'LAMP-7' }, { state: 'ready' }),
  card({ id: 'LAMP-8' }),
]
const NOW = 'now'

describe('the counts above the board', () => {
  it('count who works with those that are silent, and each has its oldest age', () => {
    const counts = countsOf(CARDS, filtersOf({}), undefined)
    expect(counts.map(({ state, count, since }) => [state, count, since])).toEqual([
      ['work', 3, 100],
      ['silent', 1, 100],
      ['stalled', 1, 400],
      ['review', 1, 600],
      ['ready', 2, 700],
    ])
  })

  it('each have a filter that shows as many, in other lists of the tool, too', () => {
    const counts = countsOf(CARDS, filtersOf({}), NOW)
    for (const { count, query } of counts) {
      const filters = filtersOf(query as Record<string, string>)
      expect(placed(CARDS, filters, NOW).filter(passes(filters))).toHaveLength(count)
    }
    expect(counts.find(({ state }) => state === 'review')?.query).toEqual({
      review: 'true',
      tag: 'all',
    })
  })

  it('lead back to the whole board from the filter that is on', () => {
    const counts = countsOf(CARDS, filtersOf({ work: 'silent', tag: 'all' }), NOW)
    expect(counts.filter(({ isOn }) => isOn).map(({ state, query }) => [state, query])).toEqual([
      ['silent', {}],
    ])
  })

  it('name who is stuck: what is stalled, then what is silent, the longest first', () => {
    const more = [seen('LAMP-9', 'stalled', 50), seen('LAMP-10', 'silent', 90)]
    expect(stuckOf([...CARDS, ...more]).map(({ task }) => task.id)).toEqual([
      'LAMP-9',
      'LAMP-4',
      'LAMP-10',
      'LAMP-3',
    ])
  })
})
