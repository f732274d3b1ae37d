// Boards as their tools write them. The real ones stand in the folder that the environment variable
// REAL_BOARDS names; the small ones are ours, in the same shapes. What a board holds is counted here
// once more, by simpler means than the sidecar's.

import { cp, mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Session, Task } from '../../worker/board/wire.ts'
import { type Start, Starts } from '../support/local-system.ts'
import { makeFolder, tempFolder } from '../support/temp-folder.ts'

/** Folder with one real board a layout, each in a folder of its name. */
const { REAL_BOARDS = '' } = process.env

const starts = new Starts()
afterEach(() => starts.clear())

/** Serves a copy: a real board is never written to. */
async function serve(from: string): Promise<Start> {
  const storeDir = join(tempFolder(), 'board')
  await cp(from, storeDir, { recursive: true })
  return (await starts.start({ storeDir })).ready()
}

const sorted = (texts: string[]) => texts.toSorted((a, b) => a.localeCompare(b))

async function listed(start: Start) {
  const { tasks } = await start.json<{ tasks: Task[] }>('/tasks')
  const { sessions } = await start.json<{ sessions: Session[] }>('/sessions')
  const { layout } = await start.json<{ layout: string }>('/status')
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

/** Every task can be fetched by its id, in groups that an edge on a small machine bears. */
async function expectEachReadable(start: Start, ids: string[]): Promise<void> {
  for (let from = 0; from < ids.length; from += 50) {
    const group = ids.slice(from, from + 50)
    const found = await Promise.all(
      group.map(async (id) => (await start.json<Task>(`/tasks/${encodeURIComponent(id)}`)).id),
    )
    expect(found).toEqual(group)
  }
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
  it('of cairn is served whole', async () => {
    const from = join(REAL_BOARDS, 'cairn')
    const start = await serve(from)
    const { layout, ids, tasks, sessionIds } = await listed(start)
    expect(layout).toBe('cairn')
    expect(ids).toEqual(await stems(join(from, '.cairn/tasks'), '.md'))
    expect(sessionIds).toEqual(await stems(join(from, '.cairn/sessions'), '.yaml'))
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    await expectEachReadable(start, ids)
  })

  it('of Backlog.md is served whole', async () => {
    const from = join(REAL_BOARDS, 'backlog-md')
    const start = await serve(from)
    const { layout, ids, tasks } = await listed(start)
    expect(layout).toBe('backlog-md')
    expect(ids).toEqual(await backlogIds(from))
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    await expectEachReadable(start, ids)
  })

  it('of Task Master is served whole, and a task whose id is taken says so', async () => {
    const from = join(REAL_BOARDS, 'task-master')
    const start = await serve(from)
    const { layout, ids, tasks } = await listed(start)
    const written = await taskMasterIds(from)
    const unique = new Set(written)
    expect(layout).toBe('task-master')
    expect(ids).toHaveLength(written.length)
    expect(new Set(ids).size).toBe(ids.length)
    expect([...unique].filter((id) => !ids.includes(id))).toEqual([])
    const taken = tasks.filter(({ invalid }) => invalid !== undefined)
    expect(taken).toHaveLength(written.length - unique.size)
    await expectEachReadable(start, ids)
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
  ])('of %s is served whole', async (name, folder, twice) => {
    const from = join(REAL_BOARDS, name)
    const start = await serve(from)
    const { layout, ids, tasks } = await listed(start)
    expect(layout).toBe(name)
    const own = tasks.filter(({ parent }) => parent !== undefined)
    expect(own).toHaveLength(await checkboxesIn(join(from, folder)))
    expect(own.filter(({ id, parent }) => !id.startsWith(`${parent}/`))).toEqual([])
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toHaveLength(twice)
    await expectEachReadable(start, ids)
  })

  it('of BMAD is served whole', async () => {
    const from = join(REAL_BOARDS, 'bmad')
    const start = await serve(from)
    const { layout, ids, tasks } = await listed(start)
    const file = join(from, '_bmad-output/implementation-artifacts/sprint-status.yaml')
    const written = [...(await readFile(file, 'utf8')).matchAll(/^ {2}([\w-]+):/gm)]
    expect(layout).toBe('bmad')
    expect(ids).toEqual(sorted(written.map(([, key = '']) => key)))
    expect(tasks.filter(({ invalid }) => invalid !== undefined)).toEqual([])
    await expectEachReadable(start, ids)
  })
})

