import { expect, test } from 'vitest'
import type { Entry } from '../../../sidecar/layouts/layout.ts'
import { taskMaster } from '../../../sidecar/layouts/task-master.ts'
import { listedBoard } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { say } from './store.ts'

async function parse(json: unknown): Promise<Entry[]> {
  const text = typeof json === 'string' ? json : JSON.stringify(json)
  const store = await taskMaster.detect(makeFolder({ '.taskmaster/tasks/tasks.json': text }))
  if (!store) throw new Error('no store')
  return [...say(store, 'tasks/tasks.json', text)]
}

const tasksOf = (entries: Entry[]) => entries.flatMap((e) => (e.kind === 'task' ? [e.task] : []))

const FIVE = {
  id: 5,
  title: 'Five',
  description: 'What it is.',
  details: 'How.',
  testStrategy: 'So.',
  status: 'pending',
  dependencies: [1, '2'],
  priority: 'high',
  complexity: 7,
  updatedAt: '2026-01-08T23:51:39.160Z',
  subtasks: [
    { id: 1, title: 'First', status: 'done', dependencies: [] },
    { id: 2, title: 'Second', status: 'pending', dependencies: [1, '5.1', '4.3', 9, 6.2] },
  ],
}

test('lists the tasks of every tag, with their subtasks and whom they wait for', async () => {
  const entries = await parse({ alpha: { tasks: [FIVE] }, beta: { tasks: [{ id: '5' }] } })
  expect(entries[0]).toMatchObject({
    kind: 'board',
    board: { closed: ['done', 'cancelled', 'completed'] },
  })
  expect(tasksOf(entries)).toEqual([
    {
      id: 'alpha:5',
      tag: 'alpha',
      title: 'Five',
      status: 'pending',
      deps: ['alpha:1', 'alpha:2'],
      updatedAt: '2026-01-08T23:51:39.160Z',
      priority: 'high',
      complexity: 7,
      body: 'What it is.\n\n## Details\n\nHow.\n\n## Test strategy\n\nSo.',
    },
    { id: 'alpha:5.1', tag: 'alpha', title: 'First', status: 'done', parent: 'alpha:5', body: '' },
    {
      id: 'alpha:5.2',
      tag: 'alpha',
      title: 'Second',
      status: 'pending',
      parent: 'alpha:5',
      deps: ['alpha:5.1', 'alpha:5.1', 'alpha:4.3', 'alpha:9', 'alpha:6.2'],
      body: '',
    },
    { id: 'beta:5', tag: 'beta', title: 'beta:5', status: '', body: '' },
  ])
})

test('reads the older file without tags', async () => {
  expect(tasksOf(await parse({ tasks: [{ id: 1, title: 'A' }] }))).toMatchObject([
    { id: 'master:1' },
  ])
})

test.each([
  ['first', { tasks: [{ id: 1, title: 'Old', status: 'pending' }], alpha: { tasks: [FIVE] } }],
  ['last', { alpha: { tasks: [FIVE] }, tasks: [{ id: 1 }], metadata: { version: '1' } }],
  ['beside an empty tag', { tasks: [{ id: 5 }], alpha: { tasks: [] }, note: 'x' }],
])('does not show the older list in the place of tags: %s', async (_, file) => {
  const [board, ...tasks] = await parse(file)
  expect(board).toMatchObject({ board: { invalid: expect.stringContaining('older form') } })
  expect(tasks.flatMap((e) => (e.kind === 'task' ? [e.task.tag] : []))).not.toContain('master')
  expect(tasks).toHaveLength(file.alpha.tasks.length * 3)
})

test('takes what is null for what is absent', async () => {
  const one = { id: 1, title: 'One', status: 'pending', subtasks: null, dependencies: null }
  const [task] = tasksOf(await parse({ alpha: { tasks: [one] } }))
  expect(task).toEqual({
    id: 'alpha:1',
    tag: 'alpha',
    title: 'One',
    status: 'pending',
    body: '',
  })
})

test('gives a task another source when it changes, and only then', async () => {
  const sources = async (tasks: object[]) =>
    (await parse({ t: { tasks } })).flatMap((e) => (e.kind === 'task' ? [e.source] : []))
  const [five, first, second] = await sources([FIVE])
  const [one, ...moved] = await sources([{ id: 1 }, FIVE])
  expect(moved).toEqual([five, first, second])
  expect(one).not.toBe(five)

  const [first2] = FIVE.subtasks
  const renamed = { ...FIVE, subtasks: [{ ...first2, title: 'Other' }, FIVE.subtasks[1]] }
  const after = await sources([renamed])
  expect([after[0] === five, after[1] === first, after[2] === second]).toEqual([true, false, true])

  // The first subtask is gone, so what the second waits for is another task now, by no change of
  // its own.
  const without = { ...FIVE, subtasks: [FIVE.subtasks[1]] }
  expect((await sources([without]))[1]).toBe(second)
  const depsOf = async (tasks: object[]) => tasksOf(await parse({ t: { tasks } })).at(-1)?.deps
  expect(await depsOf([without])).not.toEqual(await depsOf([FIVE]))
})

