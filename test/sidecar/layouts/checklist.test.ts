import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../../sidecar/layouts/layout.ts'
import { openSpec } from '../../../sidecar/layouts/openspec.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { listedBoard, listedStore } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { say } from './store.ts'

type Files = Record<string, string | Uint8Array>

async function listed(files: Files): Promise<Record<string, Task>> {
  const { tasks } = await listedBoard(makeFolder(files))
  return Object.fromEntries(tasks.map((task) => [task.id, task]))
}

/** The tasks of a list of OpenSpec. */
const listOf = (text: string | Uint8Array, more: Files = {}) =>
  listed({ 'openspec/changes/tea/tasks.md': text, ...more })

/** A change that must not suffer from another one. */
const CAKE = { 'openspec/changes/cake/tasks.md': '- [x] 1.1 Bake\n' }
const CAKE_LISTED = { cake: { status: 'done' }, 'cake/1.1': { status: 'done' } }

const idsOf = (tasks: Record<string, Task>) =>
  Object.keys(tasks).toSorted((a, b) => a.localeCompare(b))

test.each([
  ['OpenSpec', 'openspec/changes/tea/tasks.md', {}],
  ['Kiro', '.kiro/specs/tea/tasks.md', {}],
  ['spec-kit', 'specs/tea/tasks.md', { '.specify/x': '' }],
])('a list of %s has the order of its file, with numbers or without', async (_, path, more) => {
  const list = '- [ ] 1.2 Heat\n- [ ] Fill\n- [ ] 1.1 Pour\n  - [ ] Stir\n- [ ]* T010 Drink\n'
  const tasks = await listed({ [path]: list, ...more })
  const inOrder = Object.values(tasks)
    .filter(({ parent }) => parent !== undefined)
    .toSorted(({ rank: a = 0 }, { rank: b = 0 }) => a - b)
  expect(inOrder.map(({ title }) => title)).toEqual(['Heat', 'Fill', 'Pour', 'Stir', 'Drink'])
})

