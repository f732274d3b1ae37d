// The tools themselves are the judges of what is ready, and next: what they list for a board is compared with
// what we list, on boards of ours and on real ones. What they answered for ours is recorded here,
// and compared always; the tools are asked where the environment variable BOARD_TOOLS names a
// folder in which npm installed them (`backlog.md`, `task-master-ai`).

import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readyTasks } from '../../worker/board/tasks/free-tasks.ts'
import { run as runCli } from '../cli/run.ts'
import {
  ask,
  askTaskMaster,
  copyOf,
  copyOfTaskMaster,
  noTools,
  runTaskMaster,
  UNREPORTED,
} from '../support/judges.ts'
import { listedBoard } from '../support/listed-board.ts'
import { makeFolder } from '../support/temp-folder.ts'

const { REAL_BOARDS = '' } = process.env

const sorted = (ids: Iterable<string>) => [...ids].sort()

const readyHere = async (dir: string) => (await listedBoard(dir)).tasks.filter((it) => it.ready)

interface Listed {
  tasks: { id: string; tagName?: string }[]
}

async function backlogReady(dir: string): Promise<string[]> {
  const out = await ask('node_modules/.bin/backlog', ['task', 'list', '--ready', '--json'], dir)
  return sorted((JSON.parse(out) as Listed).tasks.map(({ id }) => id))
}

/** The ready tasks of all tags. It lists no subtasks. */
async function taskMasterReady(dir: string): Promise<string[]> {
  const { tasks } = await askTaskMaster<Listed>(['list', '--ready', '--json', '--all-tags'], dir)
  return sorted(tasks.map(({ id, tagName }) => `${tagName}:${id}`))
}

const task = (id: string, status: string, more = '') =>
  `---\nid: ${id}\ntitle: ${id} of the bakery\nstatus: ${status}\n${more}---\nFlour.\n`

const BAKERY = {
  'backlog/config.yml':
    'project_name: Bakery\nstatuses: ["To Do", "In Progress", "All Done"]\ntask_prefix: "back"\n',
  'backlog/milestones/m-1 - spring.md': '---\nid: m-1\ntitle: "Spring menu"\n---\n',
  'backlog/tasks/back-1 - Oven.md': task('BACK-1', '" all DONE "'),
  'backlog/tasks/back-2 - Bread.md': task('BACK-2', 'to do', 'dependencies: [BACK-1]\n'),
  'backlog/tasks/back-3 - Rolls.md': task('BACK-3', 'To Do', 'dependencies: [BACK-2]\n'),
  'backlog/tasks/back-4 - Cake.md': task('BACK-4', 'To Do', 'dependencies: [BACK-8, BACK-08]\n'),
  'backlog/tasks/back-5 - Pie.md': task('BACK-5', 'In Progress', 'dependencies: [DRAFT-1]\n'),
  'backlog/tasks/back-6 - Tart.md': task('BACK-6', 'To Do', 'dependencies: [BACK-20]\n'),
  'backlog/tasks/back-7 - Bun.md': task('BACK-7', 'To Do', 'dependencies: [BACK-9]\n'),
  'backlog/tasks/back-10 - Jam.md': task('BACK-10', 'To Do', 'milestone: m-1\ntype: feature\n'),
  'backlog/tasks/back-11 - Tea.md': task('BACK-11', 'To Do', 'due_date: 2026-08-10\n'),
  'backlog/completed/back-8 - Sign.md': task('BACK-8', 'All Done'),
  'backlog/completed/back-9 - Till.md': task('BACK-9', 'To Do'),
  'backlog/drafts/draft-1 - Ice.md': task('DRAFT-1', 'All Done'),
  'backlog/archive/tasks/back-20 - Cup.md': task('BACK-20', 'All Done'),
  'backlog/archive/tasks/back-11 - Old.md': task('BACK-11', 'To Do'),
}
const BAKERY_READY = ['BACK-10', 'BACK-11', 'BACK-2', 'BACK-4', 'BACK-7']

