import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Board } from '../../../sidecar/board/board.ts'
import { type Fact, nameOf } from '../../../sidecar/files/facts.ts'
import type { Entry } from '../../../sidecar/layouts/layout.ts'
import type { Key } from '../../../worker/board/wire.ts'
import {
  config,
  FakeBoard,
  fakeStore,
  fresh,
  live,
  parsedOf,
  session,
  sorted,
  started,
  task,
  taskOf,
} from '../fake-board.ts'

describe('what changed', () => {
  test('is the key of a new, an edited and a removed task, once each', () => {
    const fake = started()
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
    expect(fake.board.takeChanged(0)).toEqual([])
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
    fake.remove('/s/tasks/A')
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  })

  test('is nothing when a file is written with the same bytes', () => {
    const fake = started(['/s/tasks/A', task('A')])
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.takeChanged(0)).toEqual([])
  })

  test('is nothing when a file is created and removed, or changed and changed back', () => {
    const fake = started(['/s/tasks/A', task('A')])
    fake.put('/s/tasks/B', task('B'))
    fake.remove('/s/tasks/B')
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.takeChanged(0)).toEqual([])
  })

  test('is a run that appears', () => {
    const fake = started(['/s/tasks/A', task('A')])
    const run = { file: 'A-1.log', exit: 0, timedout: false }
    fake.put('/s/runs/A-1.log', { kind: 'run', id: 'A-1.log', task: 'A', run })
    expect(fake.board.takeChanged(0)).toEqual(['run:A-1.log'])
  })

  test('is a task that moves to another folder with the same bytes', () => {
    const fake = started(['/s/tasks/A', task('A')])
    fake.remove('/s/tasks/A')
    fake.put('/s/done/A', { ...task('A'), standing: 'closed' } as Entry)
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  })

  test('is only the tasks that differ in a file with many', () => {
    const entry = (id: string, title: string) => ({ ...task(id, { title }), source: id + title })
    const fake = started([
      '/s/many/all',
      entry('A', 'a'),
      entry('B', 'b'),
      entry('C', 'c'),
    ] as never)
    fake.put('/s/many/all', ...([entry('A', 'a'), entry('B', 'x')] as Entry[]))
    expect(sorted(fake.board.takeChanged(0))).toEqual(['task:B', 'task:C'])
  })
})

describe('the hash of a task’s own file', () => {
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

  const takeOver = (fake: FakeBoard) => {
    const entries = fake.files.get('/s/tasks/B') ?? []
    fake.remove('/s/tasks/B')
    fake.put('/s/tasks/A2', task('B'))
    fake.board.takeChanged(0)
    fake.put('/s/tasks/B', ...entries)
  }

  test.each<[string, string, (fake: FakeBoard) => void, Key?]>([
    ['a dependency that is done', 'todo', (fake) => fake.put('/s/tasks/A', task('A', DONE))],
    ['a dependency that was removed', 'done', (fake) => fake.remove('/s/tasks/A')],
    ['other rules', 'review', (fake) => fake.put('/s/config', config(['review']))],
    ['a session of the task', 'todo', (fake) => fake.put('/s/sessions/s1', session('s1', 'B'))],
    ['another file that has its id now', 'todo', takeOver, 'task:B~2'],
  ])(
    'is unchanged after %s, while the hash of the record changes',
    async (_, status, change, key) => {
      const fake = waiting()
      fake.put('/s/tasks/A', task('A', { status }))
      fake.board.takeChanged(0)
      const before = await hashesOf(fake, 'task:B')
      change(fake)
      fake.board.takeChanged(0)
      const after = await hashesOf(fake, key ?? 'task:B')
      expect(after.file).toBe(before.file)
      expect(after.hash).not.toBe(before.hash)
    },
  )

  test('changes with its bytes, and when it moves to another folder', async () => {
    const fake = waiting()
    const seen = new Set([(await hashesOf(fake, 'task:A')).file])
    fake.put('/s/tasks/A', task('A', { title: 'Other' }))
    seen.add((await hashesOf(fake, 'task:A')).file)
    fake.remove('/s/tasks/A')
    fake.put('/s/done/A', task('A', { title: 'Other' }))
    seen.add((await hashesOf(fake, 'task:A')).file)
    expect(seen.size).toBe(3)
  })

  test('covers only its entry in a file with many, and not what its dependencies refer to', async () => {
    const fake = started()
    const entry = (id: string, source: string, deps: string[] = []) =>
      ({ ...task(id, { deps }), source }) as Entry
    fake.put('/s/many/all', entry('A', 'a'), entry('B', 'b', ['1']))
    const [a, b] = [await hashesOf(fake, 'task:A'), await hashesOf(fake, 'task:B')]
    fake.put('/s/many/all', entry('A', 'other'), entry('B', 'b', ['A']))
    expect(sorted(fake.board.takeChanged(0))).toEqual(['task:A', 'task:B'])
    expect((await hashesOf(fake, 'task:A')).file).not.toBe(a.file)
    const after = await hashesOf(fake, 'task:B')
    expect(after.file).toBe(b.file)
    expect(after.hash).not.toBe(b.hash)
  })
})

