// One board over two linked worktrees, from the files to what a client reads.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { PATIENT } from '../../support/patience.ts'
import { commitAll, git, initialize, initializeBare } from '../git/git-folder.ts'
import { type Files, PublishedFolder } from '../published-folder.ts'
import { marksOf, openWithTree, untilMarks } from './open-with-tree.ts'

const CONFIG = 'project_name: "Tea"\nstatuses: ["To Do", "In Progress", "Done"]\n'

const task = (id: number, status: string, title = `Task ${id}`) =>
  `---\nid: task-${id}\ntitle: ${title}\nstatus: ${status}\n---\n`

const fileOf = (id: number) => `backlog/tasks/task-${id} - Task-${id}.md`

const BACKLOG: Files = {
  'backlog/config.yml': CONFIG,
  [fileOf(1)]: task(1, 'To Do'),
  [fileOf(2)]: task(2, 'To Do'),
}

const FEAT = '../feat/'

let folder: PublishedFolder
afterEach(() => folder.close())

async function open(files = BACKLOG): Promise<PublishedFolder> {
  ;({ folder } = await openWithTree(files))
  return folder
}

const marks = () => marksOf(folder)
const until = (expected: Record<string, string>) => untilMarks(folder, expected)

const tree = () => join(folder.dir, FEAT)

test('a task that is saved in a tree shows it on its row, with the message of a save', async () => {
  const { write, received } = bound(await open())
  expect(await marks()).toEqual({})
  write(FEAT + fileOf(1), task(1, 'In Progress'))
  expect(await received(1)).toEqual([{ type: 'task-changed', id: 'TASK-1' }])
  const { 'TASK-1': row } = await folder.tasks()
  expect(row).toMatchObject({
    status: 'To Do',
    ready: true,
    trees: [{ tree: 'feat', branch: 'feat', status: 'In Progress', title: 'Task 1' }],
  })
  expect(row?.trees?.[0]?.dir).toBe(join(folder.dir, '../feat'))
  // The text alone is a save, too.
  write(FEAT + fileOf(1), `${task(1, 'In Progress')}more\n`)
  expect(await received(2)).toHaveLength(2)
  // As the main tree has it: no mark is left.
  write(FEAT + fileOf(1), task(1, 'To Do'))
  expect((await received(3))[2]).toEqual({ type: 'task-changed', id: 'TASK-1' })
  expect(await marks()).toEqual({})
})

test('what is merely old in a tree is no change of it', async () => {
  const { write } = bound(await open())
  write(FEAT + fileOf(2), task(2, 'Done'))
  await until({ 'TASK-2': 'feat: Done' })
  write(fileOf(1), task(1, 'Done'))
  write('backlog/tasks/task-3 - Task-3.md', task(3, 'To Do'))
  await vi.waitFor(async () => expect(Object.keys(await folder.tasks())).toHaveLength(3), PATIENT)
  expect(await marks()).toEqual({ 'TASK-2': 'feat: Done' })
  commitAll(folder.dir)
  commitAll(tree())
  await until({ 'TASK-2': 'feat: Done' })
  // The tree is brought up to the main tree, and then the main tree to it.
  git(tree(), 'merge', '-q', '--no-edit', 'main')
  await until({ 'TASK-2': 'feat: Done' })
  git(folder.dir, 'merge', '-q', 'feat')
  await until({})
  expect((await folder.tasks())['TASK-2']?.status).toBe('Done')
})

