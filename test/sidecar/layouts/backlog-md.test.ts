import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backlogMd } from '../../../sidecar/layouts/backlog-md.ts'
import { listedBoard } from '../../support/listed-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { say, sayTask } from './store.ts'

async function open(files: Record<string, string> = { 'backlog/config.yml': '' }, dir?: string) {
  const folder = makeFolder(files)
  const store = await backlogMd.detect(dir === undefined ? folder : join(folder, dir))
  if (!store) throw new Error('no store')
  return store
}

const TASK = `---
id: BACK-5.2
title: Watch files
status: In Progress
assignee:
  - '@codex'
  - @claude
reporter: @MrLesk
created_date: 2026-04-25 12:14
updated_date: '2026-04-26 08:00'
labels: []
dependencies:
  - task-4
parent_task_id: BACK-5
priority: high
ordinal: 500
milestone: m-1
---

## Description
`

test('reads every known field of a task, and accepts plain names that begin with @', async () => {
  expect(sayTask(await open(), 'tasks/back-5.2 - Watch-files.md', TASK)).toEqual({
    id: 'BACK-5.2',
    title: 'Watch files',
    status: 'In Progress',
    assignee: '@codex',
    assignees: ['@codex', '@claude'],
    deps: ['TASK-4'],
    updatedAt: '2026-04-26T08:00:00Z',
    rank: 500,
    priority: 'high',
    parent: 'BACK-5',
    milestone: 'm-1',
    extra: { reporter: '@MrLesk', created_date: '2026-04-25 12:14' },
    body: '\n## Description\n',
  })
})

test('accepts @ in flow lists and as a single assignee', async () => {
  const store = await open()
  const assignee = (value: string) =>
    sayTask(store, 'tasks/back-1.md', `---\nid: BACK-1\nassignee: ${value}\n---\n`)
  expect(assignee('[@a, "@b", c]')).toMatchObject({
    assignee: '@a',
    assignees: ['@a', '@b', 'c'],
  })
  const alone = assignee('@a b # the lead')
  expect(alone).toMatchObject({ assignee: '@a b # the lead' })
  expect(alone).not.toHaveProperty('assignees')
  expect(assignee('[]')).not.toHaveProperty('assignee')
  for (const odd of ['`a`', '@mira: the lead', '{a: b}', '%x', '& | >']) {
    expect(assignee(odd)).toMatchObject({ assignee: odd })
    expect(assignee(odd)).not.toHaveProperty('invalid')
  }
  expect(assignee('[`a`]')).toMatchObject({ invalid: expect.stringContaining('line 3') })
})

test('marks completed tasks closed, and tells drafts and completed ones by their folder', async () => {
  const store = await open()
  const text = '---\nid: BACK-1\ncreated_date: 2025-07-17\n---\n'
  expect(say(store, 'completed/back-1-old-name.md', text)).toMatchObject([
    { standing: 'closed', task: { updatedAt: '2025-07-17', folder: 'completed' } },
  ])
  const [draft] = say(store, 'drafts/draft-1 - Idea.md', '---\nid: DRAFT-1\n---\n')
  expect(draft).toMatchObject({ standing: 'outside', task: { id: 'DRAFT-1', folder: 'drafts' } })
  expect(say(store, 'archive/tasks/back-1 - Old.md', text)).toMatchObject([
    { standing: 'outside', task: { folder: 'archive' } },
  ])
})

test('nothing may be begun after a completed task whose file cannot be read', async () => {
  const store = await open()
  for (const text of ['---\nid: [\n---\n', '---\nid: BACK-1\n<<<<<<< HEAD\n---\n']) {
    const [entry] = say(store, 'completed/back-1 - Old.md', text)
    expect(entry).toMatchObject({ standing: 'outside', task: { invalid: expect.any(String) } })
  }
})

test('takes the id from the file name when the front matter gives none', async () => {
  const store = await open()
  const task = (text: string) => sayTask(store, 'tasks/back-7.1 - Title.md', text)
  expect(task('---\nid: [\n---\n')).toMatchObject({ id: 'BACK-7.1', invalid: expect.any(String) })
  expect(task('---\nid: "a\\nb"\n---\n')).toMatchObject({
    id: 'BACK-7.1',
    invalid: expect.any(String),
  })
  expect(task('')).toMatchObject({ id: 'BACK-7.1', invalid: 'The file is empty.' })
})

test('counts only task files and the configuration', async () => {
  const store = await open()
  const kind = (path: string) => store.classify(join(store.root, path))
  expect(kind('config.yml')).toBe('board')
  expect(kind('tasks/back-547 - A title (with) `marks`.md')).toBe('task')
  expect(kind('tasks/back-5.md')).toBe('task')
  expect(kind('drafts/draft-1 - x.md')).toBe('task')
  expect(kind('milestones/m-1 - x.md')).toBe('setting')
  expect(kind('archive/milestones/m-1 - x.md')).toBe('setting')
  for (const path of ['tasks/back-5x.md', 'tasks/back-7_notes.md', 'tasks/back-.md']) {
    expect(kind(path), path).toBe('task')
  }
  for (const path of ['tasks/readme.md', 'tasks/notes.txt', 'readme.md']) {
    expect(kind(path), path).toBeUndefined()
  }
})

