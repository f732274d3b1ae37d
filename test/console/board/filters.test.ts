import { describe, expect, it } from 'vitest'
import {
  choicesOf,
  type Filters,
  filtersOf,
  isFiltering,
  passes,
  placed,
} from '../../../console/board/filters.ts'
import { card } from '../../support/made-up-board.ts'

const filters = (some: Partial<Filters>) => filtersOf(some as Record<string, string>)
const lamp = card({
  id: 'LAMP-4',
  title: 'Wake up to a lamp',
  assignee: 'agent:otto',
  labels: ['comfort', 'firmware'],
  parent: 'LAMP-1',
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
    [{ parent: 'LAMP-1' }, true],
    [{ parent: 'LAMP-2' }, false],
    [{ label: 'com' }, false],
    [{ priority: 'high' }, true],
    [{ priority: 'low' }, false],
    [{ execution: 'stalled' }, true],
    [{ execution: 'active' }, false],
  ])('%j passes a stalled lamp: %j', (some, expected) => {
    expect(passes(filters(some))(lamp)).toBe(expected)
  })

  it('pass a task for whoever works on it', () => {
    const worked = { ...lamp, actor: 'ada@home:7' }
    expect(passes(filters({ actor: 'ada@home:7' }))(worked)).toBe(true)
    expect(passes(filters({ actor: 'bob' }))(worked)).toBe(false)
    expect(choicesOf([worked, card({})], [])).toMatchObject({ actor: ['ada@home:7'] })
  })

  it('pass a task for each linked worktree that changed it', () => {
    const trees = ['feat', 'fix'].map((tree) => ({ tree, dir: `/${tree}` }))
    const changed = card({ trees })
    expect(passes(filters({ tree: 'fix' }))(changed)).toBe(true)
    expect(passes(filters({ tree: 'other' }))(changed)).toBe(false)
    expect(passes(filters({ tree: 'fix' }))(lamp)).toBe(false)
    expect(choicesOf([changed, lamp], [])).toMatchObject({ tree: ['feat', 'fix'] })
  })

  it('pass a task with several assignees for each of them', () => {
    const shared = card({ assignee: 'ann', assignees: ['ann', 'bob'] })
    expect(passes(filters({ assignee: 'ann' }))(shared)).toBe(true)
    expect(passes(filters({ assignee: 'bob' }))(shared)).toBe(true)
    expect(passes(filters({ q: 'BOB' }))(shared)).toBe(true)
    expect(passes(filters({ assignee: 'mira' }))(shared)).toBe(false)
  })

  it.each([
    ['LAMP WAKE', true],
    ['wake nobody', false],
  ])('the words %j occur in it: %j', (q, expected) => {
    expect(passes(filters({ q }))(lamp)).toBe(expected)
  })
})

describe('folders and tags', () => {
  const cards = [
    card({ id: '1', tag: 'loop' }),
    card({ id: '2', tag: 'master' }),
    card({ id: '3', tag: 'loop', folder: 'drafts' }),
  ]
  const ids = (some: Partial<Filters>, currentTag?: string) =>
    placed(cards, filters(some), currentTag).map((it) => it.task.id)

  it('leave out what is not on the tool’s board, and other tags than its current one', () => {
    expect(ids({}, 'loop')).toEqual(['1'])
    expect(ids({})).toEqual(['1', '2'])
  })

  it('do not hide the board for a current tag that has no task', () => {
    expect(ids({}, 'gone')).toEqual(['1', '2'])
  })

  it('show what is asked for', () => {
    expect(ids({ folder: 'drafts' }, 'loop')).toEqual(['3'])
    expect(ids({ folder: 'all' }, 'loop')).toEqual(['1', '3'])
    expect(ids({ folder: 'all', tag: 'all' }, 'loop')).toEqual(['1', '2', '3'])
    expect(ids({ tag: 'master' }, 'loop')).toEqual(['2'])
  })
})

describe('the choices of the filters', () => {
  it('are the values on the board, sorted for people, with the most urgent priority first', () => {
    const cards = [
      card({ id: 'LAMP-1', assignee: 'mira', labels: ['v10', 'v9'], priority: 'low', tag: 'a' }),
      card({ id: 'LAMP-2', assignee: 'Jonas', priority: 'whenever', parent: 'LAMP-1' }),
      card({ id: 'LAMP-3', assignee: 'mira', assignees: ['mira', 'Ada'], priority: 'High' }),
      card({ id: 'LAMP-4', priority: 'P0' }),
    ]
    const draft = card({ folder: 'drafts', assignee: 'nobody' })
    expect(choicesOf(cards, [...cards, draft])).toEqual({
      assignee: ['Ada', 'Jonas', 'mira'],
      label: ['v9', 'v10'],
      priority: ['P0', 'High', 'whenever', 'low'],
      parent: ['LAMP-1'],
      folder: ['drafts'],
      tag: [],
      tree: [],
      execution: [],
      actor: [],
    })
    const [busy, ready] = [card({ executionState: 'stalled' }), card({ ready: true })]
    expect(choicesOf([busy, ready], [])).toMatchObject({ execution: ['stalled'] })
  })
})
