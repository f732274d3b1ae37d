import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Bounds, discoverBoards } from '../../../sidecar/boards/discover.ts'
import type { Search } from '../../../sidecar/layouts/registry.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { swapForLink } from '../layouts/store.ts'

const CAIRN = { '.cairn/config.yaml': 'states: [a]\n', '.cairn/tasks/T-1.md': '' }
const KIRO = { '.kiro/specs/tea/tasks.md': '' }
/** A board of each tool in one folder. */
const ALL = {
  ...CAIRN,
  'backlog/config.yml': '',
  '.taskmaster/tasks/tasks.json': '{}',
  'openspec/changes/add-tea/tasks.md': '',
  ...KIRO,
  '.specify/a': '',
  'specs/001-tea/tasks.md': '',
  '_bmad/_config/manifest.yaml': '',
  '_bmad-output/implementation-artifacts/sprint-status.yaml': '',
}

const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]))

interface How extends Search, Partial<Bounds> {
  /** Those that are named. */
  dirs?: string[]
}

/** The boards, as `folder#layout`, and the sentences. */
async function search(dir: string, { dirs = [''], followsLinks, ...bounds }: How = {}) {
  const named = dirs.map((it) => join(dir, it))
  const found = await discoverBoards(named, { followsLinks }, bounds)
  return {
    boards: sorted(
      found.boards.map(({ dir: at, store }) => `${at.slice(dir.length + 1)}#${store.layout}`),
    ),
    left: found.leftOut.map(({ message }) => message.replaceAll(dir, '~')),
  }
}

const sorted = (names: string[]) => names.toSorted((one, other) => (one < other ? -1 : 1))

const LAYOUTS = ['backlog-md', 'bmad', 'cairn', 'kiro', 'openspec', 'spec-kit', 'task-master']

test('finds the boards of all layouts in one folder, each once', async () => {
  const dir = makeFolder(ALL)
  expect(await search(dir)).toEqual({ boards: LAYOUTS.map((name) => `#${name}`), left: [] })
})

test('finds them in each package of a monorepo and in nested repositories', async () => {
  const dir = makeFolder({
    ...below('packages/tea', ALL),
    ...below('packages/deep/er', CAIRN),
    ...below('vendor/own', CAIRN),
    'vendor/own/.git/HEAD': '',
  })
  const { boards } = await search(dir)
  expect(boards).toEqual([
    'packages/deep/er#cairn',
    ...LAYOUTS.map((name) => `packages/tea#${name}`),
    'vendor/own#cairn',
  ])
})

test('enters no folder of another tool’s store', async () => {
  const dir = makeFolder({ ...ALL, ...below('backlog/archive', CAIRN), ...below('a', CAIRN) })
  const { boards } = await search(dir)
  expect(boards.filter((name) => name.endsWith('#cairn'))).toEqual(['#cairn', 'a#cairn'])
})

test.each([
  ['.cairn', 'cairn'],
  ['backlog', 'backlog-md'],
  ['.taskmaster', 'task-master'],
  ['openspec', 'openspec'],
  ['.kiro', 'kiro'],
])('the store’s own folder %s, when it is named, is the board of its project', async (at, name) => {
  const dir = makeFolder({ ...ALL, ...below(`${at}/more`, CAIRN) })
  expect(await search(dir, { dirs: [at] })).toEqual({ boards: [`#${name}`], left: [] })
  expect((await search(dir, { dirs: [at, ''] })).boards).toHaveLength(7)
})

test('a board within a board’s own files is none', async () => {
  const dir = makeFolder({
    ...below('.cairn/tasks', CAIRN),
    '.specify/a': '',
    ...below('specs/001-tea', CAIRN),
    '.kiro/steering/a.md': '',
    ...below('.kiro/specs/tea', { 'openspec/config.yaml': '' }),
  })
  expect((await search(dir)).boards).toEqual(['#cairn', '#kiro', '#spec-kit'])
})

test('finds the board of a project that is named after the folder of its store', async () => {
  const dir = makeFolder({ 'openspec/openspec/config.yaml': '' })
  expect((await search(dir)).boards).toEqual(['openspec#openspec'])
})

test('never enters node_modules and .git, and follows no link', async () => {
  const dir = makeFolder({
    ...below('node_modules/a', CAIRN),
    ...below('a/node_modules/b', CAIRN),
    ...below('.git/a', CAIRN),
    'b/file': '',
  })
  symlinkSync(makeFolder(CAIRN), join(dir, 'b/link'))
  symlinkSync(dir, join(dir, 'b/loop'))
  expect(await search(dir)).toEqual({ boards: [], left: [] })
})

