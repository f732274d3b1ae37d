// A board whose repository has linked worktrees, and one whose configuration is in no file.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Board } from '../../../sidecar/board/board.ts'
import type { Entry, Store } from '../../../sidecar/layouts/layout.ts'
import type { Tree } from '../../../sidecar/trees/tree.ts'
import type { Key } from '../../../worker/board/wire.ts'
import {
  config,
  FakeBoard,
  fakeStore,
  parsedOf,
  session,
  sorted,
  started,
  task,
  taskOf,
} from '../fake-board.ts'

/** A tree in whose merge base no file was. */
const treeIn = (dir: string): Tree => {
  const classify = (path: string) =>
    path.startsWith(`${dir}/`) ? fakeStore.classify(path) : undefined
  const store = { ...fakeStore, root: dir, classify } as unknown as Store
  const base = { bases: [new Map<string, string>()], algorithm: 'sha1', isSparse: false } as const
  return { name: dir.slice(1), branch: `of${dir}`, dir, store, ...base }
}
const TREES = [treeIn('/t'), treeIn('/u')] as const
type Write = [path: string, ...entries: Entry[]]

/** A board with these files and trees. */
function withTrees(trees: readonly Tree[], ...files: Write[]): FakeBoard {
  const fake = started(...files.filter(([path]) => path.startsWith('/s/')))
  takeTrees(fake, trees)
  for (const [path, ...entries] of files) if (!path.startsWith('/s/')) fake.put(path, ...entries)
  fake.board.takeChanged(0)
  return fake
}
function takeTrees(fake: FakeBoard, trees: readonly Tree[]): void {
  fake.board.trees.take(trees)
  fake.board.trees.read(trees)
}
const hashesOf = ({ board }: FakeBoard): Record<Key, string> =>
  Object.assign({}, ...Array.from({ length: 256 }, (_, n) => board.bucket(n)))
const keysThatDiffer = (one: Record<Key, string>, other: Record<Key, string>): Key[] =>
  sorted((Object.keys({ ...one, ...other }) as Key[]).filter((key) => one[key] !== other[key]))

test('of any changes of files and trees, what changed is told, and the rest is that of a new board', async () => {
  const id = fc.constantFrom('A', 'B', 'C')
  const place = fc.constantFrom('/s', '/t', '/u')
  const step = fc.oneof(
    fc.record({
      place,
      id,
      title: fc.constantFrom('one', 'two'),
      status: fc.constantFrom('todo', 'done'),
      deps: fc.subarray(['A', 'C']),
    }),
    fc.record({ place, many: fc.subarray(['D', 'E']), title: fc.constantFrom('one', 'two') }),
    fc.record({ place, session: fc.constantFrom('1', '2'), of: id, at: fc.nat(3_000) }),
    fc.record({ place, run: fc.constantFrom('1', '2'), exit: fc.nat(1) }),
    fc.record({
      place,
      gone: fc.constantFrom('tasks/A', 'tasks/B', 'many/all', 'sessions/1', 'runs/1'),
    }),
    fc.record({ settle: fc.nat(3_000) }),
    fc.record({ trees: fc.subarray([...TREES]) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const fake = withTrees(TREES)
      let trees: readonly Tree[] = TREES
      let known = hashesOf(fake)
      /** What another tree's file is compared with has changed. */
      const readDue = () => {
        for (const path of [...fake.board.trees.due]) {
          fake.board.ingest(path, parsedOf(fake.files.get(path) ?? []))
        }
      }
      const settle = (now: number) => {
        readDue()
        const told = fake.board.takeChanged(now)
        const hashes = hashesOf(fake)
        expect(sorted(told)).toEqual(keysThatDiffer(known, hashes))
        known = hashes
      }
      for (const each of steps) {
        if ('settle' in each) settle(each.settle)
        else if ('trees' in each) {
          for (const path of [...fake.files.keys()]) {
            const isLeft = each.trees.some((tree) => path.startsWith(`${tree.dir}/`))
            if (!path.startsWith('/s/') && !isLeft) fake.unlink(path)
          }
          trees = each.trees
          takeTrees(fake, trees)
        } else if (!trees.some(({ dir }) => dir === each.place) && each.place !== '/s') continue
        else if ('gone' in each) fake.remove(`${each.place}/${each.gone}`)
        else if ('many' in each) {
          const entries = each.many.map((one) => ({
            ...task(one, { title: each.title }),
            source: one + each.title,
          }))
          fake.put(`${each.place}/many/all`, ...(entries as Entry[]))
        } else if ('session' in each) {
          const name = `${each.place}/sessions/${each.session}`
          fake.put(name, session(`${each.place}-${each.session}`, each.of, 'active', each.at))
        } else if ('run' in each) {
          const file = `${each.place}-${each.run}`
          const run = { file, timedout: false, exit: each.exit }
          fake.put(`${each.place}/runs/${each.run}`, { kind: 'run', id: file, task: 'A', run })
        } else {
          const { title, status, deps } = each
          fake.put(`${each.place}/tasks/${each.id}`, task(each.id, { title, status, deps }))
        }
        readDue()
      }
      settle(2_000)
      const other = withTrees(trees, ...[...fake.files].map(([path, of]): Write => [path, ...of]))
      other.board.takeChanged(2_000)
      expect(hashesOf(fake)).toEqual(hashesOf(other))
      expect(fake.board.buckets()).toHaveLength(256)
      for (const [key, hash] of Object.entries(known) as [Key, string][]) {
        expect(await fake.board.read(key)).toMatchObject({
          hash,
          id: key.slice(key.indexOf(':') + 1),
        })
      }
      const tasks = Object.keys(known).filter((key) => key.startsWith('task:'))
      const alone = tasks.filter((key) => fake.board.trees.of(key.toLowerCase())?.isAlone)
      expect(fake.board.countTasks()).toBe(tasks.length - alone.length)
    }),
    {
      numRuns: 150,
      // What only a tree has waits for a task that is done in the main tree.
      examples: [
        [
          [
            { place: '/t', id: 'C', title: 'one', status: 'todo', deps: ['A'] },
            { settle: 0 },
            { place: '/s', id: 'A', title: 'one', status: 'done', deps: [] },
          ],
        ],
      ],
    },
  )
})

