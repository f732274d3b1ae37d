import { describe, expect, test } from 'vitest'
import type { Entry } from '../../../sidecar/layouts/layout.ts'
import {
  config,
  FakeBoard,
  fresh,
  live,
  session,
  sorted,
  started,
  task,
  taskOf,
} from '../fake-board.ts'

describe('ready', () => {
  const board = () =>
    started(
      ['/s/tasks/A', task('A')],
      ['/s/tasks/B', task('B', { deps: ['a'] })],
      ['/s/tasks/C', task('C', { deps: ['B'] })],
    )

  test('depends on direct dependencies, in any case of letters', async () => {
    const fake = board()
    expect((await taskOf(fake, 'task:B')).ready).toBe(false)
    fake.put('/s/tasks/A', task('A', { status: 'done' }))
    expect(sorted(fake.board.takeChanged(0))).toEqual(['task:A', 'task:B'])
    expect((await taskOf(fake, 'task:B')).ready).toBe(true)
    expect((await taskOf(fake, 'task:A')).ready).toBe(false)
  })

  test('is unchanged when a dependency changes and stays open', () => {
    const fake = board()
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  })

  test('is false while a dependency does not exist', async () => {
    const fake = board()
    fake.put('/s/tasks/A', task('A', { status: 'done' }))
    fake.remove('/s/tasks/A')
    fake.board.takeChanged(0)
    expect((await taskOf(fake, 'task:B')).ready).toBe(false)
  })

  test('is false for a task whose file is invalid, and for one whose id is taken', async () => {
    const fake = board()
    fake.put('/s/tasks/A', task('A', { invalid: 'half' }))
    fake.put('/s/tasks/B', task('B', { invalid: 'half' }))
    fake.put('/s/tasks/D', task('C'))
    fake.board.takeChanged(0)
    for (const key of ['task:A', 'task:B', 'task:C~2'] as const) {
      const { invalid, ready } = await taskOf(fake, key)
      expect({ key, isInvalid: invalid !== undefined, ready }).toEqual({
        key,
        isInvalid: true,
        ready: false,
      })
    }
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.takeChanged(0)).toContain('task:A')
    expect((await taskOf(fake, 'task:A')).ready).toBe(true)
  })

  test('is computed again when the configuration closes another status', () => {
    const fake = board()
    fake.put('/s/tasks/B', task('B', { status: 'wip', deps: ['A'] }))
    fake.board.takeChanged(0)
    fake.put('/s/config', config(['done', 'todo']))
    expect(sorted(fake.board.takeChanged(0))).toEqual(['board:board', 'task:A', 'task:B'])
  })

  test('uses the last valid configuration while the file is invalid, and reports that', async () => {
    const fake = started(['/s/tasks/A', task('A', { status: 'done' })])
    fake.put('/s/config', config([], { invalid: 'broken' }))
    expect(fake.board.takeChanged(0)).toEqual(['board:board'])
    expect((await taskOf(fake, 'task:A')).ready).toBe(false)
    expect(await fake.board.read('board:board')).toMatchObject({ board: { invalid: 'broken' } })
  })

  test('is never ready while the configuration is invalid, nor before it was read', async () => {
    const fake = new FakeBoard()
    fake.put('/s/tasks/A', task('A'))
    fake.put('/s/tasks/B', task('B', { status: 'done' }))
    const ready = async () => {
      fake.board.takeChanged(0)
      const rows = [await taskOf(fake, 'task:A'), await taskOf(fake, 'task:B')]
      expect(fake.board.summary().counts.ready).toBe(rows.filter((row) => row.ready).length)
      return rows.flatMap((row) => (row.ready ? [row.id] : []))
    }
    expect(await ready()).toEqual([])
    fake.put('/s/config', config([], { invalid: 'broken' }))
    expect(await ready()).toEqual([])
    fake.put('/s/config', config(['done']))
    expect(await ready()).toEqual(['A'])
    fake.put('/s/config', config([], { invalid: 'broken' }))
    expect(await ready()).toEqual([])
    fake.put('/s/config', config(['done']))
    expect(await ready()).toEqual(['A'])
  })
})

