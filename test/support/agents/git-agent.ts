// Works with git, beside the others: commits what is there, goes to the other branch, and throws away
// what stands in the way.

import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Seeded } from '../../../tools/prove/recorder/seeded.ts'
import { Agent } from './agent.ts'

const run = promisify(execFile)

export function git(dir: string, ...args: string[]): Promise<unknown> {
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false']
  return run('git', [...who, ...args], { cwd: dir })
}

export class GitAgent extends Agent {
  readonly #dir: string
  #branch = 'main'

  constructor(dir: string, random: Seeded) {
    super(random)
    this.#dir = dir
  }

  /** Each of its steps is a burst. */
  override editCalmly(): Promise<void> {
    return Promise.resolve()
  }

  protected async step(): Promise<void> {
    await sleep(this.random.below(2_000))
    try {
      const step = this.random.weighted<() => Promise<unknown>>([
        [5, () => this.#checkout()],
        [
          1,
          () =>
            git(this.#dir, 'stash', '-q', '-u').then(() => git(this.#dir, 'stash', 'pop', '-q')),
        ],
        [1, () => git(this.#dir, 'checkout', '-qf', 'HEAD', '--', '.')],
      ])
      await step()
    } catch (error) {
      // What it wanted to replace was changed meanwhile, or there was nothing to do.
      if (!('stderr' in (error as object))) throw error
    }
  }

  async #checkout(): Promise<void> {
    const other = this.#branch === 'main' ? 'other' : 'main'
    await git(this.#dir, 'add', '-A')
    await git(this.#dir, 'commit', '-q', '--allow-empty', '-m', 'work')
    await git(this.#dir, 'checkout', '-qf', other)
    this.#branch = other
  }
}
