import { expect, it } from 'vitest'
import { WatchedList } from '../../../libraries/client/watched-list.ts'
import { taskRecord } from '../../support/edge.ts'

it('a row that did not change stays the same object when the list is read whole again', () => {
  const list = new WatchedList('tasks')
  const rowsOf = (title: string) => [
    taskRecord('A-1', { title: 'One' }).task,
    taskRecord('A-2', { title }).task,
  ]
  list.apply({ tasks: rowsOf('Two'), seq: 'e-1' }, undefined)
  const [one, two] = list.items
  expect(list.apply({ tasks: rowsOf('Zwei'), seq: 'e-9' }, undefined)).toMatchObject({
    isNew: true,
  })
  expect(list.items[0]).toBe(one)
  expect(list.items[1]).not.toBe(two)
  expect(list.items[1]).toMatchObject({ title: 'Zwei' })
})