/** Ids that stand in `tasks` and in `completed`. */
const BREWERY = {
  'backlog/config.yml': BAKERY['backlog/config.yml'],
  'backlog/completed/back-1 - Old.md': task('BACK-1', 'All Done'),
  'backlog/tasks/back-1 - Rye.md': task('BACK-1', 'To Do'),
  'backlog/tasks/back-2 - Oats.md': task('BACK-2', 'To Do', 'dependencies: [BACK-1]\n'),
  'backlog/completed/back-3 - Old.md': task('BACK-3', 'To Do'),
  'backlog/tasks/back-3 - Malt.md': task('BACK-3', 'All Done'),
  'backlog/tasks/back-4 - Hops.md': task('BACK-4', 'To Do', 'dependencies: [BACK-3]\n'),
}
const BREWERY_READY = ['BACK-1']

const STATUSES = ['pending', 'in-progress', 'done', 'deferred', 'cancelled', 'blocked', 'review']
const GARDEN = {
  ...UNREPORTED,
  '.taskmaster/state.json': '{"currentTag":"garden"}',
  '.taskmaster/tasks/tasks.json': JSON.stringify({
    garden: {
      tasks: [
        ...STATUSES.map((status, at) => ({
          id: at + 1,
          title: status,
          status,
          priority: 'low',
          description: status,
          dependencies: [],
          subtasks: [],
        })),
        ...STATUSES.map((status, at) => ({
          id: at + 11,
          title: `after ${status}`,
          status: 'pending',
          priority: 'low',
          description: status,
          dependencies: [at + 1],
          subtasks: [],
          complexity: at,
        })),
      ],
    },
    shed: {
      tasks: [
        {
          id: 1,
          title: 'Paint',
          description: 'It',
          status: 'pending',
          priority: 'low',
          dependencies: [9],
        },
      ],
    },
  }),
}
const GARDEN_READY = ['garden:1', 'garden:13', 'garden:15', 'garden:2', 'garden:7']

describe('what is ready', () => {
  it('on a board of Backlog.md is what the tool answered', async () => {
    const dir = makeFolder(BAKERY)
    expect(sorted((await readyHere(dir)).map(({ id }) => id))).toEqual(BAKERY_READY)
  })

  it('of an id that is in tasks and in completed is what the tool answered: the live one', async () => {
    const dir = makeFolder(BREWERY)
    expect(sorted((await readyHere(dir)).map(({ id }) => id))).toEqual(BREWERY_READY)
    const { tasks } = await listedBoard(dir)
    const shared = tasks.filter(({ id }) => /BACK-[13](~2)?$/.test(id))
    expect(shared.map(({ id, folder, invalid }) => [id, folder, invalid])).toEqual([
      ['BACK-1', undefined, undefined],
      ['BACK-1~2', 'completed', 'another file has the id BACK-1: back-1 - Rye.md'],
      ['BACK-3', undefined, undefined],
      ['BACK-3~2', 'completed', 'another file has the id BACK-3: back-3 - Malt.md'],
    ])
  })

  it('on a board of Task Master is what the tool answered', async () => {
    const dir = makeFolder(GARDEN)
    expect(sorted((await readyHere(dir)).map(({ id }) => id))).toEqual(GARDEN_READY)
  })
})

describe('a board of Backlog.md', () => {
  it('shows statuses, milestones, types, due days and folders as the tool does', async () => {
    const { tasks } = await listedBoard(makeFolder(BAKERY))
    const byId = new Map(tasks.map((it) => [it.id, it]))
    expect(byId.get('BACK-1')).toMatchObject({ status: 'All Done', ready: false })
    expect(byId.get('BACK-10')).toMatchObject({ milestone: 'Spring menu', type: 'feature' })
    expect(byId.get('BACK-11')).toMatchObject({ dueDate: '2026-08-10', title: /bakery/ })
    expect(byId.get('BACK-11')).not.toHaveProperty('folder')
    expect(byId.get('BACK-11')).not.toHaveProperty('invalid')
    const archived = byId.get('BACK-11~2')
    expect(archived).toMatchObject({ folder: 'archive', ready: false })
    expect(archived).not.toHaveProperty('invalid')
    expect(byId.get('DRAFT-1')).toMatchObject({ folder: 'drafts', ready: false })
    expect(byId.get('BACK-9')).toMatchObject({ folder: 'completed', ready: false })
  })
})

