// Made by git itself: what it writes is what counts.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { discoverBoards } from '../../../sidecar/boards/discover.ts'
import { leadingFolder } from '../../../sidecar/trees/worktrees.ts'
import { boardsAbove } from '../../../system/find-board.ts'
import { makeFolder } from '../layouts/store.ts'
import { git, initialize } from './git-folder.ts'

const BOARD = { '.cairn/config.yaml': 'states: [a]\n', '.cairn/tasks/T-1.md': '' }
/** `main` with a board and one in a package; `tree` is a linked worktree beside it. */
function repository(files: Readonly<Record<string, string>> = BOARD) {
  const below = Object.entries(BOARD).map(([name, text]) => [`main/packages/tea/${name}`, text])
  const own = Object.entries(files).map(([name, text]) => [`main/${name}`, text])
  const dir = makeFolder(Object.fromEntries([...own, ...below]))
  initialize(join(dir, 'main'))
  git(join(dir, 'main'), 'worktree', 'add', '-q', '../tree', '-b', 'feat')
  return { dir, main: join(dir, 'main'), tree: join(dir, 'tree') }
}

const sorted = (names: string[]) => names.toSorted((one, other) => (one < other ? -1 : 1))

const boardsIn = async (...dirs: string[]) =>
  sorted((await discoverBoards(dirs)).boards.map(({ dir, store }) => `${dir} ${store.root}`))

const boardAt = (dir: string) => `${dir} ${dir}/.cairn`

test('the boards of linked worktrees are those of the main tree, wherever the trees are', async () => {
  const { dir, main, tree } = repository()
  git(main, 'worktree', 'add', '-q', '.worktrees/inner', '-b', 'inner')
  const both = [boardAt(main), boardAt(join(main, 'packages/tea'))]
  for (const named of [[dir], [main], [tree], [tree, main], [join(main, '.worktrees/inner')]]) {
    expect(await boardsIn(...named)).toEqual(both)
  }
  expect(await boardsIn(join(tree, 'packages/tea'))).toEqual([both[1]])
})

test('a program that starts in a linked worktree, or below, means the folder of the main tree', async () => {
  const { main, tree } = repository()
  mkdirSync(join(tree, 'src/deep'), { recursive: true })
  expect(await leadingFolder(tree)).toBe(main)
  expect(await leadingFolder(join(tree, 'packages/tea'))).toBe(join(main, 'packages/tea'))
  // The main tree has no such folder.
  expect(await leadingFolder(join(tree, 'src/deep'))).toBe(main)
  expect(await leadingFolder(main)).toBe(main)
  for await (const { dir } of boardsAbove(join(tree, 'src/deep'))) expect(dir).toBe(main)
})

test('forty trees are one board; where they are to be left out, none is looked into', async () => {
  const { dir, main, tree } = repository({ 'README.md': '' })
  for (let n = 0; n < 40; n++) git(main, 'worktree', 'add', '-q', `../trees/${n}`, '--detach')
  const packed = boardAt(join(main, 'packages/tea'))
  expect(await boardsIn(dir)).toEqual([packed])
  mkdirSync(join(tree, '.cairn/tasks'), { recursive: true })
  writeFileSync(join(tree, '.cairn/config.yaml'), 'states: [a]\n')
  expect(await boardsIn(dir)).toEqual([packed, boardAt(tree)])
  const { boards } = await discoverBoards([dir], { worktrees: false })
  expect(boards.map((it) => boardAt(it.dir))).toEqual([packed])
})

test('a board that only the branch of a tree has is found there', async () => {
  const { main, tree } = repository({ 'README.md': '' })
  mkdirSync(join(tree, '.cairn/tasks'), { recursive: true })
  writeFileSync(join(tree, '.cairn/config.yaml'), 'states: [a]\n')
  expect(await boardsIn(tree)).toEqual([boardAt(join(main, 'packages/tea')), boardAt(tree)])
})

test('a moved tree that git has repaired is one, and a pruned one is a folder like any other', async () => {
  const { main, tree } = repository()
  const moved = `${tree}-moved`
  renameSync(tree, moved)
  git(moved, 'worktree', 'repair')
  expect(await leadingFolder(moved)).toBe(main)
  rmSync(join(main, '.git/worktrees', basename(tree)), { recursive: true })
  expect(await leadingFolder(moved)).toBe(moved)
})

test('a submodule, a tree of a bare repository and one with a separate git folder stand alone', async () => {
  const { dir, main } = repository()
  const allowed = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add']
  git(main, ...allowed, main, 'vendor/own')
  git(dir, 'clone', '-q', '--bare', 'main', 'bare.git')
  git(join(dir, 'bare.git'), 'worktree', 'add', '-q', '../of-bare', '-b', 'of-bare')
  git(dir, 'clone', '-q', '--separate-git-dir', 'separate.git', 'main', 'separate')
  for (const own of [join(main, 'vendor/own'), join(dir, 'of-bare'), join(dir, 'separate')]) {
    expect(await leadingFolder(own)).toBe(own)
    expect(await boardsIn(own)).toContain(boardAt(own))
  }
})

test('a folder that claims to be a tree of a repository which does not know it stands alone', async () => {
  const { dir, tree } = repository()
  const claims = join(dir, 'claims')
  mkdirSync(join(claims, '.cairn/tasks'), { recursive: true })
  writeFileSync(join(claims, '.cairn/config.yaml'), 'states: [a]\n')
  // Of a tree that is another folder.
  writeFileSync(join(claims, '.git'), readFileSync(join(tree, '.git')))
  expect(await leadingFolder(claims)).toBe(claims)
  // With a git folder of its own that names the repository.
  const own = join(claims, 'git')
  mkdirSync(own)
  writeFileSync(join(own, 'commondir'), join(dir, 'main/.git'))
  writeFileSync(join(own, 'gitdir'), join(claims, '.git'))
  writeFileSync(join(claims, '.git'), `gitdir: ${own}\n`)
  expect(await leadingFolder(claims)).toBe(claims)
  expect(await boardsIn(claims)).toEqual([boardAt(claims)])
})