describe('sessions', () => {
  const board = () =>
    started(
      ['/s/tasks/A', task('A', { activeAttempt: 'a1' })],
      ['/s/sessions/1', session('1', 'A', 'active', 100)],
    )

  test('become stalled after a while without a change, with their task, and active again when the clock is set back', async () => {
    const fake = board()
    expect((await taskOf(fake, 'task:A')).executionState).toBe('active')
    expect(fake.board.nextStaleAt()).toBe(1_101)
    expect(fake.board.takeChanged(1_100)).toEqual([])
    expect(sorted(fake.board.takeChanged(1_101))).toEqual(['session:1', 'task:A'])
    expect((await taskOf(fake, 'task:A')).executionState).toBe('stalled')
    expect(fake.board.nextStaleAt()).toBeUndefined()
    expect(sorted(fake.board.takeChanged(200))).toEqual(['session:1', 'task:A'])
  })

  test('stay active with a heartbeat, which does not change the task', async () => {
    const fake = board()
    fake.put('/s/live/1', live('1', 900))
    expect(fake.board.takeChanged(1_500)).toEqual(['session:1'])
    expect(fake.board.nextStaleAt()).toBe(1_901)
    expect(await fake.board.read('session:1')).toMatchObject({
      session: { health: 'active', live: { progress: 'half' } },
    })
  })

  test('ignore a heartbeat without a time', async () => {
    const fake = board()
    fake.put('/s/live/1', { kind: 'live', id: '1', live: { heartbeatAt: 'soon' } })
    expect(fake.board.takeChanged(200)).toEqual([])
  })

  test('change their task when they end', async () => {
    const fake = board()
    fake.put('/s/sessions/1', session('1', 'A', 'finished', 100))
    expect(sorted(fake.board.takeChanged(200))).toEqual(['session:1', 'task:A'])
    expect(await taskOf(fake, 'task:A')).toMatchObject({
      executionState: 'awaiting_review',
      sessionId: '1',
    })
  })
})

