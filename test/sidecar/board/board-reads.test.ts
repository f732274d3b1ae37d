import { describe, expect, test } from 'vitest'
import { config, type FakeBoard, parsedOf, sorted, started, task, taskOf } from '../fake-board.ts'

const bucketOfA = (fake: FakeBoard): number =>
  Array.from({ length: 256 }, (_, n) => n).find((n) => 'task:A' in fake.board.bucket(n)) ?? -1

describe('changes that follow from a read', () => {
  test('are none while the file is unchanged', async () => {
    const fake = started(['/s/tasks/A', task('A')], ['/s/tasks/B', task('B', { deps: ['A'] })])
    for (let n = 0; n < 2; n++) await fake.board.read('task:A')
    expect(fake.board.follow()).toEqual([])
  })

  test.each<[string, (fake: FakeBoard) => unknown]>([
    ['changed', (fake) => fake.files.set('/s/tasks/A', [task('A', { status: 'todo' })])],
    ['removed', (fake) => fake.files.delete('/s/tasks/A')],
  ])('are all records that change with a file that is found %s', async (_name, change) => {
    const fake = started(
      ['/s/tasks/A', task('A', { status: 'done' })],
      ['/s/tasks/B', task('B', { deps: ['A'] })],
    )
    await fake.board.read('task:A')
    change(fake)
    await fake.board.read('task:A')
    expect(sorted(fake.board.follow())).toEqual(['task:A', 'task:B'])
    expect(fake.board.follow()).toEqual([])
    expect(fake.board.settle(0)).toEqual([])
  })
})

describe('reading a record', () => {
  test('returns the hash that is in the sums', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    const record = await fake.board.read('task:A')
    expect(record).not.toBeNull()
    expect(Object.values(fake.board.bucket(bucketOfA(fake)))).toContain(record?.hash)
  })

  test('does not read the file again right after it was parsed', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    expect(fake.reads).toBe(0)
    await fake.board.read('task:A')
    expect(fake.reads).toBe(1)
  })

  test('notices a change before its hint', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.files.set('/s/tasks/A', [task('A', { title: 'Newer' })])
    expect((await taskOf(fake, 'task:A')).title).toBe('Newer')
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('returns null if the file was removed or never existed', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.files.delete('/s/tasks/A')
    expect(await fake.board.read('task:A')).toBeNull()
    expect(await fake.board.read('task:Z')).toBeNull()
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('fails while the store is missing, instead of returning null', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.looks.set('/s/tasks/A', { state: 'later', why: 'the store is missing' })
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    expect(fake.board.settle(0)).toEqual([])
  })

  test('that failed is repeated when its file is readable, changed or not', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    const broken = parsedOf([task('A', { invalid: 'half' })])
    fake.looks.set('/s/tasks/A', { state: 'parsed', file: broken, unsure: true })
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('fails for a task in an invalid file with many, and the task stays', async () => {
    const fake = started(['/s/many/all', task('A'), task('B')])
    const root = fake.board.root()
    fake.put('/s/many/all', config([], { invalid: 'not JSON' }))
    expect(fake.board.settle(0)).toEqual([])
    expect(fake.board.root()).toBe(root)
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    fake.put('/s/many/all', task('A'), task('B'))
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })
})
