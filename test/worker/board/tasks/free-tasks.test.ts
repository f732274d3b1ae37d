import { describe, expect, test } from 'vitest'
import { readyTasks } from '../../../../worker/board/tasks/free-tasks.ts'
import { statusesOf } from '../../../../worker/board/tasks/to-do.ts'
import type { Task } from '../../../../worker/board/wire.ts'
import { listedBoard } from '../../../support/listed-board.ts'
import { makeFolder } from '../../../support/temp-folder.ts'

type Mark = NonNullable<Task['trees']>[number]
type Files = Record<string, string>

const cairn = (id: string, status: string): Files => ({
  [`.cairn/tasks/${id}.md`]: `---\nid: ${id}\ntitle: ${id}\nstatus: ${status}\n---\n`,
})
const backlog = (n: number, status: string): Files => ({
  [`backlog/tasks/back-${n} - It.md`]: `---\nid: BACK-${n}\ntitle: It\nstatus: ${status}\n---\n`,
})
const tagged = (statuses: Record<number, string>): string => {
  const tasks = Object.entries(statuses).map(([id, status]) => ({ id: +id, title: 'It', status }))
  return JSON.stringify({ master: { tasks } })
}

/** All but the closed tasks are `ready` for the edge. */
const BOARDS: Record<string, { files: Files; ready: string[]; canBegin: string[] }> = {
  cairn: {
    files: {
      '.cairn/config.yaml': 'states: [idea, doing, done]\nclosed: [done]\ninitial: idea\n',
      ...cairn('T-1', 'doing'),
      ...cairn('T-2', 'idea'),
      ...cairn('T-3', 'done'),
    },
    ready: ['T-1', 'T-2'],
    canBegin: ['T-2'],
  },
  'backlog-md': {
    files: {
      'backlog/config.yml': 'project_name: Tea\ntask_prefix: back\n',
      ...backlog(1, 'In Progress'),
      ...backlog(2, 'To Do'),
      ...backlog(3, 'Done'),
    },
    ready: ['BACK-1', 'BACK-2'],
    canBegin: ['BACK-2'],
  },
  'task-master': {
    files: {
      '.taskmaster/tasks/tasks.json': tagged({ 1: 'in-progress', 2: 'pending', 3: 'review' }),
    },
    ready: ['master:1', 'master:2', 'master:3'],
    canBegin: ['master:2'],
  },
  openspec: {
    files: { 'openspec/changes/tea/tasks.md': '- [x] 1.1 Fill\n- [ ] 1.2 Heat\n' },
    ready: ['tea/1.2'],
    canBegin: ['tea/1.2'],
  },
  'spec-kit': {
    files: {
      '.specify/memory/constitution.md': '',
      'specs/001-tea/tasks.md': '- [x] T001 Fill\n- [ ] T002 Heat\n',
    },
    ready: ['001-tea/T002'],
    canBegin: ['001-tea/T002'],
  },
  kiro: {
    files: { '.kiro/specs/tea/tasks.md': '- [-] 1. Fill\n- [ ] 2. Heat\n- [~] 3. Pour\n' },
    ready: ['tea/1', 'tea/2', 'tea/3'],
    canBegin: ['tea/2', 'tea/3'],
  },
  bmad: {
    files: {
      '_bmad/_config/manifest.yaml': 'modules: []\n',
      '_bmad-output/implementation-artifacts/sprint-status.yaml':
        'development_status:\n  1-1-a: review\n  1-2-b: in-progress\n  1-3-c: ready-for-dev\n',
    },
    ready: ['1-1-a', '1-2-b', '1-3-c'],
    canBegin: ['1-3-c'],
  },
}

const idsOf = (tasks: readonly Task[]) => tasks.map(({ id }) => id).toSorted()
const CONFIG = { states: ['todo', 'doing', 'done'], closed: ['done'] }

/** The ids of what can be begun, of tasks whose ids are their keys. */
function ready(
  tasks: Record<string, Partial<Task>>,
  config: Parameters<typeof readyTasks>[1] = CONFIG,
): string[] {
  const rows = Object.entries(tasks).map(([id, fields]): Task => {
    const { status = 'todo' } = fields
    return { id, title: id, status, ready: status !== 'done', ...fields }
  })
  return idsOf(readyTasks(new Map(rows.map((row) => [row.id, row])), config).tasks)
}

const { isToDo } = statusesOf({ states: ['idea', 'baking', 'To Do', 'eaten'] })
const STATES = ['idea', 'baking', 'To Do', 'eaten']

