// What waits for what in the lists of spec-kit and Kiro, by the order that these tools mean.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import type { Task } from '../../../worker/board/wire.ts'
import { cpuMs } from '../../support/cpu-time.ts'
import { listedBoard } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'

async function tasksOf(files: Record<string, string>) {
  const { tasks } = await listedBoard(makeFolder(files))
  return tasks.filter(({ parent }) => parent !== undefined)
}
const nameOf = (id: string) => id.slice(id.indexOf('/') + 1)
const readyOf = (tasks: Task[]) => tasks.filter((it) => it.ready).map(({ id }) => nameOf(id))

/** What each task waits for. */
async function depsIn(files: Record<string, string>): Promise<Record<string, string>> {
  const tasks = await tasksOf(files)
  return Object.fromEntries(
    tasks.map(({ id, deps = [] }) => [nameOf(id), deps.map(nameOf).join(' ')]),
  )
}

/** The list with these tasks done. */
const done = (list: string, ...numbers: string[]) =>
  numbers.reduce((text, it) => text.replace(`[ ] ${it} `, `[x] ${it} `), list)

/** All that wait for nothing are done together, until none is left. */
async function roundsOf(path: string, list: string, more: Record<string, string> = {}) {
  const rounds: string[][] = []
  for (let text = list; ; ) {
    const ready = readyOf(await tasksOf({ [path]: text, ...more }))
    if (ready.length === 0) return rounds
    rounds.push(ready)
    text = done(text, ...ready)
  }
}

describe('a list of spec-kit', () => {
  const SPECIFY = { '.specify/x': '' }
  const path = 'specs/tea/tasks.md'
  const LIST = `# Tasks
## Phase 1: Setup (Shared Infrastructure)
- [ ] T001 Lay the table
- [ ] T002 Fill the kettle
- [ ] T003 [P] Wash the cups
## Phase 2: Foundational (Blocking Prerequisites)
- [ ] T004 Heat the water
- [ ] T005 [P] Cut the lemon
- [ ] T006 [P] Open the milk
- [ ] T007 Warm the pot
## Phase 3: User Story 1 - Setup of black tea (Priority: P1) 🎯 MVP
### Tests for User Story 1
- [ ] T008 [P] [US1] Smell
- [ ] T009 [P] [US1] Taste
### Implementation for User Story 1
- [ ] T010 [US1] Steep (depends on T008)
## Phase 4: User Story 2 - Green tea (Priority: P2)
- [ ] T011 [US2] Steep shorter
- [ ] T012 [P] [US2] Warm the bowl
## Phase N: Polish & Cross-Cutting Concerns
- [ ] T013 [P] Clean up
- [ ] T014 Dry up
`

  test('does Setup first, then what is foundational, then the stories beside each other', async () => {
    expect(await depsIn({ [path]: LIST, ...SPECIFY })).toEqual({
      T001: '',
      T002: 'T001',
      T003: '',
      T004: 'T001 T002 T003',
      T005: 'T001 T002 T003',
      T006: 'T001 T002 T003',
      T007: 'T001 T002 T003 T004 T005 T006',
      T008: 'T004 T005 T006 T007',
      T009: 'T004 T005 T006 T007',
      T010: 'T008 T004 T005 T006 T007 T009',
      T011: 'T004 T005 T006 T007',
      T012: 'T004 T005 T006 T007',
      T013: 'T008 T009 T010 T011 T012',
      T014: 'T008 T009 T010 T011 T012 T013',
    })
    expect(await roundsOf(path, LIST, SPECIFY)).toEqual([
      ['T001', 'T003'],
      ['T002'],
      ['T004', 'T005', 'T006'],
      ['T007'],
      ['T008', 'T009', 'T011', 'T012'],
      ['T010'],
      ['T013'],
      ['T014'],
    ])
  })

  test('has the priority of its heading on the tasks of a story, and none on those before', async () => {
    const tasks = await tasksOf({ [path]: LIST, ...SPECIFY })
    const priorities = tasks.map(({ id, priority }) => [nameOf(id), priority])
    expect(priorities.slice(6, 12)).toEqual([
      ['T007', undefined],
      ['T008', 'P1'],
      ['T009', 'P1'],
      ['T010', 'P1'],
      ['T011', 'P2'],
      ['T012', 'P2'],
    ])
  })

  test.each([
    [
      'no phase but stories',
      '## User Story 1\n- [ ] T1 a\n## User Story 2\n- [ ] T2 b\n',
      [['T1', 'T2']],
    ],
    ['no heading', '- [ ] T1 a\n- [ ] T2 b\n- [ ] T3 [P] c\n', [['T1', 'T3'], ['T2']]],
    [
      'Setup without what is foundational',
      '## Phase 1: Project Setup\n- [ ] T1 a\n## Phase 2 - Story\n- [ ] T2 b\n',
      [['T1'], ['T2']],
    ],
    [
      'another Setup below a story',
      '## Phase 1: Story\n- [ ] T1 a\n## Phase 2: Setup\n- [ ] T2 b\n',
      [['T1', 'T2']],
    ],
    ['Polish alone', '## Setup\n- [ ] T1 a\n## Polish\n- [ ] T2 b\n', [['T1'], ['T2']]],
    [
      'a part, which waits for what its whole waits for',
      '## Setup\n- [ ] T1 a\n## Foundation\n- [ ] T2 b\n  - [ ] T3 of b\n  - [ ] T4 (depends on T3) of b\n- [ ] T5 c\n',
      [['T1'], ['T2', 'T3'], ['T4', 'T5']],
    ],
    [
      'a task that depends on one below it',
      '- [ ] T1 a\n- [ ] T2 b (depends on T4)\n- [ ] T3 c\n- [ ] T4 d\n- [ ] T5 e\n',
      [
        ['T1', 'T3', 'T4'],
        ['T2', 'T5'],
      ],
    ],
  ])('is done to its end with %s', async (_, list, rounds) => {
    expect(await roundsOf(path, list, SPECIFY)).toEqual(rounds)
  })
})