test('.gitignore says what is entered, and not whether a board is read', async () => {
  const dir = makeFolder({
    '.gitignore': '.cairn\ndist/\n/only-here\n*.tmp\n!kept.tmp\n',
    ...CAIRN,
    ...below('dist', CAIRN),
    ...below('a/dist', CAIRN),
    ...below('only-here', CAIRN),
    ...below('a/only-here', CAIRN),
    ...below('a/x.tmp', CAIRN),
    ...below('a/kept.tmp', CAIRN),
    'a/.gitignore': 'hidden\n',
    ...below('a/b/hidden', CAIRN),
    ...below('b/hidden', CAIRN),
  })
  expect((await search(dir)).boards).toEqual([
    '#cairn',
    'a/kept.tmp#cairn',
    'a/only-here#cairn',
    'b/hidden#cairn',
  ])
})

test('one that ignores everything leaves the board of its own folder', async () => {
  const dir = makeFolder({ '.gitignore': '*\n', ...CAIRN, ...below('a', CAIRN) })
  expect(await search(dir)).toEqual({ boards: ['#cairn'], left: [] })
})

test('a nested repository has rules of its own, unless it is ignored as a whole', async () => {
  const dir = makeFolder({
    '.gitignore': 'dist\nclones/ignored\n',
    'clones/own/.git': 'gitdir: elsewhere\n',
    'clones/own/.gitignore': 'out\n',
    ...below('clones/own/dist', CAIRN),
    ...below('clones/own/out', CAIRN),
    'clones/ignored/.git/HEAD': '',
    ...below('clones/ignored', CAIRN),
  })
  expect((await search(dir)).boards).toEqual(['clones/own/dist#cairn'])
})

test('the rules above a folder that is named hold, up to the top of its repository', async () => {
  const dir = makeFolder({
    '.gitignore': 'a\n',
    'repo/.git/HEAD': '',
    'repo/.gitignore': 'dist\n/packages/named\n',
    ...below('repo/packages/a', CAIRN),
    ...below('repo/packages/dist', CAIRN),
    ...below('repo/packages/named/a', CAIRN),
  })
  expect((await search(dir, { dirs: ['repo/packages'] })).boards).toEqual(['repo/packages/a#cairn'])
  // Who names an ignored folder means it.
  const named = await search(dir, { dirs: ['repo/packages/named'] })
  expect(named.boards).toEqual(['repo/packages/named/a#cairn'])
})

test('a .gitignore that is no plain file, or no text, hides nothing and ends', async () => {
  const dir = makeFolder({ ...below('a', CAIRN), ...below('b', CAIRN), ...below('c', CAIRN) })
  mkdirSync(join(dir, 'a/.gitignore'))
  spawnSync('mkfifo', [join(dir, 'b/.gitignore')])
  symlinkSync('/dev/zero', join(dir, 'c/.gitignore'))
  const odd = makeFolder({
    '.gitignore': `${'x'.repeat(90_000)}\n[\n\\\n\0\n(\n`,
    ...below('a', CAIRN),
  })
  expect((await search(dir)).boards).toHaveLength(3)
  expect((await search(odd)).boards).toEqual(['a#cairn'])
})

test('a configuration that is a pipe, a device or endless hides no other board, and ends', async () => {
  const dir = makeFolder({ ...below('a', CAIRN), ...below('b', ALL), ...below('c', ALL) })
  mkdirSync(join(dir, 'b/_bmad/bmm'))
  spawnSync('mkfifo', [join(dir, 'b/_bmad/bmm/config.yaml')])
  symlinkSync('/dev/zero', join(dir, 'b/backlog.config.yml'))
  mkdirSync(join(dir, 'c/_bmad/bmm'))
  symlinkSync('/dev/zero', join(dir, 'c/_bmad/bmm/config.yaml'))
  spawnSync('truncate', ['--size=3G', join(dir, 'c/backlog.config.yml')])
  const all = ['b', 'c'].flatMap((folder) => LAYOUTS.map((name) => `${folder}#${name}`))
  expect(await search(dir)).toEqual({ boards: ['a#cairn', ...all], left: [] })
})

test('of a .gitignore without end the first lines hold', async () => {
  const lines = Array.from({ length: 40_000 }, (_, at) => `q${at.toString(36)}`)
  const rules = ['left/', ...lines, 'right/']
  const dir = makeFolder({
    '.gitignore': rules.join('\n'),
    // Each folder in it gets a copy of the rules above.
    'many/.gitignore': '!*\n',
    ...Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`many/${at}/a`, ''])),
    ...below('left/a', CAIRN),
    ...below('right', CAIRN),
  })
  expect(await search(dir)).toEqual({ boards: ['right#cairn'], left: [] })
})

