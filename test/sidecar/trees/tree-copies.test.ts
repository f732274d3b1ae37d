// What trees made of a board's tasks, by what is taken of their files alone.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { openBoard } from '../../../sidecar/open-sidecar.ts'
import type { Tree } from '../../../sidecar/trees/tree.ts'

const TASK = '---\nid: task-1\ntitle: Tea\nstatus: To Do\n---\n'
const BLOB = 'b'.repeat(40)
const BEFORE = 'backlog/tasks/task-1 - Tea.md'
const RENAMED = 'backlog/tasks/task-1 - Coffee.md'

/** A folder of the test, and what writes a file in it and returns its path. */
function folder() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-copies-')))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
    return join(home, name)
  }
  return { home, write }
}

/** A board whose main tree has the task in this file, and a tree `feat`. */
async function boardWith(file: string, bases: Tree['bases']) {
  const { home, write } = folder()
  for (const tree of ['main', 'feat']) write(`${tree}/backlog/config.yml`, 'project_name: Tea\n')
  const own = write(`main/${file}`, TASK)
  const store = await openStore(join(home, 'main'))
  const { board, read } = openBoard({ store, runOutput: 'none', log: () => undefined })
  const state = read(own)
  if (state.state !== 'parsed') throw new Error(state.state)
  board.ingest(own, state.file)
  const dir = join(home, 'feat')
  const found = { name: 'feat', dir, store: await openStore(dir), isSparse: false }
  const tree: Tree = { ...found, bases, algorithm: 'sha1' }
  return { board, trees: board.trees, tree, copy: write(`feat/${BEFORE}`, TASK) }
}

const BASES = [new Map([[BEFORE, BLOB]])]
const GONE = new Map([['feat', { files: [], gone: ['task:task-1'] }]])

test('a file that a tree removed and has again, as git knows it, is not removed', async () => {
  const { board, trees, tree, copy } = await boardWith(RENAMED, BASES)
  trees.take([tree])
  trees.read([tree])
  for (const wanted of trees.wanted()) trees.learn(wanted, TASK)
  board.ingest(copy, null)
  expect(trees.of('task:task-1')?.marks).toMatchObject([{ tree: 'feat', gone: true }])

  trees.takeTouched()
  trees.filesAt(copy)?.takeUnchanged(copy, BLOB, { ...statSync(copy), isRacy: false })
  expect(trees.takeTouched()).toContain('task:task-1')
  expect(trees.of('task:task-1')).toBeUndefined()
})

test('a task that a tree had removed, and has again since a stop, comes back once all is read', async () => {
  const { trees, tree, copy } = await boardWith(BEFORE, BASES)
  trees.restore(GONE)
  trees.take([tree])
  trees.filesAt(copy)?.takeUnchanged(copy, BLOB, { ...statSync(copy), isRacy: false })
  expect(trees.of('task:task-1')?.marks).toMatchObject([{ tree: 'feat', gone: true }])

  trees.takeTouched()
  trees.read([tree])
  expect(trees.of('task:task-1')).toBeUndefined()
  expect(trees.takeTouched()).toContain('task:task-1')
})

test('what a tree had removed before a stop is kept while git says nothing of it', async () => {
  const { trees, tree } = await boardWith(BEFORE, undefined)
  trees.restore(GONE)
  trees.take([tree])
  expect([...trees.toKeep()]).toMatchObject([{ files: { gone: ['task:task-1'] } }])
})

test('what a tree changed stays while it is read in the place that it was moved to', async () => {
  const { home, write } = folder()
  const places = ['main', 'feat', 'moved', 'again']
  for (const place of places) write(`${place}/backlog/config.yml`, 'project_name: Tea\n')
  const store = await openStore(join(home, 'main'))
  const { board, read } = openBoard({ store, runOutput: 'none', log: () => undefined })
  const ingest = (name: string, text: string) => {
    const path = write(name, text)
    const state = read(path)
    if (state.state !== 'parsed') throw new Error(state.state)
    board.ingest(path, state.file)
  }
  const treeIn = async (place: string) => ({
    name: 'feat',
    dir: join(home, place),
    store: await openStore(join(home, place)),
    bases: [new Map([[BEFORE, BLOB]])],
    algorithm: 'sha1' as const,
    isSparse: false,
  })
  const begun = TASK.replace('To Do', 'Done')
  const marks = () => board.trees.of('task:task-1')?.marks
  const [feat, moved, again] = [await treeIn('feat'), await treeIn('moved'), await treeIn('again')]
  ingest(`main/${BEFORE}`, TASK)
  board.trees.take([feat])
  ingest(`feat/${BEFORE}`, begun)
  board.trees.read([feat])
  const before = [{ tree: 'feat', dir: feat.dir, status: 'Done' }]
  expect(marks()).toMatchObject(before)

  board.trees.take([moved])
  expect(marks()).toMatchObject(before)
  board.trees.take([again])
  expect(marks()).toMatchObject(before)
  ingest(`again/${BEFORE}`, begun)
  board.trees.takeTouched()
  board.trees.read([again])
  expect(board.trees.takeTouched()).toContain('task:task-1')
  expect(marks()).toMatchObject([{ tree: 'feat', dir: again.dir, status: 'Done' }])
  expect([...board.trees.trees.keys()]).toEqual([again.dir])
  board.trees.take([])
  expect(marks()).toBeUndefined()
})

test('of a list that two trees changed, both are compared with what their merge base has', async () => {
  const { home, write } = folder()
  const list = '.taskmaster/tasks/tasks.json'
  const text = (...statuses: string[]) => {
    const tasks = statuses.map((status, n) => ({ id: n + 1, title: `Task ${n + 1}`, status }))
    return JSON.stringify({ master: { tasks } })
  }
  const before = text('pending', 'pending')
  const changed = { feat: text('done', 'pending'), other: text('review', 'pending') }
  const files = Object.entries({ main: before, ...changed })
  const paths = files.map(([place, said]) => {
    write(`${place}/.taskmaster/config.json`, '{}')
    return write(`${place}/${list}`, said)
  })
  const { board, read } = openBoard({
    store: await openStore(join(home, 'main')),
    runOutput: 'none',
    log: () => undefined,
  })
  const treeIn = async (name: string) => ({
    name,
    dir: join(home, name),
    store: await openStore(join(home, name)),
    bases: [new Map([[list, BLOB]])],
    algorithm: 'sha1' as const,
    isSparse: false,
  })
  const trees = [await treeIn('feat'), await treeIn('other')]
  board.trees.take(trees)
  for (const path of paths) {
    const state = read(path)
    if (state.state !== 'parsed') throw new Error(state.state)
    board.ingest(path, state.file)
  }
  board.trees.read(trees)
  expect(board.trees.of('task:master:1')).toBeUndefined()

  board.trees.takeTouched()
  for (const wanted of board.trees.wanted()) board.trees.learn(wanted, before)
  expect(board.trees.takeTouched()).toContain('task:master:1')
  const marks = [
    { tree: 'feat', status: 'done' },
    { tree: 'other', status: 'review' },
  ]
  expect(board.trees.of('task:master:1')?.marks).toMatchObject(marks)
  expect(board.trees.of('task:master:2')).toBeUndefined()
})
