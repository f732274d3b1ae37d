// BMAD's stories in linked worktrees: which story a file is of, the list says.

import { afterEach, expect, test } from 'vitest'
import { writeFiles } from '../../support/temp-folder.ts'
import { commitAll, git } from '../git/git-folder.ts'
import type { PublishedFolder } from '../published-folder.ts'
import { openWithTree, untilMarks } from './open-with-tree.ts'

let folder: PublishedFolder
afterEach(() => folder.close())

const SPEC = '_bmad-output/specs/spec-tea'
const LIST = `${SPEC}/stories.yaml`
const listOf = (...ids: string[]) =>
  ids.map((id) => `- id: "${id}"\n  title: Story ${id}\n  description: It\n`).join('')
const story = (status: string, title = 'Tea') =>
  `---\ntitle: '${title}'\nstatus: '${status}'\n---\n\n## Intent\n`

const open = async (files: Record<string, string> = {}) => {
  const all = { '_bmad/_config/manifest.yaml': '', [LIST]: listOf('1', '3-2', '4'), ...files }
  const opened = await openWithTree(all)
  folder = opened.folder
  return opened.tree
}
const rows = async () =>
  Object.fromEntries(
    Object.values(await folder.tasks()).map(({ id, status, invalid }) => [id, invalid ?? status]),
  )

test('a story that a tree began, and what became of it, is told by its file there', async () => {
  const tree = await open()
  const file = `${SPEC}/stories/3-2-2024-tea.md`
  writeFiles(tree, { [file]: story('draft') })
  await untilMarks(folder, { 'spec-tea/3-2': 'feat: draft' })
  expect(folder.messages).toEqual([{ type: 'task-changed', id: 'spec-tea/3-2' }])
  writeFiles(tree, { [file]: story('done', 'Heat') })
  await untilMarks(folder, { 'spec-tea/3-2': 'feat: done' })
  const before = { 'spec-tea': 'backlog', 'spec-tea/1': 'backlog', 'spec-tea/4': 'backlog' }
  expect(await rows()).toEqual({ ...before, 'spec-tea/3-2': 'backlog' })
  commitAll(tree)
  git(folder.dir, 'merge', '-q', '--ff-only', 'feat')
  await untilMarks(folder, {})
  expect(await rows()).toEqual({ ...before, 'spec-tea/3-2': 'done' })
})

test('a story is known by the list of the tree that has it, whatever comes first', async () => {
  const tree = await open()
  // Of a story that neither list has: of none.
  writeFiles(tree, { [`${SPEC}/stories/5-pour.md`]: story('draft') })
  writeFiles(tree, { [`${SPEC}/stories/1-fill.md`]: story('in-review') })
  await untilMarks(folder, { 'spec-tea/1': 'feat: in-review' })
  writeFiles(tree, { [LIST]: listOf('1', '3-2', '4', '5') })
  const marks = { 'spec-tea': 'feat: backlog', 'spec-tea/1': 'feat: in-review' }
  await untilMarks(folder, { ...marks, 'spec-tea/5': '+feat: draft' })
  expect((await folder.tasks())['spec-tea/5']).toMatchObject({
    title: 'Story 5',
    rank: 4,
    parent: 'spec-tea',
    inMain: false,
  })
  writeFiles(tree, { [LIST]: listOf('1', '4') })
  await untilMarks(folder, { ...marks, 'spec-tea/3-2': 'feat: gone' })
})

test('what a tree’s list says anew of a story says nothing of how far it is', async () => {
  const tree = await open({ [`${SPEC}/stories/1-fill.md`]: story('in-progress') })
  writeFiles(tree, { [LIST]: listOf('1', '3-2', '4').replace('Story 1', 'Fill') })
  await expect
    .poll(async () => (await folder.tasks())['spec-tea/1']?.trees)
    .toMatchObject([{ tree: 'feat', title: 'Fill' }])
  const [mark] = (await folder.tasks())['spec-tea/1']?.trees ?? []
  expect(mark).not.toHaveProperty('status')
})

test('one story that main and a tree began in files of other names is one story', async () => {
  const tree = await open()
  writeFiles(tree, { [`${SPEC}/stories/1-fill.md`]: story('draft', 'Fill') })
  writeFiles(folder.dir, { [`${SPEC}/stories/1-pour.md`]: story('in-progress', 'Pour') })
  await untilMarks(folder, { 'spec-tea/1': 'feat: draft' })
  await expect.poll(async () => (await rows())['spec-tea/1']).toBe('in-progress')
})

test('a list that nobody has committed yet makes no other task of a story begun in a tree', async () => {
  const tree = await open()
  const list = `${SPEC}-2/stories.yaml`
  for (const dir of [folder.dir, tree]) writeFiles(dir, { [list]: listOf('1') })
  writeFiles(tree, { [`${SPEC}-2/stories/1-fill.md`]: story('draft', 'Fill') })
  await untilMarks(folder, { 'spec-tea-2/1': 'feat: draft' })
  expect((await rows())['spec-tea-2/1']).toBe('backlog')
})

test('a story whose file in a tree stops at a conflict is unreadable there', async () => {
  const tree = await open()
  const text = `<<<<<<< HEAD\n${story('done')}=======\n${story('draft')}>>>>>>> main\n`
  writeFiles(tree, { [`${SPEC}/stories/1-fill.md`]: text })
  await untilMarks(folder, { 'spec-tea/1': 'feat: unreadable' })
})
