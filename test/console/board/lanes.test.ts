import { describe, expect, it } from 'vitest'
import { cardsOf } from '../../../console/board/cards.ts'
import { columnsOf } from '../../../console/board/columns.ts'
import { isGrouped, type Lane, lanesOf, turnedGroups } from '../../../console/board/lanes.ts'
import type { Task } from '../../../libraries/client/index.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { boardOf, CONFIG, task } from '../../support/made-up-board.ts'

interface Options {
  /** Tasks without a folder, if it is not given. */
  placed?: (task: Task) => boolean
  shown?: (task: Task) => boolean
}

function grouped(
  tasks: Task[],
  { placed = ({ folder }) => folder === undefined, shown = () => true }: Options = {},
) {
  const cards = cardsOf(boardOf(tasks), new Map())
  return lanesOf({
    cards,
    onBoard: [...cards.values()].filter(({ task }) => placed(task)),
    config: CONFIG,
    isShown: ({ task }) => shown(task),
    turned: new Set(),
  })
}

const part = (id: string, parent: string, fields: Partial<Task> = {}) =>
  task(id, { parent, ...fields })
const DONE = { status: 'done' }
const idsOf = ({ columns }: Lane) =>
  columns.flatMap(({ cards }) => cards.map(({ task }) => task.id))
const progressOf = ({ id, closed, total }: Lane) => [id, closed, total]

describe('the groups', () => {
  it('have a task as their head, and what is part of it below; all others are the last group', () => {
    const { lanes } = grouped([
      task('A'),
      part('A/1', 'A', DONE),
      part('A/2', 'A'),
      task('B', { title: 'Bake' }),
      part('B/1', 'B'),
      task('C'),
    ])
    expect(lanes.map((lane) => [lane.id, lane.head?.task.title, idsOf(lane)])).toEqual([
      ['A', 'The task A', ['A/2', 'A/1']],
      ['B', 'Bake', ['B/1']],
      ['', undefined, ['C']],
    ])
    expect(lanes.map(progressOf)).toEqual([
      ['A', 1, 2],
      ['B', 0, 1],
      ['', 0, 1],
    ])
  })

  it('have the same columns each, also of a status that only one of them has', () => {
    const { lanes, columns } = grouped([part('A/1', 'A', { status: 'odd' }), part('B/1', 'B')])
    const names = columns.map(({ status }) => status)
    expect(names).toEqual([...CONFIG.states, 'odd'])
    for (const lane of lanes) expect(lane.columns.map(({ status }) => status)).toEqual(names)
    expect(columns.map(({ total }) => total)).toEqual([1, 0, 0, 0, 1])
  })

  it('have the columns of the list: their own tasks are counted there, too', () => {
    // biome-ignore format: several tasks a line.
    const tasks = [
      task('A', { status: 'odd' }), part('A/1', 'A', DONE), part('A/1/1', 'A/1'), task('C'),
      part('D', 'E'), part('E', 'D'), part('F', 'gone', { folder: 'drafts' }),
    ]
    const shown = ({ id }: Task) => id.startsWith('A')
    const onBoard = [...cardsOf(boardOf(tasks), new Map()).values()].filter(
      ({ task }) => task.folder === undefined,
    )
    expect(grouped(tasks, { shown }).columns).toEqual(
      columnsOf(onBoard, CONFIG, ({ task }) => shown(task)),
    )
  })

  it('count all their tasks, those that the filters hide, too', () => {
    const { lanes } = grouped([part('A/1', 'A', DONE), part('A/2', 'A'), part('B/1', 'B')], {
      shown: ({ id }) => id === 'A/2',
    })
    expect(lanes.map(({ isShown }) => isShown)).toEqual([true, false])
    expect(lanes.map(progressOf)[0]).toEqual(['A', 1, 2])
    expect(lanes.map(idsOf)).toEqual([['A/2'], []])
  })

  it('are shown when their own task passes the filters, without what does not', () => {
    const { lanes } = grouped([task('A'), part('A/1', 'A')], { shown: ({ id }) => id === 'A' })
    expect(lanes.map((lane) => [lane.isShown, idsOf(lane)])).toEqual([[true, []]])
  })

  it('count what the tool has moved to another folder when it was done, but no drafts', () => {
    const { lanes } = grouped([
      part('A/1', 'A', { ...DONE, folder: 'completed' }),
      part('A/2', 'A', { folder: 'drafts' }),
      part('A/3', 'A'),
      part('B/1', 'B', { ...DONE, folder: 'completed' }),
      task('C', { ...DONE, folder: 'completed' }),
      task('D'),
    ])
    expect(lanes.map(progressOf)).toEqual([
      ['A', 1, 2],
      ['', 0, 1],
    ])
  })

  it('lose no task in a circle, and have a head without a task where it does not exist', () => {
    const { lanes } = grouped([part('A', 'B'), part('B', 'A'), part('C', 'gone')])
    expect(lanes.map((lane) => [lane.id, lane.head?.task.id, idsOf(lane)])).toEqual([
      ['B', 'B', ['A']],
      ['gone', undefined, ['C']],
    ])
  })

  it.each([
    ['a row of 10,000 parents', (n: number) => (n === 0 ? undefined : String(n - 1))],
    ['the same row, from its end', (n: number) => (n === 9_999 ? undefined : String(n + 1))],
    ['a circle of 10,000', (n: number) => String((n + 1) % 10_000)],
  ])('take no time for %s', async (_, parentOf) => {
    const ids = Array.from({ length: 10_000 }, (_, n) => n)
    const tasks = ids.map((n) => {
      const parent = parentOf(n)
      return parent === undefined ? task(String(n)) : part(String(n), parent)
    })
    const grouping = () => expect(grouped(tasks).lanes.map(({ total }) => total)).toEqual([9_999])
    expect(await cpuMs(grouping)).toBeLessThan(2_000)
  })

  it('are finished when all is closed, their own task, too', () => {
    // biome-ignore format: several tasks a line.
    const { lanes } = grouped([
      task('A', DONE), part('A/1', 'A', DONE), task('B'), part('B/1', 'B', DONE), task('C', DONE),
      part('C/1', 'C'), part('D/1', 'D', DONE),
    ])
    expect(lanes.filter(({ isFinished }) => isFinished).map(({ id }) => id)).toEqual(['A', 'D'])
  })

  it('are in the order of their tasks', () => {
    const tasks = [part('x', 'epic-10'), part('y', 'epic-9'), part('z', 'gone'), part('v', 'last')]
    const heads = [task('epic-10'), task('epic-9'), task('last', { rank: 1 })]
    expect(grouped([...tasks, ...heads]).lanes.map(({ id }) => id)).toEqual([
      'last',
      'epic-9',
      'epic-10',
      'gone',
    ])
  })
})

it('the address says only what is not so by default', () => {
  expect(isGrouped({}, 'openspec')).toBe(true)
  expect(isGrouped({}, 'cairn')).toBe(false)
  expect(isGrouped({}, undefined)).toBe(false)
  for (const layout of ['bmad', 'task-master'] as const) {
    for (const now of [true, false]) {
      const groups = turnedGroups(now, layout)
      expect(isGrouped(groups === '' ? {} : { groups }, layout)).toBe(!now)
    }
  }
  expect(turnedGroups(true, 'task-master')).toBe('')
})
