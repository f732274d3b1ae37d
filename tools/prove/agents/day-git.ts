// git as people and agents of a day use it, at the time that their clock says.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { git } from '../../harness/git.ts'

export class GitOfDay {
  readonly project: string
  readonly #env: Readonly<Record<string, string>>
  readonly #now: () => Promise<Date>

  constructor(project: string, env: Readonly<Record<string, string>>, now: () => Promise<Date>) {
    this.project = project
    this.#env = env
    this.#now = now
  }

  /** In the main tree. */
  run(...args: string[]): Promise<string> {
    return this.runIn(this.project, ...args)
  }

  /** Throws with what git says. */
  async runIn(dir: string, ...args: string[]): Promise<string> {
    const date = (await this.#now()).toISOString()
    const dates = { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
    return await git(dir, { ...this.#env, ...dates }, ...args)
  }

  async commit(message: string, dir = this.project): Promise<void> {
    await this.runIn(dir, 'add', '-A')
    await this.runIn(dir, 'commit', '-q', '--allow-empty', '-m', message)
  }

  async merge(branch: string, how: 'squash' | 'merge' | 'cherry-pick'): Promise<void> {
    // Where two did the same task, which is what is looked for, the second changes nothing.
    const theirs = ['-X', 'theirs']
    if (how === 'merge') await this.run('merge', '-q', ...theirs, '--no-ff', '-m', branch, branch)
    else if (how === 'cherry-pick') {
      await this.run('cherry-pick', ...theirs, '--keep-redundant-commits', `main..${branch}`)
    } else {
      await this.run('merge', '-q', ...theirs, '--squash', branch)
      await this.run('commit', '-q', '--allow-empty', '-m', branch)
    }
  }

  /** Unless a worktree is on it. */
  async forget(branch: string): Promise<void> {
    await this.run('branch', '-q', '-D', branch).catch(() => undefined)
  }

  /** Those files of the main tree that are there. */
  async texts(names: readonly string[]): Promise<string[]> {
    const read = names.map((name) => readFile(join(this.project, name), 'utf8').catch(() => ''))
    return await Promise.all(read)
  }
}
