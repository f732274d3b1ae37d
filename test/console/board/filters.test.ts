import { describe, expect, it } from 'vitest'
import {
  choicesOf,
  type Filters,
  filtersOf,
  isFiltering,
  passes,
} from '../../../console/board/filters.ts'
import { card, task } from '../../support/made-up-board.ts'

const filters = (some: Partial<Filters>) => filtersOf(some as Record<string, string>)
const lamp = card({
  id: 'LAMP-4',
  title: 'Wake up to a lamp',
  assignee: 'agent:otto',
  labels: ['comfort', 'firmware'],
  priority: 'high',
  executionState: 'stalled',
})

describe('the filters', () => {
  it('pass every card if they are empty', () => {
    expect(passes(filters({}))(lamp)).toBe(true)
    expect(isFiltering(filters({}))).toBe(false)
    expect(isFiltering(filters({ q: '  ' }))).toBe(false)
    expect(isFiltering(filters({ ready: '1' }))).toBe(true)
  })

  it.each<[Partial<Filters>, boolean]>([
    [{ assignee: 'agent:otto' }, true],
    [{ assignee: 'agent' }, false],
    [{ label: 'comfort' }, true],
    [{ label: 'com' }, false],
    [{ priority: 'high' }, true],
    [{ priority: 'low' }, false],
    [{ execution: 'stalled' }, true],
    [{ execution: 'active' }, false],
    [{ ready: '1' }, false],
    [{ label: 'comfort', priority: 'low' }, false],
  ])('%j passes a stalled lamp: %j', (some, expected) => {
    expect(passes(filters(some))(lamp)).toBe(expected)
  })

  it('pass a task with several assignees for each of them', () => {
    const shared = card({ assignee: 'ann', assignees: ['ann', 'bob'] })
    expect(passes(filters({ assignee: 'ann' }))(shared)).toBe(true)
    expect(passes(filters({ assignee: 'bob' }))(shared)).toBe(true)
    expect(passes(filters({ q: 'BOB' }))(shared)).toBe(true)
    expect(passes(filters({ assignee: 'mira' }))(shared)).toBe(false)
  })

  it.each([
    ['lamp-4', true],
    ['LAMP WAKE', true],
    ['otto firm', true],
    ['wake nobody', false],
  ])('the words %j occur in it: %j', (q, expected) => {
    expect(passes(filters({ q }))(lamp)).toBe(expected)
  })
})

describe('the choices of the filters', () => {
  it('are the values on the board, sorted for people, with the most urgent priority first', () => {
    const tasks = [
      task('LAMP-1', { assignee: 'mira', labels: ['v10', 'v9'], priority: 'low' }),
      task('LAMP-2', { assignee: 'Jonas', priority: 'whenever' }),
      task('LAMP-3', { assignee: 'mira', assignees: ['mira', 'Ada'], priority: 'High' }),
    ]
    expect(choicesOf(tasks)).toEqual({
      assignee: ['Ada', 'Jonas', 'mira'],
      label: ['v9', 'v10'],
      priority: ['High', 'low', 'whenever'],
    })
  })
})