describe('a list of OpenSpec', () => {
  test('has the change, its tasks with their numbers, and what is below them', async () => {
    const tasks = await listOf(
      '# Tasks\n\n## 1. Kettle\n\n- [x] 1.1 Fill\n  - cold\n- [ ] 1.2 Heat\n',
      {
        'openspec/changes/tea/proposal.md': '# Change: Make tea\n\n## Why\n\nIt is cold.\n',
      },
    )
    const file = 'openspec/changes/tea/tasks.md'
    expect(tasks).toEqual({
      tea: {
        id: 'tea',
        title: 'Make tea',
        status: 'todo',
        ready: false,
        held: true,
        file,
        body: '# Change: Make tea\n\n## Why\n\nIt is cold.\n',
      },
      'tea/1.1': {
        id: 'tea/1.1',
        title: 'Fill',
        status: 'done',
        ready: false,
        parent: 'tea',
        rank: 1,
        file,
        milestone: '1. Kettle',
        body: '- cold',
      },
      'tea/1.2': {
        id: 'tea/1.2',
        title: 'Heat',
        status: 'todo',
        ready: true,
        parent: 'tea',
        rank: 2,
        file,
        milestone: '1. Kettle',
      },
    })
  })

  test.each([
    ['- [ ] a', 'todo'],
    ['- [x] a', 'done'],
    ['* [X] a', 'done'],
    ['+ [ x ] a', 'done'],
    ['12. [x]a', 'done'],
    ['3) [ ] a', 'todo'],
    ['  - [] a', 'todo'],
    ['- [~] a', 'todo'],
    ['- [-] a', 'todo'],
    ['- [ ](a) b', 'todo'],
    ['- [x] a\r', 'done'],
  ])('takes %j for a task', async (line, status) => {
    const { tea, ...tasks } = await listOf(`${line}\n`)
    expect(Object.values(tasks)).toMatchObject([{ status, parent: 'tea' }])
    expect(tea?.status).toBe(status)
  })

  test.each(['- [a](./b.md)', '- [1][2]', '- [WIP] a', 'text [ ] a', '[ ] a', '# - [ ] a'])(
    'takes %j for none',
    async (line) => expect(idsOf(await listOf(`${line}\n`))).toEqual(['tea']),
  )

  test('counts a task within a code fence, as the tool does, and takes no heading from it', async () => {
    const tasks = await listOf(
      '## 1. Pot\n```sh\n## no heading\n- [ ] 1.1 Shown\n```\n- [ ] 1.2 Real\n',
    )
    expect(idsOf(tasks)).toEqual(['tea', 'tea/1.1', 'tea/1.2'])
    expect(tasks['tea/1.2']?.milestone).toBe('1. Pot')
  })

  test('is the same with the line ends of Windows', async () => {
    const text = '## 1. Pot\n\n- [x] 1.1 Fill\n\n  - cold\n- [ ] Heat\n'
    expect(await listOf(text.replaceAll('\n', '\r\n'))).toEqual(await listOf(text))
  })

  test('lists tasks that are nested ten deep, each with what is below it and not deeper', async () => {
    const depths = Array.from({ length: 10 }, (_, at) => at)
    const number = (depth: number) =>
      Array(depth + 1)
        .fill(1)
        .join('.')
    const down = depths.map((at) => `${'  '.repeat(at)}- [ ] ${number(at)} Deep\n`)
    const up = depths.toReversed().map((at) => `${'  '.repeat(at)}  - of ${at}\n`)
    const tasks = await listOf([...down, ...up].join(''))
    expect(Object.keys(tasks)).toHaveLength(11)
    for (const at of depths) {
      expect(tasks[`tea/${number(at)}`]).toMatchObject({ parent: 'tea', body: `- of ${at}` })
    }
  })

  test('names the second of two equal numbers, and hides neither', async () => {
    const tasks = await listOf('- [x] 1.1 Fill\n- [ ] 1.1 Heat\n- [ ] 1.2 Pour\n')
    expect(tasks).toMatchObject({
      'tea/1.1': { title: 'Fill', status: 'done' },
      'tea/1.1~2': {
        title: 'Heat',
        ready: false,
        invalid: 'another entry of this file has the id tea/1.1',
      },
      'tea/1.2': { title: 'Pour', ready: true },
    })
  })

  test('names a task without a number after its text, wherever it stands', async () => {
    const [one, other] = [
      await listOf('- [ ] Fill\n- [ ] Heat\n- [ ] Fill\n'),
      await listOf('- [x] Heat\n- [ ] Fill\n- [ ] Fill\n'),
    ]
    expect(idsOf(one)).toHaveLength(4)
    expect(idsOf(other)).toEqual(idsOf(one))
    expect(Object.values(one).filter(({ invalid }) => invalid !== undefined)).toEqual([])
    const ranks = Object.values(other).map(({ title, rank }) => [title, rank])
    expect(ranks).toEqual(
      expect.arrayContaining([
        ['Heat', 1],
        ['Fill', 2],
        ['Fill', 3],
      ]),
    )
  })

  test('says why it is not read, and no other list suffers', async () => {
    const stay = 'its tasks stay as they were last read.'
    for (const [text, invalid] of [
      [
        '- [ ] 1.1 Fill the kettle\n'.repeat(120_000),
        'The file is too large: 3.0 MiB, and at most 512 KiB are read.',
      ],
      ['- [ ] a\n'.repeat(10_001), `The checklist is too large: more than 10000 tasks; ${stay}`],
    ] as const) {
      const big = await listOf(text, CAKE)
      expect(big).toMatchObject({ ...CAKE_LISTED, tea: { status: 'todo', invalid } })
    }
    const binary = await listOf('- [ ] 1.1 \0\n', CAKE)
    expect(binary).toMatchObject({
      ...CAKE_LISTED,
      tea: { invalid: expect.stringContaining('NUL') },
    })
    const latin = await listOf(new Uint8Array([0x2d, 0xe9]), CAKE)
    expect(latin).toMatchObject({ ...CAKE_LISTED, tea: { invalid: 'The file is not UTF-8 text.' } })
  })

  test.each([
    ['spaces in brackets', `- [${' '.repeat(300_000)}x`],
    ['a heading of spaces', `## a${' #'.repeat(150_000)}b`],
    ['a number without end', `- [ ] ${'1.'.repeat(150_000)}`],
    ['a line of spaces below a task', `- [ ] 1 a\n${' '.repeat(300_000)}b`],
    ['lines below one task', `- [ ] 1 a\n${'  b\n'.repeat(100_000)}`],
    ['a line without end', `- [ ] ${'a'.repeat(500_000)}`],
  ])('takes no time for %s', async (_, text) => {
    let tasks: Awaited<ReturnType<typeof listOf>> = {}
    const listing = async () => {
      tasks = await listOf(text, CAKE)
    }
    expect(await cpuMs(listing)).toBeLessThan(5_000)
    expect(tasks).toMatchObject(CAKE_LISTED)
    for (const { title } of Object.values(tasks)) expect(title.length).toBeLessThan(400)
    const spec = {
      '.kiro/specs/tea/tasks.md': text,
      '.kiro/specs/cake/tasks.md': '- [x] 1.1 Bake\n',
    }
    expect(await listed(spec)).toMatchObject(CAKE_LISTED)
  })

  test('that is archived is closed, and never takes an id from an open one', async () => {
    const tasks = await listOf('- [ ] 1.1 Fill\n', {
      'openspec/changes/archive/2026-01-02-tea/tasks.md': '- [x] 1.1 Old\n',
      'openspec/changes/archive/2026-01-02-tea/proposal.md': '# Old tea\n',
      'openspec/changes/archive/2026-01-03-jam/proposal.md': '# Jam\n',
    })
    expect(tasks).toMatchObject({
      tea: { title: 'tea', status: 'todo' },
      'tea/1.1': { title: 'Fill', ready: true },
      'tea~2': { title: 'Old tea', status: 'done', folder: 'archive' },
      'tea/1.1~2': { title: 'Old', parent: 'tea~2', folder: 'archive', ready: false },
      jam: { title: 'Jam', status: 'done', folder: 'archive' },
    })
    expect(Object.values(tasks).filter(({ invalid }) => invalid !== undefined)).toEqual([])
  })

  test('keeps to its folder: nothing else in it is a task', async () => {
    const dir = makeFolder({ 'openspec/changes/tea/tasks.md': '' })
    const store = await openStore(dir)
    const kindOf = (path: string) => store.classify(join(dir, 'openspec', path))
    expect(kindOf('changes/tea/tasks.md')).toBe('tasks')
    expect(kindOf('changes/tea/proposal.md')).toBe('about')
    expect(kindOf('changes/archive/2026-01-01-tea/tasks.md')).toBe('tasks')
    expect(kindOf('changes/tea/specs/tasks.md')).toBe('about')
    for (const path of [
      'changes/tasks.md',
      'changes/archive/tasks.md',
      'specs/tea/tasks.md',
      'changes/tea/.tmp-tasks.md',
      'changes/tea/specs/.git/tasks.md',
    ]) {
      expect(kindOf(path)).toBeUndefined()
    }
  })
})

