// What a tree has committed, and the main tree has had since, is no mark: whichever way it came.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { PATIENT } from '../../support/patience.ts'
import { writeFiles } from '../../support/temp-folder.ts'
import { at, commitAll, git } from '../git/git-folder.ts'
import type { PublishedFolder } from '../published-folder.ts'
import { marksOf, openWithTree, untilMarks } from './open-with-tree.ts'

let folder: PublishedFolder
let tree: string
afterEach(() => folder.close())

const task = (id: number, status: string) =>
  `---\nid: task-${id}\ntitle: Task ${id}\nstatus: ${status}\n---\n`
const fileOf = (id: number) => `backlog/tasks/task-${id} - Task-${id}.md`
const CONFIG = 'project_name: "Tea"\nstatuses: ["To Do", "In Progress", "Done"]\n'

async function open() {
  const files = [1, 2, 3, 4].map((id) => [fileOf(id), task(id, 'To Do')])
  const opened = await openWithTree({
    'backlog/config.yml': CONFIG,
    ...Object.fromEntries(files),
  })
  ;({ folder, tree } = opened)
}

const write = (dir: string, id: number, status: string) =>
  writeFileSync(join(dir, fileOf(id)), task(id, status))
const until = (expected: Record<string, string>) => untilMarks(folder, expected)

test('what came by a squash is merely old, also when the main tree goes on or reverts it', async () => {
  await open()
  const main = folder.dir
  write(tree, 1, 'Done')
  git(tree, 'rm', '-q', fileOf(2))
  commitAll(tree)
  await until({ 'TASK-1': 'feat: Done', 'TASK-2': 'feat: gone' })
  git(main, 'merge', '-q', '--squash', 'feat')
  git(main, 'commit', '-qm', 'squashed')
  await until({})
  // The main tree has another text of one by now, and the other again.
  write(main, 1, 'In Progress')
  write(main, 2, 'To Do')
  commitAll(main)
  const statusIs = async () => expect((await folder.tasks())['TASK-1']?.status).toBe('In Progress')
  await vi.waitFor(statusIs, PATIENT)
  await until({})
  await folder.stopSidecar()
  await folder.startSidecar()
  expect(await marksOf(folder)).toEqual({})
  // What the tree does then is its own, the same text too.
  write(tree, 1, 'To Do')
  commitAll(tree)
  write(tree, 1, 'Done')
  await until({ 'TASK-1': 'feat: Done' })
  at(60, tree, 'commit', '-qam', 'again')
  await until({ 'TASK-1': 'feat: Done' })
})

test('what was cherry-picked or rebased is merely old, and the rest of the tree is not', async () => {
  await open()
  const main = folder.dir
  for (const id of [1, 2]) {
    write(tree, id, 'Done')
    commitAll(tree)
  }
  write(tree, 3, 'In Progress')
  await until({ 'TASK-1': 'feat: Done', 'TASK-2': 'feat: Done', 'TASK-3': 'feat: In Progress' })
  git(main, 'cherry-pick', 'feat~1')
  await until({ 'TASK-2': 'feat: Done', 'TASK-3': 'feat: In Progress' })
  git(main, 'branch', 'copy', 'feat')
  git(main, 'commit', '-q', '--allow-empty', '-m', 'empty')
  git(main, 'worktree', 'add', '-q', '../other', 'copy')
  git(join(main, '../other'), 'rebase', '-q', 'main')
  git(main, 'merge', '-q', '--ff-only', 'copy')
  await until({ 'TASK-3': 'feat: In Progress' })
  // The branch that came by a merge may be gone.
  git(main, 'worktree', 'remove', '../other')
  git(main, 'branch', '-q', '-D', 'copy')
  await until({ 'TASK-3': 'feat: In Progress' })
})

test('an uncommitted copy is a mark, and so is a text that the main tree had before', async () => {
  await open()
  const main = folder.dir
  write(main, 1, 'Done')
  commitAll(main)
  write(main, 1, 'To Do')
  commitAll(main)
  // The tree really does what the main tree took back: later, and after the merge base.
  write(tree, 1, 'Done')
  at(60, tree, 'commit', '-qam', 'done')
  await until({ 'TASK-1': 'feat: Done' })
  git(main, 'worktree', 'add', '-q', '../later', '-b', 'later')
  write(join(main, '../later'), 1, 'Done')
  commitAll(join(main, '../later'))
  write(main, 2, 'Done')
  commitAll(main)
  write(main, 2, 'To Do')
  commitAll(main)
  write(tree, 2, 'Done')
  await until({ 'TASK-1': 'feat: Done, later: Done', 'TASK-2': 'feat: Done' })
})

test('what the main tree refused by a merge of ours is merely old', async () => {
  await open()
  const main = folder.dir
  write(tree, 1, 'Done')
  commitAll(tree)
  await until({ 'TASK-1': 'feat: Done' })
  git(main, 'merge', '-q', '-s', 'ours', '--no-edit', 'feat')
  await until({})
  write(tree, 1, 'In Progress')
  commitAll(tree)
  await until({ 'TASK-1': 'feat: In Progress' })
})

const MASTER = '.taskmaster/tasks/tasks.json'
const master = (...statuses: string[]) => {
  const tasks = statuses.map((status, n) => ({ id: n + 1, title: `Task ${n + 1}`, status }))
  return JSON.stringify({ master: { tasks } }, null, 2)
}

test('of a list, what came by a squash is merely old, task by task', async () => {
  const files = {
    '.taskmaster/config.json': '{}',
    [MASTER]: master('pending', 'pending', 'pending'),
  }
  ;({ folder, tree } = await openWithTree(files))
  const main = folder.dir
  const save = (dir: string, ...statuses: string[]) =>
    writeFiles(dir, { [MASTER]: master(...statuses) })
  save(tree, 'done', 'pending', 'pending')
  commitAll(tree)
  await until({ 'master:1': 'feat: done' })
  git(main, 'merge', '-q', '--squash', 'feat')
  git(main, 'commit', '-qm', 'squashed')
  // What is not committed is a mark, and leaves the others merely old.
  save(main, 'review', 'pending', 'pending')
  save(tree, 'done', 'done', 'pending')
  await until({ 'master:2': 'feat: done' })
  commitAll(main)
  await until({ 'master:2': 'feat: done' })
  await folder.stopSidecar()
  await folder.startSidecar()
  expect(await marksOf(folder)).toEqual({ 'master:2': 'feat: done' })
  // A commit of the tree on that file is later than what the main tree had before.
  save(main, 'done', 'done', 'pending')
  commitAll(main)
  await until({})
  // One that both removed, and the main tree has again.
  save(tree, 'done', 'done')
  commitAll(tree)
  await until({ 'master:3': 'feat: gone' })
  save(main, 'done', 'done')
  commitAll(main)
  save(main, 'done', 'review', 'pending')
  await until({})
})
