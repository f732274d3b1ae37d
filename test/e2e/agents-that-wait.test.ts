// Agents that know the board by `signalbox wait --until ready` alone, and change its files as its
// tool does.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalBoard } from '../../system/data/local-json.ts'
import { run } from '../cli/run.ts'
import { backlogTask } from '../support/agents/backlog-agent.ts'
import { ask, noTools } from '../support/judges.ts'
import { oneProcess, Starts } from '../support/local-system.ts'
import { tempFolder } from '../support/temp-folder.ts'

const TIMEOUT = '3s'
/** On a busy machine. */
const UNREAD = 'could not be read in the time of --timeout'
const WORK_MS = 300

/** A board of one tool, and what its tool does to a task. */
interface Tool {
  files: Readonly<Record<string, string>>
  /** What can be done, in the end. */
  tasks: readonly string[]
  /** Makes a task that can begin at once. */
  added: { id: string; file: string; text(before: string): string }
  fileOf(task: string): string
  isOpen(text: string, task: string): boolean
  /** Undefined: the tool has no mark for what is begun. */
  begun?(text: string, task: string): string
  closed(text: string, task: string): string
}

const numberOf = (task: string) => task.split('/')[1] ?? ''
const marked = (mark: string) => (text: string, task: string) =>
  text.replace(
    new RegExp(`\\[.\\] ${numberOf(task).replace('.', '\\.')} `),
    `[${mark}] ${numberOf(task)} `,
  )
const isUnmarked = (text: string, task: string) => text.includes(`[ ] ${numberOf(task)} `)

const status = (to: string) => (text: string) => text.replace(/^status: .*$/m, `status: ${to}`)
const story = (to: string) => (text: string, task: string) =>
  text.replace(new RegExp(`${task}: .*`), `${task}: ${to}`)
const SPRINT = '_bmad-output/implementation-artifacts/sprint-status.yaml'

const TOOLS = {
  openspec: {
    files: {
      'openspec/changes/tea/tasks.md': '- [x] 1.1 Fill\n- [ ] 1.2 Heat\n- [ ] 1.3 Pour\n',
      'openspec/changes/cake/tasks.md': '- [ ] 1.1 Mix\n- [ ] 1.2 Bake\n- [ ] 2.1 Cool\n',
    },
    tasks: ['cake/1.1', 'cake/1.2', 'cake/2.1', 'tea/1.2', 'tea/1.3', 'tea/3.1'],
    added: {
      id: 'tea/3.1',
      file: 'openspec/changes/tea/tasks.md',
      text: (before) => `${before}- [ ] 3.1 Drink\n`,
    },
    fileOf: (task) => `openspec/changes/${task.split('/')[0]}/tasks.md`,
    isOpen: isUnmarked,
    closed: marked('x'),
  },
  kiro: {
    files: {
      '.kiro/specs/oven/tasks.md':
        '- [ ] 1 Door\n  - [ ] 1.1 Hinge\n  - [ ] 1.2 Glass\n- [ ] 2 Paint\n',
      '.kiro/specs/till/tasks.md': '- [x] 1 Drawer\n- [ ] 2 Bell\n',
    },
    // Who closes the last part closes the whole, which is offered to nobody.
    tasks: ['oven/1.1', 'oven/1.2', 'oven/2', 'till/2', 'till/3'],
    added: {
      id: 'till/3',
      file: '.kiro/specs/till/tasks.md',
      text: (before) => `${before}- [ ] 3 Lamp\n`,
    },
    fileOf: (task) => `.kiro/specs/${task.split('/')[0]}/tasks.md`,
    isOpen: isUnmarked,
    begun: marked('-'),
    closed: (text, task) =>
      marked('x')(text, task).replace(/^- \[ \] (1 Door\n(?: {2}- \[x\] .*\n)+- )/m, '- [x] $1'),
  },
  'backlog-md': {
    files: {
      'backlog/config.yml':
        'project_name: Bakery\nstatuses: ["To Do", "In Progress", "Done"]\ntask_prefix: "back"\n',
      'backlog/tasks/back-1 - Bread.md': backlogTask('BACK-1', 'Bread', 'Done'),
      ...Object.fromEntries(
        [2, 3, 4, 5, 6].map((n) => [
          `backlog/tasks/back-${n} - Bread.md`,
          // Each third one waits for the one before.
          backlogTask(
            `BACK-${n}`,
            'Bread',
            'To Do',
            `dependencies: [BACK-${n % 3 === 0 ? n - 1 : 1}]\n`,
          ),
        ]),
      ),
    },
    tasks: ['BACK-2', 'BACK-3', 'BACK-4', 'BACK-5', 'BACK-6', 'BACK-7'],
    added: {
      id: 'BACK-7',
      file: 'backlog/tasks/back-7 - Bread.md',
      text: () => backlogTask('BACK-7', 'Bread', 'To Do'),
    },
    fileOf: (task) => `backlog/tasks/${task.toLowerCase()} - Bread.md`,
    isOpen: (text) => text.includes('status: To Do'),
    begun: status('In Progress'),
    closed: status('Done'),
  },
  bmad: {
    files: {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.12.0\n',
      [SPRINT]:
        'development_status:\n  epic-1: in-progress\n  1-1-dough: ready-for-dev\n  1-2-yeast: backlog\n  1-3-salt: done\n  1-4-oven: ready-for-dev\n  epic-2: backlog\n  2-1-till: backlog\n',
    },
    tasks: ['1-1-dough', '1-2-yeast', '1-4-oven', '2-1-till', '2-2-bell'],
    added: {
      id: '2-2-bell',
      file: SPRINT,
      text: (before) => `${before}  2-2-bell: ready-for-dev\n`,
    },
    fileOf: () => SPRINT,
    isOpen: (text, task) => new RegExp(`${task}: (backlog|ready-for-dev)`).test(text),
    begun: story('in-progress'),
    closed: story('done'),
  },
} satisfies Record<string, Tool>
const LAYOUTS = Object.entries(TOOLS)
const BACKLOG = TOOLS['backlog-md']

