import { describe, expect, it } from 'vitest'
import type { Task } from '../../../libraries/api/types.ts'
import { WatchedList } from '../../../libraries/client/watched-list.ts'

const task = (id: string, title: string): Task => ({ id, title, status: 'todo', ready: true })

const SHOWN = [task('A', 'one'), task('B', 'two')]

function listOf(tasks: Task[]): WatchedList {
  const list = new WatchedList('tasks')
  list.apply({ tasks }, '1')
  return list
}

describe('a list that is read again', () => {
  it.each([
    ['whole', undefined],
    ['in its changes', []],
  ])('keeps the objects that did not change, read %s', (_, gone) => {
    const list = listOf(SHOWN)
    const fresh = [task('A', 'one'), task('B', 'other')]
    const { isNew, ids } = list.apply({ tasks: fresh, ...(gone && { gone }) }, '9')
    expect(list.items[0]).toBe(SHOWN[0])
    expect(list.items[1]).toBe(fresh[1])
    expect(isNew).toBe(true)
    expect(ids).toContain('B')
  })

  it('is not new where every item is as it was', () => {
    const list = listOf(SHOWN)
    expect(list.apply({ tasks: SHOWN.map((it) => ({ ...it })) }, '9').isNew).toBe(false)
    expect(list.items.every((item, at) => item === SHOWN[at])).toBe(true)
  })

  it('takes the order of the whole list, and names what is new and what is gone', () => {
    const list = listOf(SHOWN)
    const { ids } = list.apply({ tasks: [task('C', 'three'), task('A', 'one')] }, '9')
    expect(list.items.map(({ id }) => id)).toEqual(['C', 'A'])
    expect(ids).toEqual(expect.arrayContaining(['C', 'B']))
  })
})