test('a task that only a tree has is listed and never ready, and one that it removed is marked so', async () => {
  const { write } = bound(await open())
  write(`${FEAT}backlog/tasks/task-7 - Task-7.md`, task(7, 'To Do'))
  folder.remove(FEAT + fileOf(1))
  await until({ 'TASK-7': '+feat: To Do', 'TASK-1': 'feat: gone' })
  const { 'TASK-7': row } = await folder.tasks()
  expect(row).toMatchObject({ title: 'Task 7', ready: false, inMain: false })
  // Renamed with its title: it is not gone.
  write(`${FEAT}backlog/tasks/task-1 - Other.md`, task(1, 'To Do', 'Other'))
  await until({ 'TASK-7': '+feat: To Do', 'TASK-1': 'feat: To Do' })
  git(folder.dir, 'worktree', 'remove', '--force', '../feat')
  await until({})
  expect(Object.keys(await folder.tasks())).toEqual(['TASK-1', 'TASK-2'])
})

test('a task that the main tree has deleted since is told from one that it never had', async () => {
  const { write } = bound(await open())
  write(`${FEAT}backlog/tasks/task-7 - Task-7.md`, task(7, 'Done'))
  write(FEAT + fileOf(1), task(1, 'Done'))
  // Under another name, too.
  folder.remove(FEAT + fileOf(2))
  write(`${FEAT}backlog/tasks/task-2 - Other.md`, task(2, 'Done', 'Other'))
  await until({ 'TASK-1': 'feat: Done', 'TASK-2': 'feat: Done', 'TASK-7': '+feat: Done' })
  for (const id of [1, 2]) folder.remove(fileOf(id))
  await until({ 'TASK-1': '+feat: Done', 'TASK-2': '+feat: Done', 'TASK-7': '+feat: Done' })
  const { 'TASK-1': one, 'TASK-2': two, 'TASK-7': seven } = await folder.tasks()
  expect([one, two].map((row) => row?.deletedInMain)).toEqual([true, true])
  expect(seven).not.toHaveProperty('deletedInMain')
})

test('two tasks that were begun with one id in two trees are one row, which says so and is not ready', async () => {
  const { write } = bound(await open())
  write('backlog/tasks/task-3 - Kettle.md', task(3, 'To Do', 'Kettle'))
  write(`${FEAT}backlog/tasks/task-3 - Cups.md`, task(3, 'To Do', 'Cups'))
  await until({ 'TASK-3': 'feat: To Do' })
  const { 'TASK-3': row } = await folder.tasks()
  const why = 'another task has this id: “Cups” in the worktree feat'
  expect(row).toMatchObject({ title: 'Kettle', ready: false, invalid: why })
  // Of trees alone.
  git(folder.dir, 'worktree', 'add', '-q', '../other', 'feat~0', '--detach')
  write(`${FEAT}backlog/tasks/task-4 - Spoon.md`, task(4, 'To Do', 'Spoon'))
  write('../other/backlog/tasks/task-4 - Sugar.md', task(4, 'To Do', 'Sugar'))
  await vi.waitFor(
    async () =>
      expect((await folder.tasks())['TASK-4']).toMatchObject({
        inMain: false,
        invalid: expect.stringContaining('another task has this id'),
      }),
    PATIENT,
  )
  // The same task under another title is one.
  write(`${FEAT}backlog/tasks/task-1 - Other.md`, task(1, 'To Do', 'Other'))
  folder.remove(FEAT + fileOf(1))
  await vi.waitFor(
    async () => expect((await folder.tasks())['TASK-1']?.trees).toHaveLength(1),
    PATIENT,
  )
  expect((await folder.tasks())['TASK-1']).not.toHaveProperty('invalid')
})

test('trees that are added later, and a start, say nothing of what is not changed', async () => {
  const { write, received } = bound(await open())
  write(FEAT + fileOf(1), task(1, 'Done'))
  await received(1)
  const { place } = folder
  await folder.stopSidecar()
  await folder.startSidecar()
  expect(await marks()).toEqual({ 'TASK-1': 'feat: Done' })
  git(folder.dir, 'worktree', 'add', '-q', '../other', 'feat~0', '--detach')
  write(fileOf(2), task(2, 'Done'))
  expect(await folder.resumed(place, 1)).toEqual([{ type: 'task-changed', id: 'TASK-2' }])
  write(`../other/${fileOf(1)}`, task(1, 'In Progress'))
  await until({ 'TASK-1': 'feat: Done, other: In Progress' })
})

