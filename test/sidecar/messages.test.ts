// Which message comes of which files, with a real sidecar on a board of each layout: each case live
// and resumed, and one of a layout by a sidecar that finds it after it was away.

import { afterEach, describe, expect, test } from 'vitest'
import type { Message, Task } from '../../worker/board/wire.ts'
import { type Files, PublishedFolder } from './published-folder.ts'

const TASKS: Message = { type: 'tasks-changed' }
const task = (id: string): Message => ({ type: 'task-changed', id })
const session = (id: string): Message => ({ type: 'session-changed', session: id })

interface Case {
  what: string
  change(folder: PublishedFolder): void
  message: Message
  /** What must stand in the list when the message is there. */
  list?: Record<string, Partial<Task>>
}

interface Layout {
  name: string
  files: Files
  cases: readonly Case[]
  /** Bytes that stand there already. */
  rewrite(folder: PublishedFolder): void
  /** A change of a task that no case touches, and its message. */
  last(folder: PublishedFolder): Message
}

const SES = 'ses_0123456789abcdef01234567'
const cairnTask = (title: string, status: string, more = '') =>
  `---\ntitle: ${title}\nstatus: ${status}\n${more}---\nText.\n`
const CAIRN: Files = {
  '.cairn/config.yaml': 'prefix: T\nstates: [open, review, done]\nclosed: [done]\ninitial: open\n',
  '.cairn/tasks/T-1.md': cairnTask('One', 'open', 'active_attempt: a1\n'),
  '.cairn/tasks/T-2.md': cairnTask('Two', 'open', 'deps: [T-1]\n'),
  '.cairn/tasks/T-3.md': cairnTask('Three', 'done'),
  '.cairn/tasks/T-4.md': cairnTask('Four', 'open', 'deps: [T-3]\n'),
  '.cairn/tasks/T-9.md': cairnTask('Nine', 'open'),
}
const cairnSession = (status: string) =>
  `id: ${SES}\ntask: T-1\nattempt: a1\nactor: agent:a\nstatus: ${status}\nstarted_at: 2026-03-03T09:00:00Z\n`
const live = (at: number) =>
  JSON.stringify({ session: SES, heartbeatAt: new Date(at).toISOString(), progress: `at ${at}` })

const cairn: Layout = {
  name: 'cairn',
  files: CAIRN,
  rewrite: (folder) => folder.write('.cairn/tasks/T-2.md', CAIRN['.cairn/tasks/T-2.md'] ?? ''),
  last(folder) {
    folder.write('.cairn/tasks/T-9.md', cairnTask('Last', 'open'))
    return task('T-9')
  },
  cases: [
    {
      what: 'one task is done that another waits for',
      change: (folder) => folder.write('.cairn/tasks/T-1.md', cairnTask('One', 'done')),
      message: task('T-1'),
      list: { 'T-1': { status: 'done' }, 'T-2': { ready: true } },
    },
    {
      what: 'one task is deleted that another waited for',
      change: (folder) => folder.remove('.cairn/tasks/T-3.md'),
      message: task('T-3'),
      list: { 'T-4': { ready: false } },
    },
    {
      what: 'a task appears, and a session in the same window',
      change(folder) {
        folder.write(`.cairn/sessions/${SES}.yaml`, cairnSession('finished'))
        folder.write('.cairn/tasks/T-5.md', cairnTask('Five', 'open'))
      },
      message: task('T-5'),
      list: { 'T-5': { ready: true }, 'T-1': { executionState: 'awaiting_review' } },
    },
    {
      what: 'a session begins and turns its task',
      change(folder) {
        folder.write(`.cairn/live/${SES}.json`, live(Date.now()))
        folder.write(`.cairn/sessions/${SES}.yaml`, cairnSession('active'))
      },
      message: session(SES),
      list: { 'T-1': { executionState: 'active', sessionId: SES } },
    },
    {
      what: 'a run log appears',
      change: (folder) =>
        folder.write(
          '.cairn/runs/T-2-20260302-104058.310.log',
          'cmd: make\ncwd: .\nhead: 1\nexit: 0  timedout: false  duration: 1s\n----\nfine\n',
        ),
      message: task('T-2'),
    },
    {
      what: 'two tasks are saved',
      change(folder) {
        folder.write('.cairn/tasks/T-1.md', cairnTask('Uno', 'open'))
        folder.write('.cairn/tasks/T-2.md', cairnTask('Due', 'open'))
      },
      message: TASKS,
      list: { 'T-1': { title: 'Uno' }, 'T-2': { title: 'Due' } },
    },
    {
      what: 'the configuration closes another state',
      change: (folder) =>
        folder.write(
          '.cairn/config.yaml',
          'prefix: T\nstates: [open, done]\nclosed: [open]\ninitial: open\n',
        ),
      message: TASKS,
      list: { 'T-2': { ready: false }, 'T-4': { ready: false } },
    },
  ],
}

