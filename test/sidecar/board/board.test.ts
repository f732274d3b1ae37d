import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../sidecar/layouts/layout.ts'
import type { Key } from '../../../worker/board/wire.ts'
import { config, FakeBoard, live, parsedOf, session, task } from '../fake-board.ts'

const sorted = (keys: Key[]): Key[] => keys.toSorted((a, b) => (a < b ? -1 : 1))

async function taskOf(fake: FakeBoard, key: Key) {
  const record = await fake.board.read(key)
  if (record?.kind !== 'task') throw new Error(`${key} is no task`)
  return record.task
}

function started(...files: [string, ...Entry[]][]): FakeBoard {
  const fake = new FakeBoard()
  fake.put('/s/config', config(['done']))
  for (const [path, ...entries] of files) fake.put(path, ...entries)
  fake.board.settle(0)
  return fake
}

describe('what changed', () => {
  test('is the key of a new, an edited and a removed task, once each', () => {
    const fake = started()
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.settle(0)).toEqual(['task:A'])
    expect(fake.board.settle(0)).toEqual([])
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    expect(fake.board.settle(0)).toEqual(['task:A'])
    fake.remove('/s/tasks/A')
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('is nothing when a file is written with the same bytes', () => {
    const fake = started(['/s/tasks/A', task('A')])
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.settle(0)).toEqual([])
  })

  test('is nothing when a file came and went, or changed and changed back, within one window', () => {
    const fake = started(['/s/tasks/A', task('A')])
    fake.put('/s/tasks/B', task('B'))
    fake.remove('/s/tasks/B')
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.settle(0)).toEqual([])
  })

  test('is a run that appears', () => {
    const fake = started(['/s/tasks/A', task('A')])
    const run = { file: 'A-1.log', exit: 0, timedout: false }
    fake.put('/s/runs/A-1.log', { kind: 'run', id: 'A-1.log', task: 'A', run })
    expect(fake.board.settle(0)).toEqual(['run:A-1.log'])
  })

  test('is a task that moves to another folder with the same bytes', () => {
    const fake = started(['/s/tasks/A', task('A')])
    fake.remove('/s/tasks/A')
    fake.put('/s/done/A', { ...task('A'), closed: true } as Entry)
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('is only the tasks that differ in a file that holds many', () => {
    const entry = (id: string, title: string) => ({ ...task(id, { title }), source: id + title })
    const fake = started([
      '/s/many/all',
      entry('A', 'a'),
      entry('B', 'b'),
      entry('C', 'c'),
    ] as never)
    fake.put('/s/many/all', ...([entry('A', 'a'), entry('B', 'x')] as Entry[]))
    expect(sorted(fake.board.settle(0))).toEqual(['task:B', 'task:C'])
  })
})

describe('the hash of its own file', () => {
  const hashesOf = async (fake: FakeBoard, key: Key) => {
    const record = await fake.board.read(key)
    if (record?.kind !== 'task') throw new Error(`${key} is no task`)
    return { hash: record.hash, file: record.file }
  }
  const DONE = { status: 'done' }
  const waiting = () =>
    started(
      ['/s/tasks/A', task('A')],
      ['/s/tasks/B', task('B', { deps: ['A'], activeAttempt: 'a1' })],
    )

  test.each<[string, string, (fake: FakeBoard) => void, Key?]>([
    ['a dep that is done', 'todo', (fake) => fake.put('/s/tasks/A', task('A', DONE))],
    ['a dep that is gone', 'done', (fake) => fake.remove('/s/tasks/A')],
    ['other rules', 'review', (fake) => fake.put('/s/config', config(['review']))],
    ['a session of it', 'todo', (fake) => fake.put('/s/sessions/s1', session('s1', 'B'))],
    ['an earlier file of its id', 'todo', (fake) => fake.put('/s/tasks/A2', task('B')), 'task:B~2'],
  ])('stays what it was after %s, while the record is another', async (_, status, change, key) => {
    const fake = waiting()
    fake.put('/s/tasks/A', task('A', { status }))
    fake.board.settle(0)
    const before = await hashesOf(fake, 'task:B')
    change(fake)
    fake.board.settle(0)
    const after = await hashesOf(fake, key ?? 'task:B')
    expect(after.file).toBe(before.file)
    expect(after.hash).not.toBe(before.hash)
  })

  test('is another when its bytes are, or when it moves to another folder', async () => {
    const fake = waiting()
    const seen = new Set([(await hashesOf(fake, 'task:A')).file])
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    seen.add((await hashesOf(fake, 'task:A')).file)
    fake.remove('/s/tasks/A')
    fake.put('/s/done/A', task('A', { title: 'Other' }))
    seen.add((await hashesOf(fake, 'task:A')).file)
    expect(seen.size).toBe(3)
  })

  test('is that of its entry where one file holds many, whatever its deps mean there', async () => {
    const fake = started()
    const entry = (id: string, source: string, deps: string[] = []) =>
      ({ ...task(id, { deps }), source }) as Entry
    fake.put('/s/many/all', entry('A', 'a'), entry('B', 'b', ['1']))
    const [a, b] = [await hashesOf(fake, 'task:A'), await hashesOf(fake, 'task:B')]
    fake.put('/s/many/all', entry('A', 'other'), entry('B', 'b', ['A']))
    expect(sorted(fake.board.settle(0))).toEqual(['task:A', 'task:B'])
    expect((await hashesOf(fake, 'task:A')).file).not.toBe(a.file)
    const after = await hashesOf(fake, 'task:B')
    expect(after.file).toBe(b.file)
    expect(after.hash).not.toBe(b.hash)
  })
})

describe('what follows from a read', () => {
  test('is nothing while the file is as it was known', async () => {
    const fake = started(['/s/tasks/A', task('A')], ['/s/tasks/B', task('B', { deps: ['A'] })])
    for (let n = 0; n < 2; n++) await fake.board.read('task:A')
    expect(fake.board.follow()).toEqual([])
  })

  test.each<[string, (fake: FakeBoard) => unknown]>([
    ['changed', (fake) => fake.files.set('/s/tasks/A', [task('A', { status: 'todo' })])],
    ['gone', (fake) => fake.files.delete('/s/tasks/A')],
  ])('is every record that changes with a file that is found %s', async (_name, change) => {
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

describe('ready', () => {
  const board = () =>
    started(
      ['/s/tasks/A', task('A')],
      ['/s/tasks/B', task('B', { deps: ['a'] })],
      ['/s/tasks/C', task('C', { deps: ['B'] })],
    )

  test('follows the deps, whatever their case, and not their deps', async () => {
    const fake = board()
    expect((await taskOf(fake, 'task:B')).ready).toBe(false)
    fake.put('/s/tasks/A', task('A', { status: 'done' }))
    expect(sorted(fake.board.settle(0))).toEqual(['task:A', 'task:B'])
    expect((await taskOf(fake, 'task:B')).ready).toBe(true)
    expect((await taskOf(fake, 'task:A')).ready).toBe(false)
  })

  test('does not turn when a dep changes and stays open', () => {
    const fake = board()
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('is false while a dep does not exist', async () => {
    const fake = board()
    fake.put('/s/tasks/A', task('A', { status: 'done' }))
    fake.remove('/s/tasks/A')
    fake.board.settle(0)
    expect((await taskOf(fake, 'task:B')).ready).toBe(false)
  })

  test('is false for a task whose file is broken, and for one that lost its id', async () => {
    const fake = board()
    fake.put('/s/tasks/A', task('A', { invalid: 'half' }))
    fake.put('/s/tasks/B', task('B', { invalid: 'half' }))
    fake.put('/s/tasks/D', task('C'))
    fake.board.settle(0)
    for (const key of ['task:A', 'task:B', 'task:C~2'] as const) {
      const { invalid, ready } = await taskOf(fake, key)
      expect({ key, isInvalid: invalid !== undefined, ready }).toEqual({
        key,
        isInvalid: true,
        ready: false,
      })
    }
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.settle(0)).toContain('task:A')
    expect((await taskOf(fake, 'task:A')).ready).toBe(true)
  })

  test('is derived anew for all when the configuration closes another status', () => {
    const fake = board()
    fake.put('/s/tasks/B', task('B', { status: 'wip', deps: ['A'] }))
    fake.board.settle(0)
    fake.put('/s/config', config(['done', 'todo']))
    expect(sorted(fake.board.settle(0))).toEqual(['board:board', 'task:A', 'task:B'])
  })

  test('keeps the last good configuration while it is broken, and says that it is', async () => {
    const fake = started(['/s/tasks/A', task('A', { status: 'done' })])
    fake.put('/s/config', config([], { invalid: 'broken' }))
    expect(fake.board.settle(0)).toEqual(['board:board'])
    expect((await taskOf(fake, 'task:A')).ready).toBe(false)
    expect(await fake.board.read('board:board')).toMatchObject({ board: { invalid: 'broken' } })
  })
})

describe('sessions', () => {
  const board = () =>
    started(
      ['/s/tasks/A', task('A', { activeAttempt: 'a1' })],
      ['/s/sessions/1', session('1', 'A', 'active', 100)],
    )

  test('turn stalled when their time comes, without a file changing, and their task with them', async () => {
    const fake = board()
    expect((await taskOf(fake, 'task:A')).executionState).toBe('active')
    expect(fake.board.nextStaleAt()).toBe(1_101)
    expect(fake.board.settle(1_100)).toEqual([])
    expect(sorted(fake.board.settle(1_101))).toEqual(['session:1', 'task:A'])
    expect((await taskOf(fake, 'task:A')).executionState).toBe('stalled')
    expect(fake.board.nextStaleAt()).toBeUndefined()
  })

  test('live on with a heartbeat, which changes the session and not the task', async () => {
    const fake = board()
    fake.put('/s/live/1', live('1', 900))
    expect(fake.board.settle(1_500)).toEqual(['session:1'])
    expect(fake.board.nextStaleAt()).toBe(1_901)
    expect(await fake.board.read('session:1')).toMatchObject({
      session: { health: 'active', live: { progress: 'half' } },
    })
  })

  test('take a heartbeat without a time for none', async () => {
    const fake = board()
    fake.put('/s/live/1', { kind: 'live', id: '1', live: { heartbeatAt: 'soon' } })
    expect(fake.board.settle(200)).toEqual([])
  })

  test('change their task when they end', async () => {
    const fake = board()
    fake.put('/s/sessions/1', session('1', 'A', 'finished', 100))
    expect(sorted(fake.board.settle(200))).toEqual(['session:1', 'task:A'])
    expect(await taskOf(fake, 'task:A')).toMatchObject({
      executionState: 'awaiting_review',
      sessionId: '1',
    })
  })

  test('are told again when the clock is set back', () => {
    const fake = board()
    fake.board.settle(5_000)
    expect(sorted(fake.board.settle(200))).toEqual(['session:1', 'task:A'])
  })
})

describe('two files with one id', () => {
  test('are both listed; the first by path keeps the id, in whatever order they came', async () => {
    const fake = started(['/s/tasks/2', task('A', { title: 'two' })])
    fake.put('/s/tasks/1', task('a', { title: 'one' }))
    expect(sorted(fake.board.settle(0))).toEqual(['task:A', 'task:A~2', 'task:a'])
    expect((await taskOf(fake, 'task:a')).title).toBe('one')
    expect(await taskOf(fake, 'task:A~2')).toMatchObject({
      id: 'A~2',
      title: 'two',
      invalid: 'another file has the id a: 1',
    })
    expect(await fake.board.read('task:A')).toBeNull()
  })

  test('heal when the first goes', async () => {
    const fake = started(['/s/tasks/1', task('A')], ['/s/tasks/2', task('A')])
    fake.remove('/s/tasks/1')
    expect(fake.board.settle(0)).toContain('task:A~2')
    expect(await fake.board.read('task:A~2')).toBeNull()
    expect(await taskOf(fake, 'task:A')).not.toHaveProperty('invalid')
  })

  test.each(['old first', 'new first'])('are one changed task after a rename (%s)', (order) => {
    const fake = started(['/s/tasks/A - old', task('A')], ['/s/tasks/B', task('B')])
    const steps = [
      () => fake.remove('/s/tasks/A - old'),
      () => fake.put('/s/tasks/A - new', task('A', { title: 'new' })),
    ]
    for (const step of order === 'old first' ? steps : steps.toReversed()) step()
    expect(fake.board.settle(0)).toEqual(['task:A'])
    expect(fake.board.root()).toBe(fresh(fake).root())
  })

  test('never take an id that another file really has', async () => {
    const fake = started(
      ['/s/tasks/1', task('A')],
      ['/s/tasks/2', task('A', { title: 'second' })],
      ['/s/tasks/3', task('A~2', { title: 'real' })],
    )
    expect((await taskOf(fake, 'task:A~2')).title).toBe('real')
    expect((await taskOf(fake, 'task:A~3')).title).toBe('second')
    fake.remove('/s/tasks/3')
    expect(sorted(fake.board.settle(0))).toEqual(['task:A~2', 'task:A~3'])
  })

  test('keep their order within one file', async () => {
    const fake = started()
    const entry = (id: string, title: string) => ({ ...task(id, { title }), source: id + title })
    fake.put('/s/many/all', ...([entry('A', '1'), entry('A', '2'), entry('A', '3')] as Entry[]))
    fake.board.settle(0)
    expect((await taskOf(fake, 'task:A')).title).toBe('1')
    expect(await taskOf(fake, 'task:A~3')).toMatchObject({
      title: '3',
      invalid: 'an earlier entry of this file has the id A',
    })
  })
})

describe('reading a record', () => {
  test('has the hash that the sums are made of', async () => {
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

  test('notices a change before its hint, and marks it like any other', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.files.set('/s/tasks/A', [task('A', { title: 'Newer' })])
    expect((await taskOf(fake, 'task:A')).title).toBe('Newer')
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('is null when the file is gone or was never there', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.files.delete('/s/tasks/A')
    expect(await fake.board.read('task:A')).toBeNull()
    expect(await fake.board.read('task:Z')).toBeNull()
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('is refused, not answered with null, while the store is missing', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.looks.set('/s/tasks/A', { state: 'later', why: 'the store is missing' })
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    expect(fake.board.settle(0)).toEqual([])
  })

  test('that was refused is told again once its file could be read, changed or not', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    const broken = parsedOf([task('A', { invalid: 'half' })])
    fake.looks.set('/s/tasks/A', { state: 'parsed', file: broken, unsure: true })
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.settle(0)).toEqual(['task:A'])
  })

  test('of a task whose file of many is broken is refused, and the task stays', async () => {
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

test('any sequence of changes leads to the sums of a fresh board with the same files', () => {
  const id = fc.constantFrom('A', 'a', 'B', 'C', 'A~2', 'B~2')
  const entry = fc.record({
    id,
    deps: fc.array(id, { maxLength: 2 }),
    status: fc.constantFrom('todo', 'done'),
    activeAttempt: fc.constantFrom('a1', 'a2'),
  })
  const name = fc.constantFrom('1', '2', '3')
  const step = fc.oneof(
    fc.record({ path: name.map((n) => `/s/tasks/${n}`), tasks: fc.array(entry, { maxLength: 2 }) }),
    fc.record({ path: name.map((n) => `/s/many/${n}`), tasks: fc.array(entry, { maxLength: 4 }) }),
    fc.record({ path: name.map((n) => `/s/sessions/${n}`), session: id, at: fc.nat(3000) }),
    fc.record({ path: name.map((n) => `/s/live/${n}`), beat: name, at: fc.nat(3000) }),
    fc.record({ path: fc.constant('/s/config'), closed: fc.subarray(['done', 'todo']) }),
    fc.record({ gone: fc.constantFrom('tasks', 'many', 'sessions', 'live'), name }),
    fc.record({ settle: fc.nat(5000) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const fake = started()
      for (const each of steps) {
        if ('settle' in each) fake.board.settle(each.settle)
        else if ('gone' in each) fake.remove(`/s/${each.gone}/${each.name}`)
        else if ('closed' in each) fake.put(each.path, config(each.closed))
        else if ('session' in each) {
          fake.put(each.path, session(each.path.slice(-1), each.session, 'active', each.at))
        } else if ('beat' in each) fake.put(each.path, live(each.beat, each.at))
        else {
          const entries = each.tasks.map((more) => ({
            ...task(more.id, more),
            source: JSON.stringify(more),
          }))
          fake.put(each.path, ...(entries as Entry[]))
        }
      }
      fake.board.settle(4_000)
      const other = fresh(fake, 4_000)
      expect(fake.board.root()).toBe(other.root())
      expect(fake.board.buckets()).toEqual(other.buckets())
    }),
    { numRuns: 500 },
  )
})

function fresh(fake: FakeBoard, now = 0) {
  const other = new FakeBoard()
  for (const [path, entries] of [...fake.files].toReversed()) other.put(path, ...entries)
  other.board.settle(now)
  return other.board
}

const bucketOfA = (fake: FakeBoard): number =>
  Array.from({ length: 256 }, (_, n) => n).find((n) => 'task:A' in fake.board.bucket(n)) ?? -1

test('a field that nothing is derived from makes another record, even of the same bytes', () => {
  const bytes = { hash: '0123456789abcdef0123456789abcdef', chars: 1, state: 'ok' } as const
  const of = (entry: Entry) => {
    const fake = new FakeBoard()
    fake.board.ingest('/s/tasks/A', { ...bytes, entries: [entry] })
    fake.board.settle(0)
    return fake.board.root()
  }
  const before = of(task('A'))
  expect(of(task('A'))).toBe(before)
  expect(of(task('A', { extra: { estimate: 3 } }))).not.toBe(before)
})