test('of a bare repository the tree that was added first leads, and the others have marks', async () => {
  folder = await PublishedFolder.open(BACKLOG, (dir) => {
    initializeBare(dir)
    git(dir, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  })
  folder.write(FEAT + fileOf(1), task(1, 'In Progress'))
  await until({ 'TASK-1': 'feat: In Progress' })
  // What is merely old is none, by the histories of these two.
  folder.write(fileOf(2), task(2, 'Done'))
  commitAll(folder.dir)
  await until({ 'TASK-1': 'feat: In Progress' })
  commitAll(tree())
  git(folder.dir, 'merge', '-q', '--no-edit', 'feat')
  await until({})
  expect((await folder.tasks())['TASK-1']?.status).toBe('In Progress')
})

const MOUNT = '/dev/shm'
const isAnotherMount = existsSync(MOUNT) && statSync(MOUNT).dev !== statSync(tmpdir()).dev

test.runIf(isAnotherMount)('a tree on another mount is one of them', async () => {
  const away = mkdtempSync(join(MOUNT, 'signalbox-'))
  onTestFinished(() => rmSync(away, { recursive: true, force: true }))
  folder = await PublishedFolder.open(BACKLOG, (dir) => {
    initialize(dir)
    git(dir, 'worktree', 'add', '-q', join(away, 'feat'), '-b', 'feat')
  })
  writeFileSync(join(away, 'feat', fileOf(1)), task(1, 'In Progress'))
  await until({ 'TASK-1': 'feat: In Progress' })
  // It is not mounted any more: what was known of it stands, and its tasks are not gone.
  renameSync(away, `${away}-far`)
  onTestFinished(() => rmSync(`${away}-far`, { recursive: true }))
  folder.write(fileOf(2), task(2, 'Done'))
  await vi.waitFor(
    async () => expect((await folder.tasks())['TASK-2']?.status).toBe('Done'),
    PATIENT,
  )
  expect(await marks()).toEqual({ 'TASK-1': 'feat: In Progress' })
})

test('a tree that was moved keeps its marks, and is that tree where it is now', async () => {
  await open()
  folder.write(FEAT + fileOf(1), task(1, 'Done'))
  await until({ 'TASK-1': 'feat: Done' })
  const moved = join(folder.dir, '../moved')
  renameSync(tree(), moved)
  const dir = async () => (await folder.tasks())['TASK-1']?.trees?.[0]?.dir
  await vi.waitFor(async () => expect(await dir()).toBe(moved), PATIENT)
  expect(folder.messages.every(({ type }) => type === 'task-changed')).toBe(true)
  folder.write(`../moved/${fileOf(2)}`, task(2, 'In Progress'))
  await until({ 'TASK-1': 'feat: Done', 'TASK-2': 'feat: In Progress' })
  git(moved, 'worktree', 'repair')
  rmSync(moved, { recursive: true })
  git(folder.dir, 'worktree', 'prune')
  await until({})
})

test('a tree whose folder is gone or moved at a start keeps its marks, also after a kill', async () => {
  const { write } = bound(await open())
  write(FEAT + fileOf(1), task(1, 'Done'))
  write(`${FEAT}backlog/tasks/task-7 - Task-7.md`, task(7, 'To Do'))
  folder.remove(FEAT + fileOf(2))
  const before = { 'TASK-1': 'feat: Done', 'TASK-2': 'feat: gone', 'TASK-7': '+feat: To Do' }
  await until(before)
  const { place } = folder
  // A process that is killed writes nothing more.
  const [cache, killed] = [join(folder.dir, '../cache'), join(folder.dir, '../killed')]
  cpSync(cache, killed, { recursive: true })
  const restart = async (meanwhile: () => void) => {
    await folder.stopSidecar()
    rmSync(cache, { recursive: true })
    cpSync(killed, cache, { recursive: true })
    meanwhile()
    await folder.startSidecar()
  }
  const far = join(folder.dir, '../far/away')
  mkdirSync(far, { recursive: true })
  await restart(() => renameSync(tree(), join(far, 'feat')))
  expect(await marks()).toEqual(before)
  write(fileOf(3), task(3, 'To Do'))
  expect(await folder.resumed(place, 1)).toEqual([{ type: 'task-changed', id: 'TASK-3' }])
  expect(await marks()).toEqual(before)
  // As the main tree has it.
  write(fileOf(1), task(1, 'Done'))
  const { 'TASK-1': _, ...others } = before
  await until(others)
  write(fileOf(1), task(1, 'To Do'))
  await until(before)
  renameSync(join(far, 'feat'), tree())
  write(FEAT + fileOf(1), task(1, 'In Progress'))
  await until({ ...before, 'TASK-1': 'feat: In Progress' })
  // What was removed is there again, and what was known is no more: each file is read anew.
  await restart(() => {
    write(FEAT + fileOf(2), task(2, 'Done'))
    folder.remove(`${FEAT}backlog/tasks/task-7 - Task-7.md`)
    renameSync(tree(), join(folder.dir, '../moved'))
  })
  await until({ 'TASK-1': 'feat: In Progress', 'TASK-2': 'feat: Done' })
})

test('one task in two trees at once is one change of it, and two tasks are one of the list', async () => {
  folder = await PublishedFolder.open(BACKLOG, (dir) => {
    initialize(dir)
    for (const name of ['feat', 'other']) git(dir, 'worktree', 'add', '-q', `../${name}`)
  })
  folder.write(FEAT + fileOf(1), task(1, 'Done'))
  folder.write(`../other/${fileOf(1)}`, task(1, 'Done'))
  await until({ 'TASK-1': 'feat: Done, other: Done' })
  expect(folder.messages).toEqual([{ type: 'task-changed', id: 'TASK-1' }])
  folder.write(FEAT + fileOf(1), task(1, 'In Progress'))
  folder.write(`../other/${fileOf(2)}`, task(2, 'Done'))
  await until({ 'TASK-1': 'feat: In Progress, other: Done', 'TASK-2': 'other: Done' })
  expect(folder.messages.slice(1)).toEqual([{ type: 'tasks-changed' }])
  // In the main tree, too.
  folder.write(FEAT + fileOf(2), task(2, 'In Progress'))
  folder.write(fileOf(2), task(2, 'In Progress'))
  await until({ 'TASK-1': 'feat: In Progress, other: Done', 'TASK-2': 'other: Done' })
  await vi.waitFor(
    async () => expect((await folder.tasks())['TASK-2']?.status).toBe('In Progress'),
    PATIENT,
  )
  expect(folder.messages.slice(2)).toEqual([{ type: 'task-changed', id: 'TASK-2' }])
})

test('after another branch was checked out, marks are those of its history', async () => {
  folder = await PublishedFolder.open(BACKLOG, (dir) => {
    initialize(dir)
    git(dir, 'branch', 'older')
    writeFileSync(join(dir, fileOf(1)), task(1, 'In Progress'))
    commitAll(dir)
    git(dir, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  })
  expect(await marks()).toEqual({})
  // What both had is of the tree alone now.
  git(folder.dir, 'checkout', '-q', 'older')
  expect((await folder.received(1))[0]).toEqual({ type: 'task-changed', id: 'TASK-1' })
  // git moves HEAD after the files: a message between both has no mark yet.
  await until({ 'TASK-1': 'feat: In Progress' })
  git(folder.dir, 'checkout', '-q', 'main')
  await until({})
  // In the tree it is merely old.
  git(tree(), 'checkout', '-q', 'older')
  folder.write(FEAT + fileOf(2), task(2, 'Done'))
  await until({ 'TASK-2': 'feat: Done' })
  const saved = { type: 'task-changed', id: 'TASK-2' }
  await expect.poll(() => folder.messages.at(-1)).toEqual(saved)
})

test('a task that the main tree renamed and a tree removed is marked so', async () => {
  await open()
  folder.move(fileOf(1), 'backlog/tasks/task-1 - Other.md')
  folder.write('backlog/tasks/task-1 - Other.md', task(1, 'To Do', 'Other'))
  await vi.waitFor(
    async () => expect((await folder.tasks())['TASK-1']?.title).toBe('Other'),
    PATIENT,
  )
  expect(await marks()).toEqual({})
  folder.remove(FEAT + fileOf(1))
  await until({ 'TASK-1': 'feat: gone' })
  commitAll(folder.dir)
  commitAll(tree())
  await until({ 'TASK-1': 'feat: gone' })
  await folder.stopSidecar()
  await folder.startSidecar()
  expect(await marks()).toEqual({ 'TASK-1': 'feat: gone' })
  folder.write(FEAT + fileOf(1), task(1, 'Done'))
  await until({ 'TASK-1': 'feat: Done' })
})

test('a file with a backslash in its name is merely old in a tree, too', async () => {
  const odd = 'backlog/tasks/task-3 - a\\b.md'
  await open({ ...BACKLOG, [odd]: task(3, 'To Do') })
  folder.write(FEAT + fileOf(2), task(2, 'Done'))
  folder.write(odd, task(3, 'Done'))
  await until({ 'TASK-2': 'feat: Done' })
  await vi.waitFor(
    async () => expect((await folder.tasks())['TASK-3']?.status).toBe('Done'),
    PATIENT,
  )
  expect(await marks()).toEqual({ 'TASK-2': 'feat: Done' })
  folder.remove(FEAT + odd)
  await until({ 'TASK-2': 'feat: Done', 'TASK-3': 'feat: gone' })
})

test('without a merge base, what differs counts once it was seen to change', async () => {
  folder = await PublishedFolder.open(BACKLOG, (dir) => {
    initialize(dir)
    git(dir, 'worktree', 'add', '-q', '--detach', '../feat')
    git(join(dir, '../feat'), 'checkout', '-q', '--orphan', 'alone')
    rmSync(join(dir, '../feat', fileOf(2)))
    commitAll(join(dir, '../feat'))
  })
  folder.write(fileOf(1), task(1, 'Done'))
  await folder.received(1)
  expect(await marks()).toEqual({})
  folder.write(FEAT + fileOf(1), task(1, 'In Progress'))
  await until({ 'TASK-1': 'feat: In Progress' })
})

test('with SHA-256 too, line ends are no change, and a tree that git writes is left as it was', async () => {
  folder = await PublishedFolder.open(BACKLOG, (dir) => {
    git(dir, 'init', '-q', '-b', 'main', '--object-format=sha256')
    commitAll(dir)
    git(dir, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  })
  folder.write(FEAT + fileOf(1), task(1, 'To Do').replaceAll('\n', '\r\n'))
  folder.write(FEAT + fileOf(2), task(2, 'Done'))
  await until({ 'TASK-2': 'feat: Done' })
  const lock = join(folder.dir, '.git/worktrees/feat/index.lock')
  writeFileSync(lock, '')
  folder.write(FEAT + fileOf(1), task(1, 'Done'))
  folder.write(fileOf(2), task(2, 'In Progress'))
  await vi.waitFor(
    async () => expect((await folder.tasks())['TASK-2']?.status).toBe('In Progress'),
    PATIENT,
  )
  expect(await marks()).toEqual({ 'TASK-2': 'feat: Done' })
  rmSync(lock)
  await until({ 'TASK-1': 'feat: Done', 'TASK-2': 'feat: Done' })
})

const bound = (it: PublishedFolder) => ({
  write: it.write.bind(it),
  received: it.received.bind(it),
})