it('a board of Task Master says its current tag, and the tag and complexity of each task', async () => {
  const { tasks, config } = await listedBoard(makeFolder(GARDEN))
  expect(config).toMatchObject({
    currentTag: 'garden',
    states: expect.arrayContaining(['blocked']),
  })
  expect(tasks.find(({ id }) => id === 'garden:13')).toMatchObject({ tag: 'garden', complexity: 2 })
  expect(tasks.find(({ id }) => id === 'shed:1')).toMatchObject({ tag: 'shed', ready: false })
})

const noBoards =
  noTools || (REAL_BOARDS === '' ? ' (skipped: REAL_BOARDS names no folder of boards)' : '')

describe.skipIf(noTools !== '')(`the tool itself${noTools}`, () => {
  it('Backlog.md lists what is recorded here', async () => {
    expect(await backlogReady(makeFolder(BAKERY))).toEqual(BAKERY_READY)
    // Where an id stands twice it lists nothing as JSON, and fails.
    const list = ['task', 'list', '--ready', '--plain']
    const failed = await ask('node_modules/.bin/backlog', list, makeFolder(BREWERY)).catch(
      (error: { stdout: string }) => error.stdout,
    )
    expect(failed.match(/BACK-\d+(?= - )/g)).toEqual(BREWERY_READY)
  })

  it('Task Master lists what is recorded here', async () => {
    expect(await taskMasterReady(makeFolder(GARDEN))).toEqual(GARDEN_READY)
  })
})

describe.skipIf(noTools !== '')(`a wait beside the tool${noTools}`, () => {
  const wait = (cwd: string, ...options: string[]) => runCli(['wait', ...options], {}, { cwd })

  /** A tool takes seconds to start, on a busy machine tens of them. */
  const timeout = 300_000

  const askBacklog = (args: string[], dir: string) => ask('node_modules/.bin/backlog', args, dir)

  /**
   * Each command ends one wait. What one left would end the wait for the next one too early, and in
   * the end there would be a change that nobody waited for.
   */
  async function expectOneEach(
    dir: string,
    tool: (args: string[], dir: string) => Promise<string>,
    commands: string[][],
  ): Promise<void> {
    const quiet = ['--timeout', '2s']
    let { id: since } = JSON.parse((await wait(dir, ...quiet)).out)
    for (const command of commands) {
      const waiting = wait(dir, '--since', since, '--timeout', '60s')
      await tool(command, dir)
      const { code, out } = await waiting
      expect(code, command.join(' ')).toBe(0)
      since = JSON.parse(out).id
    }
    expect(await wait(dir, '--since', since, ...quiet)).toMatchObject({ code: 3, err: '' })
  }

  it('of Backlog.md ends once for each of its commands that changes a task', {
    timeout,
  }, async () => {
    const dir = makeFolder(BAKERY)
    // The first command also writes the configuration anew, in a form of the tool's own.
    await askBacklog(['task', 'edit', 'BACK-10', '--priority', 'low'], dir)
    await expectOneEach(dir, askBacklog, [
      ['task', 'edit', 'BACK-2', '--status', 'In Progress'],
      ['task', 'edit', 'BACK-2', '--title', 'Dark bread'],
      ['task', 'create', 'Sourdough'],
      ['task', 'edit', 'BACK-2', '--status', 'All Done'],
      ['task', 'archive', 'BACK-3'],
    ])
  })

  it('of Task Master ends once for each of its commands that changes a task', {
    timeout,
  }, async () => {
    const dir = makeFolder(GARDEN)
    await expectOneEach(dir, runTaskMaster, [
      ['add-subtask', '--parent=1', '--title=Dig'],
      ['set-status', '--id=1', '--status=done'],
    ])
  })
})