test('keeps ids that repeat, in the order of the file', async () => {
  const twice = [
    { id: 3, title: 'a' },
    { id: 3, title: 'b' },
  ]
  const tasks = tasksOf(await parse({ t: { tasks: twice } }))
  expect(tasks.map(({ id, title }) => [id, title])).toEqual([
    ['t:3', 'a'],
    ['t:3', 'b'],
  ])
})

test.each([
  ['half a file', '{"master": {"tasks": [{"id": 1, "ti'],
  ['an empty file', ''],
  ['a list', '[]'],
  ['null', 'null'],
  ['no tag with tasks', '{"a": 5}'],
])('gives the board alone for %s, so that no task is dropped', async (_, text) => {
  expect(await parse(text)).toMatchObject([
    { kind: 'board', board: { invalid: expect.any(String) } },
  ])
})

test('an emptied board is empty, not broken', async () => {
  const entries = await parse({ master: { tasks: [] } })
  expect(entries).toHaveLength(1)
  expect(entries[0]).not.toHaveProperty('board.invalid')
})

test('lists what is no task, or has fields of the wrong kind, and says so', async () => {
  const strange = [7, { title: 'no id' }, { id: 2, title: { a: 1 }, dependencies: { b: 2 } }]
  const tasks = tasksOf(await parse({ t: { tasks: strange } }))
  expect(tasks.map((task) => task.id)).toEqual(['t:unnumbered-1', 't:unnumbered-2', 't:2'])
  for (const task of tasks) expect(task.invalid).toEqual(expect.any(String))
})

test('drops fields that are too large or too deep to publish', async () => {
  const deep = `${'['.repeat(80)}${']'.repeat(80)}`
  const text = `{"t":{"tasks":[{"id":1,"x":${deep}},{"id":2,"x":"${'y'.repeat(300_000)}"},{"id":3}]}}`
  const tasks = tasksOf(await parse(text))
  expect(tasks.map((task) => [task.id, task.extra])).toEqual([
    ['t:1', undefined],
    ['t:2', undefined],
    ['t:3', undefined],
  ])
  expect(tasks.map((task) => task.invalid !== undefined)).toEqual([true, true, false])
})

test('is not fooled by __proto__', async () => {
  const entries = await parse(
    '{"t":{"tasks":[{"id":1,"__proto__":{"title":"evil"},"a":{"__proto__":1}}]}}',
  )
  expect(JSON.stringify(entries)).not.toContain('__proto__')
  expect(tasksOf(entries)).toMatchObject([{ title: 't:1' }])
})

test('cuts ids that the edge would not take, says so, and keeps deps within the tag right', async () => {
  const long = 'x'.repeat(1_100)
  const tasks = [{ id: 1, title: 'One', subtasks: [{ id: long, title: 'Sub' }] }]
  const entries = await parse({ [long]: { tasks }, 'half \ud800': { tasks: [{ id: '\udc00' }] } })
  expect(entries[0]).toMatchObject({
    board: { invalid: expect.stringContaining('a name that no id can hold whole') as string },
  })
  const ids = tasksOf(entries).map(({ id }) => id)
  const cut = 'x'.repeat(200)
  expect(ids).toEqual([`${cut}:1`, `${cut}:1.${cut}`, 'half \ufffd:\ufffd'])
})

test('a file that is not whole is broken; one with an odd task is not', async () => {
  const store = await taskMaster.detect(makeFolder({ '.taskmaster/tasks/tasks.json': '{}' }))
  if (!store) throw new Error('no store')
  const stateOf = (text: string) => store.parse(store.tasksIn, 'tasks', text).state
  expect(stateOf('{"master": {"tasks": [')).toBe('broken')
  expect(stateOf('[]')).toBe('broken')
  expect(stateOf('{"master": {"tasks": [{"id": 1, "title": "A"}, "odd"]}}')).toBe('ok')
})

test.each([
  ['values', `{"t":{"tasks":[{"id":1,"dependencies":[${'1,'.repeat(150_000)}1]}]}}`],
  ['brackets', '['.repeat(150_001)],
  [
    'names',
    `{"t":{"tasks":[{${Array.from({ length: 6_001 }, (_, n) => `"k${n}":0`).join(',')}}]}}`,
  ],
])('a file of too many %s is not parsed, and the board says so', async (_name, text) => {
  const [board, ...tasks] = await parse(text)
  expect(board).toMatchObject({
    board: { invalid: expect.stringMatching(/^tasks\.json holds more/) },
  })
  expect(tasks).toEqual([])
})