const starts = new Starts()
afterAll(() => starts.clear())

/** One process with the boards of all tools in one folder. */
let running: { dir: string; boards: readonly LocalBoard[]; options: string[] }
beforeAll(async () => {
  running = await serveAll()
})

async function serveAll() {
  const dir = tempFolder()
  for (const [, tool] of LAYOUTS) new SharedBoard(dir, tool)
  const start = await (await starts.start({ launch: oneProcess, storeDir: dir })).ready()
  return { dir, boards: (await start.local()).boards, options: ['--data', start.dataDir] }
}

/** A board that agents share. It is read and written at once, as nothing may come between. */
class SharedBoard {
  readonly dir: string
  readonly #tool: Tool
  #isWhole = false

  constructor(dir: string, tool: Tool) {
    this.dir = dir
    this.#tool = tool
    for (const [name, text] of Object.entries(tool.files)) this.#write(name, () => text, '')
  }

  /** False: another agent has begun or closed it. */
  take(task: string): boolean | Promise<boolean> {
    const { fileOf, isOpen, begun, closed } = this.#tool
    const text = readFileSync(join(this.dir, fileOf(task)), 'utf8')
    if (!isOpen(text, task)) return false
    // Without a mark for what is begun, its work takes no time.
    this.#write(fileOf(task), begun ?? closed, task)
    return true
  }

  close(task: string): void | Promise<void> {
    this.#write(this.#tool.fileOf(task), this.#tool.closed, task)
  }

  add(): void {
    const { file, text } = this.#tool.added
    this.#write(file, text, '')
    this.#isWhole = true
  }