describe('a change of OpenSpec', () => {
  const metadata = 'schema: spec-driven\ncreated: 2026-01-01\n'

  test.each([
    ['openspec/changes/tea/.openspec.yaml', metadata],
    ['openspec/changes/tea/design.md', '# Design\n- [ ] no task\n'],
    ['openspec/changes/tea/specs/pot/spec.md', '## ADDED Requirements\n'],
    ['openspec/changes/tea/specs/deep/er/pot/spec.md', '## ADDED Requirements\n'],
    ['openspec/changes/tea/notes.txt', ''],
    ['openspec/changes/tea/.gitkeep', ''],
    ['openspec/changes/tea/picture.png', new Uint8Array([0x89, 0x50, 0, 0xff])],
    ['openspec/changes/tea/deep/notes.md', ''],
  ])('with nothing but %s is listed, without tasks', async (path, text) => {
    const tasks = await listed({ [path]: text, ...CAKE })
    expect(tasks).toMatchObject(CAKE_LISTED)
    const shown = { id: 'tea', title: 'tea', status: 'todo', ready: false, held: true }
    expect(tasks.tea).toEqual({ ...shown, file: path })
    expect(Object.keys(tasks)).toHaveLength(3)
  })

  test('has what its checklist and proposal say, whatever else is beside them', async () => {
    const files = {
      'openspec/changes/tea/.openspec.yaml': metadata,
      'openspec/changes/tea/design.md': '# Design\n',
      'openspec/changes/tea/a.md': '# A\n',
      'openspec/changes/tea/specs/pot/spec.md': '# Pot\n',
      'openspec/changes/tea/sub/tasks.md': '- [ ] 9 of no change\n',
      'openspec/changes/tea/proposal.md': '# Make tea\n',
    }
    const alone = await listed(files)
    expect(alone).toEqual({
      tea: {
        id: 'tea',
        title: 'Make tea',
        status: 'todo',
        ready: false,
        held: true,
        file: 'openspec/changes/tea/proposal.md',
        body: '# Make tea\n',
      },
    })
    const tasks = await listOf('- [x] 1 Fill\n', files)
    expect(tasks).toMatchObject({ tea: { title: 'Make tea', status: 'done' }, 'tea/1': {} })
    expect(Object.keys(tasks)).toHaveLength(2)
  })

  test.each([
    [{ 'mobile/token/proposal.md': '# Token\n' }, 'mobile/token'],
    [{ 'mobile/ios/token/tasks.md': '- [ ] 1 Refresh\n' }, 'mobile/ios/token'],
    [{ 'mobile/token/specs/a/spec.md': '', 'mobile/a/notes.md': '' }, 'mobile/token'],
  ])('that only wraps others is listed, with the warning of the tool: %j', async (inside, path) => {
    const files = Object.entries(inside).map(([name, text]) => [`openspec/changes/${name}`, text])
    const tasks = await listed(Object.fromEntries(files))
    expect(Object.keys(tasks)).toEqual(['mobile'])
    expect(tasks.mobile).toMatchObject({
      status: 'todo',
      ready: false,
      invalid:
        `"mobile" is not a change: it is a folder wrapping openspec/changes/${path}/. ` +
        'A change must be a directory directly under openspec/changes/.',
    })
  })

  /** A board that goes on while files move; a new one is a restart that knows the ids of the last. */
  async function following(dir: string, before: readonly string[] = []) {
    const store = await openStore(dir)
    for (const id of before) store.remember?.(id)
    const list = async () => {
      store.folders()
      const { tasks } = await listedStore(store)
      return Object.fromEntries(tasks.map((task) => [task.id, task]))
    }
    return { list }
  }

  test.each(['tea', '2026-01-01-tea'])('%s keeps its id when it is archived', async (name) => {
    const dir = makeFolder({ [`openspec/changes/${name}/tasks.md`]: '- [x] 1.1 Fill\n' })
    const { list } = await following(dir)
    expect(Object.keys(await list())).toEqual([name, `${name}/1.1`])
    const archived = name === 'tea' ? '2026-02-02-tea' : name
    mkdirSync(join(dir, 'openspec/changes/archive'))
    renameSync(join(dir, 'openspec/changes', name), join(dir, 'openspec/changes/archive', archived))
    const closed = { folder: 'archive', status: 'done', ready: false }
    const expected = { [name]: closed, [`${name}/1.1`]: { ...closed, parent: name } }
    expect(await list()).toMatchObject(expected)
    const restarted = await following(dir, [name, `${name}/1.1`])
    expect(await restarted.list()).toMatchObject(expected)
  })

  test('that is opened again has no tasks of the archived one with its name', async () => {
    const tasks = await listOf('- [ ] 2.1 Again\n', {
      'openspec/changes/archive/2026-01-02-tea/tasks.md': '- [x] 1.1 Old\n',
      'openspec/changes/archive/2026-01-03-tea/tasks.md': '- [x] 1.1 Older\n- [x] 1.2 Gone\n',
    })
    const parents = Object.values(tasks).flatMap(({ title, parent }) =>
      parent ? [[title, parent]] : [],
    )
    expect(Object.fromEntries(parents)).toEqual({
      Again: 'tea',
      Old: 'tea~2',
      Older: 'tea~3',
      Gone: 'tea~3',
    })
  })

  const schemaOf = (generates: string, tracks = `  tracks: ${generates}\n`) =>
    'name: mine\nversion: 1\nartifacts:\n' +
    '  - id: proposal\n    generates: proposal.md\n    description: d\n    template: p.md\n' +
    `  - id: plan\n    generates: ${generates}\n    description: d\n    template: t.md\n` +
    `apply:\n  requires: [plan]\n${tracks}`
  const custom = (schema: string, files: Files) =>
    listed({
      'openspec/config.yaml': 'schema: mine\n',
      'openspec/schemas/mine/schema.yaml': schema,
      ...files,
    })

  test.each([
    ['todo.md', 'todo.md'],
    ['plan/todo.md', 'plan/todo.md'],
    ['"plan/*.md"', 'plan/one.md'],
    ['"**/todo.md"', 'deep/er/todo.md'],
    ['"**/todo.md"', 'todo.md'],
    ['"plan/{a,b}-?.md"', 'plan/b-1.md'],
    ['"plan/[ab].md"', 'plan/a.md'],
  ])('has the tasks of the file that its schema tracks: %s', async (generates, path) => {
    const tasks = await custom(schemaOf(generates), {
      'openspec/changes/tea/proposal.md': '# Make tea\n',
      [`openspec/changes/tea/${path}`]: '- [x] 1.1 Fill\n- [ ] 1.2 Heat\n',
      'openspec/changes/tea/tasks.md': '- [ ] 9.9 Not tracked\n',
    })
    expect(tasks).toMatchObject({
      tea: { title: 'Make tea', status: 'todo' },
      'tea/1.1': { status: 'done', parent: 'tea' },
      'tea/1.2': { status: 'todo', ready: true },
    })
    expect(Object.keys(tasks)).toHaveLength(3)
  })

  test('has the tasks of all files that a pattern of its schema matches', async () => {
    const tasks = await custom(schemaOf('"plan/*.md"'), {
      'openspec/changes/tea/plan/a.md': '- [x] 1.1 Fill\n',
      'openspec/changes/tea/plan/b.md': '- [ ] 2.1 Heat\n',
      'openspec/changes/tea/plan/.c.md': '- [ ] 3.1 Hidden\n',
    })
    expect(idsOf(tasks)).toEqual(['tea', 'tea/1.1', 'tea/2.1'])
    expect(Object.values(tasks).filter(({ invalid }) => invalid !== undefined)).toEqual([])
  })

  test.each([
    ['that matches nothing', schemaOf('"plan/*.md"')],
    ['that tracks what nothing generates', schemaOf('todo.md', '  tracks: other.md\n')],
    ['that is not YAML', 'name: [\n'],
    ['that leads out of the change', schemaOf('../cake/tasks.md')],
  ])('of a schema %s has the tasks of tasks.md', async (_, schema) => {
    const tasks = await custom(schema, { 'openspec/changes/tea/tasks.md': '- [ ] 1.1 Fill\n' })
    expect(Object.keys(tasks)).toEqual(['tea', 'tea/1.1'])
  })

  test('names its own schema, or one that is not there', async () => {
    const tasks = await custom(schemaOf('todo.md'), {
      'openspec/changes/tea/.openspec.yaml': metadata,
      'openspec/changes/tea/tasks.md': '- [ ] 1.1 Fill\n',
      'openspec/changes/jam/.openspec.yaml': 'schema: nowhere\n',
      'openspec/changes/jam/tasks.md': '- [ ] 1.1 Boil\n',
      'openspec/changes/jam/todo.md': '- [ ] 9.9 Not tracked\n',
      'openspec/changes/bun/todo.md': '- [ ] 1.1 Bake\n',
    })
    const ids = idsOf(tasks).filter((id) => id.includes('/'))
    expect(ids).toEqual(['bun/1.1', 'jam/1.1', 'tea/1.1'])
  })
})

