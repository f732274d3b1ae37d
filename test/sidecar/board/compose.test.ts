import { describe, expect, test } from 'vitest'
import {
  compose,
  fileHash,
  placeIn,
  type RecordSource,
  recordHash,
} from '../../../sidecar/board/compose.ts'
import type { Derived } from '../../../sidecar/board/relations.ts'
import { type Fact, factOf } from '../../../sidecar/files/facts.ts'
import type { Entry } from '../../../sidecar/layouts/layout.ts'
import type { InTrees } from '../../../sidecar/trees/tree-copies.ts'
import type { Key, Live } from '../../../worker/board/wire.ts'
import { config, live, session, task } from '../fake-board.ts'

const HASHES = { hash: 'h', file: 'f' }
const place = 'tasks/a.md'
const composed = (key: Key, entry: Entry, derived: Derived = {}, part?: Entry, trees?: InTrees) =>
  compose(key, HASHES, entry, part, { derived, place, trees })
/** The task `A`. */
const composedTask = (...more: [Entry, Derived?, (Entry | undefined)?, InTrees?]) => {
  const record = composed('task:A', ...more)
  return record?.kind === 'task' && record.task
}

const mark = (tree: string, title: string) => ({ tree, dir: `/${tree}`, title })
const inTrees = (more: Partial<InTrees>): InTrees => ({
  marks: [mark('one', 'Title of A'), mark('two', 'Other')],
  hashes: [],
  isAlone: false,
  isDeleted: false,
  apart: [],
  ...more,
})

test('each record has the id of its key, both hashes, what its file says and what follows', () => {
  const run = { file: 'log', timedout: false, exit: 0 }
  const [ses, beat] = [session('s', 'A'), live('s', 0)]
  const sent = ses.kind === 'session' && ses.session
  const { board } = { ...config([]) } as { board: object }
  const records = [
    composed('task:A~2', task('A'), { task: { ready: true } }),
    composed('task:A', task('A')),
    composed('session:s~2', ses, { health: 'active', tree: 'one' }, beat),
    composed('session:s', ses),
    composed('run:log~2', { kind: 'run', id: 'log', task: 'A', run }, { tree: 'one' }),
    composed('run:log', { kind: 'run', id: 'log', task: 'A', run }),
    composed('board:board', config([]), { board: { currentTag: 'main' } }),
  ]
  const fields = { title: 'Title of A', status: 'todo', file: place }
  const { live: said } = beat as { live: Live }
  const beaten = { live: said, activeAt: said.heartbeatAt }
  expect(records).toStrictEqual([
    { kind: 'task', id: 'A~2', ...HASHES, task: { id: 'A~2', ...fields, ready: true } },
    { kind: 'task', id: 'A', ...HASHES, task: { id: 'A', ...fields, ready: false } },
    {
      kind: 'session',
      id: 's~2',
      hash: 'h',
      session: { ...sent, id: 's~2', health: 'active', ...beaten, tree: 'one' },
    },
    { kind: 'session', id: 's', hash: 'h', session: { ...sent, health: 'stalled' } },
    { kind: 'run', id: 'log~2', hash: 'h', task: 'A', run: { ...run, tree: 'one' } },
    { kind: 'run', id: 'log', hash: 'h', task: 'A', run },
    { kind: 'board', id: 'board', hash: 'h', board: { ...board, currentTag: 'main' } },
  ])
})

describe('a task that is not whole', () => {
  const ready: Derived = { task: { ready: true } }
  const about = task('A', { title: 'Of the other file', priority: 'high', status: 'odd' })

  test.each<[string, string | undefined, [Entry, Derived?, (Entry | undefined)?, InTrees?]]>([
    ['its own file is broken', 'half', [task('A', { invalid: 'half' }), ready]],
    ['the other file of it is broken', 'half', [task('A'), ready, task('A', { invalid: 'half' })]],
    [
      'another one was begun with its id',
      'another task has this id: “Other” in the worktree two',
      [task('A'), ready, undefined, inTrees({ apart: ['one', 'two'] })],
    ],
    [
      'all of these are so',
      'twin; half; broken; another task has this id: “Other” in the worktree two',
      [
        { ...task('A', { invalid: 'half' }), alone: 'alone' } as Entry,
        { ...ready, invalid: 'twin' },
        task('A', { invalid: 'broken' }),
        inTrees({ apart: ['two'] }),
      ],
    ],
  ])('says why, and is not ready, where %s', (_name, invalid, of) => {
    expect(composedTask(...of)).toMatchObject({ invalid, ready: false, held: true })
  })

  test('is none of two files, nor one with an equal title in a tree apart', () => {
    const [own, trees] = [{ ...task('A'), alone: 'alone' } as Entry, inTrees({ apart: ['one'] })]
    const shown = composedTask(own, ready, about, {
      ...trees,
      marks: [mark('one', 'Of the other file')],
    })
    expect(shown).toMatchObject({ title: 'Of the other file', ready: true })
    expect(shown).not.toHaveProperty('invalid')
    expect(composedTask(task('A'), ready, undefined, trees)).not.toHaveProperty('invalid')
  })
})