const backlogTask = (n: number, title: string, status: string, more = '') =>
  `---\nid: BACK-${n}\ntitle: ${title}\nstatus: ${status}\n${more}---\nText.\n`
const BACKLOG: Files = {
  'backlog/config.yml':
    'project_name: B\ntask_prefix: "back"\nstatuses: ["To Do", "Doing", "Done"]\n',
  'backlog/tasks/back-1 - One.md': backlogTask(1, 'One', 'To Do'),
  'backlog/tasks/back-2 - Two.md': backlogTask(2, 'Two', 'To Do', 'dependencies: [BACK-1]\n'),
  'backlog/tasks/back-3 - Three.md': backlogTask(3, 'Three', 'To Do'),
  // As macOS writes a name, and as a rename to the same letters does.
  'backlog/tasks/back-4 - Ku\u0308che.md': backlogTask(4, 'Küche', 'To Do'),
  'backlog/tasks/back-9 - Nine.md': backlogTask(9, 'Nine', 'To Do'),
}

const backlog: Layout = {
  name: 'Backlog.md',
  files: BACKLOG,
  rewrite: (folder) =>
    folder.write('backlog/tasks/back-2 - Two.md', BACKLOG['backlog/tasks/back-2 - Two.md'] ?? ''),
  last(folder) {
    folder.write('backlog/tasks/back-9 - Nine.md', backlogTask(9, 'Last', 'To Do'))
    return task('BACK-9')
  },
  cases: [
    {
      what: 'one task is done that another waits for',
      change: (folder) =>
        folder.write('backlog/tasks/back-1 - One.md', backlogTask(1, 'One', 'Done')),
      message: task('BACK-1'),
      list: { 'BACK-2': { ready: true } },
    },
    {
      what: 'a task gets a new title, and its file another name',
      change(folder) {
        folder.move('backlog/tasks/back-3 - Three.md', 'backlog/tasks/back-3 - Drei.md')
        folder.write('backlog/tasks/back-3 - Drei.md', backlogTask(3, 'Drei', 'To Do'))
      },
      message: task('BACK-3'),
      list: { 'BACK-3': { title: 'Drei' } },
    },
    {
      what: 'a file gets another name alone',
      change: (folder) =>
        folder.move('backlog/tasks/back-3 - Three.md', 'backlog/tasks/back-3 - Drei.md'),
      message: task('BACK-3'),
      list: { 'BACK-3': { title: 'Three', file: 'backlog/tasks/back-3 - Drei.md' } },
    },
    {
      what: 'a file gets its own name, of other characters',
      change: (folder) =>
        folder.move(
          'backlog/tasks/back-4 - Ku\u0308che.md',
          'backlog/tasks/back-4 - K\u00fcche.md',
        ),
      message: task('BACK-4'),
      list: { 'BACK-4': { file: 'backlog/tasks/back-4 - K\u00fcche.md' } },
    },
    {
      what: 'a new file of a task is written before the old one is removed',
      change(folder) {
        folder.write('backlog/tasks/back-3 - Drei.md', backlogTask(3, 'Drei', 'To Do'))
        folder.remove('backlog/tasks/back-3 - Three.md')
      },
      message: task('BACK-3'),
      list: { 'BACK-3': { title: 'Drei' } },
    },
    {
      what: 'a task is completed as it is, by a move to another folder',
      change: (folder) =>
        folder.move('backlog/tasks/back-1 - One.md', 'backlog/completed/back-1 - One.md'),
      message: task('BACK-1'),
      list: { 'BACK-1': { ready: false }, 'BACK-2': { ready: true } },
    },
    {
      what: 'the configuration has another last status',
      change: (folder) =>
        folder.write('backlog/config.yml', 'project_name: B\nstatuses: ["Done", "To Do"]\n'),
      message: TASKS,
      list: { 'BACK-1': { ready: false } },
    },
  ],
}