const signOf = ({ path, hash }: Fact): string => `${path}\n${hash}`

/** A model of who has which id: of the facts now, and of those that were published before. */
class Holders {
  /** By name, its holder first. */
  #claims = new Map<string, Fact[]>()

  settle(facts: Iterable<Fact>): void {
    const byPath = [...facts].toSorted((a, b) => (a.path < b.path ? -1 : Number(a.path > b.path)))
    const groups = Object.entries(
      Object.groupBy(byPath, ({ kind, id }) => nameOf(fakeStore, kind, id)),
    )
    const claims = groups.map(([name, group = []]) => {
      const holder = this.#pick(group, this.#claims.get(name) ?? [])
      const others = group.filter((fact) => fact !== holder)
      return [name, holder ? [holder, ...others] : []] as const
    })
    this.#claims = new Map(claims)
  }

  #pick(claims: Fact[], [held, ...others]: Fact[]): Fact | undefined {
    if (held === undefined) return claims[0]
    const isIn = (path: string) => (fact: Fact) => fact.path === path
    const same = claims.filter((fact) => signOf(fact) === signOf(held))
    const inItsFile = claims.filter(isIn(held.path))
    const edited = inItsFile.filter((fact) => !others.map(signOf).includes(signOf(fact)))
    const elsewhere = claims.filter((fact) => !isIn(held.path)(fact))
    const came = elsewhere.filter(({ path }) => !others.some(isIn(path)))
    const moved = came.filter(({ hash }) => hash === held.hash)
    return [...same, ...edited, ...moved, ...came, ...claims][0]
  }

  /** A board that starts with the same files, in another order, and with these holders. */
  restored(fake: FakeBoard, now: number): Board {
    const board = new Board(fakeStore, () => ({ state: 'gone' }))
    const held = new Set([...this.#claims.values()].flatMap(([holder]) => holder ?? []).map(signOf))
    for (const [path, file] of fresh(fake).files.entries()) {
      const firsts = new Map(file.facts.toReversed().map((fact) => [signOf(fact), fact]))
      const isHolder = (fact: Fact) => held.has(signOf(fact)) && firsts.get(signOf(fact)) === fact
      const besides = file.facts.filter((fact) => !isHolder(fact))
      board.restore(path, { ...file, besides: new Set(besides) })
    }
    board.takeChanged(now)
    return board
  }
}

test('any sequence of changes and restarts leads to the sums of a new board with the same files and holders', () => {
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
    fc.record({ settle: fc.nat(5000), isRestart: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const fake = started()
      const holders = new Holders()
      const settle = (now: number) => {
        fake.board.takeChanged(now)
        holders.settle(fake.board.files.facts())
      }
      for (const each of steps) {
        if ('settle' in each) {
          settle(each.settle)
          if (each.isRestart) fake.restart()
        } else if ('gone' in each) fake.remove(`/s/${each.gone}/${each.name}`)
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
      settle(4_000)
      const other = holders.restored(fake, 4_000)
      expect(fake.board.root()).toBe(other.root())
      expect(fake.board.buckets()).toEqual(other.buckets())
    }),
    { numRuns: 500 },
  )
})

test('another value of any field is another record, even with the same bytes', () => {
  const bytes = { hash: '0123456789abcdef0123456789abcdef', chars: 1, state: 'ok' } as const
  const of = (entry: Entry) => {
    const fake = new FakeBoard()
    fake.board.ingest('/s/tasks/A', { ...bytes, entries: [entry] })
    fake.board.takeChanged(0)
    return fake.board.root()
  }
  const before = of(task('A'))
  expect(of(task('A'))).toBe(before)
  expect(of(task('A', { extra: { estimate: 3 } }))).not.toBe(before)
})

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
    expect(fake.board.takeChanged(0)).toEqual([])
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

  /** More than a third, and less than half, of the text that may be kept. */
  const large = (id: string, title = 'x') => task(id, { body: title.repeat(1_500_000) })

  test('keeps some 4 MiB of parsed text: the oldest file is read again, the newer are not', async () => {
    const fake = started()
    for (const id of ['A', 'B', 'C']) fake.put(`/s/tasks/${id}`, large(id))
    fake.board.takeChanged(0)
    for (const id of ['C', 'B'] as const) await fake.board.read(`task:${id}`)
    expect(fake.reads).toBe(0)
    await fake.board.read('task:A')
    expect(fake.reads).toBe(1)
  })

  test('counts a file once, however often it is saved', async () => {
    const fake = started()
    for (const text of ['a', 'b', 'c', 'd']) fake.put('/s/tasks/A', large('A', text))
    fake.put('/s/tasks/B', task('B'))
    fake.board.takeChanged(0)
    await fake.board.read('task:A')
    expect(fake.reads).toBe(0)
  })

  test('keeps the newest file however large it is', async () => {
    const fake = started()
    fake.put('/s/tasks/A', task('A', { body: 'x'.repeat(5_000_000) }))
    fake.board.takeChanged(0)
    await fake.board.read('task:A')
    expect(fake.reads).toBe(0)
  })

  test('notices a change before its hint', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.files.set('/s/tasks/A', [task('A', { title: 'Newer' })])
    expect((await taskOf(fake, 'task:A')).title).toBe('Newer')
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  })

  test('returns null if the file was removed or never existed', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.files.delete('/s/tasks/A')
    expect(await fake.board.read('task:A')).toBeNull()
    expect(await fake.board.read('task:Z')).toBeNull()
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  })

  test('fails while the store is missing, instead of returning null', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    fake.looks.set('/s/tasks/A', { state: 'later', why: 'the store is missing' })
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    expect(fake.board.takeChanged(0)).toEqual([])
  })

  test('that failed is repeated when its file is readable, changed or not', async () => {
    const fake = started(['/s/tasks/A', task('A')])
    await fake.board.read('task:A')
    const broken = parsedOf([task('A', { invalid: 'half' })])
    fake.looks.set('/s/tasks/A', { state: 'parsed', file: broken, unsure: true })
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    fake.put('/s/tasks/A', task('A'))
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  })

  test('fails for a task in an invalid file with many, and the task stays', async () => {
    const fake = started(['/s/many/all', task('A'), task('B')])
    const root = fake.board.root()
    fake.put('/s/many/all', config([], { invalid: 'not JSON' }))
    expect(fake.board.takeChanged(0)).toEqual([])
    expect(fake.board.root()).toBe(root)
    await expect(fake.board.read('task:A')).rejects.toMatchObject({ code: 'record_unreadable' })
    fake.put('/s/many/all', task('A'), task('B'))
    expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  })
})