test('a task that only a tree has is there with its mark, and its sessions with theirs', async () => {
  const fake = withTrees(TREES, ['/t/tasks/A', task('A')], ['/t/sessions/1', session('1', 'A')])
  const marks = [{ tree: 't', branch: 'of/t', dir: '/t', status: 'todo', title: 'Title of A' }]
  expect(await taskOf(fake, 'task:A')).toMatchObject({ trees: marks, inMain: false, ready: false })
  expect(await fake.board.read('session:1')).toMatchObject({ session: { tree: 't' } })
  fake.board.takeChanged(10)
  fake.put('/t/tasks/A', task('A', { title: 'Other' }))
  fake.board.takeChanged(20)
  expect(fake.board.summary().changedAt).toBe(20)
  fake.put('/t/sessions/1', session('1', 'A', 'finished'))
  fake.board.takeChanged(30)
  expect(fake.board.summary().changedAt).toBe(20)
  const run = { file: 'r', timedout: false }
  fake.put('/t/runs/r', { kind: 'run', id: 'r', task: 'A', run })
  fake.board.takeChanged(40)
  expect(fake.board.summary().changedAt).toBe(40)
  fake.remove('/t/tasks/A')
  expect(fake.board.takeChanged(50)).toContain('task:A')
  expect(await fake.board.read('task:A')).toBeNull()
})

test('of two files with one id, only the task that has it is what a tree changed', async () => {
  const fake = withTrees(
    TREES,
    ['/s/tasks/A', task('A')],
    ['/s/tasks/B', task('A')],
    ['/t/tasks/A', task('A', { status: 'done' })],
  )
  expect((await taskOf(fake, 'task:A')).trees).toHaveLength(1)
  expect(await taskOf(fake, 'task:A~2')).not.toHaveProperty('trees')
})

test('a file that is not trusted is compared again, in the tree that has it', () => {
  const fake = withTrees(TREES)
  const stat = { size: 1, mtimeMs: 2, ctimeMs: 3, ino: 4, isRacy: false }
  const files = [
    ['/s/tasks/A', fake.board.files],
    ['/t/tasks/A', fake.board.trees.trees.get('/t')?.table],
  ] as const
  for (const [path] of files) fake.board.ingest(path, { ...parsedOf([task('A')]), stat })
  for (const [path, table] of files) {
    expect(table?.compare(path, stat)).toBe('same')
    fake.board.distrust(path)
    expect(table?.compare(path, stat)).toBe('differs')
    fake.board.ingest(path, { ...parsedOf([task('A')]), stat })
    expect(table?.compare(path, stat)).toBe('same')
  }
})