describe('a small board', () => {
  it('of spec-kit is served with ids that have slashes, and what waits for what', async () => {
    const start = await serve(
      makeFolder({
        '.specify/memory/constitution.md': '# Constitution\n',
        'specs/001-tea/tasks.md': '- [x] T001 Fill\n- [ ] T002 Heat (depends on T001)\n',
      }),
    )
    const { layout, ids } = await listed(start)
    expect(layout).toBe('spec-kit')
    expect(ids).toEqual(['001-tea', '001-tea/T001', '001-tea/T002'])
    await expectEachReadable(start, ids)
    const heat = await start.json<Task>(`/tasks/${encodeURIComponent('001-tea/T002')}`)
    expect(heat).toMatchObject({ parent: '001-tea', deps: ['001-tea/T001'], ready: true })
  })

  it('of cairn is served with its session and its runs', async () => {
    const start = await serve('examples/board')
    const { ids, sessionIds } = await listed(start)
    expect(ids).toEqual(await stems('examples/board/.cairn/tasks', '.md'))
    expect(sessionIds).toEqual(await stems('examples/board/.cairn/sessions', '.yaml'))
    const lamp = await start.json<Task & { runs: unknown[]; sessions: unknown[] }>('/tasks/LAMP-2')
    expect(lamp).toMatchObject({ status: 'in_progress', executionState: 'stalled', ready: true })
    expect(lamp.runs).toMatchObject([{ exit: 1, timedout: false, duration: '11.530s' }])
    expect(lamp.sessions).toMatchObject([{ actor: 'agent:otto', health: 'stalled' }])
  })

  it('of Backlog.md is served by the ids that its files say, not by their names', async () => {
    const task = (id: string, more = '') =>
      `---\nid: ${id}\ntitle: Bake ${id}\nstatus: To Do\n${more}---\nFlour.\n`
    const start = await serve(
      makeFolder({
        'backlog/config.yml':
          'project_name: Bakery\ntask_prefix: back\nstatuses: ["To Do", "Done"]\n',
        'backlog/tasks/back-1 - Bread.md': task('BACK-1', 'assignee: [@ada, @ben]\n'),
        'backlog/completed/back-2 - Rolls.md': task('BACK-2'),
        'backlog/drafts/draft-3 - Cake.md': task('DRAFT-3'),
        'backlog/tasks/readme.md': 'Not a task.\n',
      }),
    )
    const { layout, ids, tasks } = await listed(start)
    expect(layout).toBe('backlog-md')
    expect(ids).toEqual(['BACK-1', 'BACK-2', 'DRAFT-3'])
    expect(tasks.find(({ id }) => id === 'BACK-1')).toMatchObject({
      assignee: '@ada',
      assignees: ['@ada', '@ben'],
      ready: true,
    })
    const bens = await start.json<{ tasks: Task[] }>('/tasks?assignee=@ben')
    expect(bens.tasks.map(({ id }) => id)).toEqual(['BACK-1'])
  })

  it('of Task Master is served by tag, with its subtasks, and no task twice under one id', async () => {
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
    const start = await serve(makeFolder({ '.taskmaster/tasks/tasks.json': json }))
    const { layout, ids, tasks: rows } = await listed(start)
    expect(layout).toBe('task-master')
    expect(ids).toHaveLength(4)
    expect(ids).toEqual(expect.arrayContaining(['garden:1', 'garden:1.1', 'garden:2']))
    expect(rows.filter(({ invalid }) => invalid !== undefined)).toHaveLength(1)
    expect(rows.find(({ id }) => id === 'garden:2')).toMatchObject({ title: 'Sow', ready: true })
    expect(rows.find(({ id }) => id === 'garden:1.1')).toMatchObject({ parent: 'garden:1' })
  })

  it.each([
    ['without a folder of tasks', {}],
    ['with an empty folder of tasks', { '.taskmaster/tasks/.keep': '' }],
  ])(
    'of Task Master as its init makes it (%s) is empty, and hears of its first tasks',
    async (_, more) => {
      const start = await serve(makeFolder({ '.taskmaster/config.json': '{}', ...more }))
      expect(await listed(start)).toMatchObject({ layout: 'task-master', tasks: [] })
      const stream = await start.stream()
      await stream.joined()
      const tasks = [{ id: 1, title: 'Dig', status: 'pending' }]
      const file = join(start.storeDir, '.taskmaster/tasks/tasks.json')
      await mkdir(dirname(file), { recursive: true })
      // Whole at once: between the making of a file and the writing a busy machine may pause for
      // longer than a window.
      const written = makeFolder({ 'tasks.json': JSON.stringify({ master: { tasks } }) })
      await rename(join(written, 'tasks.json'), file)
      await stream.until(({ messages }) => messages.length > 0)
      expect(stream.messages).toEqual([{ type: 'tasks-changed' }])
      await stream.close()
      expect((await listed(start)).ids).toEqual(['master:1'])
    },
  )
})