test('marks within texts are no values', async () => {
  const prose = `${'a, [b]: {c} '.repeat(60_000)} "quoted" \\`
  const tasks = [{ id: 1, title: 'Steep', status: 'pending', details: prose }]
  expect(await parse(JSON.stringify({ t: { tasks } }))).toHaveLength(2)
})

test.each([
  ['tasks', `{"t":{"tasks":[${'0,'.repeat(5_000)}0]}}`],
  ['subtasks', `{"t":{"tasks":[{"id":1,"subtasks":[${'0,'.repeat(5_000)}0]}]}}`],
  ['tasks of the older form', `{"tasks":[${'0,'.repeat(5_000)}0]}`],
  ['tags', `{${Array.from({ length: 5_001 }, (_, n) => `"t${n}":0`).join(',')}}`],
])('more than 5,000 %s are not read, and the board says so', async (_name, text) => {
  const invalid = 'tasks.json holds more than 5000 tasks; its tasks stay as they were last read.'
  expect(await parse(text)).toEqual([
    { kind: 'board', id: 'board', board: expect.objectContaining({ invalid }) },
  ])
})

test.each([
  ['that can be begun', 'pending', [1], true],
  ['that waits', 'pending', [2], false],
  ['that waits for a task twice in the file, first closed', 'pending', [5], true],
  ['that waits for a subtask', 'pending', ['2.1'], false],
  ['that waits for what is not there', 'pending', [99], false],
  ['that waits, but has begun', 'in-progress', [2], true],
  ['in review', 'review', [], true],
  ['that is blocked', 'blocked', [], false],
  ['that is deferred', 'deferred', [], false],
  ['that is closed', 'done', [2], true],
  ['that waits for what is closed in another case', 'pending', [4], true],
  ['that has begun in another case', 'In-Progress', [2], true],
  ['in review in another case', 'Review', [], true],
])(
  'a subtask of a task %s is held as the tool holds it',
  async (_, status, dependencies, isFree) => {
    const { tasks } = await listedBoard(
      makeFolder({
        '.taskmaster/tasks/tasks.json': JSON.stringify({
          one: {
            tasks: [
              { id: 1, title: 'Closed', status: 'cancelled' },
              { id: 2, title: 'Open', status: 'pending', subtasks: [{ id: 1, status: 'pending' }] },
              {
                id: 3,
                status,
                dependencies,
                subtasks: [{ id: 1, title: 'Part', status: 'pending' }],
              },
              { id: 4, title: 'Typed', status: 'Done ' },
              { id: 5, title: 'First', status: 'completed' },
              { id: 5, title: 'Second', status: 'pending' },
            ],
          },
        }),
      }),
    )
    const part = tasks.find(({ title }) => title === 'Part')
    expect(part).toMatchObject({ parent: 'one:3', ready: isFree })
    expect(part?.held).toBe(isFree ? undefined : true)
  },
)

test.each([
  ['state.json', { 'state.json': '{"currentTag":"a"}', 'config.json': '{}' }, 'a'],
  [
    'state.json before config.json',
    { 'state.json': '{"currentTag":"a"}', 'config.json': '{"global":{"defaultTag":"b"}}' },
    'a',
  ],
  ['config.json', { 'state.json': '{', 'config.json': '{"global":{"defaultTag":"b"}}' }, 'b'],
  ['neither', { 'state.json': '{"currentTag":""}', 'config.json': '{"currentTag":"c"}' }, 'master'],
  ['no file', {}, 'master'],
])('the current tag is that of %s', async (_, files: Record<string, string>, currentTag) => {
  const all = Object.entries(files).map(([name, text]) => [`.taskmaster/${name}`, text])
  const tasks = { '.taskmaster/tasks/tasks.json': '{"a":{"tasks":[]}}' }
  const { config } = await listedBoard(makeFolder({ ...Object.fromEntries(all), ...tasks }))
  expect(config).toMatchObject({ currentTag })
})

test('a file of 31 MiB is read if it has no more values than another one', async () => {
  const details = 'Heat the water, and pour it. '.repeat(12_000)
  const many = Array.from({ length: 94 }, (_, at) => ({ id: at + 1, title: `T${at}`, details }))
  const text = JSON.stringify({ one: { tasks: many } })
  expect(text.length).toBeGreaterThan(31 << 20)
  const { tasks, config } = await listedBoard(makeFolder({ '.taskmaster/tasks/tasks.json': text }))
  expect(config).not.toHaveProperty('invalid')
  expect(tasks).toHaveLength(94)
  expect(tasks.every(({ body = '' }) => body.length > details.length)).toBe(true)
})