describe('what counts as changed', () => {
  const line = fc.record({
    indent: fc.constantFrom('', '  ', '    '),
    mark: fc.constantFrom(' ', 'x', '~', ''),
    text: fc.constantFrom('Fill', 'Heat', 'Pour', '[a](b)', '**Wash**'),
    isNumbered: fc.boolean(),
    below: fc.constantFrom('', '\n        - more', '\n\n        more', '\n## Heading', '\ntext'),
  })
  type Line = { indent: string; mark: string; text: string; isNumbered: boolean; below: string }
  const written = ({ indent, mark, text, isNumbered, below }: Line, at: number) =>
    `${indent}- [${mark}] ${isNumbered ? `1.${at} ` : ''}${text}${isNumbered ? '' : at}${below}`

  /** Id → what changes with the task alone. */
  function sourcesOf(store: Store, lines: string[]): Map<string, string | undefined> {
    const entries = say(store, 'changes/tea/tasks.md', lines.join('\n'))
    return new Map(entries.flatMap((e) => (e.kind === 'task' ? [[e.id, e.source]] : [])))
  }
  async function anyStore(): Promise<Store> {
    const store = await openSpec.detect(makeFolder({ 'openspec/config.yaml': '' }))
    if (!store) throw new Error('no store')
    return store
  }

  const differing = (one: Map<string, unknown>, other: Map<string, unknown>) =>
    [...new Set([...one.keys(), ...other.keys()])].filter((id) => one.get(id) !== other.get(id))

  test('is the task of the line that was ticked, and no other', async () => {
    const store = await anyStore()
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 20 }), fc.nat(), (list, n) => {
        const at = n % list.length
        const ticked = list.map((it, i) =>
          i === at ? { ...it, mark: it.mark === 'x' ? ' ' : 'x' } : it,
        )
        const before = sourcesOf(store, list.map(written))
        const after = sourcesOf(store, ticked.map(written))
        expect([...after.keys()]).toEqual([...before.keys()])
        expect(differing(before, after)).toEqual([[...before.keys()][at + 1]])
      }),
    )
  })

  test('is no task when lines change places', async () => {
    const flat = line.map((it) => ({
      ...it,
      indent: '',
      below: it.below.includes('more') ? it.below : '',
    }))
    const store = await anyStore()
    fc.assert(
      fc.property(fc.array(flat, { maxLength: 20 }), (list) => {
        const lines = list.map(written)
        const [before, after] = [lines, lines.toReversed()].map((it) => sourcesOf(store, it))
        expect(differing(before ?? new Map(), after ?? new Map())).toEqual([])
      }),
    )
  })
})