describe('a list of Kiro', () => {
  const path = '.kiro/specs/tea/tasks.md'
  const LIST = `# Implementation Plan
- [ ] 1. Kettle
  - [ ] 1.1 Fill
  - [ ] 1.2 Heat
  - [ ]* 1.3 Polish it
- [ ] 2. Pot
  - [ ] 2.1 Warm
  - [ ] 2.2 Pour
- [ ] 10. Drink
`
  const graphed = (graph: string, heading = '## Task Dependency Graph') => ({
    [path]: `${LIST}\n## Notes\n\nNone.\n\n${heading}\n\n${graph}\n\n## More\n\n{"waves": [["10"]]}\n`,
  })
  const NONE = { '1': '', '1.1': '', '1.2': '', '1.3': '', '2': '', '2.1': '', '2.2': '', '10': '' }
  const GRAPHED = { ...NONE, '1.2': '1.1', '1.3': '1.1 2.1', '2.2': '1.2 2.1', '10': '2.2' }

  test.each([
    [
      'waves with ids, in a fence of JSON',
      '```json\n{\n  "waves": [\n    { "id": 0, "tasks": ["1.1", "2.1"] },\n    { "id": 1, "tasks": ["1.2"] },\n    { "id": 2, "tasks": ["2.2"] }, { "id": 3, "tasks": ["10"] }\n  ]\n}\n```',
      { ...NONE, '1.2': '1.1 2.1', '2.2': '1.2', '10': '2.2' },
    ],
    [
      'waves that name those before them',
      '```\n[{"wave": 1, "depends_on": [], "tasks": ["1.1"]}, {"wave": 2, "depends_on": [], "tasks": ["2.1"]},\n {"wave": 3, "depends_on": [1], "tasks": ["1.2"]}, {"wave": 4, "dependsOn": [1, 2], "tasks": ["1.3"]},\n {"wave": 5, "depends_on": [3, 2], "tasks": ["2.2"]}, {"wave": 6, "tasks": [10], "rationale": "at last: it is [done], isn\'t it"}]\n```',
      GRAPHED,
    ],
    [
      'lists alone',
      '{"waves":[["1.1"],["1.2"],["2.1"],["2.2"],["10"]]}',
      { ...NONE, '1.2': '1.1', '2.1': '1.2', '2.2': '2.1', '10': '2.2' },
    ],
    ['a list of lists', '```json\n[\n["1.1"],\n["10"]\n]\n```', { ...NONE, '10': '1.1' }],
    [
      'YAML, whose numbers are text',
      '```yaml\nwaves:\n  - id: 0\n    tasks: [1.1, 2.1]\n  - id: 1\n    tasks:\n      - 1.2\n      - "Task 10."\n```',
      { ...NONE, '1.2': '1.1 2.1', '10': '1.1 2.1' },
    ],
    ['YAML that is a list', '```yml\n- tasks: [1.1]\n- tasks: [10]\n```', { ...NONE, '10': '1.1' }],
    [
      'a diagram before it',
      '```mermaid\ngraph TD\n  T1[1] --> T2[2]\n```\n\n```json\n{"1": [], "waves": [["1.1"], ["10"]]}\n```',
      { ...NONE, '10': '1.1' },
    ],
    [
      'a whole, by its parts',
      '{"waves": [["1"], ["2"], ["10"]]}',
      { ...NONE, '2': '1.1 1.2', '2.1': '1.1 1.2', '2.2': '1.1 1.2', '10': '2.1 2.2' },
    ],
    [
      'a part after its whole',
      '{"waves": [["1"], ["1.1"], ["10"]]}',
      { ...NONE, '1.1': '1.2', '10': '1.1' },
    ],
    [
      'a wave that is optional alone',
      '{"waves": [["1.1"], ["1.3"], ["10"]]}',
      { ...NONE, '1.3': '1.1', '10': '1.1' },
    ],
    [
      'tasks that are not there, or twice',
      '{"waves": [["1.1", "7"], ["8"], ["10", "1.1"], ["2.1", "10"]]}',
      { ...NONE, '10': '1.1', '2.1': '10' },
    ],
    [
      'a wave that names a later one, or a task',
      '{"waves": [{"wave": 8, "depends_on": [9], "tasks": ["1.1"]}, {"wave": 9, "depends_on": ["1.1", "10"], "tasks": ["10"]}]}',
      { ...NONE, '10': '1.1' },
    ],
    ['nothing that says waves', '```\nT1 --> T2\n```', NONE],
    ['half of it', '```json\n{"waves": [["1.1"], [', NONE],
  ])('waits as its graph says: %s', async (_, graph, deps) => {
    expect(await depsIn(graphed(graph))).toEqual(deps)
  })

  test('has a graph under any heading of that name, above its tasks as well', async () => {
    const graph = '### 3. Task dependency graph\n[["1.1"], ["10"]]\n## Tasks\n'
    expect(await depsIn({ [path]: graph + LIST })).toEqual({ ...NONE, '10': '1.1' })
    expect(await depsIn(graphed('[["1.1"], ["10"]]', '## Tasks'))).toEqual(NONE)
  })

  test('waits for a whole that is done, and not for its parts then', async () => {
    const list = graphed('{"waves": [["1"], ["10"]]}')[path] ?? ''
    const tasks = await tasksOf({ [path]: done(list, '1.') })
    expect(tasks.find(({ id }) => id === 'tea/10')).toMatchObject({ deps: ['tea/1'], ready: true })
  })

  test('is done without its optional tasks, which are marked, with their parts', async () => {
    const list = '- [x] 1 Fill\n- [ ]* 2 Taste\n  - [-] 2.1 Sip\n'
    const { tasks } = await listedBoard(makeFolder({ [path]: list }))
    expect(tasks).toMatchObject([
      { id: 'tea', status: 'done' },
      { id: 'tea/1' },
      { id: 'tea/2', optional: true, labels: ['optional'] },
      { id: 'tea/2.1', optional: true, labels: ['optional'] },
    ])
    expect(tasks[1]).not.toHaveProperty('optional')
    const optional = await listedBoard(makeFolder({ [path]: '- [x]* 1 Fill\n' }))
    expect(optional.tasks[0]).toMatchObject({ id: 'tea', status: 'done' })
  })
})

