// Which trees have a board, while they move between the look at their repository and that at the
// board, or git does not answer.

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Repository, TreeNow } from '../../../sidecar/git/repository.ts'
import { openStore } from '../../../sidecar/layouts/registry.ts'
import { FoundTrees } from '../../../sidecar/trees/found-trees.ts'
import { makeFolder } from '../../support/temp-folder.ts'

const CONFIG = 'project_name: Tea\n'
const BASE = 'b'.repeat(40)
const NEXT = 'c'.repeat(40)

/**
 * One with a linked worktree; its repository says what the test lets it say. `isSlow`: that was not
 * looked at yet, and an earlier run knew the tree.
 */
async function open({ isSlow = false } = {}) {
  const home = makeFolder({ 'main/backlog/config.yml': CONFIG, 'feat/backlog/config.yml': CONFIG })
  const common = join(home, 'main/.git')
  const gitFolder = join(common, 'worktrees/feat')
  mkdirSync(gitFolder, { recursive: true })
  const treeIn = (place: string, base = BASE): TreeNow => ({
    dir: join(home, place),
    common,
    gitFolder,
    name: 'feat',
    branch: 'feat',
    isSparse: false,
    bases: [base],
    head: '',
    heads: '',
  })
  const answers = new Map([[BASE, new Map<string, string>()]])
  let trees = [treeIn('feat')]
  let looked = (): void => undefined
  const repository: Repository = {
    top: join(home, 'main'),
    files: async (commit) => answers.get(commit),
    blob: async () => undefined,
    blobs: async () => new Map(),
    common: async () => undefined,
    log: async () => [],
    committed: async () => undefined,
    head: () => '',
    moves: () => [],
    movesSign: () => '',
    checkedOut: async () => undefined,
    whenIdle: async () => undefined,
    goesOn: async () => undefined,
    tipOf: async () => undefined,
    trees: () => trees,
    remember: () => undefined,
    catchUp: async () => undefined,
    follow(onLook) {
      looked = onLook
      if (!isSlow) onLook()
      return () => undefined
    },
  }
  const board = new FoundTrees({
    store: await openStore(repository.top),
    dir: repository.top,
    repositories: { of: async () => repository },
    log: () => undefined,
  })
  const onChange = Promise.withResolvers<void>()
  const started = board.start(onChange.resolve, undefined, isSlow ? trees : [])
  await (isSlow ? onChange.promise : started)
  /** What all have after a look that found these. */
  const look = async (...found: TreeNow[]) => {
    trees = found
    looked()
    await board.catchUp()
    return all()
  }
  const all = () =>
    board.all().map((tree) => ({
      place: tree.dir.slice(home.length + 1),
      bases: tree.bases?.length,
      ...(board.isAway(tree) && { isAway: true }),
    }))
  return { home, gitFolder, treeIn, answers, look, all }
}

const FEAT = { place: 'feat', bases: 1 }
const MOVED = { place: 'moved', bases: 1 }

test('a tree that moves after its repository was looked at stays until that is looked at again', async () => {
  const { home, treeIn, look } = await open()
  expect(await look(treeIn('feat'))).toEqual([FEAT])
  renameSync(join(home, 'feat'), join(home, 'moved'))
  expect(await look(treeIn('feat'))).toEqual([FEAT])
  expect(await look(treeIn('moved'))).toEqual([MOVED])
  // As far as git knows.
  expect(await look()).toEqual([])
})

test('a tree without the board has none, but not while git writes it', async () => {
  const { home, gitFolder, treeIn, look } = await open()
  rmSync(join(home, 'feat/backlog'), { recursive: true })
  mkdirSync(join(home, 'feat/other'))
  writeFileSync(join(gitFolder, 'index.lock'), '')
  expect(await look(treeIn('feat'))).toEqual([FEAT])
  rmSync(join(gitFolder, 'index.lock'))
  expect(await look(treeIn('feat'))).toEqual([])
})

test('a tree is as it was while git does not say what its merge base has, wherever it is', async () => {
  const { home, treeIn, answers, look } = await open()
  expect(await look(treeIn('feat', NEXT))).toEqual([FEAT])
  renameSync(join(home, 'feat'), join(home, 'moved'))
  expect(await look(treeIn('moved', NEXT))).toEqual([FEAT])
  answers.set(NEXT, new Map())
  expect(await look(treeIn('moved', NEXT))).toEqual([MOVED])
})

test('until its repository was looked at, a tree is as an earlier run knew it', async () => {
  const { home, treeIn, look, all } = await open({ isSlow: true })
  const unknown = { place: 'feat', bases: undefined, isAway: true }
  expect(all()).toEqual([unknown])
  // Its folder is gone, and git says what its merge base has.
  renameSync(join(home, 'feat'), join(home, 'away'))
  expect(await look({ ...treeIn('feat'), awaySince: 1 })).toEqual([{ ...FEAT, isAway: true }])
  renameSync(join(home, 'away'), join(home, 'feat'))
  expect(await look(treeIn('feat'))).toEqual([FEAT])
})