describe('two files with one id', () => {
  test('are both listed, and of new ones the first by path has the id', async () => {
    const fake = started()
    fake.put('/s/tasks/2', task('A', { title: 'two' }))
    fake.put('/s/tasks/1', task('a', { title: 'one' }))
    expect(sorted(fake.board.takeChanged(0))).toEqual(['task:A~2', 'task:a'])
    expect((await taskOf(fake, 'task:a')).title).toBe('one')
    expect(await taskOf(fake, 'task:A~2')).toMatchObject({
      id: 'A~2',
      title: 'two',
      invalid: 'another file has the id a: 1',
    })
    expect(await fake.board.read('task:A')).toBeNull()
  })

  test('are valid again when the first is removed', async () => {
    const fake = started(['/s/tasks/1', task('A')], ['/s/tasks/2', task('A')])
    fake.remove('/s/tasks/1')
    expect(fake.board.takeChanged(0)).toContain('task:A~2')
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
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
    expect(fake.board.root()).toBe(fresh(fake).root())
  })

  const titled = (title: string): Entry => task('A', { title })
  const titles = async (fake: FakeBoard) => [
    (await taskOf(fake, 'task:A')).title,
    (await taskOf(fake, 'task:A~2')).title,
  ]
  /** Its file has a name that the tool would not give, unlike its copy's. */
  const held = { ...titled('held'), isMisnamed: true } as Entry
  const COPY = '/s/tasks/1 copy'
  const HELD = '/s/tasks/2 held'

  test.each<[string, (fake: FakeBoard) => void]>([
    ['appears', (fake) => fake.put(COPY, titled('copy'))],
    [
      'appears as its original is edited',
      (fake) => {
        fake.put(COPY, titled('copy'))
        fake.put(HELD, { ...held, standing: 'held' } as Entry)
      },
    ],
    [
      'appears while its original is away for a moment',
      (fake) => {
        fake.remove(HELD)
        fake.put(COPY, titled('copy'))
        fake.put(HELD, { ...held, standing: 'held' } as Entry)
      },
    ],
    [
      'appears while nothing runs',
      (fake) => {
        fake.restart()
        fake.put(COPY, titled('copy'))
      },
    ],
    [
      'is there at a restart',
      (fake) => {
        fake.put(COPY, titled('copy'))
        fake.board.takeChanged(0)
        fake.restart()
      },
    ],
  ])('do not change places where an earlier copy %s', async (_name, change) => {
    const fake = started([HELD, held])
    change(fake)
    fake.board.takeChanged(0)
    expect(await titles(fake)).toEqual(['held', 'copy'])
  })

  test.each(['old first', 'new first'])(
    'keep their ids when the holder is renamed beside an earlier copy (%s)',
    async (order) => {
      const fake = started([HELD, held])
      fake.put(COPY, titled('copy'))
      fake.board.takeChanged(0)
      const steps = [
        () => fake.remove(HELD),
        () => fake.put('/s/tasks/3 renamed', titled('renamed')),
      ]
      for (const step of order === 'old first' ? steps : steps.toReversed()) step()
      expect(fake.board.takeChanged(0)).toContain('task:A')
      expect(await titles(fake)).toEqual(['renamed', 'copy'])
    },
  )

  test('are told apart by their bytes when the holder is moved as another copy appears', async () => {
    const fake = started([HELD, held])
    fake.remove(HELD)
    fake.put(COPY, titled('copy'))
    fake.put('/s/done/A', held)
    fake.board.takeChanged(0)
    expect(await titles(fake)).toEqual(['held', 'copy'])
  })

  test('change places when the holder leaves the board, by the order of new ones', async () => {
    const fake = started([HELD, held])
    fake.put(COPY, titled('copy'))
    fake.board.takeChanged(0)
    fake.put(HELD, { ...held, standing: 'outside' } as Entry)
    fake.board.takeChanged(0)
    expect(await titles(fake)).toEqual(['copy', 'held'])
  })

  test('never get an id of another file', async () => {
    const fake = started(
      ['/s/tasks/1', task('A')],
      ['/s/tasks/2', task('A', { title: 'second' })],
      ['/s/tasks/3', task('A~2', { title: 'real' })],
    )
    expect((await taskOf(fake, 'task:A~2')).title).toBe('real')
    expect((await taskOf(fake, 'task:A~3')).title).toBe('second')
    fake.remove('/s/tasks/3')
    expect(sorted(fake.board.takeChanged(0))).toEqual(['task:A~2', 'task:A~3'])
  })

  test('keep it within one file, where a twin is written above the first', async () => {
    const fake = started()
    const entry = (title: string) => ({ ...titled(title), source: title }) as Entry
    fake.put('/s/many/all', entry('held'))
    fake.board.takeChanged(0)
    fake.put('/s/many/all', entry('twin'), entry('held'))
    fake.board.takeChanged(0)
    fake.restart()
    fake.put('/s/many/all', entry('twin'), entry('edited'))
    fake.board.takeChanged(0)
    expect(await titles(fake)).toEqual(['edited', 'twin'])
  })

  test('are counted in their order within one file', async () => {
    const fake = started()
    const entry = (id: string, title: string) => ({ ...task(id, { title }), source: id + title })
    fake.put('/s/many/all', ...([entry('A', '1'), entry('A', '2'), entry('A', '3')] as Entry[]))
    fake.board.takeChanged(0)
    expect((await taskOf(fake, 'task:A')).title).toBe('1')
    expect(await taskOf(fake, 'task:A~3')).toMatchObject({
      title: '3',
      invalid: 'another entry of this file has the id A',
    })
  })
})

test('a milestone has its title, of the archive only where the board has none', async () => {
  const named = (id: string, value: string): Entry => ({ kind: 'setting', id, value })
  const fake = started(
    ['/s/tasks/A', task('A', { milestone: 'M-1' })],
    ['/s/tasks/B', task('B', { milestone: 'm-2' })],
    ['/s/milestones/1', named('archived-milestone:m-1', 'Winter')],
    ['/s/milestones/2', named('milestone:m-1', 'Spring'), named('archived-milestone:m-2', 'Fall')],
  )
  expect((await taskOf(fake, 'task:A')).milestone).toBe('Spring')
  expect((await taskOf(fake, 'task:B')).milestone).toBe('Fall')
})