test.each([
  ['spec-kit', 'specs', '.specify/x', 'T'],
  ['Kiro', '.kiro/specs', '.kiro/steering/x', ''],
])('the longest list of %s takes no time, whatever waits for what', async (_, at, sign, letter) => {
  const numbers = (from: number, count: number) =>
    Array.from({ length: count }, (_item, n) => `${letter}${from + n}`)
  const tasks = (from: number, text: string) =>
    numbers(from, 4_900)
      .map((number) => `- [ ] ${number} ${text}\n`)
      .join('')
  const list = [
    `## Setup\n${tasks(1, '[P] a')}`,
    `## Foundational\n${tasks(5_001, '[P] (depends on T1-T9999)')}`,
    `## Task Dependency Graph\n[[${numbers(1, 1_000).join()}], [${numbers(5_001, 1_000).join()}]]\n`,
  ].join('')
  const store = await openStore(makeFolder({ [sign]: '', [`${at}/tea/tasks.md`]: list }))
  let entries: ReturnType<typeof store.parse>['entries'] = []
  const parse = () => {
    entries = store.parse(join(store.tasksIn, 'tea/tasks.md'), 'tasks', list).entries
  }
  expect(await cpuMs(parse)).toBeLessThan(5_000)
  expect(entries).toHaveLength(9_801)
  const deps = entries.flatMap((entry) => (entry.kind === 'task' && entry.task.deps) || [])
  expect(deps.length).toBeGreaterThan(10_000)
  expect(deps.length).toBeLessThan(100_000)
})

const TEMPLATE = join(
  process.env.REAL_BOARDS ?? '',
  'spec-kit/.specify/templates/tasks-template.md',
)
test.skipIf(!process.env.REAL_BOARDS)(
  'the template of spec-kit is done in the order that it states',
  async () => {
    let number = 28
    const list = readFileSync(TEMPLATE, 'utf8').replaceAll('TXXX', () => `T0${++number}`)
    const tasks = await tasksOf({ 'specs/tea/tasks.md': list, '.specify/x': '' })
    const deps = new Map(tasks.map((it) => [nameOf(it.id), it.deps?.map(nameOf) ?? []]))
    const all = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => `T${String(from + at).padStart(3, '0')}`)
    for (const it of all(4, 9)) expect(deps.get(it), it).toEqual(expect.arrayContaining(all(1, 3)))
    for (const it of all(10, 28))
      expect(deps.get(it), it).toEqual(expect.arrayContaining(all(4, 9)))
    for (const it of all(29, 34))
      expect(deps.get(it), it).toEqual(expect.arrayContaining(all(10, 28)))
    // "Different user stories can be worked on in parallel."
    expect(deps.get('T018')).not.toContain('T017')
  },
)
