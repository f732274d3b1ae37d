// Boards as their tools write them, published to workerd. The real ones stand in the folder that the
// environment variable REAL_BOARDS names; the small ones are ours, in the same shapes. What a board
// holds is counted here once more, by simpler means than the sidecar's.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Session, Task } from '../../worker/board/wire.ts'
import { run } from '../cli/run.ts'
import { Repo, token } from '../support/edge.ts'
import { type EdgeProcess, startEdge } from '../support/start-edge.ts'
import { makeFolder, tempFolder } from '../support/temp-folder.ts'

/** Folder with one real board a layout, each in a folder of its name. */
const { REAL_BOARDS = '' } = process.env

let edge: EdgeProcess
beforeAll(async () => {
  edge = await startEdge('workerd')
})
afterAll(() => edge.close())

/** Nothing is written to the folder. */
async function publish(dir: string): Promise<Repo> {
  const repo = new Repo(edge)
  const SIGNALBOX_TOKEN = await token({ repos: [repo.path] })
  const to = ['--edge', edge.origin, '--repo', repo.path, '--cache', tempFolder()]
  const { code, err } = await run(['sync', dir, ...to], { SIGNALBOX_TOKEN })
  expect(code, err).toBe(0)
  return repo
}

const sorted = (texts: string[]) => texts.toSorted((a, b) => a.localeCompare(b))

async function listed(repo: Repo) {
  const { tasks } = await repo.json<{ tasks: Task[] }>('/tasks')
  const { sessions } = await repo.json<{ sessions: Session[] }>('/sessions')
  const { layout } = await repo.json<{ layout: string }>('/status')
  return {
    layout,
    tasks,
    ids: sorted(tasks.map(({ id }) => id)),
    sessionIds: sorted(sessions.map(({ id }) => id)),
  }
}

/** Names of a folder's files without their ending. */
const stems = async (dir: string, ending: string) =>
  sorted(
    (await readdir(dir))
      .filter((name) => name.endsWith(ending))
      .map((name) => name.slice(0, -ending.length)),
  )

/** So many tasks of each board, from all of its parts, are fetched by their ids. */
const FETCHED = 120

async function expectReadable(repo: Repo, ids: string[]): Promise<void> {
  const some = ids.filter((_, at) => at % Math.ceil(ids.length / FETCHED) === 0)
  const found = await Promise.all(
    some.map(async (id) => (await repo.json<Task>(`/tasks/${encodeURIComponent(id)}`)).id),
  )
  expect(found).toEqual(some)
}

