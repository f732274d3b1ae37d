import { chmodSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { Repositories } from '../../../sidecar/git/repository.ts'
import { PATIENT } from '../../support/patience.ts'
import { makeFolder } from '../../support/temp-folder.ts'
import { git, initialize } from './git-folder.ts'

test('what git does not answer is asked again, a minute later or when a HEAD moves', async () => {
  const dir = makeFolder({ 'main/a.md': 'one\n' })
  const main = join(dir, 'main')
  initialize(main)
  git(main, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  // In place of git, one that does not answer while a file is there.
  const bin = join(dir, 'bin')
  const asked = join(dir, 'asked')
  const stuck = join(dir, 'stuck')
  mkdirSync(bin)
  writeFileSync(asked, '')
  writeFileSync(stuck, '')
  const script = `echo >> '${asked}'; [ -e '${stuck}' ] && exit 128; PATH="$PATH:/usr/bin:/bin"`
  const real = git(main, '--exec-path')
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\nexec '${real}/git' "$@"\n`)
  chmodSync(join(bin, 'git'), 0o755)

  const clock = new FakeClock()
  const logs: string[] = []
  const log = (_: string, event: string) => void logs.push(event)
  const repository = await new Repositories({ path: bin, clock, log }).of(main)
  let looks = 0
  const end = repository?.follow(() => {
    looks += 1
  })
  onTestFinished(() => end?.())
  const look = async (ms: number) => {
    const before = looks
    await clock.advance(ms)
    await vi.waitFor(() => expect(looks).toBeGreaterThan(before), PATIENT)
    return repository?.trees()[0]?.bases
  }
  const head = git(main, 'rev-parse', 'HEAD')
  expect(await look(0)).toBeUndefined()
  expect(logs).toEqual(['tree.found', 'tree.no_merge_base'])
  expect(await repository?.files(head)).toBeUndefined()
  rmSync(stuck)
  expect(await look(5_000)).toBeUndefined()
  expect(await repository?.files(head)).toBeUndefined()
  expect(await look(60_000)).toEqual([head])
  expect([...((await repository?.files(head)) ?? [])]).toHaveLength(1)
  // A HEAD that moves is asked for at once.
  writeFileSync(stuck, '')
  git(main, 'commit', '-q', '--allow-empty', '-m', 'two')
  expect(await look(5_000)).toEqual([head])
  rmSync(stuck)
  git(main, 'commit', '-q', '--allow-empty', '-m', 'three')
  git(join(dir, 'feat'), 'merge', '-q', 'main')
  expect(await look(5_000)).toEqual([git(main, 'rev-parse', 'HEAD')])
  git(main, 'worktree', 'remove', '../feat')
  expect(await look(5_000)).toBeUndefined()
  expect(logs).toEqual(['tree.found', 'tree.no_merge_base', 'tree.left'])
})

test('a tree whose folder is gone stays for ten minutes while git knows it, and is searched at once', async () => {
  const dir = makeFolder({ 'main/a.md': 'one\n' })
  const main = join(dir, 'main')
  initialize(main)
  git(main, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
  const clock = new FakeClock()
  let searches = 0
  const onAway = () => void searches++
  const repositories = new Repositories({
    path: process.env.PATH ?? '',
    clock,
    log: () => undefined,
    onAway,
  })
  const repository = await repositories.of(main)
  let looks = 0
  const end = repository?.follow(() => {
    looks += 1
  })
  onTestFinished(() => end?.())
  const dirs = async (ms: number) => {
    const before = looks
    await clock.advance(ms)
    await vi.waitFor(() => expect(looks).toBeGreaterThan(before), PATIENT)
    return repository?.trees().map((tree) => tree.dir)
  }
  const feat = join(dir, 'feat')
  expect(await dirs(0)).toEqual([feat])
  mkdirSync(join(dir, 'far/away'), { recursive: true })
  const moved = join(dir, 'far/away/feat')
  renameSync(feat, moved)
  expect([await dirs(5_000), searches]).toEqual([[feat], 1])
  expect([await dirs(590_000), searches]).toEqual([[feat], 1])
  repositories.seen([moved])
  expect(await dirs(5_000)).toEqual([moved])
  renameSync(moved, join(dir, 'far/feat'))
  repositories.seen([])
  expect([await dirs(5_000), searches]).toEqual([[moved], 2])
  expect(await dirs(600_000)).toEqual([])
  // git forgets it: so does everybody.
  renameSync(join(dir, 'far/feat'), feat)
  expect(await dirs(5_000)).toEqual([feat])
  rmSync(feat, { recursive: true })
  git(main, 'worktree', 'prune')
  expect(await dirs(5_000)).toEqual([])
})

test.each(['main', 'feat'])(
  'git’s log has each move of %s, and the same after a gc',
  async (leading) => {
    const dir = makeFolder({ 'main/a.md': 'one\n' })
    const main = join(dir, 'main')
    initialize(main)
    git(main, 'worktree', 'add', '-q', '../feat', '-b', 'feat')
    const top = join(dir, leading)
    git(top, 'commit', '-q', '--allow-empty', '-m', 'two')
    const path = process.env.PATH ?? ''
    const deps = { path, clock: new FakeClock(), log: () => undefined }
    const repository = await new Repositories(deps).of(top)
    const [head, before] = [repository?.head(), repository?.moves() ?? []]
    const [older, newest] = [git(top, 'rev-parse', 'HEAD~'), git(top, 'rev-parse', 'HEAD')]
    expect(before.at(-1)).toContain(`${older} ${newest} `)
    git(top, 'switch', '-q', '--detach', older)
    git(top, 'switch', '-q', leading)
    expect(repository?.head()).toBe(head)
    const after = repository?.moves() ?? []
    expect(after.slice(0, before.length)).toEqual(before)
    const ends = after.slice(before.length).map((move) => move.split(' ').slice(0, 2))
    expect(ends).toEqual([
      [newest, older],
      [older, newest],
    ])
    const sign = repository?.movesSign()
    git(top, 'reflog', 'expire', '--all')
    expect(repository?.moves()).toEqual(after)
    // It was written anew, which is no move.
    expect(repository?.movesSign()).not.toBe(sign)
  },
)