/** What can be begun on a board, and which of it is next. */
async function beginnable(dir: string) {
  const { tasks: all, config } = await listedBoard(dir)
  return { all, config, ...readyTasks(new Map(all.map((task) => [task.id, task])), config) }
}

describe.skipIf(noBoards !== '')(`the tool on a real board${noBoards}`, () => {
  it('Backlog.md and we list the same tasks as ready, and begin none of the others', async () => {
    const dir = await copyOf(join(REAL_BOARDS, 'backlog-md'))
    const { all, tasks } = await beginnable(dir)
    const ready = sorted(all.filter((it) => it.ready).map(({ id }) => id))
    expect(ready.length).toBeGreaterThan(0)
    expect(ready).toEqual(await backlogReady(dir))
    expect(tasks.length).toBeGreaterThan(0)
    expect(ready).toEqual(expect.arrayContaining(tasks.map(({ id }) => id)))
  })

  it('Task Master and we list the same tasks as ready', async () => {
    const dir = await copyOfTaskMaster(join(REAL_BOARDS, 'task-master'))
    const ready = (await readyHere(dir)).filter(({ parent }) => parent === undefined)
    expect(ready.length).toBeGreaterThan(0)
    expect(sorted(ready.map(({ id }) => id))).toEqual(await taskMasterReady(dir))
  })

  it('what Task Master would begin next in a tag is ready here, or its first open part is, and next in its own', {
    timeout: 300_000,
  }, async () => {
    const dir = await copyOfTaskMaster(join(REAL_BOARDS, 'task-master'))
    const { all, tasks, config, next } = await beginnable(dir)
    // It is asked of the current tag, where it begins a part, and of one where it begins a whole.
    const asked = (...tag: string[]) =>
      askTaskMaster<{ task: { id: string } | null; tag: string }>(
        ['next', '--format', 'json', ...tag],
        dir,
      )
    const current = await asked()
    expect(current.tag).toBe(config?.currentTag)
    const chosen = next(tasks)
    expect([chosen?.id, chosen?.parent]).toContain(`${current.tag}:${current.task?.id}`)
    const isClosed = ({ status }: { status: string }) => config?.closed.includes(status)
    const open = all.filter((it) => !isClosed(it))
    for (const { tag, task: answer } of [current, await asked('--tag', 'master')]) {
      expect(answer, tag).not.toBe(null)
      const id = `${tag}:${answer?.id}`
      const [part] = open.filter((it) => it.parent === id && it.ready)
      expect(part ?? all.find((it) => it.id === id), id).toMatchObject({ ready: true })
      const parts = all.filter((it) => it.parent === id)
      expect(parts.filter((it) => it.held && it.status === 'pending')).toEqual([])
    }
  })

  it('the next of an OpenSpec change is the first that its list has open', async () => {
    const dir = await copyOf(join(REAL_BOARDS, 'openspec'))
    const { tasks, next } = await beginnable(dir)
    const answer = await ask('node_modules/.bin/openspec', ['list', '--json'], dir)
    const { changes } = JSON.parse(answer) as {
      changes: { name: string; completedTasks: number; totalTasks: number }[]
    }
    const open = changes.filter((it) => it.completedTasks < it.totalTasks).map(({ name }) => name)
    const parents = new Set(tasks.map(({ parent }) => parent))
    expect(parents).toEqual(new Set(open))
    for (const parent of parents) {
      const own = tasks.filter((task) => task.parent === parent)
      const first = own.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0))[0]
      expect(next(own)?.id).toBe(first?.id)
    }
  })
})