describe('a list of Kiro', () => {
  const specOf = (text: string, more: Files = {}) =>
    listed({ '.kiro/specs/tea/tasks.md': text, ...more })

  test('has the marks for what is queued and in progress, optional tasks and requirements', async () => {
    const tasks = await specOf(
      [
        '# Implementation Plan',
        '- [x] 1. Fill',
        '  - cold',
        '  - _Requirements: 1.2, 3.4_',
        '- [-] 2 Heat',
        '  - [ ]* 2.1 Measure',
        '  - [~] 2.2. Wait',
        '- [?] 3. 注ぐ',
      ].join('\n'),
      { '.kiro/specs/tea/requirements.md': '# Requirements Document\n\nTea.\n' },
    )
    expect(tasks).toMatchObject({
      tea: { title: 'tea', status: 'in-progress', body: '# Requirements Document\n\nTea.\n' },
      'tea/1': {
        title: 'Fill',
        status: 'done',
        body: '- cold\n- _Requirements: 1.2, 3.4_',
        extra: { requirements: ['1.2', '3.4'] },
      },
      'tea/2': { title: 'Heat', status: 'in-progress' },
      'tea/2.1': { title: 'Measure', status: 'todo', labels: ['optional'], parent: 'tea' },
      'tea/2.2': { title: 'Wait', status: 'queued' },
      'tea/3': { title: '注ぐ', status: 'todo' },
    })
    expect(Object.keys(tasks)).toHaveLength(6)
  })

  test('has the text of a bug where there are no requirements', async () => {
    const tasks = await specOf('- [x] 1. Fill\n', { '.kiro/specs/leak/bugfix.md': 'It drips.\n' })
    expect(tasks).toMatchObject({
      tea: { status: 'done' },
      leak: { title: 'leak', status: 'todo', body: 'It drips.\n' },
    })
  })
})