test('what was cut off by a bound is one sentence', async () => {
  const dir = makeFolder({ ...below('a/b/c', CAIRN), ...below('a', CAIRN), 'd/e/f/g/h/i': '' })
  const end = 'name the folder of a board that it did not find.'
  expect(await search(dir, { depth: 2 })).toEqual({
    boards: ['a#cairn'],
    left: [
      expect.stringMatching(`^The search for boards ended 2 levels down, above ~/.*: ${end}$`),
    ],
  })
  expect(await search(dir, { folders: 3 })).toEqual({
    boards: ['a#cairn'],
    left: [`The search for boards ended after 3 folders: ${end}`],
  })
  // What is named is found in every case.
  expect(await search(dir, { dirs: ['a/b/c', 'a', ''], boards: 2 })).toEqual({
    boards: ['a#cairn', 'a/b/c#cairn'],
    left: [`The search for boards ended after 2 boards: ${end}`],
  })
  const { left } = await search(dir, { ms: 1e-9 })
  expect(left).toEqual([expect.stringContaining('The search for boards ended after')])
})

test('a link from one board into another is left out with its sentence, the others go on', async () => {
  const dir = makeFolder({ ...below('a', CAIRN), 'b/README.md': '', ...below('c', CAIRN) })
  symlinkSync('../a/.cairn', join(dir, 'b/.cairn'))
  rmSync(join(dir, 'c/.cairn/tasks'), { recursive: true })
  symlinkSync('../../a/.cairn/tasks', join(dir, 'c/.cairn/tasks'))
  const { boards, left } = await search(dir)
  expect(boards).toEqual(['a#cairn'])
  expect(left).toEqual([
    'The board in ~/b is a link that leads out of it, to ~/a/.cairn: ' +
      'use --follow-links if you trust that.',
    '~/c/.cairn/tasks is a link, and no link within a board is followed: ' +
      'put what it points to in its place.',
  ])
  // Followed, it is the same store, and its own project’s.
  const followed = await search(dir, { followsLinks: true, dirs: ['b', 'a'] })
  expect(followed.boards).toEqual(['a#cairn'])
})

test('a link that is left out hides no other board', async () => {
  const dir = makeFolder({ 'a/README.md': '', 'b/config.yaml': '', ...below('b', KIRO) })
  symlinkSync('../b', join(dir, 'a/.cairn'))
  expect((await search(dir)).boards).toEqual(['b#kiro'])
})

test('a store is found once, whatever leads to it', async () => {
  const dir = makeFolder({
    'backlog.config.yml': '',
    'backlog/config.yml': '',
    'backlog/tasks/back-1 - A.md': '',
    ...below('a', CAIRN),
  })
  const dirs = ['', 'a', 'a/.cairn', 'backlog', '']
  expect((await search(dir, { dirs })).boards).toEqual(['#backlog-md', 'a#cairn'])
})

test('a folder that is swapped for a link and back has no board of what the link leads to', async () => {
  const dir = makeFolder(below('own', CAIRN))
  const foreign = makeFolder(CAIRN)
  await swapForLink(join(dir, 'own'), foreign)
  const roots = new Set<string>()
  for (let n = 0; n < 150; n++) {
    const { boards } = await discoverBoards([dir])
    for (const { store } of boards) roots.add(store.root)
  }
  expect([...roots].filter((root) => root.startsWith(foreign))).toEqual([])
  expect(roots).toContain(join(dir, 'own/.cairn'))
})

test('a folder without permission is one sentence', async () => {
  const dir = makeFolder({ 'a/file': '', 'b/file': '', ...below('c', CAIRN) })
  for (const name of ['a', 'b']) chmodSync(join(dir, name), 0)
  chmodSync(dir, 0o755)
  // Root may enter all of them.
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  const { boards, left } = await search(dir).finally(() => isRoot && process.seteuid?.(0))
  for (const name of ['a', 'b']) chmodSync(join(dir, name), 0o700)
  expect(boards).toEqual(['c#cairn'])
  const sentence =
    /^Boards were not looked for in what cannot be read: ~\/[ab] \(EACCES\), and 1 more\.$/
  expect(left).toEqual([expect.stringMatching(sentence)])
})

test('a tree that is deleted while it is walked is no failure', async () => {
  for (let round = 0; round < 4; round++) {
    const files = Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => Object.entries(below(`p/${at}/q`, ALL))).flat(),
    )
    const dir = makeFolder(files)
    const searching = search(dir)
    for (let turn = 0; turn < round * 6; turn++) await new Promise(setImmediate)
    if (round % 2 === 0) rmSync(join(dir, 'p'), { recursive: true })
    else renameSync(join(dir, 'p'), `${dir}-moved`)
    const { boards, left } = await searching
    expect(boards.length).toBeLessThanOrEqual(70)
    expect(left).toEqual([])
    rmSync(`${dir}-moved`, { recursive: true, force: true })
  }
})
