import { describe, expect, test } from 'vitest'
import { canBegin, toDoIn } from '../../../worker/board/to-do.ts'
import { listedBoard } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'

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

describe('a task that can begin', () => {
  test.each(Object.entries(BOARDS))('is none that somebody has begun, in %s', async (_, board) => {
    const { tasks, config } = await listedBoard(makeFolder(board.files))
    const isToDo = toDoIn(config)
    const idsOf = (isIt: (task: (typeof tasks)[number]) => boolean) =>
      tasks
        .filter(isIt)
        .map(({ id }) => id)
        .toSorted()
    expect(idsOf(({ ready }) => ready)).toEqual(board.ready)
    expect(idsOf((task) => canBegin(task, isToDo))).toEqual(board.canBegin)
  })

  test('is none that somebody works on, whatever its status says', () => {
    const task = { id: 'T-1', title: 'It', status: 'todo', ready: true }
    const isToDo = toDoIn({ states: ['todo', 'done'] })
    expect(canBegin(task, isToDo)).toBe(true)
    expect(canBegin({ ...task, executionState: 'stalled' }, isToDo)).toBe(false)
    expect(canBegin({ ...task, ready: false }, isToDo)).toBe(false)
  })

  test('is none that was begun in a linked worktree, except for who works in that one', () => {
    const trees = [{ tree: 'feat', dir: '/feat', status: 'doing' }]
    const task = { id: 'T-1', title: 'It', status: 'todo', ready: true, trees }
    const isToDo = toDoIn({ states: ['todo', 'doing', 'done'] })
    expect(canBegin(task, isToDo)).toBe(false)
    expect(canBegin(task, isToDo, 'other')).toBe(false)
    expect(canBegin(task, isToDo, 'feat')).toBe(true)
    const retitled = { tree: 'feat', dir: '/feat', status: 'todo', title: 'Other' }
    expect(canBegin({ ...task, trees: [retitled] }, isToDo)).toBe(true)
  })

  test('is one with a status up to the first of a new task, or one that says so', () => {
    const states = ['idea', 'baking', 'To Do', 'eaten']
    expect(states.filter(toDoIn({ states }))).toEqual(['idea', 'To Do'])
    expect(states.filter(toDoIn({ states, initial: 'baking' }))).toEqual([
      'idea',
      'baking',
      'To Do',
    ])
    expect(states.filter(toDoIn(undefined))).toEqual(['To Do'])
  })
})
