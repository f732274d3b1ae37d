import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { hasGit, openGit } from '../../../sidecar/trees/git.ts'
import { blobIds } from '../../../sidecar/trees/merge-bases.ts'

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
  expect(await calls.files(first, () => false)).toEqual(new Map())
  expect((await calls.blob(folded))?.toString()).toBe('one\n')
  expect(await calls.mergeBases('HEAD', 'worktrees/none/HEAD')).toBeUndefined()
  // Two histories that have nothing in common are an answer.
  git(join(root, 'feat'), 'checkout', '-q', '--orphan', 'alone')
  git(join(root, 'feat'), 'commit', '-qm', 'third')
  expect(await calls.mergeBases('HEAD', 'worktrees/feat/HEAD')).toEqual([])
  expect(await calls.files('--output=x')).toBeUndefined()
})

test('on macOS, git is called only where it is more than the offer to install it', () => {
  const has = (platform: string, path: string, ...files: string[]) =>
    hasGit({ platform, path }, (file) => files.includes(file))
  const tools = '/Library/Developer/CommandLineTools/usr/bin/git'
  expect(has('darwin', '/usr/bin', '/usr/bin/git')).toBe(false)
  expect(has('darwin', '/usr/bin', '/usr/bin/git', tools)).toBe(true)
  expect(has('darwin', '/opt/bin:/usr/bin', '/opt/bin/git', '/usr/bin/git')).toBe(true)
  expect(has('linux', '/usr/bin', '/usr/bin/git')).toBe(true)
  expect(has('linux', '/bin:', '/usr/bin/git')).toBe(false)
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
  ]
  for (const key of keys) git(clone, 'config', key, trap)
  for (const name of ['merge-base', 'ls-tree', 'cat-file']) {
    git(clone, 'config', `alias.${name}`, `!${trap}`)
  }
  rmSync(ran, { force: true })
  const calls = openGit(join(clone, '.git'), process.env.PATH ?? '')
  const [base = ''] = (await calls.mergeBases('HEAD', 'worktrees/feat/HEAD')) ?? []
  const files = await calls.files(base)
  expect([...(files?.keys() ?? [])]).toEqual(['a b.md'])
  expect(await calls.blob(files?.get('a b.md') ?? '')).toBeUndefined()
  expect(existsSync(ran)).toBe(false)
})