const TASK_MASTER = {
  one: {
    tasks: [
      { id: 1, title: 'One', status: 'pending' },
      {
        id: 2,
        title: 'Two',
        status: 'pending',
        dependencies: [1],
        subtasks: [{ id: 2, title: 'Part', status: 'pending', dependencies: [1] }],
      },
      { id: 9, title: 'Nine', status: 'pending' },
    ],
  },
}
type Board = typeof TASK_MASTER
const FILE = '.taskmaster/tasks/tasks.json'
/** The board with something done to it, written whole, as the tool does. */
function edited(folder: PublishedFolder, edit: (board: Board) => unknown): void {
  const board = structuredClone(TASK_MASTER)
  edit(board)
  folder.write(FILE, JSON.stringify(board))
}

const taskMaster: Layout = {
  name: 'Task Master',
  files: { [FILE]: JSON.stringify(TASK_MASTER) },
  rewrite: (folder) => folder.write(FILE, JSON.stringify(TASK_MASTER, null, 2)),
  last(folder) {
    folder.write(FILE, '{"one":{"tasks":[{"id":77}]}}')
    return TASKS
  },
  cases: [
    {
      what: 'one task is done that others wait for',
      change: (folder) =>
        edited(folder, ({ one }) => Object.assign(one.tasks[0] ?? {}, { status: 'done' })),
      message: task('one:1'),
      list: { 'one:2': { ready: true }, 'one:2.2': { ready: true } },
    },
    {
      what: 'one task is deleted that others wait for',
      change: (folder) => edited(folder, ({ one }) => one.tasks.shift()),
      message: task('one:1'),
      list: { 'one:2': { ready: false } },
    },
    {
      what: 'a subtask appears that another one now waits for, though nobody touched that one',
      change: (folder) =>
        edited(folder, ({ one }) =>
          one.tasks[1]?.subtasks?.unshift({ id: 1, title: 'S', status: 'done', dependencies: [] }),
        ),
      message: task('one:2.1'),
      // Its task waits.
      list: { 'one:2.2': { deps: ['one:2.1'], ready: false, held: true } },
    },
    {
      what: 'two entries are saved',
      change: (folder) =>
        edited(folder, ({ one }) => {
          for (const entry of one.tasks.slice(0, 2)) entry.title = 'Other'
        }),
      message: TASKS,
      list: { 'one:1': { title: 'Other' }, 'one:2': { title: 'Other' } },
    },
  ],
}