describe('a list of spec-kit', () => {
  test('has what waits for what, user stories, priorities, and what may run in parallel', async () => {
    const tasks = await listed({
      '.specify/memory/constitution.md': '',
      'specs/001-tea/spec.md': '# Feature Specification: Make tea\n',
      'specs/001-tea/tasks.md': [
        '# Tasks: Make tea',
        '## Phase 1: Setup',
        '- [X] T001 Fill the kettle',
        '## Phase 2: User Story 1 - Tea (Priority: P1) 🎯 MVP',
        '- [ ] T002 [P] [US1] Heat it (depends on T001)',
        '- [ ] T003 [US1] Pour [it] (slowly) (depends on T001, T002)',
        '- [ ] TXXX Clean up',
      ].join('\n'),
    })
    expect(tasks).toMatchObject({
      '001-tea': { title: 'Make tea', status: 'todo' },
      '001-tea/T001': { title: 'Fill the kettle', status: 'done', milestone: 'Phase 1: Setup' },
      '001-tea/T002': {
        title: 'Heat it',
        labels: ['parallel', 'US1'],
        priority: 'P1',
        deps: ['001-tea/T001'],
        ready: true,
      },
      '001-tea/T003': {
        title: 'Pour [it] (slowly)',
        labels: ['US1'],
        deps: ['001-tea/T001', '001-tea/T002'],
        ready: false,
      },
    })
    expect(tasks['001-tea/T001']).not.toHaveProperty('priority')
    expect(Object.values(tasks).find(({ title }) => title === 'TXXX Clean up')).toBeDefined()
  })

  test.each([
    ['(depends on T001)', 'Pour', ['T001']],
    ['(depends on T001).', 'Pour', ['T001']],
    ['(depends on T001) [P]', 'Pour', ['T001']],
    ['[P] (depends on T001)', 'Pour', ['T001']],
    ['*(depends on T001)*', 'Pour', ['T001']],
    ['**(Depends on: T001, T002)**', 'Pour', ['T001', 'T002']],
    ['_(depends upon **T001**, `T002`)_', 'Pour', ['T001', 'T002']],
    ['(depends on T001 for the kettle, T002)', 'Pour', ['T001', 'T002']],
    ['(depends on T001,\n  T002)', 'Pour', ['T001', 'T002']],
    ['(depends on T001,\nT002)', 'Pour', ['T001', 'T002']],
    ['\n  (depends on T001)', 'Pour', ['T001']],
    ['\n  - **Depends on**: T001 and T002', 'Pour', ['T001', 'T002']],
    ['\n  Dependencies: T001', 'Pour', ['T001']],
    ['(depends on T001-T004)', 'Pour', ['T001', 'T002', 'T004']],
    ['(depends on T001–T004)', 'Pour', ['T001', 'T002', 'T004']],
    ['(depends on T001 — T004)', 'Pour', ['T001', 'T002', 'T004']],
    ['(depends on T001 through T004)', 'Pour', ['T001', 'T002', 'T004']],
    ['(depends on T001-004, T020)', 'Pour', ['T001', 'T002', 'T004', 'T020']],
    ['(depends on T001–T010)', 'Pour', ['T001', 'T002', 'T004', 'T010']],
    ['that depends on T001', 'Pour that depends on T001', ['T001']],
    ['that depends on [T001]', 'Pour that depends on [T001]', ['T001']],
    ['what depends on it (see T001)', 'Pour what depends on it (see T001)', undefined],
    ['(T001 comes before)', 'Pour (T001 comes before)', undefined],
    ['\n\nT009 depends on T001', 'Pour', undefined],
  ])('reads what a task waits for from %j', async (written, title, waitsFor) => {
    const others = '- [ ] T001 Fill\n- [ ] T002 Heat\n- [ ] T004 Wait\n'
    const text = `${others}## Pour\n- [ ] T009 Pour ${written}\n`
    const tasks = await listed({ '.specify/x': '', 'specs/tea/tasks.md': text })
    const pour = tasks['tea/T009']
    expect(pour?.title).toBe(title)
    expect(pour?.deps).toEqual(waitsFor?.map((id) => `tea/${id}`))
    expect(pour?.ready).toBe(waitsFor === undefined)
    expect(pour?.labels).toEqual(written.includes('[P]') ? ['parallel'] : undefined)
  })

  test('takes no time for a text of nothing but what it waits for', async () => {
    const text = `- [ ] T001 Fill ${'depends on (T002 '.repeat(30_000)}\n`
    const listing = async () => {
      const tasks = await listed({ '.specify/x': '', 'specs/tea/tasks.md': text })
      expect(tasks['tea/T001']?.ready).toBe(false)
    }
    expect(await cpuMs(listing)).toBeLessThan(5_000)
  })
})

