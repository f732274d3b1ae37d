// What a list of boards says of one: its counts are those of its records.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { config, started, task } from '../fake-board.ts'

const CLOSED = ['done']

test('a broken task and the second of one id are not ready', () => {
  const fake = started(
    ['/s/tasks/A', task('A')],
    ['/s/tasks/B', task('B', { invalid: 'The front matter is not valid YAML.' })],
    ['/s/tasks/a2', task('a')],
  )
  expect(fake.board.summary()).toEqual({ counts: { tasks: 3, closed: 0, ready: 1 } })
})

test('the counts follow each change, also of the configuration', () => {
  const fake = started(['/s/tasks/A', task('A')], ['/s/tasks/B', task('B', { deps: ['A'] })])
  const counts = () => Object.values(fake.board.summary().counts)
  expect(counts()).toEqual([2, 0, 1])
  fake.put('/s/tasks/A', task('A', { status: 'done' }))
  fake.board.takeChanged(1)
  expect(counts()).toEqual([2, 1, 1])
  fake.put('/s/config', config(['todo', 'done']))
  fake.board.takeChanged(2)
  expect(counts()).toEqual([2, 2, 0])
  fake.remove('/s/tasks/A')
  fake.board.takeChanged(3)
  expect(counts()).toEqual([1, 1, 0])
})

test('the last change is that of a task or a run, not of a session or the configuration', () => {
  const fake = started()
  const at = () => fake.board.summary().changedAt
  expect(at()).toBeUndefined()
  fake.put('/s/tasks/A', task('A'))
  fake.board.takeChanged(10)
  expect(at()).toBe(10)
  fake.put('/s/config', config(['todo']))
  fake.put('/s/sessions/s1')
  fake.board.takeChanged(20)
  expect(at()).toBe(10)
  fake.put('/s/tasks/A', task('A'))
  fake.board.takeChanged(30)
  expect(at()).toBe(10)
  fake.remove('/s/tasks/A')
  // A list that is asked for before the change is taken has the time before it.
  expect(at()).toBe(10)
  fake.board.takeChanged(40)
  expect(at()).toBe(40)
})

test('of any board the counts are those of its records', async () => {
  const entries = fc.record({
    id: fc.constantFrom('A', 'B', 'C', 'a', 'D'),
    status: fc.constantFrom('todo', 'done', 'odd'),
    deps: fc.subarray(['A', 'B', 'C', 'x']),
    isInvalid: fc.boolean(),
    path: fc.constantFrom('/s/tasks/1', '/s/tasks/2', '/s/tasks/3', '/s/tasks/4'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(entries, { maxLength: 12 }), async (all) => {
      const fake = started()
      for (const [at, { path, id, isInvalid, ...fields }] of all.entries()) {
        const invalid = isInvalid ? { invalid: 'It is broken.' } : {}
        fake.put(path, task(id, { ...fields, ...invalid }))
        if (at % 3 === 0) fake.board.takeChanged(at)
      }
      fake.board.takeChanged(99)
      const keys = Array.from({ length: 256 }, (_, n) => Object.keys(fake.board.bucket(n))).flat()
      const records = await Promise.all(keys.map((key) => fake.board.read(key as `task:${string}`)))
      const tasks = records.flatMap((record) => (record?.kind === 'task' ? [record.task] : []))
      expect(fake.board.summary().counts).toEqual({
        tasks: tasks.length,
        closed: tasks.filter(({ status }) => CLOSED.includes(status)).length,
        ready: tasks.filter(({ ready }) => ready).length,
      })
    }),
  )
})