const OPEN_SPEC = 'openspec/changes/tea'
const OPEN_SPEC_LIST = '## 1. Kettle\n\n- [ ] 1.1 Fill\n- [ ] 1.2 Heat\n  - to 95 degrees\n'
const openSpec: Layout = {
  name: 'OpenSpec',
  files: {
    [`${OPEN_SPEC}/tasks.md`]: OPEN_SPEC_LIST,
    [`${OPEN_SPEC}/proposal.md`]: '# Make tea\n\nIt is cold.\n',
    'openspec/changes/cake/tasks.md': '- [ ] 1 Bake\n',
    'openspec/changes/bun/tasks.md': '- [ ] 1 Bake\n',
    'openspec/changes/milk/proposal.md': '# Buy milk\n',
  },
  // With the line ends of another system: no line has changed.
  rewrite: (folder) =>
    folder.write(`${OPEN_SPEC}/tasks.md`, OPEN_SPEC_LIST.replaceAll('\n', '\r\n')),
  last(folder) {
    folder.write('openspec/changes/bun/tasks.md', '- [x] 1 Bake\n')
    return task('bun/1')
  },
  cases: [
    {
      what: 'a task is ticked off',
      change: (folder) =>
        folder.write(`${OPEN_SPEC}/tasks.md`, OPEN_SPEC_LIST.replace('[ ] 1.1', '[x] 1.1')),
      message: task('tea/1.1'),
      list: { 'tea/1.1': { status: 'done', ready: false }, tea: { status: 'todo' } },
    },
    {
      what: 'the last open task is ticked off, which closes its change',
      change: (folder) => folder.write('openspec/changes/cake/tasks.md', '- [x] 1 Bake\n'),
      message: task('cake/1'),
      list: { 'cake/1': { status: 'done' }, cake: { status: 'done' } },
    },
    {
      what: 'the lines of a list change places, and one is new',
      change: (folder) =>
        folder.write(
          `${OPEN_SPEC}/tasks.md`,
          '## 1. Kettle\n\n- [ ] 1.2 Heat\n  - to 95 degrees\n- [ ] 1.3 Pour\n- [ ] 1.1 Fill\n',
        ),
      message: task('tea/1.3'),
      list: { 'tea/1.2': { rank: 1 }, 'tea/1.3': { title: 'Pour' }, 'tea/1.1': { rank: 3 } },
    },
    {
      what: 'what is below a task changes',
      change: (folder) => folder.write(`${OPEN_SPEC}/tasks.md`, OPEN_SPEC_LIST.replace('95', '80')),
      message: task('tea/1.2'),
    },
    {
      what: 'a heading of the list changes, which is of no task',
      change: (folder) =>
        folder.write(`${OPEN_SPEC}/tasks.md`, OPEN_SPEC_LIST.replace('Kettle', 'Pot')),
      message: task('tea'),
      list: { 'tea/1.1': { milestone: '1. Pot' } },
    },
    {
      what: 'the proposal of a change is written anew',
      change: (folder) => folder.write(`${OPEN_SPEC}/proposal.md`, '# Make good tea\n'),
      message: task('tea'),
      list: { tea: { title: 'Make good tea' } },
    },
    {
      what: 'a change appears that has no list yet',
      change: (folder) => folder.write('openspec/changes/jam/proposal.md', '# Boil jam\n'),
      message: task('jam'),
      list: { jam: { title: 'Boil jam', status: 'todo' } },
    },
    {
      what: 'a change without a list gets an empty one',
      change: (folder) => folder.write('openspec/changes/milk/tasks.md', '# Tasks\n'),
      message: task('milk'),
      list: { milk: { title: 'Buy milk', status: 'todo' } },
    },
    {
      what: 'a list grows beyond what is read, and its tasks stay as they were',
      change: (folder) =>
        folder.write(`${OPEN_SPEC}/tasks.md`, OPEN_SPEC_LIST + ' '.repeat(3 << 20)),
      message: task('tea'),
      list: {
        tea: { title: 'Make tea', invalid: expect.stringContaining('too large') as string },
        'tea/1.1': { title: 'Fill', ready: true },
      },
    },
    {
      what: 'a change is archived',
      change(folder) {
        folder.move(OPEN_SPEC, 'openspec/changes/archive/2026-03-03-tea')
      },
      message: TASKS,
      list: {
        tea: { title: 'Make tea', status: 'done', folder: 'archive' },
        'tea/1.1': { status: 'todo', folder: 'archive', ready: false },
      },
    },
  ],
}

const KIRO_LIST = '- [ ] 1. Fill\n- [ ] 2. Heat\n'
const kiro: Layout = {
  name: 'Kiro',
  files: {
    '.kiro/specs/tea/tasks.md': KIRO_LIST,
    '.kiro/specs/tea/requirements.md': '# Requirements Document\n',
    '.kiro/specs/bun/tasks.md': '- [ ] 1. Bake\n',
  },
  rewrite: (folder) => folder.write('.kiro/specs/tea/tasks.md', KIRO_LIST),
  last(folder) {
    folder.write('.kiro/specs/bun/tasks.md', '- [-] 1. Bake\n')
    return task('bun/1')
  },
  cases: [
    {
      what: 'a task is begun',
      change: (folder) =>
        folder.write('.kiro/specs/tea/tasks.md', KIRO_LIST.replace('[ ] 1', '[-] 1')),
      message: task('tea/1'),
      list: { 'tea/1': { status: 'in-progress' }, tea: { status: 'in-progress' } },
    },
    {
      what: 'a spec is deleted',
      change(folder) {
        folder.remove('.kiro/specs/tea/tasks.md')
        folder.remove('.kiro/specs/tea/requirements.md')
      },
      message: TASKS,
    },
  ],
}

const SPEC_KIT_LIST = '- [ ] T001 Fill\n- [ ] T002 Heat (depends on T001)\n'
const specKit: Layout = {
  name: 'spec-kit',
  files: {
    '.specify/memory/constitution.md': '',
    'specs/001-tea/tasks.md': SPEC_KIT_LIST,
    'specs/002-bun/tasks.md': '- [ ] T001 Bake\n',
  },
  rewrite: (folder) => folder.write('specs/001-tea/tasks.md', SPEC_KIT_LIST),
  last(folder) {
    folder.write('specs/002-bun/tasks.md', '- [x] T001 Bake\n')
    return task('002-bun/T001')
  },
  cases: [
    {
      what: 'a task is done that another waits for',
      change: (folder) =>
        folder.write('specs/001-tea/tasks.md', SPEC_KIT_LIST.replace('[ ] T001', '[x] T001')),
      message: task('001-tea/T001'),
      list: { '001-tea/T002': { ready: true }, '001-tea': { status: 'todo' } },
    },
  ],
}

