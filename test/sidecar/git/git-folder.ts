// A repository made by git itself, as tests use it: without the configuration of the machine.

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

const NO_CONFIG = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
// A commit takes half as long where git starts no other of its programs to see whether to tidy up.
const CONFIG = [
  'user.name=t',
  'user.email=t@example.org',
  'commit.gpgsign=false',
  'maintenance.auto=false',
]
export const AS = CONFIG.flatMap((one) => ['-c', one])

/** What git says. Throws if it fails. */
export const git = (dir: string, ...args: string[]): string => at(0, dir, ...args)

/** The same, so many seconds from now: of two commits in one second git does not say the order. */
export function at(seconds: number, dir: string, ...args: string[]): string {
  const GIT_COMMITTER_DATE = `${Math.floor(Date.now() / 1_000) + seconds} +0000`
  const env = { PATH: process.env.PATH, GIT_COMMITTER_DATE, ...NO_CONFIG }
  const ended = spawnSync('git', [...AS, '-C', dir, ...args], { env, encoding: 'utf8' })
  if (ended.status !== 0) throw new Error(`git ${args.join(' ')}: ${ended.stderr}`)
  return ended.stdout.trim()
}

export function commitAll(dir: string): void {
  git(dir, 'add', '-A', '-f')
  git(dir, 'commit', '-qm', 'all')
}

/** What is there becomes the first worktree of a bare repository beside it. */
export function initializeBare(dir: string): void {
  initialize(dir)
  const bare = join(dir, '../bare.git')
  git(dir, 'clone', '-q', '--bare', '.', bare)
  rmSync(dir, { recursive: true })
  git(bare, 'worktree', 'add', '-q', dir, 'main')
}

/** A new repository with what is there. */
export function initialize(dir: string): void {
  git(dir, 'init', '-q', '-b', 'main')
  commitAll(dir)
}
