// Made by git itself: what it writes is what counts.

import {
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { discoverBoards } from '../../../sidecar/boards/discover.ts'
import { nameBoards } from '../../../sidecar/boards/names.ts'
import { leadingFolder, linkedTreesOf } from '../../../sidecar/git/worktrees.ts'
import { boardsAbove } from '../../../system/find-board.ts'
import { makeFolder } from '../../support/temp-folder.ts'
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

test('a tree that was moved is that tree, also before git is told', async () => {
  const { dir, main, tree } = repository()
  const moved = `${tree}-moved`
  renameSync(tree, moved)
  expect(await leadingFolder(moved)).toBe(main)
  expect(await leadingFolder(join(moved, 'packages/tea'))).toBe(join(main, 'packages/tea'))
  const both = [boardAt(main), boardAt(join(main, 'packages/tea'))]
  for (const named of [[dir], [moved], [main]]) expect(await boardsIn(...named)).toEqual(both)
  const trees = async () => (await linkedTreesOf(join(main, '.git'))).map((it) => it.dir)
  expect(await trees()).toEqual([moved])
  // In a folder that git ignores, and nobody looks into.
  writeFileSync(join(main, '.gitignore'), 'away\n')
  mkdirSync(join(main, 'away'))
  renameSync(moved, join(main, 'away/feat'))
  expect(await leadingFolder(join(main, 'away/feat'))).toBe(main)
  // Of two, nobody knows which it is.
  renameSync(join(main, 'away/feat'), moved)
  cpSync(moved, join(dir, 'another'), { recursive: true })
  expect(await trees()).toEqual([])
  git(moved, 'worktree', 'repair')
  expect(await trees()).toEqual([moved])
})

test('a copy, and one that its repository has forgotten, is left out near its repository', async () => {
  const { dir, main, tree } = repository()
  const both = [boardAt(main), boardAt(join(main, 'packages/tea'))]
  const inner = join(main, '.trees/inner')
  git(main, 'worktree', 'add', '-q', inner, '-b', 'inner')
  const copy = join(main, '.trees/copy')
  cpSync(inner, copy, { recursive: true })
  cpSync(tree, `${tree}-copy`, { recursive: true })
  const use = `so its board is left out: the board to use is the one of ${main}.`
  const ofCopy = `${copy} is a copy of the linked worktree in ${inner}, ${use}`
  const left = async (...dirs: string[]) => {
    const found = await discoverBoards(dirs)
    expect(sorted(found.boards.map((it) => boardAt(it.dir)))).toEqual(both)
    return sorted(found.leftOut.map(({ code, message }) => `${code}: ${message}`))
  }
  expect(await left(main)).toEqual([`stray_worktree: ${ofCopy}`])
  const ofOther = `${tree}-copy is a copy of the linked worktree in ${tree}, ${use}`
  expect(await left(dir)).toEqual([`stray_worktree: ${ofCopy}`, `stray_worktree: ${ofOther}`])
  const refused = { code: 'stray_worktree', message: ofCopy }
  await expect(leadingFolder(copy)).rejects.toMatchObject(refused)
  await expect(leadingFolder(join(copy, 'packages/tea'))).rejects.toMatchObject(refused)
  // Away from it, it is a project of its own.
  expect(await boardsIn(`${tree}-copy`)).toContain(boardAt(`${tree}-copy`))

  for (const each of [copy, `${tree}-copy`]) rmSync(each, { recursive: true })
  const own = join(main, '.git/worktrees/inner')
  rmSync(own, { recursive: true })
  const ofGone = `${inner} is a linked worktree whose git folder ${own} is not there, ${use}`
  expect(await left(main)).toEqual([`stray_worktree: ${ofGone}`])
  // As a container left it, whose paths are not ours.
  writeFileSync(join(inner, '.git'), 'gitdir: /workspace/.git/worktrees/inner\n')
  expect(await left(main)).toEqual([
    `stray_worktree: ${ofGone.replace(own, '/workspace/.git/worktrees/inner')}`,
  ])
  await expect(leadingFolder(inner)).rejects.toMatchObject({ code: 'stray_worktree' })
})

test('a link in a worktree that leads to a board elsewhere is no second board', async () => {
  for (const at of ['tree', 'main/.trees/inner']) {
    const { dir, main } = repository()
    const [elsewhere, tree] = [join(dir, 'elsewhere'), join(dir, at)]
    cpSync(join(main, '.cairn'), join(elsewhere, '.cairn'), { recursive: true })
    if (at !== 'tree') git(main, 'worktree', 'add', '-q', tree, '-b', 'inner')
    rmSync(join(tree, '.cairn'), { recursive: true })
    symlinkSync(join(elsewhere, '.cairn'), join(tree, '.cairn'))
    const own = [boardAt(main), boardAt(join(main, 'packages/tea'))]
    for (const followsLinks of [false, true]) {
      const found = async (named: string) => {
        const { boards, leftOut } = await discoverBoards([named], { followsLinks })
        expect(leftOut).toEqual([])
        return sorted(boards.map((it) => `${it.dir} ${it.store.root}`))
      }
      expect(await found(tree)).toEqual(own)
      expect(await found(main)).toEqual(own)
      expect(await found(dir)).toEqual([boardAt(elsewhere), ...own])
      // Where only the worktree has it, it is the one that the link leads to.
      if (!followsLinks || at !== 'tree') continue
      renameSync(join(main, '.cairn'), join(main, 'other'))
      expect(await found(dir)).toEqual([boardAt(elsewhere), own[1]])
      renameSync(join(main, 'other'), join(main, '.cairn'))
    }
  }
})

test('what lies deep in a linked worktree does not end the search', async () => {
  const { main, tree } = repository()
  const deep = 'a/b/c/d/e/f/g/h'
  mkdirSync(join(main, deep), { recursive: true })
  git(main, 'worktree', 'move', tree, join(main, 'trees-feat'))
  mkdirSync(join(main, 'trees-feat', deep), { recursive: true })
  expect((await discoverBoards([main])).leftOut).toEqual([])
  mkdirSync(join(main, deep, 'i'))
  const [cut] = (await discoverBoards([main])).leftOut
  expect(cut?.message).toContain(`8 levels down, above ${join(main, deep, 'i')}`)
})

test('a submodule and a nested repository are boards of their own, and a submodule has worktrees', async () => {
  const { dir, main } = repository()
  const allowed = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add']
  git(main, ...allowed, main, 'vendor/own')
  const own = join(main, 'vendor/own')
  git(dir, 'clone', '-q', 'main', 'main/nested')
  for (const alone of [own, join(main, 'nested')]) {
    expect(await leadingFolder(alone)).toBe(alone)
    expect(await boardsIn(alone)).toContain(boardAt(alone))
    expect(await boardsIn(main)).toContain(boardAt(alone))
  }
  git(own, 'worktree', 'add', '-q', '../../../of-own', '-b', 'of-own')
  expect(await leadingFolder(join(dir, 'of-own'))).toBe(own)
  expect(await boardsIn(join(dir, 'of-own'))).toEqual(await boardsIn(own))
})

test('of a bare repository the tree that was added first leads, under the name of the repository', async () => {
  const { dir } = repository()
  git(dir, 'clone', '-q', '--bare', 'main', 'bare.git')
  const bare = join(dir, 'bare.git')
  for (const name of ['zoe', 'anna']) {
    git(bare, 'worktree', 'add', '-q', `../${name}`, '-b', name)
  }
  const [zoe, anna] = [join(dir, 'zoe'), join(dir, 'anna')]
  const boards = [boardAt(zoe), boardAt(join(zoe, 'packages/tea'))]
  expect(await leadingFolder(anna)).toBe(zoe)
  expect(await leadingFolder(join(anna, 'packages/tea'))).toBe(join(zoe, 'packages/tea'))
  expect(await leadingFolder(zoe)).toBe(zoe)
  for (const named of [[anna], [zoe], [anna, zoe]]) expect(await boardsIn(...named)).toEqual(boards)
  const nameOf = async () => {
    const { boards, projects } = await discoverBoards([anna])
    const [project = ''] = projects
    return nameBoards(boards, { repo: project, project }).named.map(({ name }) => name)
  }
  expect(await nameOf()).toEqual([bare, `${bare}/packages/tea#cairn`])
  git(bare, 'worktree', 'remove', 'zoe')
  expect(await leadingFolder(anna)).toBe(anna)
  expect(await nameOf()).toEqual([bare, `${bare}/packages/tea#cairn`])
})

test('a main tree with a separate git folder that names it leads; else the first tree does', async () => {
  const { dir, main } = repository()
  git(dir, 'clone', '-q', '--separate-git-dir', 'separate.git', 'main', 'separate')
  const separate = join(dir, 'separate')
  git(separate, 'worktree', 'add', '-q', '../one', '-b', 'one')
  git(separate, 'worktree', 'add', '-q', '../another', '-b', 'another')
  const [one, another] = [join(dir, 'one'), join(dir, 'another')]
  expect(await leadingFolder(another)).toBe(one)
  expect(await leadingFolder(separate)).toBe(separate)
  git(separate, 'config', 'core.worktree', separate)
  expect(await leadingFolder(another)).toBe(separate)
  // Not where that folder is of another repository.
  git(separate, 'config', 'core.worktree', main)
  expect(await leadingFolder(another)).toBe(one)
})

test('where the main tree is not there, or has no board, the first tree with one leads under its name', async () => {
  const { dir, main, tree } = repository()
  git(main, 'worktree', 'add', '-q', '../another', '-b', 'another')
  const another = join(dir, 'another')
  rmSync(join(main, '.cairn'), { recursive: true })
  for (const here of [main, tree, another]) {
    expect(await leadingFolder(here), here).toBe(tree)
    expect((await boardsIn(here)).toSorted(), here).toEqual(
      [boardAt(tree), boardAt(join(main, 'packages/tea'))].toSorted(),
    )
    const { boards, projects } = await discoverBoards([here])
    expect(projects).toEqual([main])
    const { named } = nameBoards(boards, { repo: main, project: main })
    expect(named.map(({ name }) => name)).toEqual([main, `${main}/packages/tea#cairn`])
  }
  // As in a container that has only the git folder of it.
  for (const name of ['packages', '.gitignore', '.gitmodules']) {
    rmSync(join(main, name), { recursive: true, force: true })
  }
  expect(await leadingFolder(join(another, 'packages/tea'))).toBe(join(tree, 'packages/tea'))
  expect(await leadingFolder(another)).toBe(tree)
})

test('a tree whose repository is not there is a folder like any other', async () => {
  const { main, tree } = repository()
  renameSync(main, `${main}-elsewhere`)
  expect(await leadingFolder(tree)).toBe(tree)
  expect(await boardsIn(tree)).toEqual([boardAt(tree), boardAt(join(tree, 'packages/tea'))])
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

test('a pointer that leads below a file ends no search', async () => {
  const { main, tree } = repository()
  const file = join(main, '.cairn/config.yaml')
  writeFileSync(join(main, '.git/worktrees/tree/gitdir'), `${file}/.git\n`)
  expect(await boardsIn(main)).toEqual([boardAt(main), boardAt(join(main, 'packages/tea'))])
  writeFileSync(join(tree, '.git'), `gitdir: ${file}/worktrees/tree\n`)
  expect(await leadingFolder(tree)).toBe(tree)
})
