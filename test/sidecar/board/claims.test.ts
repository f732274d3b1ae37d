import { expect, test } from 'vitest'
import { config, FakeBoard, task } from '../fake-board.ts'

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