test('a task has the marks of the trees, and is never ready where only they have it', () => {
  const ready: Derived = { task: { ready: true } }
  const trees = inTrees({})
  const shown = { id: 'A', title: 'Title of A', status: 'todo', file: place, trees: trees.marks }
  expect(composedTask(task('A'), ready, undefined, trees)).toStrictEqual({ ...shown, ready: true })
  expect(composedTask(task('A'), ready, undefined, { ...trees, isAlone: true })).toStrictEqual({
    ...shown,
    ready: false,
    held: true,
    inMain: false,
  })
  const deleted = { ...trees, isAlone: true, isDeleted: true }
  expect(composedTask(task('A'), ready, undefined, deleted)).toMatchObject({
    inMain: false,
    deletedInMain: true,
  })
})

describe('the hashes of a record', () => {
  const factAt = (path: string, entry = task('A'), hash = 'bytes') =>
    factOf({ path, hash, state: 'ok' }, entry, undefined) as Fact
  const fact = factAt('/s/archive/tasks/A')
  const part = factAt('/s/about/A')

  test('differ with all that the record is made of, and that of its file with its files', () => {
    const facts = [
      fact,
      factAt(fact.path, task('A'), 'other'),
      { ...fact, sent: 'other' },
      factAt(fact.path, task('A', { title: 'Other' })),
    ]
    const places = ['tasks/A', 'tasks/B', 'archive/A', 'archivet/asks/A', undefined]
    const derivations: Derived[] = [
      { task: { ready: true } },
      { health: 'active' },
      { board: { currentTag: 'active' } },
      { invalid: 'why' },
      { tree: 'why' },
    ]
    const parts = [part, { ...part, hash: 'other' }]
    const trees = [inTrees({}), inTrees({ isAlone: true })]
    const derived = {}
    const sources: RecordSource[] = [
      ...places.map((at) => ({ derived, place: at })),
      ...parts.map((each) => ({ derived, part: each })),
      ...trees.map((each) => ({ derived, trees: each })),
    ]
    const records = [
      ...facts.map((each) => recordHash('task:A', each, { derived, place })),
      recordHash('task:A~2', fact, { derived, place }),
      ...derivations.map((each) => recordHash('task:A', fact, { derived: each, place })),
      ...sources.map((source) => recordHash('task:A', fact, source)),
      recordHash('task:A', fact, { derived, part: { ...part, sent: 'other' } }),
    ]
    expect(new Set(records).size).toBe(records.length)
    const files = [
      ...facts.slice(0, 2).map((each) => fileHash(each, { place })),
      ...sources.map((source) => fileHash(fact, source)),
    ]
    expect(new Set(files).size).toBe(files.length)
  })

  test('are the same on another machine', () => {
    const source = { derived: {}, place, part }
    const other = factAt('/home/x/s/archive/tasks/A')
    expect(recordHash('task:A', other, source)).toBe(recordHash('task:A', fact, source))
    expect(fileHash(other, source)).toBe(fileHash(fact, source))
  })

  test.each([
    ['.board', '/s/.board/tasks/A.md', '.board/tasks/A.md'],
    ['', '/s/.board/specs/a/tasks.md', 'specs/a/tasks.md'],
    ['.board', '/elsewhere/A.md', undefined],
    ['.board', '/s/.board2/A.md', undefined],
    ['.board', '/s/.board/a\\b.md', '.board/a\\b.md'],
  ])('the place of a file of %j is below the project: %s', (within, path, expected) => {
    expect(placeIn({ root: '/s/.board', within }, path)).toBe(expected)
  })
})