test('reads the configuration: the last status is the closed one', async () => {
  const store = await open()
  const text =
    'statuses: ["To Do", "Shipped"]\ndefault_status: "To Do"\ntask_prefix: "back"\nx: 1\n'
  expect(say(store, 'config.yml', text)).toMatchObject([
    {
      board: {
        layout: 'backlog-md',
        prefix: 'back',
        states: ['To Do', 'Shipped'],
        closed: ['Shipped'],
        initial: 'To Do',
        extra: { x: 1 },
      },
    },
  ])
})

test('reads a list of statuses that a line with a tab follows', async () => {
  const text = 'statuses:\n  - To Do\n  - Shipped\n\tdefault_status: To Do\n'
  expect(say(await open(), 'config.yml', text)).toMatchObject([
    { board: { states: ['To Do', 'Shipped'], closed: ['Shipped'], initial: 'To Do' } },
  ])
})

test('takes spellings of one id for the same, and different ids for different ones', async () => {
  const { fold } = await open()
  expect(fold('BACK-5.02')).toBe(fold('back-5.2'))
  expect(fold('BACK-50')).not.toBe(fold('back-5'))
})

test('finds the store wherever the tool may keep it', async () => {
  expect((await open({ '.backlog/config.yml': '' })).root).toMatch(/\.backlog$/)
  expect((await open({ 'backlog/config.yaml': '' })).configFile).toMatch(/config\.yaml$/)
  expect((await open({ 'backlog/config.yml': '' }, 'backlog')).root).toMatch(/backlog$/)
  const beside = await open({ 'backlog.config.yml': '', 'backlog/tasks/back-1.md': '' })
  expect(beside.classify(join(beside.root, 'backlog.config.yml'))).toBe('board')
  expect(beside.classify(join(beside.root, 'backlog/tasks/back-1.md'))).toBe('task')
  const named = await open({
    'backlog.config.yml': 'backlog_directory: "docs/board"\n',
    'docs/board/tasks/back-1.md': '',
  })
  expect(named.classify(join(named.root, 'docs/board/tasks/back-1.md'))).toBe('task')
})

test('does not open a folder outside of the project that the configuration names', async () => {
  const dir = makeFolder({ 'p/backlog.config.yml': 'backlog_directory: ../other\n', 'other/a': '' })
  expect(await backlogMd.detect(join(dir, 'p'))).toBeUndefined()
})

test('finds a folder that is a link within the project where it really stands', async () => {
  const dir = makeFolder({ 'backlog.config.yml': '', 'docs/board/tasks/back-1.md': '' })
  symlinkSync('docs/board', join(dir, 'backlog'))
  const store = await backlogMd.detect(dir)
  expect(store?.classify(join(dir, 'docs/board/tasks/back-1.md'))).toBe('task')
})

test('does not skip a task whose title brought a line break into its name', async () => {
  const name = 'tasks/back-5.2 - Watch\nfiles.md'
  expect(sayTask(await open(), name, TASK)).toMatchObject({ id: 'BACK-5.2' })
})

const board = async (config: string) => {
  const [entry] = say(await open(), 'config.yml', config)
  return entry?.kind === 'board' ? entry.board : undefined
}

// What `backlog config list` of 1.52.0 answered for each of them.
test.each([
  ['statuses: ["To Do", "Shipped"]\nproject_name: "Mira\'s "best" tea"\n', ['To Do', 'Shipped']],
  ['default_editor: "C:\\Users\\x"\nstatuses: [A, B] # c\n', ['A', 'B']],
  ['project_name: x\n\tstatuses: ["A","B"]\n', ['A', 'B']],
  ['statuses:\n  - To Do\n  - " Shipped "\n', ['To Do', 'Shipped']],
  ['statuses: [A, B]\nstatuses : [A, C]\n', ['A', 'C']],
  ['statuses:\n', ['To Do', 'In Progress', 'Done']],
  ['"statuses": [A, B]\n', ['To Do', 'In Progress', 'Done']],
  ['statuses: [A, "", 5]\n', ['A', '5']],
])('reads a configuration key by key: %j', async (config, states) => {
  const read = await board(config)
  expect(read).toMatchObject({ states })
  expect(read).not.toHaveProperty('invalid')
})

test.each(['statuses: To Do\n', 'statuses: [A, B\n', 'statuses: ["A "x" B", C]\n', 'labels: [a\n'])(
  'refuses a configuration with which the tool does not start: %j',
  async (config) => {
    expect(await board(config)).toMatchObject({ invalid: expect.stringContaining('not') })
  },
)

test('of two files with one id, the one that the tool would name so keeps it', async () => {
  const task = (title: string, status: string, more = '') =>
    `---\nid: TASK-1\ntitle: ${title}\nstatus: ${status}\n${more}---\n`
  const files = {
    'backlog/config.yml': 'statuses: [To Do, Done]\n',
    'backlog/tasks/task-1 - Steep (conflicted copy).md': task('Steep', 'Done'),
    'backlog/tasks/task-1 - Steep.md': task('Steep', 'To Do'),
    'backlog/tasks/back-1 - Other.md': task('Other', 'Done'),
    'backlog/tasks/task-2 - Pour.md':
      '---\nid: TASK-2\ntitle: Pour\nstatus: To Do\ndependencies: [1]\n---\n',
  }
  const { tasks } = await listedBoard(makeFolder(files))
  const rows = tasks.map(({ id, status, ready, invalid }) => [id, status, ready, !invalid])
  expect(rows.sort()).toEqual([
    ['TASK-1', 'To Do', true, true],
    ['TASK-1~2', 'Done', false, false],
    ['TASK-1~3', 'Done', false, false],
    ['TASK-2', 'To Do', false, true],
  ])
})
