import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findGit, openGit } from '../../../sidecar/git/git.ts'
import { blobIds } from '../../../sidecar/trees/tree.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'signalbox-git-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim()

function repository(): string {
  const main = join(root, 'main')
  git(root, 'init', '-q', main)
  writeFileSync(join(main, 'a b.md'), 'one\n')
  git(main, 'add', '.')
  git(main, 'commit', '-qm', 'first')
  return main
}

test('a file of the merge base has the id that is computed here', async () => {
  const main = repository()
  const first = git(main, 'rev-parse', 'HEAD')
  git(main, 'worktree', 'add', '-q', join(root, 'feat'))
  git(join(root, 'feat'), 'commit', '-qm', 'second', '--allow-empty')
  const calls = openGit(join(main, '.git'), process.env.PATH ?? '')
  expect(await calls.mergeBases('HEAD', 'worktrees/feat/HEAD')).toEqual([first])
  const [raw, folded = ''] = blobIds(Buffer.from('one\r\n'), 'sha1')
  expect(raw).not.toBe(folded)
  expect(await calls.files(first)).toEqual(new Map([['a b.md', folded]]))
  expect(await calls.files(first, { folders: [''], isOfBoard: () => false })).toEqual(new Map())
  expect((await calls.blob(folded))?.toString()).toBe('one\n')
  expect(await calls.mergeBases('HEAD', 'worktrees/none/HEAD')).toBeUndefined()
  // Two histories that have nothing in common are an answer.
  git(join(root, 'feat'), 'checkout', '-q', '--orphan', 'alone')
  git(join(root, 'feat'), 'commit', '-qm', 'third')
  expect(await calls.mergeBases('HEAD', 'worktrees/feat/HEAD')).toEqual([])
  expect(await calls.files('--output=x')).toBeUndefined()
})

test('where a HEAD is, and whether it goes on from a commit', async () => {
  const main = repository()
  const first = git(main, 'rev-parse', 'HEAD')
  const branch = git(main, 'branch', '--show-current')
  git(main, 'worktree', 'add', '-q', join(root, 'feat'))
  git(join(root, 'feat'), 'commit', '-qm', 'second', '--allow-empty')
  const second = git(join(root, 'feat'), 'rev-parse', 'HEAD')
  const calls = openGit(join(main, '.git'), process.env.PATH ?? '')
  expect(await calls.checkedOut('HEAD')).toEqual({ head: first, branch })
  expect(await calls.checkedOut('worktrees/feat/HEAD')).toEqual({ head: second, branch: 'feat' })
  expect(await calls.goesOn(first, 'worktrees/feat/HEAD')).toBe(true)
  expect(await calls.goesOn(second, 'HEAD')).toBe(false)
  // After a collection of garbage, or in another clone.
  expect(await calls.goesOn('1'.repeat(40), 'HEAD')).toBe(false)
  git(main, 'checkout', '-q', '--detach')
  expect(await calls.checkedOut('HEAD')).toEqual({ head: first })
  git(main, 'checkout', '-q', '--orphan', 'empty')
  expect(await calls.checkedOut('HEAD')).toBeUndefined()
})

test('commits are told by first parents, within a folder, and texts come in one call', async () => {
  const main = repository()
  const first = git(main, 'rev-parse', 'HEAD')
  mkdirSync(join(main, 'board'))
  writeFileSync(join(main, 'board/1.md'), 'two\n')
  writeFileSync(join(main, 'a b.md'), 'other\n')
  git(main, 'add', '.')
  git(main, 'commit', '-qm', 'second')
  git(main, 'rm', '-q', 'a b.md')
  git(main, 'commit', '-qm', 'third')
  const calls = openGit(join(main, '.git'), process.env.PATH ?? '')
  const of = (folder: string) => ({ folder, isOfBoard: () => true })
  const log = async (folder: string, ...before: string[]) =>
    (await calls.log('HEAD', before, of(folder)))?.map(({ files }) => files.map(([path]) => path))
  expect(await log('')).toEqual([['a b.md'], ['a b.md', 'board/1.md'], ['a b.md']])
  expect(await log('board', first)).toEqual([[], ['board/1.md']])
  expect(await calls.log('none', [], of(''))).toBeUndefined()
  const [one = '', two = ''] = ['a b.md', 'board/1.md'].map((name) =>
    git(main, 'rev-parse', `HEAD~1:${name}`),
  )
  const texts = await calls.blobs([one, 'f'.repeat(40), two])
  expect([...texts].map(([id, bytes]) => [id, bytes.toString()])).toEqual([
    [one, 'other\n'],
    [two, 'two\n'],
  ])
  expect(await calls.common([git(main, 'rev-parse', 'HEAD'), first])).toBe(first)
})

test('on macOS, git is called only where it is more than the offer to install it', () => {
  const has = (platform: string, path: string, ...files: string[]) =>
    findGit({ platform, path }, (file) => files.includes(file)) !== undefined
  const tools = '/Library/Developer/CommandLineTools/usr/bin/git'
  expect(has('darwin', '/usr/bin', '/usr/bin/git')).toBe(false)
  expect(has('darwin', '/usr/bin', '/usr/bin/git', tools)).toBe(true)
  expect(has('darwin', '/opt/bin:/usr/bin', '/opt/bin/git', '/usr/bin/git')).toBe(true)
  expect(has('linux', '/usr/bin', '/usr/bin/git')).toBe(true)
  expect(has('linux', '/bin:', '/usr/bin/git')).toBe(false)
})