const BMAD_OUT = '_bmad-output/implementation-artifacts'
const BMAD_FILE = `${BMAD_OUT}/sprint-status.yaml`
const BMAD_STATUSES =
  'development_status:\n  epic-1: backlog\n  1-1-fill: backlog\n  1-2-heat: backlog\n  2-1-bake: backlog\n'
const bmad: Layout = {
  name: 'BMAD',
  files: {
    '_bmad/_config/manifest.yaml': 'modules: []\n',
    [BMAD_FILE]: BMAD_STATUSES,
    [`${BMAD_OUT}/1-1-fill.md`]: '# Story 1.1: Fill\n\nStatus: draft\n',
  },
  rewrite: (folder) => folder.write(BMAD_FILE, `# Again.\n${BMAD_STATUSES}`),
  last(folder) {
    folder.write(BMAD_FILE, 'development_status:\n  9-9-last: done\n')
    return TASKS
  },
  cases: [
    {
      what: 'a story gets another status',
      change: (folder) =>
        folder.write(BMAD_FILE, BMAD_STATUSES.replace('1-1-fill: backlog', '1-1-fill: review')),
      message: task('1-1-fill'),
      list: { '1-1-fill': { status: 'review', title: 'Fill' } },
    },
    {
      what: 'the file of a story is written, which says another status',
      change: (folder) =>
        folder.write(`${BMAD_OUT}/1-1-fill.md`, '# Story 1.1: Fill it\n\nStatus: done\n'),
      message: task('1-1-fill'),
      list: { '1-1-fill': { status: 'backlog', title: 'Fill it' } },
    },
    {
      what: 'a story gets its file',
      change: (folder) =>
        folder.write(`${BMAD_OUT}/1-2-heat.md`, '# Story 1.2: Heat it\n\nStatus: draft\n'),
      message: task('1-2-heat'),
      list: { '1-2-heat': { title: 'Heat it', status: 'backlog' } },
    },
    {
      what: 'a story and its epic get another status',
      change: (folder) =>
        folder.write(
          BMAD_FILE,
          BMAD_STATUSES.replace('epic-1: backlog', 'epic-1: in-progress').replace(
            '1-2-heat: backlog',
            '1-2-heat: in-progress',
          ),
        ),
      message: TASKS,
      list: { 'epic-1': { status: 'in-progress' }, '1-2-heat': { status: 'in-progress' } },
    },
  ],
}

const SPEC = '_bmad-output/specs/spec-tea'
const STORIES = ['1', '3-2', '4']
  .map((id) => `- id: "${id}"\n  title: Story ${id}\n  description: It\n`)
  .join('')
const storyOf = (status: string) => `---\ntitle: 'Tea'\nstatus: '${status}'\n---\n\n## Intent\n`
const bmadSpecs: Layout = {
  name: 'BMAD with a spec folder',
  files: {
    '_bmad/_config/manifest.yaml': 'modules: []\n',
    [`${SPEC}/SPEC.md`]: '# Tea\n',
    [`${SPEC}/stories.yaml`]: STORIES,
    [`${SPEC}/stories/1-fill.md`]: storyOf('draft'),
  },
  rewrite: (folder) => folder.write(`${SPEC}/stories/1-fill.md`, storyOf('draft')),
  last(folder) {
    folder.write(`${SPEC}/stories/4-last.md`, storyOf('done'))
    return task('spec-tea/4')
  },
  cases: [
    {
      what: 'a story gets another status',
      change: (folder) => folder.write(`${SPEC}/stories/1-fill.md`, storyOf('in-progress')),
      message: task('spec-tea/1'),
      list: { 'spec-tea/1': { status: 'in-progress', title: 'Story 1' } },
    },
    {
      what: 'a story is begun and gets its file',
      change: (folder) => folder.write(`${SPEC}/stories/3-2-2024-tea.md`, storyOf('draft')),
      message: task('spec-tea/3-2'),
      list: { 'spec-tea/3-2': { status: 'draft', file: `${SPEC}/stories/3-2-2024-tea.md` } },
    },
    {
      what: 'a file is of no story of the list, and another one is',
      change(folder) {
        folder.write(`${SPEC}/stories/2-none.md`, storyOf('done'))
        folder.write(`${SPEC}/stories/3-2-tea.md`, storyOf('done'))
      },
      message: task('spec-tea/3-2'),
      list: { 'spec-tea/3-2': { status: 'done' } },
    },
    {
      what: 'the list gives a story another title, and puts one before all others',
      change: (folder) =>
        folder.write(
          `${SPEC}/stories.yaml`,
          `- id: "0"\n  title: First\n  description: It\n${STORIES.replace('Story 3-2', 'Heat')}`,
        ),
      message: TASKS,
      list: { 'spec-tea/0': { rank: 1 }, 'spec-tea/3-2': { title: 'Heat', rank: 3 } },
    },
    {
      what: 'the text of the spec changes',
      change: (folder) => folder.write(`${SPEC}/SPEC.md`, '# Tea for two\n'),
      message: task('spec-tea'),
      list: { 'spec-tea': { title: 'Tea for two' } },
    },
  ],
}