  /** `idle`: each task is closed, and one is still to be added. */
  get state(): 'open' | 'idle' | 'over' {
    const { tasks, added } = this.#tool
    const there = tasks.filter((task) => this.#isWhole || task !== added.id)
    if (!there.every((task) => this.isOver(task))) return 'open'
    return this.#isWhole ? 'over' : 'idle'
  }

  isOver(task: string): boolean {
    const { fileOf, closed } = this.#tool
    const text = readFileSync(join(this.dir, fileOf(task)), 'utf8')
    return closed(text, task) === text
  }

  #write(name: string, change: (text: string, task: string) => string, task: string): void {
    const path = join(this.dir, name)
    mkdirSync(dirname(path), { recursive: true })
    let before = ''
    try {
      before = readFileSync(path, 'utf8')
    } catch {
      // A new file.
    }
    writeFileSync(path, change(before, task))
  }
}

interface WorkPlan {
  options?: string[]
  /** Nothing comes, and it goes on from a place. */
  onIdle?(): void
}

/** Works until each task is closed, and nothing comes any more. Returns what it has done. */
async function work(
  board: SharedBoard,
  { options = [], onIdle }: WorkPlan = {},
): Promise<string[]> {
  const done: string[] = []
  let since: string[] = []
  for (;;) {
    const argv = ['wait', '--until', 'ready', '--timeout', TIMEOUT, ...since, ...options]
    const { code, out, err } = await run(argv, {}, { cwd: board.dir })
    if (err.includes(UNREAD)) continue
    expect(err).toBe('')
    const { id, task } = JSON.parse(out) as { id: string; task?: string }
    if (code === 3) {
      if (board.state === 'over') return done
      since = ['--since', id]
      if (board.state === 'idle') onIdle?.()
      continue
    }
    expect(code).toBe(0)
    // What is ready besides is named by a wait without a place.
    since = []
    if (task === undefined || !(await board.take(task))) continue
    await sleep(WORK_MS)
    await board.close(task)
    done.push(task)
  }
}

const inOrder = (tasks: string[]) => tasks.toSorted((a, b) => (a < b ? -1 : 1))

describe.concurrent.each(LAYOUTS)('by wait alone, on a board of %s', (layout, tool) => {
  it('an agent closes each task, and ends', async () => {
    const board = new SharedBoard(tempFolder(), tool)
    board.add()
    expect(inOrder(await work(board))).toEqual(tool.tasks)
    expect(tool.tasks.filter((task) => !board.isOver(task))).toEqual([])
  })

  it('two agents of a running Signalbox close each task once, one that comes late as well', async () => {
    const { boards, options, dir } = running
    const board = new SharedBoard(dir, tool)
    const { path = '' } = boards.find((it) => it.layout === layout) ?? {}
    const idle = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const both = idle.map(({ resolve }) =>
      work(board, { options: [...options, '--board', path], onIdle: resolve }),
    )
    // At least the later one goes on from a place.
    await Promise.all(idle.map(({ promise }) => promise))
    board.add()
    expect(inOrder((await Promise.all(both)).flat())).toEqual(tool.tasks)
    expect(tool.tasks.filter((task) => !board.isOver(task))).toEqual([])
  })
})

/** Of the others nothing else is to be seen, and each edit starts the tool. */
const FEW: Tool = {
  ...BACKLOG,
  files: Object.fromEntries(
    Object.entries(BACKLOG.files).filter(([name]) => !/back-[4-6]/.test(name)),
  ),
  tasks: ['BACK-2', 'BACK-3', 'BACK-7'],
}

/** Its tool itself edits the files. */
class BacklogBoard extends SharedBoard {
  override async take(task: string): Promise<boolean> {
    await this.#edit(task, 'In Progress')
    return true
  }

  override close(task: string): Promise<void> {
    return this.#edit(task, 'Done')
  }

  async #edit(task: string, status: string): Promise<void> {
    await ask('node_modules/.bin/backlog', ['task', 'edit', task, '--status', status], this.dir)
  }
}

it.skipIf(noTools !== '')(`by wait and the command line of Backlog.md${noTools}`, async () => {
  const board = new BacklogBoard(tempFolder(), FEW)
  board.add()
  expect(inOrder(await work(board))).toEqual(FEW.tasks)
  expect(FEW.tasks.filter((task) => !board.isOver(task))).toEqual([])
})