test('a configuration that is in no file is a record, and what it closes is closed', async () => {
  const { board: given } = config(['done'], { project: 'Tea' }) as Entry & { kind: 'board' }
  const remembered: string[] = []
  const store = { ...fakeStore, board: given, remember: (id: string) => void remembered.push(id) }
  const files = new Map([['/s/tasks/A', parsedOf([task('A', { status: 'done' })])]])
  files.set('/s/sessions/1', parsedOf([session('1', 'A')]))
  const open = () =>
    new Board(store, (path) => {
      const file = files.get(path)
      return file ? { state: 'parsed', file, unsure: false } : { state: 'gone' }
    })
  const board = open()
  for (const [path, file] of files) board.ingest(path, file)
  expect(sorted(board.takeChanged(0))).toEqual(['board:board', 'session:1', 'task:A'])
  expect(await board.read('board:board')).toMatchObject({ board: given })
  expect(board.summary()).toEqual({ counts: { tasks: 1, closed: 1, ready: 0 }, project: 'Tea' })
  const again = open()
  for (const [path, file] of board.saved()) again.restore(path, file)
  again.takeChanged(0)
  expect([again.root(), remembered]).toEqual([board.root(), ['A']])
})

test('only what is a record of its own is found', async () => {
  const fake = started(
    ['/s/many/config', config(['todo'])],
    ['/s/milestones/1', { kind: 'setting', id: 'x', value: 'y' }],
  )
  fake.put('/s/live/1', { kind: 'live', id: '1', live: { heartbeatAt: '2026-01-01T00:00:00Z' } })
  fake.board.takeChanged(0)
  for (const key of ['live:1', 'setting:x', 'board:board~2', 'run:x']) {
    expect(await fake.board.read(key as Key)).toBeNull()
  }
})

test('a title of a milestone that comes later changes its tasks', () => {
  const fake = started(['/s/tasks/A', task('A', { milestone: 'm' })], ['/s/tasks/B', task('B')])
  fake.put('/s/milestones/1', { kind: 'setting', id: 'milestone:m', value: 'Spring' })
  expect(fake.board.takeChanged(0)).toEqual(['task:A'])
  fake.remove('/s/milestones/1')
  expect(fake.board.takeChanged(0)).toEqual(['task:A'])
})

test('a file with many tasks is read once for all of them, and in part where it is broken', async () => {
  const fake = started(['/s/many/all', task('A'), task('B')])
  fake.save('/s/many/all', task('A', { title: 'Other' }), task('B'))
  for (const key of ['task:A', 'task:B', 'task:A'] as const) await fake.board.read(key)
  expect(fake.reads).toBe(0)
  const other = started(['/s/many/all', task('A'), task('B')])
  other.restart()
  other.save('/s/many/all', task('A', { title: 'Other' }), task('B'))
  for (const key of ['task:A', 'task:B', 'task:A'] as const) await other.board.read(key)
  expect([other.reads, (await taskOf(other, 'task:A')).title]).toEqual([1, 'Other'])
  other.put('/s/many/all', task('A', { invalid: 'half' }))
  other.board.takeChanged(0)
  expect(sorted(Object.keys(hashesOf(other)) as Key[])).toEqual(['board:board', 'task:A', 'task:B'])
})

test('the last change of a first read is that of the newest file of a task', () => {
  const fake = new FakeBoard()
  const stat = (mtimeMs: number) => ({ size: 1, mtimeMs, ctimeMs: 3, ino: 4, isRacy: false })
  const files: [string, number, Entry][] = [
    ['/s/tasks/A', 500, task('A')],
    ['/s/tasks/B', 400, task('B')],
    ['/s/sessions/1', 600, session('1', 'A')],
  ]
  for (const [path, ms, entry] of files)
    fake.board.ingest(path, { ...parsedOf([entry]), stat: stat(ms) })
  fake.board.takeChanged(1_000)
  expect(fake.board.summary().changedAt).toBe(500)
})