describe('a task that can be begun', () => {
  test.each(Object.entries(BOARDS))('is none that somebody has begun, in %s', async (_, board) => {
    const { tasks, config } = await listedBoard(makeFolder(board.files))
    expect(idsOf(tasks.filter(({ ready }) => ready))).toEqual(board.ready)
    const rows = new Map(tasks.map((row) => [row.id, row]))
    expect(idsOf(readyTasks(rows, config).tasks)).toEqual(board.canBegin)
  })

  test('is none that somebody works on, unless a claim of it has expired', () => {
    const worked = { executionState: 'stalled', activeAttempt: 'att_1' } as const
    const left = { executionState: 'stalled', activeAttempt: 'claim-1', status: 'doing' } as const
    expect(ready({ A: {}, B: worked, C: left, D: { ready: false } })).toEqual(['A', 'C'])
    expect(ready({ A: { executionState: 'active', activeAttempt: 'claim-1' } })).toEqual([])
  })

  test('is none that was begun in a worktree, or cannot be read there, nor one that was done', () => {
    const tree = (mark: Partial<Mark>) => ({ trees: [{ tree: 'feat', dir: '/feat', ...mark }] })
    const done = { at: '', by: 'ada', session: 'claim-1' }
    const tasks = {
      A: tree({ status: 'doing' }),
      B: tree({ status: 'done' }),
      C: tree({ invalid: true }),
      D: { done },
      E: tree({ status: 'todo', title: 'Other' }),
      F: tree({ gone: true }),
      G: { assignee: 'eve' },
    }
    expect(ready(tasks)).toEqual(['E', 'F', 'G'])
  })

  test('has a status up to the first of a new task, or one that says so', () => {
    expect(STATES.filter(isToDo)).toEqual(['idea', 'To Do'])
    for (const initial of ['baking', ' Baking']) {
      const later = statusesOf({ states: STATES, initial })
      expect(STATES.filter(later.isToDo)).toEqual(['idea', 'baking', 'To Do'])
    }
    expect(STATES.filter(statusesOf(undefined).isToDo)).toEqual(['To Do'])
  })
})

describe('a task with parts', () => {
  test('comes after them, at any depth, and they are none of a closed one', () => {
    const tasks = {
      A: {},
      'A.1': { parent: 'A', status: 'done' },
      'A.1.1': { parent: 'A.1' },
      B: { parent: 'gone' },
    }
    expect(ready(tasks)).toEqual(['B'])
    expect(ready({ ...tasks, 'A.1': { parent: 'A' } })).toEqual(['A.1.1', 'B'])
    expect(ready({ A: {}, 'A.1': { parent: 'A', status: 'done' } })).toEqual(['A'])
  })

  test.each<[string, Partial<Task>]>([
    ['in a folder', { folder: 'drafts', ready: false }],
    ['optional', { optional: true, ready: false }],
    ['unreadable', { invalid: 'It is.', ready: false }],
    ['waiting for it', { deps: ['A'], ready: false }],
  ])('does not wait for one that is %s', (_, part) => {
    expect(ready({ A: {}, 'A.1': { parent: 'A', ...part } })).toEqual(['A'])
  })

  test('does not wait for what waits for it through others, nor for what is below that', () => {
    const waits = { ready: false }
    const tasks = {
      A: {},
      'A.1': { parent: 'A', deps: ['B'], ...waits },
      'A.1.1': { parent: 'A.1', ...waits },
      B: { deps: ['A'], ...waits },
    }
    expect(ready(tasks)).toEqual(['A'])
  })

  test('does not wait for what is below an optional part, which itself does', () => {
    const tasks = { A: {}, B: { parent: 'A', optional: true }, C: { parent: 'B' } } as const
    expect(ready(tasks)).toEqual(['A', 'C'])
  })

  test('in a circle is part of nothing', () => {
    expect(ready({ A: { parent: 'B' }, B: { parent: 'A' }, C: { parent: 'C' } })).toEqual([
      'A',
      'B',
      'C',
    ])
    expect(ready({ A: { parent: 'B' }, B: { parent: 'A' }, C: { parent: 'A' } })).toEqual([
      'B',
      'C',
    ])
  })

  test('is closed by whoever closes the last of them, in Task Master and Kiro', () => {
    const tasks = { A: {}, 'A.1': { partOf: 'A', status: 'done' } }
    expect(ready(tasks, { ...CONFIG, layout: 'kiro' })).toEqual([])
    expect(ready(tasks, { ...CONFIG, layout: 'task-master' })).toEqual([])
    expect(ready(tasks, { ...CONFIG, layout: 'openspec' })).toEqual(['A'])
  })

  test('is not begun while somebody works on one, nor one while somebody works on it', () => {
    const held = { executionState: 'active', activeAttempt: 'claim-1' } as const
    const optional = { parent: 'A', optional: true } as const
    expect(ready({ A: held, 'A.1': { parent: 'A' } })).toEqual([])
    expect(ready({ A: {}, 'A.1': { ...optional, ...held }, 'A.2': optional })).toEqual(['A.2'])
  })
})