test.each([
  ['**11. Pour**', '11', 'Pour'],
  ['**11. Pour** it', '11', 'Pour it'],
  ['**11.** Pour', '11', 'Pour'],
  ['__1.2__ **Pour**', '1.2', '**Pour**'],
  ['*11 Pour*', '11', 'Pour'],
  ['~~3) Pour~~', '3', 'Pour'],
  ['11\\. Pour', '11', 'Pour'],
])('a number in emphasis is a number: %j', async (written, number, title) => {
  const tasks = await listed({ '.kiro/specs/tea/tasks.md': `- [ ] ${written}\n` })
  expect(tasks[`tea/${number}`]?.title).toBe(title)
})

test('a line that goes on without being indented is part of its task', async () => {
  const list =
    '- [ ] 1 Fill\nthe kettle\n# Title\n- [ ] 2 Heat\n\nof none\n- [ ] 3 Pour\n> of none\n'
  const tasks = await listOf(list)
  expect(tasks['tea/1']?.body).toBe('the kettle')
  expect(tasks['tea/2']).not.toHaveProperty('body')
  expect(tasks['tea/3']).not.toHaveProperty('body')
})

test.each([
  ['OpenSpec', 'openspec/changes/tea/tasks.md', {}],
  ['Kiro', '.kiro/specs/tea/tasks.md', {}],
  ['spec-kit', 'specs/tea/tasks.md', { '.specify/x': '' }],
])(
  'a task of %s is part of the one that it is indented under, or numbered below',
  async (_, path, more) => {
    const tasks = await listed({
      [path]: [
        '- [ ] 1. Kettle',
        '  - [ ] 1.1 Fill',
        '    - [ ] cold',
        '  - [ ] 2.1 Heat',
        '',
        '- [ ] 1.2 Pour',
        '- [ ] 1.2.3.4 Slowly',
        '- [ ] 3.1 Drink',
        '- [ ] 3 Cup',
        '- [ ] 12 Wash',
        '- [ ] 3 Again',
        '  - [ ] 9 Below the second',
      ].join('\n'),
      ...more,
    })
    const parts = Object.values(tasks).flatMap(({ title, partOf }) =>
      partOf ? [[title, partOf]] : [],
    )
    expect(Object.fromEntries(parts)).toEqual({
      Fill: 'tea/1',
      cold: 'tea/1.1',
      Heat: 'tea/1',
      Pour: 'tea/1',
      Slowly: 'tea/1.2',
    })
    const own = Object.values(tasks).filter(({ parent }) => parent !== undefined)
    expect(own.every(({ parent, file }) => parent === 'tea' && file === path)).toBe(true)
    expect(own.filter(({ unnumbered }) => unnumbered).map(({ title }) => title)).toEqual(['cold'])
  },
)
