// A copy that cannot be read, as where a rebase stops at a conflict.

import { afterEach, expect, test } from 'vitest'
import { readyTasks } from '../../../worker/board/tasks/free-tasks.ts'
import { writeFiles } from '../../support/temp-folder.ts'
import { commitAll, git } from '../git/git-folder.ts'
import type { PublishedFolder } from '../published-folder.ts'
import { marksOf, openWithTree, untilMarks } from './open-with-tree.ts'

let folder: PublishedFolder
afterEach(() => folder.close())

const MINE = 'backlog/tasks/task-1 - Tea.md'
const task = (status: string) => `---\nid: task-1\ntitle: Tea\nstatus: ${status}\n---\n`

/** Both trees have committed another text; the tree's rebase stops in the middle. */
function stopRebase(tree: string, name: string, own: string, other: string): void {
  writeFiles(tree, { [name]: own })
  commitAll(tree)
  writeFiles(folder.dir, { [name]: other })
  commitAll(folder.dir)
  expect(() => git(tree, 'rebase', '-q', 'main')).toThrow('conflict')
}

test('the file of one task that cannot be read is a mark, and counts as begun', async () => {
  const opened = await openWithTree({
    'backlog/config.yml': 'project_name: "Tea"\nstatuses: ["To Do", "In Progress", "Done"]\n',
    [MINE]: task('To Do'),
  })
  folder = opened.folder
  stopRebase(opened.tree, MINE, task('Done'), `${task('To Do')}more\n`.replace('To Do', 'To do'))
  await untilMarks(folder, { 'TASK-1': 'feat: unreadable' })
  const { 'TASK-1': row } = await folder.tasks()
  expect(row?.trees).toMatchObject([{ tree: 'feat', invalid: true }])
  expect(row?.trees?.[0]).not.toHaveProperty('status')
  const config = { states: ['To Do'], closed: [] }
  expect(row && readyTasks(new Map([[row.id, row]]), config).tasks).toEqual([])
  git(opened.tree, 'rebase', '--abort')
  await untilMarks(folder, { 'TASK-1': 'feat: Done' })
})

const MASTER = '.taskmaster/tasks/tasks.json'
const master = (...statuses: string[]) => {
  const tasks = statuses.map((status, n) => ({ id: n + 1, title: `Task ${n + 1}`, status }))
  return JSON.stringify({ master: { tasks } }, null, 2)
}

test('of a list, what was last read of the tree stands, else what its HEAD has', async () => {
  const opened = await openWithTree({
    '.taskmaster/config.json': '{}',
    [MASTER]: master('pending', 'pending', 'pending'),
  })
  folder = opened.folder
  const { tree } = opened
  writeFiles(tree, { [MASTER]: master('pending', 'done', 'pending') })
  await untilMarks(folder, { 'master:2': 'feat: done' })
  stopRebase(
    tree,
    MASTER,
    master('pending', 'done', 'pending'),
    master('pending', 'in-progress', 'pending', 'pending'),
  )
  await folder.received(2)
  await untilMarks(folder, { 'master:2': 'feat: done' })
  // The rest of the board goes on.
  writeFiles(folder.dir, { [MASTER]: master('done', 'in-progress', 'pending', 'pending') })
  await folder.received(3)
  expect(await marksOf(folder)).toEqual({ 'master:2': 'feat: done' })
  git(tree, 'rebase', '--abort')
  await folder.stopSidecar()
  // Nothing was read of this one yet.
  writeFiles(tree, { [MASTER]: '{' })
  await folder.startSidecar()
  await untilMarks(folder, { 'master:2': 'feat: done' })
  writeFiles(tree, { [MASTER]: master('pending', 'pending', 'done') })
  await untilMarks(folder, { 'master:3': 'feat: done' })
})