test.each(['', '.', 'node_modules/.bin', './node_modules/.bin'])(
  'runs no program of the repository where PATH has the part "%s"',
  async (part) => {
    const main = repository()
    const ran = join(root, 'ran')
    for (const dir of [join(main, '.git'), main]) {
      mkdirSync(join(dir, 'node_modules/.bin'), { recursive: true })
      for (const name of ['git', 'node_modules/.bin/git']) {
        writeFileSync(join(dir, name), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 })
      }
    }
    const first = git(main, 'rev-parse', 'HEAD')
    const calls = openGit(join(main, '.git'), [part, process.env.PATH].join(delimiter))
    expect(await calls.common([first])).toBe(first)
    expect(existsSync(ran)).toBe(false)
  },
)

test('lists the files of some folders alone, also where a configuration names another work tree', async () => {
  const main = repository()
  for (const name of ['board/tasks/a.md', '-r/b.md', 'board*/c.md', 'src/d.md']) {
    mkdirSync(dirname(join(main, name)), { recursive: true })
    writeFileSync(join(main, name), name)
  }
  git(main, 'add', '.')
  git(main, 'commit', '-qm', 'second')
  const head = git(main, 'rev-parse', 'HEAD')
  git(main, 'config', 'core.worktree', root)
  const calls = openGit(join(main, '.git'), process.env.PATH ?? '')
  const seen: string[] = []
  const isOfBoard = (path: string) => seen.push(path) > 0
  await calls.files(head, { folders: ['board', '-r', 'none'], isOfBoard })
  expect(seen).toEqual(['-r/b.md', 'board/tasks/a.md'])
  const log = await calls.log(head, [], { folder: 'board', isOfBoard: () => true })
  expect(log?.flatMap(({ files }) => files.map(([path]) => path))).toEqual(['board/tasks/a.md'])
})

test('gives others their turn while it reads the files of a large commit', async () => {
  const main = repository()
  const blob = git(main, 'rev-parse', 'HEAD:a b.md')
  const paths = Array.from({ length: 100_000 }, (_, n) => `100644 blob ${blob}\t${n}.md`)
  const made = (command: string, input: string) =>
    execFileSync('git', ['-C', main, command], { input, encoding: 'utf8' }).trim()
  const tree = made('mktree', `${paths.join('\n')}\n`)
  const commit = git(main, 'commit-tree', tree, '-m', 'large')
  const calls = openGit(join(main, '.git'), process.env.PATH ?? '')
  let [turns, isReading] = [0, false]
  const count = () => {
    turns += 1
    if (isReading) setImmediate(count)
  }
  const isOfBoard = () => {
    if (!isReading) setImmediate(count)
    isReading = true
    return true
  }
  const files = await calls.files(commit, { folders: [''], isOfBoard })
  isReading = false
  expect(files?.size).toBe(100_000)
  expect(turns).toBeGreaterThan(3)
})

test('runs no program that a partial clone names, also for an object that is missing', async () => {
  const main = repository()
  const clone = join(root, 'clone')
  git(main, 'config', 'uploadpack.allowFilter', 'true')
  git(root, 'clone', '-q', '--no-checkout', '--filter=blob:none', `file://${main}`, clone)
  const ran = join(root, 'ran')
  const trap = join(root, 'trap')
  writeFileSync(trap, `#!/bin/sh\ntouch '${ran}'\n`)
  chmodSync(trap, 0o755)
  git(clone, 'config', 'remote.origin.url', 'ssh://nowhere.invalid/x')
  git(clone, 'worktree', 'add', '-q', '--no-checkout', join(root, 'feat'))
  const keys = [
    'core.fsmonitor',
    'core.sshCommand',
    'core.pager',
    'filter.x.clean',
    'diff.external',
    'diff.x.textconv',
    'gpg.program',
  ]
  for (const key of keys) git(clone, 'config', key, trap)
  // A log that verifies signatures runs a program for a commit that has one.
  git(clone, 'config', 'log.showSignature', 'true')
  const raw = git(clone, 'cat-file', 'commit', 'HEAD')
  const signed = raw.replace('\n\n', '\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n\n')
  writeFileSync(join(root, 'signed'), `${signed}\n`)
  const id = git(clone, 'hash-object', '-t', 'commit', '-w', join(root, 'signed'))
  for (const name of ['merge-base', 'ls-tree', 'cat-file', 'log']) {
    git(clone, 'config', `alias.${name}`, `!${trap}`)
  }
  rmSync(ran, { force: true })
  const calls = openGit(join(clone, '.git'), process.env.PATH ?? '')
  const [base = ''] = (await calls.mergeBases('HEAD', 'worktrees/feat/HEAD')) ?? []
  const files = await calls.files(base)
  expect([...(files?.keys() ?? [])]).toEqual(['a b.md'])
  const blob = files?.get('a b.md') ?? ''
  expect(await calls.blob(blob)).toBeUndefined()
  expect(await calls.blobs([blob])).toEqual(new Map())
  expect(await calls.file('HEAD', 'a b.md')).toBeUndefined()
  const log = await calls.log(id, [], { folder: '', isOfBoard: () => true })
  expect(log?.map(({ id }) => id)).toEqual([id])
  expect(existsSync(ran)).toBe(false)
})