async function backlogIds(dir: string): Promise<string[]> {
  const folders = ['tasks', 'completed', 'drafts'].map((name) => join(dir, 'backlog', name))
  const ids: string[] = []
  for (const folder of folders) {
    const names = await readdir(folder)
    for (const name of names.filter((it) => /^[a-z]+-\d/.test(it))) {
      const id = /^id: *['"]?([^'"\s]+)/m.exec(await readFile(join(folder, name), 'utf8'))?.[1]
      if (id === undefined) throw new Error(`${name} has no id`)
      ids.push(id)
    }
  }
  return sorted(ids)
}

type TaskMaster = Record<string, { tasks: { id: number; subtasks?: { id: number }[] }[] }>

async function taskMasterIds(dir: string): Promise<string[]> {
  const text = await readFile(join(dir, '.taskmaster/tasks/tasks.json'), 'utf8')
  return Object.entries(JSON.parse(text) as TaskMaster).flatMap(([tag, { tasks }]) =>
    tasks.flatMap(({ id, subtasks = [] }) => [
      `${tag}:${id}`,
      ...subtasks.map((subtask) => `${tag}:${id}.${subtask.id}`),
    ]),
  )
}

const why = REAL_BOARDS === '' ? ' (skipped: REAL_BOARDS names no folder of boards)' : ''

describe.skipIf(REAL_BOARDS === '')(`a real board${why}`, () => {
  it('of cairn is published whole', async () => {
    const from = join(REAL_BOARDS, 'cairn')
    const repo = await publish(from)
    const { layout, ids, tasks, sessionIds } = await listed(repo)
    expect(layout).toBe('cairn')
    expect(ids).toEqual(await stems(join(from, '.cairn/tasks'), '.md'))
    expect(sessionIds).toEqual(await stems(join(from, '.cairn/sessions'), '.yaml'))
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    await expectReadable(repo, ids)
  })

  it('of Backlog.md is published whole', async () => {
    const from = join(REAL_BOARDS, 'backlog-md')
    const repo = await publish(from)
    const { layout, ids, tasks } = await listed(repo)
    expect(layout).toBe('backlog-md')
    expect(ids).toEqual(await backlogIds(from))
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    await expectReadable(repo, ids)
  })

  it('of Task Master is published whole, and a task whose id is taken says so', async () => {
    const from = join(REAL_BOARDS, 'task-master')
    const repo = await publish(from)
    const { layout, ids, tasks } = await listed(repo)
    const written = await taskMasterIds(from)
    const unique = new Set(written)
    expect(layout).toBe('task-master')
    expect(ids).toHaveLength(written.length)
    expect(new Set(ids).size).toBe(ids.length)
    expect([...unique].filter((id) => !ids.includes(id))).toEqual([])
    const taken = tasks.filter(({ invalid }) => invalid !== undefined)
    expect(taken).toHaveLength(written.length - unique.size)
    await expectReadable(repo, ids)
  })
})

/** What counts as a checkbox is said by board-counts.test.ts: these have no others. */
async function checkboxesIn(dir: string): Promise<number> {
  const paths = (await readdir(dir, { recursive: true })).filter((it) => it.endsWith('/tasks.md'))
  const texts = await Promise.all(paths.map((path) => readFile(join(dir, path), 'utf8')))
  return texts.join('\n').match(/^ *[-*] \[[ xX]\]/gm)?.length ?? 0
}

describe.skipIf(REAL_BOARDS === '')(`a real board with ids that have slashes${why}`, () => {
  it.each([
    ['openspec', 'openspec/changes', 1],
    ['kiro', '.kiro/specs', 0],
  ])('of %s is published whole', async (name, folder, twice) => {
    const from = join(REAL_BOARDS, name)
    const repo = await publish(from)
    const { layout, ids, tasks } = await listed(repo)
    expect(layout).toBe(name)
    const own = tasks.filter(({ parent }) => parent !== undefined)
    expect(own).toHaveLength(await checkboxesIn(join(from, folder)))
    expect(own.filter(({ id, parent }) => !id.startsWith(`${parent}/`))).toEqual([])
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toHaveLength(twice)
    await expectReadable(repo, ids)
  })

  it('of BMAD is published whole', async () => {
    const from = join(REAL_BOARDS, 'bmad')
    const repo = await publish(from)
    const { layout, ids, tasks } = await listed(repo)
    const file = join(from, '_bmad-output/implementation-artifacts/sprint-status.yaml')
    const written = [...(await readFile(file, 'utf8')).matchAll(/^ {2}([\w-]+):/gm)]
    expect(layout).toBe('bmad')
    expect(ids).toEqual(sorted(written.map(([, key = '']) => key)))
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    await expectReadable(repo, ids)
  })
})

describe('a small board', () => {
  it('of spec-kit is published with ids that have slashes, and what waits for what', async () => {
    const repo = await publish(
      makeFolder({
        '.specify/memory/constitution.md': '# Constitution\n',
        'specs/001-tea/tasks.md': '- [x] T001 Fill\n- [ ] T002 Heat (depends on T001)\n',
      }),
    )
    const { layout, ids } = await listed(repo)
    expect(layout).toBe('spec-kit')
    expect(ids).toEqual(['001-tea', '001-tea/T001', '001-tea/T002'])
    await expectReadable(repo, ids)
    const heat = await repo.json<Task>(`/tasks/${encodeURIComponent('001-tea/T002')}`)
    expect(heat).toMatchObject({ parent: '001-tea', deps: ['001-tea/T001'], ready: true })
  })

  it('of cairn is published with its session and its runs', async () => {
    const repo = await publish('examples/board')
    const { ids, sessionIds } = await listed(repo)
    expect(ids).toEqual(await stems('examples/board/.cairn/tasks', '.md'))
    expect(sessionIds).toEqual(await stems('examples/board/.cairn/sessions', '.yaml'))
    const lamp = await repo.json<Task & { runs: unknown[]; sessions: unknown[] }>('/tasks/LAMP-2')
    expect(lamp).toMatchObject({ status: 'in_progress', executionState: 'stalled', ready: true })
    expect(lamp.runs).toMatchObject([{ exit: 1, timedout: false, duration: '11.530s' }])
    expect(lamp.sessions).toMatchObject([{ actor: 'agent:otto', health: 'stalled' }])
  })

  it('of Backlog.md is published by the ids that its files say, not by their names', async () => {
    const task = (id: string, more = '') =>
      `---\nid: ${id}\ntitle: Bake ${id}\nstatus: To Do\n${more}---\nFlour.\n`
    const repo = await publish(
      makeFolder({
        'backlog/config.yml':
          'project_name: Bakery\ntask_prefix: back\nstatuses: ["To Do", "Done"]\n',
        'backlog/tasks/back-1 - Bread.md': task('BACK-1', 'assignee: [@ada, @ben]\n'),
        'backlog/completed/back-2 - Rolls.md': task('BACK-2'),
        'backlog/drafts/draft-3 - Cake.md': task('DRAFT-3'),
        'backlog/tasks/readme.md': 'Not a task.\n',
      }),
    )
    const { layout, ids, tasks } = await listed(repo)
    expect(layout).toBe('backlog-md')
    expect(ids).toEqual(['BACK-1', 'BACK-2', 'DRAFT-3'])
    expect(tasks.find(({ id }) => id === 'BACK-1')).toMatchObject({
      assignee: '@ada',
      assignees: ['@ada', '@ben'],
      ready: true,
    })
    const bens = await repo.json<{ tasks: Task[] }>('/tasks?assignee=@ben')
    expect(bens.tasks.map(({ id }) => id)).toEqual(['BACK-1'])
  })

  it('of Task Master is published by tag, with its subtasks, and no task twice under one id', async () => {
    const tasks = [
      {
        id: 1,
        title: 'Dig',
        status: 'done',
        subtasks: [{ id: 1, title: 'Spade', status: 'done' }],
      },
      { id: 2, title: 'Sow', status: 'pending', dependencies: [1] },
      { id: 2, title: 'Sow again', status: 'pending' },
    ]
    const json = JSON.stringify({ garden: { tasks } })
    const repo = await publish(makeFolder({ '.taskmaster/tasks/tasks.json': json }))
    const { layout, ids, tasks: rows } = await listed(repo)
    expect(layout).toBe('task-master')
    expect(ids).toHaveLength(4)
    expect(ids).toEqual(expect.arrayContaining(['garden:1', 'garden:1.1', 'garden:2']))
    expect(rows.filter(({ invalid }) => invalid !== undefined)).toHaveLength(1)
    expect(rows.find(({ id }) => id === 'garden:2')).toMatchObject({ title: 'Sow', ready: true })
    expect(rows.find(({ id }) => id === 'garden:1.1')).toMatchObject({ parent: 'garden:1' })
  })
})