let folder: PublishedFolder | undefined
afterEach(async () => {
  await folder?.close()
  folder = undefined
})

describe.each([cairn, backlog, taskMaster, openSpec, kiro, specKit, bmad, bmadSpecs])(
  'a board of $name',
  (layout) => {
    test.each(layout.cases)(
      'is told when $what, live and resumed, and the list has all that follows',
      async ({ change, message, list = {} }) => {
        folder = await PublishedFolder.open(layout.files)
        const { place } = folder
        change(folder)
        expect(await folder.received(1)).toEqual([message])
        expect(await folder.tasks()).toMatchObject(list)
        const last = layout.last(folder)
        expect(await folder.received(2)).toEqual([message, last])
        expect(await folder.resumed(place, 2)).toEqual([message, last])
      },
    )

    // What differs is found by sums, whatever the layout: random histories have the rest.
    test.each(layout.cases.slice(0, 1))(
      'is told by a sidecar that was away when $what',
      async ({ change, message, list = {} }) => {
        folder = await PublishedFolder.open(layout.files)
        const { place } = folder
        await folder.stopSidecar()
        change(folder)
        await folder.startSidecar()
        expect(await folder.received(1)).toEqual([message])
        expect(await folder.tasks()).toMatchObject(list)
        expect(await folder.resumed(place, 1)).toEqual([message])
      },
    )

    test('is not told of the same content that is written again', async () => {
      folder = await PublishedFolder.open(layout.files)
      layout.rewrite(folder)
      await folder.stopSidecar()
      layout.rewrite(folder)
      await folder.startSidecar()
      const last = layout.last(folder)
      expect(await folder.received(1)).toEqual([last])
    })
  },
)

describe.each([
  ['without a folder of tasks', {}],
  ['with an empty folder of tasks', { '.taskmaster/tasks/.keep': '' }],
])('a board of Task Master as its init makes it, %s', (_, more) => {
  test('is empty, and is told of its first tasks', async () => {
    folder = await PublishedFolder.open({ '.taskmaster/config.json': '{}', ...more })
    expect(await folder.tasks()).toEqual({})
    const tasks = [{ id: 1, title: 'Dig', status: 'pending' }]
    folder.write('.taskmaster/tasks/tasks.json', JSON.stringify({ master: { tasks } }))
    expect(await folder.received(1)).toEqual([TASKS])
    expect(Object.keys(await folder.tasks())).toEqual(['master:1'])
  })
})

describe('a session of which nobody hears', () => {
  const files: Files = {
    ...CAIRN,
    '.cairn/config.yaml': `${CAIRN['.cairn/config.yaml']}session_stale_after: 2\n`,
    [`.cairn/sessions/${SES}.yaml`]: cairnSession('active'),
  }
  test('is told by its live file, and by time alone, as session-changed', async () => {
    folder = await PublishedFolder.open(files)
    const here = folder
    const { place } = here
    const state = async () => (await here.tasks())['T-1']?.executionState
    const beat = async () => {
      here.write(`.cairn/live/${SES}.json`, live(Date.now()))
      await here.received(here.messages.length + 1)
      return await state()
    }
    // On a busy machine a heartbeat may be too old when it is read, and another one is needed.
    await expect.poll(beat).toBe('active')
    await expect.poll(state).toBe('stalled')
    const received = await here.received(2)
    expect(received).toEqual(received.map(() => session(SES)))
    expect(await here.resumed(place, 2)).toEqual(received)
  })
})
