// Where one file holds many tasks, a linked worktree's are compared one by one.

import { afterEach, expect, test } from 'vitest'
import { ask, noTools, UNREPORTED } from '../../support/judges.ts'
import { writeFiles } from '../../support/temp-folder.ts'
import { commitAll, git } from '../git/git-folder.ts'
import type { PublishedFolder } from '../published-folder.ts'
import { openWithTree, restartWithout, untilMarks } from './open-with-tree.ts'

let folder: PublishedFolder
afterEach(() => folder.close())

const MASTER = '.taskmaster/tasks/tasks.json'
const master = (...statuses: string[]) =>
  JSON.stringify({
    master: {
      tasks: statuses.map((status, at) => ({
        id: at + 1,
        title: `Task ${at + 1}`,
        status,
        dependencies: [],
        priority: 'high',
        subtasks: [],
      })),
    },
  })

test.skipIf(noTools !== '')(
  `what Task Master itself does in a tree is marked, until it is merged${noTools}`,
  async () => {
    const { tasks } = JSON.parse(master('pending', 'pending', 'pending')).master
    const full = tasks.map((it: object) => ({ ...it, description: 'It', details: '' }))
    const opened = await openWithTree({
      ...UNREPORTED,
      [MASTER]: JSON.stringify({ master: { tasks: full } }),
    })
    folder = opened.folder
    const begin = ['set-status', '--id=2', '--status=in-progress']
    await ask('node_modules/.bin/task-master', begin, opened.tree)
    await untilMarks(folder, { 'master:2': 'feat: in-progress' })
    commitAll(opened.tree)
    // What main does meanwhile is old there, and conflicts in the middle of a merge.
    writeFiles(folder.dir, {
      [MASTER]: JSON.stringify({ master: { tasks: full.with(0, { ...full[0], status: 'done' }) } }),
    })
    commitAll(folder.dir)
    await untilMarks(folder, { 'master:2': 'feat: in-progress' })
    git(folder.dir, 'merge', '-q', '--no-edit', '-X', 'theirs', 'feat')
    await untilMarks(folder, {})
  },
  180_000,
)

test('of a tasks.json, what a tree changed is told from what is old in it', async () => {
  const files = {
    '.taskmaster/config.json': '{}',
    [MASTER]: master('pending', 'pending', 'pending'),
  }
  const opened = await openWithTree(files)
  folder = opened.folder
  writeFiles(opened.tree, { [MASTER]: master('pending', 'done', 'pending') })
  await untilMarks(folder, { 'master:2': 'feat: done' })
  expect(folder.messages).toEqual([{ type: 'task-changed', id: 'master:2' }])
  // The first is old in the tree now, and the fourth is not gone from it.
  writeFiles(folder.dir, { [MASTER]: master('done', 'pending', 'pending', 'pending') })
  await folder.received(2)
  await untilMarks(folder, { 'master:2': 'feat: done' })
  writeFiles(opened.tree, { [MASTER]: master('pending', 'done') })
  await untilMarks(folder, { 'master:2': 'feat: done', 'master:3': 'feat: gone' })
  writeFiles(folder.dir, { [MASTER]: master('done', 'done', 'pending', 'pending') })
  await untilMarks(folder, { 'master:3': 'feat: gone' })
  commitAll(folder.dir)
  commitAll(opened.tree)
  writeFiles(opened.tree, { [MASTER]: master('pending', 'done', 'pending', 'pending', 'pending') })
  await untilMarks(folder, { 'master:5': '+feat: pending' })
  // A commit alone changes nothing.
  commitAll(opened.tree)
  git(folder.dir, 'commit', '-q', '--allow-empty', '-m', 'empty')
  writeFiles(opened.tree, { [MASTER]: master('pending', 'done', 'done', 'pending', 'pending') })
  await untilMarks(folder, { 'master:3': 'feat: done', 'master:5': '+feat: pending' })
})

test('of a checklist, an item that was ticked in a tree is marked alone', async () => {
  const list = (one: string, two: string) => `## 1. Tea\n- [${one}] 1.1 Heat\n- [${two}] 1.2 Pour\n`
  const opened = await openWithTree({
    'openspec/changes/add-tea/proposal.md': '# Tea\n\nWhy.\n',
    'openspec/changes/add-tea/tasks.md': list(' ', ' '),
  })
  folder = opened.folder
  writeFiles(opened.tree, { 'openspec/changes/add-tea/tasks.md': list('x', ' ') })
  await untilMarks(folder, { 'add-tea/1.1': 'feat: done' })
  writeFiles(folder.dir, { 'openspec/changes/add-tea/tasks.md': list(' ', 'x') })
  await folder.received(2)
  await untilMarks(folder, { 'add-tea/1.1': 'feat: done' })
  // A change that only the tree has is one task, with its title.
  writeFiles(opened.tree, {
    'openspec/changes/add-pot/proposal.md': '# Pot\n\nWhy.\n',
    'openspec/changes/add-pot/tasks.md': '- [ ] 1.1 Buy\n',
  })
  await untilMarks(folder, {
    'add-tea/1.1': 'feat: done',
    'add-pot': '+feat: todo',
    'add-pot/1.1': '+feat: todo',
  })
  expect((await folder.tasks())['add-pot']).toMatchObject({ title: 'Pot', inMain: false })
  // The main tree deletes the other one.
  folder.remove('openspec/changes/add-tea/tasks.md')
  await untilMarks(folder, {
    'add-tea/1.1': '+feat: done',
    'add-pot': '+feat: todo',
    'add-pot/1.1': '+feat: todo',
  })
  const deleted = Object.values(await folder.tasks()).filter((row) => row.deletedInMain)
  expect(deleted.map(({ id }) => id)).toEqual(['add-tea/1.1'])
  const before = await folder.tasks()
  await restartWithout(folder, opened.tree)
  expect(await folder.tasks()).toEqual(before)
})

test('of a sprint, a story that moved on in a tree is marked', async () => {
  const sprint = (status: string) =>
    `development_status:\n  epic-1: in-progress\n  1-1-heat: ${status}\n  1-2-pour: backlog\n`
  const name = '_bmad-output/implementation-artifacts/sprint-status.yaml'
  const opened = await openWithTree({
    '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.0\n',
    [name]: sprint('ready-for-dev'),
  })
  folder = opened.folder
  writeFiles(opened.tree, { [name]: sprint('review') })
  await untilMarks(folder, { '1-1-heat': 'feat: review' })
})
